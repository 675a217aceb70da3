"""The preview of a manifest: the page that an apply of it would leave, with the changes marked.

A preview begins with a `Baseline`: the bot and its lists as they are now, or a new bot without any.
`state_of` plans the manifest against it, exactly as a run does, and puts the records that an apply
would leave into a page. Each other listing is a tab with the list that would be sent; a list of
which nothing is known is shown without marks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from commandsync.api.credentials import redacted
from commandsync.api.operations import get_bot
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.diagnostics import LIBRARY, Do, Notice, Problem, Words, in_words
from commandsync.errors import CommandsyncError, ListingError, UsageError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing
from commandsync.pages.botpage import BotPage, ListingTab, Mark, Preview, Row
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import ExpectedRecord, ListPlan, Plan, RecordPlan, expected_listing
from commandsync.records.losses import loss_notice
from commandsync.records.models import Bot, Profile
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource, Text
from commandsync.report.change import in_quotes, scheduled
from commandsync.report.summary import compared, counted, plan_line, remark_on
from commandsync.sync.companions import with_objects
from commandsync.sync.destinations import site_of
from commandsync.sync.job import Planned, connected, plan_manifest
from commandsync.sync.listcontent import fitted_list, renewed
from commandsync.sync.lists import ListJob, listing_jobs
from commandsync.sync.setting import BASE_URL
from commandsync.sync.settings import (
    Settings,
    Site,
    check_notices,
    read_clock,
)

_OFFLINE = "commandsync preview --offline shows the page without what is listed"
_NOTHING = Snapshot(dict.fromkeys(Resource, ()))
_COMMANDS = Resource.COMMAND


@dataclass(frozen=True, slots=True)
class Baseline:
    """A bot and its listing before any change."""

    destination: tuple[str, str]  # `bot` and `base_url` of the manifest that it was read for
    bot: Bot  # the bot, which has a name; its id is empty if it is not known
    site: Site | None = None  # where it is listed; None for a new bot, without a service
    listed: Snapshot = _NOTHING  # all of its collections
    # The lists of the manifest's other listings, with the plans of then, by their identities.
    lists: Mapping[str, Planned] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()  # why lists are missing


def baseline_of(settings: Settings, manifest: Manifest, *, offline: bool) -> Baseline:
    """Read the listings of a manifest; a new bot if `offline`, or if no page is known.

    Raises `UsageError` without the bot's id, `ListingError` if the page cannot be read.
    """
    if offline:
        return new_bot(settings, manifest)
    notices = []
    try:
        lists = read_lists(settings, manifest)
    except (ListingError, UsageError) as error:
        lists = {}
        notices.append(Notice(f"lists are not compared: {error.message}", error.hint))
    page = _page_of(settings, manifest)
    return replace(page, lists=lists, notices=tuple(notices))


def read_lists(settings: Settings, manifest: Manifest) -> dict[str, Planned]:
    """Return the known lists of a manifest by their identities; raises as `listing_jobs`."""
    if not manifest.listings:
        return {}
    alone = replace(manifest, base_url="")  # without the page
    with listing_jobs(replace(settings, base_url=""), [alone]) as jobs:
        return lists_of([job.read() for job in jobs])


def lists_of(planned: Iterable[Planned | CommandsyncError]) -> dict[str, Planned]:
    """Return the lists that were read for plans, or that these are compared with."""
    plans = [each for each in planned if isinstance(each, Planned)]
    known = [each for each in plans if isinstance(each.plan, ListPlan)]
    return {each.job.identity: each for each in known if each.plan.known}


def _has_page(settings: Settings, manifest: Manifest) -> bool:
    """Whether the page of a manifest is shown, beside its other listings."""
    is_named = settings.base_url and settings.base_url_from != BASE_URL.variable
    return bool(is_named) or manifest.has_page


def _page_of(settings: Settings, manifest: Manifest) -> Baseline:
    is_known = settings.base_url or manifest.base_url
    if not (is_known and _has_page(settings, manifest)):
        return new_bot(settings, manifest)
    try:
        site = site_of(settings, manifest)
        with connected(settings, [site]) as (connection,):
            return completed(connection, site, Snapshot(), manifest)
    except (ListingError, UsageError) as error:
        hint = Do.ALSO(first=error.hint, other=_OFFLINE) if error.hint else _OFFLINE
        raise error.having(hint=hint) from error.__cause__


def new_bot(settings: Settings, manifest: Manifest) -> Baseline:
    """Return a bot without a listing: everything in its manifest is new."""
    bot = settings.bot or manifest.bot
    return Baseline(
        (manifest.bot, manifest.base_url), bot_named(manifest.name or bot or manifest.path, id_=bot)
    )


def bot_named(name: str, *, id_: str = "") -> Bot:
    """Return a bot of which nothing else is known."""
    return Bot.model_construct(id=id_, profile=Profile(username=name))


def completed(connection: Connection, site: Site, listed: Snapshot, manifest: Manifest) -> Baseline:
    """Read a bot, and its collections that are not `listed` yet; raises `ListingError`."""
    rest = tuple(resource for resource in Resource if resource not in listed.collections)
    reading = start_reading(connection, site.bot, rest)
    bot = connection.call(get_bot(site.bot))
    whole = Snapshot({**listed.collections, **reading().collections})
    profile = bot.profile.model_copy(update={"username": bot.profile.username or site.bot})
    bot = bot.model_copy(update={"profile": profile})
    return Baseline((manifest.bot, manifest.base_url), bot, site, whole)


@dataclass(frozen=True, slots=True)
class PreviewState:
    """The preview of one manifest."""

    plan: RecordPlan  # the plan from the listing to the manifest; apply may refuse it
    notices: tuple[Notice, ...]  # warnings about it: first a refusal by apply
    page: BotPage

    @property
    def summary(self) -> tuple[str, ...]:
        """The counts of the plan; without a page, those of each list."""
        if self.page.rows:
            return (plan_line(self.plan),)
        return tuple(f"{tab.name}: {tab.summary}" for tab in self.page.listings)


def state_of(
    settings: Settings, manifest: Manifest, baseline: Baseline, words: Words = LIBRARY
) -> PreviewState:
    """Return the changes of a manifest, and its page, with hints in the words of a program.

    Raises `ManifestError` where it is strict.
    """
    settings = replace(settings, now=read_clock())
    plan = plan_manifest(manifest, baseline.listed, site=baseline.site, settings=settings)
    check_notices(plan.notices, settings)
    with_page, complete = _has_page(settings, manifest), with_objects(manifest)
    lists = [
        _tab_of(settings, complete, entry, number, baseline.lists.get(entry.identity(manifest.bot)))
        for number, entry in enumerate(manifest.listings, 1)
    ]
    notices = tuple(_notices(plan, manifest, baseline, with_page=with_page, lists=lists))
    rows = {
        resource: [*_rows(resource, records, baseline, plan)]
        for resource, records in expected_listing(plan, baseline.listed).items()
    }
    sentences = [
        *(_sentence(notice, words) for notice in notices),
        *scheduled(plan, in_quotes),
        *(  # their mark does not say why they go
            f"The {change.resource} {in_quotes(change.name)} is deleted: {remark_on(change)}."
            for change in plan.changes
            if change.ends_record
        ),
    ]
    refusal = sentences.pop(0) if plan.refusal else ""
    preview = Preview(
        summary=plan_line(plan) if with_page else "",
        refusal=redacted(refusal),
        notices=tuple(map(redacted, sentences)),
    )
    page = BotPage(
        bot=baseline.bot,
        rows=rows if with_page else {},
        preview=preview,
        listings=[tab for tab, _ in lists],
    )
    return PreviewState(plan, notices, page)


def page_with(
    problems: Sequence[Problem], state: PreviewState | None, words: Words = LIBRARY, *, path: str
) -> BotPage:
    """Return the page of the last valid state, if any, with the problems of a later manifest."""
    page = state.page if state else BotPage(bot=bot_named(path), rows={})
    said = tuple(replace(each, hint=in_words(each.hint, words)) for each in problems)
    return replace(page, preview=replace(page.preview or Preview(), problems=said))


def _notices(
    plan: Plan,
    manifest: Manifest,
    baseline: Baseline,
    *,
    with_page: bool,
    lists: Iterable[tuple[ListingTab, Plan | None]],
) -> Iterator[Notice]:
    for name, planned in (("", plan), *((f"{tab.name}: ", planned) for tab, planned in lists)):
        if planned and (refusal := planned.refusal):
            message = f"{name}apply would refuse this plan: it {refusal.message}"
            yield Notice(message, refusal.hint)
    yield from (*baseline.notices, *plan.notices)
    if baseline.site is None and with_page:
        yield Notice("no listing was read: everything is shown as new")
    if (manifest.bot, manifest.base_url) != baseline.destination:
        message = "bot: or base_url: has changed, and the page still shows the previous listing"
        yield Notice(message, "start the preview again")


def _rows(
    kind: Resource, records: Sequence[ExpectedRecord], baseline: Baseline, plan: Plan
) -> Iterator[Row]:
    """Yield the rows of a kind as it will be listed, then those of records that are gone."""
    listed = baseline.listed.collections[kind]
    for number, record in enumerate(records, 1):
        row = _row(kind, record.text, f"new-{kind}-{number}", record.change)
        if record.position is not None:
            fields = {**row.record, "uses": listed[record.position].uses}
            row = replace(row, anchor=f"{kind}-{record.position + 1}", record=fields)
        yield row
    deletes = (change for change in plan.changes if isinstance(change, Delete))
    gone = [change for change in deletes if change.resource is kind]
    for number, change in enumerate(gone, 1):
        yield _row(kind, change.before, f"gone-{kind}-{number}", change)


def _row(
    kind: Resource,
    text: Text,
    anchor: str,
    change: Change | None,
    parts: Sequence[str] = (),
    slash: str = "",
) -> Row:
    """Return the row of a record, with the texts that its change replaces, all without tokens."""
    fields = {field: redacted(value) for field, value in text._asdict().items()}
    fields[kind.fields[0]] = slash + fields[kind.fields[0]]
    mark, before = Mark.EDITED if parts else None, {}
    if isinstance(change, Edit | Replace):
        before = {field.field: redacted(field.old) for field in change.fields}
        mark = Mark.EDITED
    elif change is not None:
        mark = Mark.NEW if isinstance(change, Add) else Mark.GONE
    if kind.fields[0] in before:
        mark, before = Mark.RENAMED, before | {kind.fields[0]: slash + before[kind.fields[0]]}
    return Row(kind, fields, anchor, mark, before, parts)


def _tab_of(
    settings: Settings, manifest: Manifest, entry: Listing, number: int, known: Planned | None
) -> tuple[ListingTab, Plan | None]:
    """Return the tab of an entry of the manifest, and its plan if its list is known."""
    service, fitted, plan = entry.list_service, fitted_list(settings, manifest, entry), None
    entries = fitted.snapshot.collections[_COMMANDS]
    parts: Mapping[str, Sequence[str]] = {}
    with_what, slash = "not compared", "/" if service.slash else ""
    if known and isinstance(known.job, ListJob):
        site, listed = replace(known.job.site, entry=entry), known.listed
        job = replace(known.job, settings=settings, manifest=manifest, site=site, fitted=fitted)
        plan = job.plan(listed)
        entries = plan.commands
        parts = {} if job.is_read else renewed(listed.collections[_COMMANDS], entries)
        with_what = compared(plan, str)
    said = (loss_notice(loss, at=service.label).message for loss in fitted.losses)
    texts = _changed_texts(entries, plan.changes if plan else ())
    tab = ListingTab(
        name=service.label,
        rows=[
            _row(
                _COMMANDS, text, f"listing-{number}-{place}", change, parts.get(text[0], ()), slash
            )
            for place, (text, change) in enumerate(texts, 1)
        ],
        losses=[redacted(text.removeprefix(f"{service.label}: ")) for text in said],
        summary=plan_line(plan) if plan else f"Plan: {counted(len(entries), 'command')} to send.",
        compared=redacted(f"{with_what[0].upper()}{with_what[1:]}."),
    )
    return tab, plan


def _changed_texts(
    entries: Iterable[Entry], changes: Iterable[Change]
) -> Iterator[tuple[Text, Change | None]]:
    """Yield the texts of a list as it will be sent, then those that are gone, with changes."""
    changed = {each.after: each for each in changes if not isinstance(each, Delete)}
    yield from ((entry.text, changed.get(entry.text)) for entry in entries)
    yield from ((each.before, each) for each in changes if isinstance(each, Delete))


def _sentence(notice: Notice, words: Words) -> str:
    where = f"{notice.location}: " if notice.location else ""
    hint = in_words(notice.hint, words)
    return f"{where}{notice.message}" + (f" ({hint})" if hint else "")
