"""The preview of a manifest: the page that an apply of it would leave, with the changes marked.

A preview begins with a `Baseline`: the bot as it is listed now, or a new one without a listing.
`state_of` plans the manifest against it, and puts the records that an apply would leave into a
page. `write_folder` writes that page as files that open from the disk.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commandsync.api.credentials import redacted
from commandsync.api.operations import get_bot
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.diagnostics import LIBRARY, Do, Notice, Problem, Words, in_words
from commandsync.errors import FileError, ListingError, UsageError
from commandsync.manifest import Manifest
from commandsync.pages.botpage import BotPage, ListingTab, Mark, Preview, Row
from commandsync.plan.changes import Delete
from commandsync.plan.plan import ExpectedRecord, Plan, expected_listing
from commandsync.preview.listingtab import fields_of, marked, read_lists, tab_of
from commandsync.records.models import Bot, Profile
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report.change import in_quotes, scheduled
from commandsync.report.summary import plan_line, remark_on
from commandsync.sync.destinations import site_of
from commandsync.sync.files import check_target, reason, refuse_token, write_file
from commandsync.sync.job import Planned, connected, plan_manifest
from commandsync.sync.objects import with_objects
from commandsync.sync.settings import (
    BASE_URL_VARIABLE,
    Settings,
    Site,
    check_notices,
    load_single,
    read_clock,
)

_OFFLINE = "commandsync preview --offline shows the page without what is listed"
_NOTHING = Snapshot(dict.fromkeys(Resource, ()))


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


def load_one(
    settings: Settings,
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that a preview shows, as `load_single`."""
    problem, hint = "preview shows one manifest", "name one file: commandsync preview PATH"
    return load_single(settings, problem, hint=hint, contents=contents, folders=folders)


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


def _has_page(settings: Settings, manifest: Manifest) -> bool:
    """Whether the page of a manifest is shown, beside its other listings."""
    is_named = settings.base_url and settings.base_url_from != BASE_URL_VARIABLE
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
    """What a preview shows for one manifest."""

    plan: Plan  # the plan from the listing to the manifest; apply may refuse it
    notices: tuple[Notice, ...]  # what to know about it: first why apply would refuse it
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
    """Return what a manifest changes, and its page, with hints in the words of a program.

    Raises `ManifestError` where it is strict.
    """
    settings = replace(settings, now=read_clock())
    plan = plan_manifest(manifest, baseline.listed, site=baseline.site, settings=settings)
    check_notices(plan.notices, settings)
    with_page, complete = _has_page(settings, manifest), with_objects(manifest)
    lists = [
        tab_of(settings, complete, entry, number, baseline.lists.get(entry.identity(manifest.bot)))
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
    if refusal := plan.refusal:
        yield Notice(f"apply would refuse this plan: it {refusal.message}", refusal.hint)
    for tab, planned in lists:
        if planned and (refusal := planned.refusal):
            message = f"{tab.name}: apply would refuse this plan: it {refusal.message}"
            yield Notice(message, refusal.hint)
    yield from (*baseline.notices, *plan.notices)
    if baseline.site is None and with_page:
        yield Notice("no listing was read: everything is shown as new")
    if (manifest.bot, manifest.base_url) != baseline.destination:
        message = "bot: or base_url: has changed, and the page still shows the previous listing"
        yield Notice(message, "start the preview again")


def _rows(
    resource: Resource, records: Sequence[ExpectedRecord], baseline: Baseline, plan: Plan
) -> Iterator[Row]:
    """Yield the rows of a kind as it will be listed, then those of records that are gone."""
    listed = baseline.listed.collections[resource]
    for number, record in enumerate(records, 1):
        fields: dict[str, object] = {**fields_of(record.text)}
        anchor = f"new-{resource}-{number}"
        if record.position is not None:
            fields["uses"] = listed[record.position].uses
            anchor = f"{resource}-{record.position + 1}"
        yield Row(resource, fields, anchor, *marked(record.change))
    deletes = (change for change in plan.changes if isinstance(change, Delete))
    gone = [change for change in deletes if change.resource is resource]
    for number, change in enumerate(gone, 1):
        yield Row(resource, fields_of(change.before), f"gone-{resource}-{number}", Mark.GONE)


def _sentence(notice: Notice, words: Words) -> str:
    where = f"{notice.location}: " if notice.location else ""
    hint = in_words(notice.hint, words)
    return f"{where}{notice.message}" + (f" ({hint})" if hint else "")


_PAGE = "index.html"
_GENERATOR = b'<meta name="generator" content="commandsync preview">'
_HEAD = 4_000  # bytes at the beginning of a page that tell who made it


def check_folder(folder: str, *, force: bool, names: Iterable[str] = (_PAGE,)) -> None:
    """Check that a preview may be written into a folder, as far as that is known beforehand.

    An earlier preview is replaced. Files of somebody else are replaced only with `force`: else it
    raises `FileError`, as for a file that cannot be written.
    """
    page = Path(folder, _PAGE)
    check_target(str(page), force=True, new_folder=True)  # a pipe would be read for ever
    force = force or _is_preview(page)
    for name in names:
        check_target(str(Path(folder, name)), force=force, new_folder=True)


def write_folder(folder: str, files: Mapping[str, bytes], *, force: bool) -> str:
    """Write a preview into a folder, created if it is missing; return the page's path.

    Each file is written whole or not at all, and the page after what it loads. Raises `FileError`,
    as `check_folder` does.
    """
    check_folder(folder, force=force, names=files)
    for name, content in files.items():
        refuse_token(str(Path(folder, name)), [content.decode()])
    for name in sorted(files, key=lambda name: name == _PAGE):
        text = files[name].decode()
        write_file(str(Path(folder, name)), text, force=True, new_folder=True)
    return str(Path(folder, _PAGE))


def _is_preview(page: Path) -> bool:
    """Whether an earlier run has written a page."""
    try:
        with page.open("rb") as file:
            return _GENERATOR in file.read(_HEAD)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileError(
            f"cannot read {page}: {reason(error)}", hint="name another folder"
        ) from error
