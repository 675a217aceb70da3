"""A manifest -> the page that an apply of it would leave, with the changes marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commandsync.api.redaction import redacted
from commandsync.diagnostics import Notice, Problem
from commandsync.manifest import Manifest
from commandsync.pages.botpage import BotPage, ListingTab, Preview
from commandsync.pages.rows import Mark, Row
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.plan import ExpectedRecord, Plan, expected_listing
from commandsync.preview.baseline import Baseline, bot_named
from commandsync.records.losses import loss_notice
from commandsync.records.texts import Resource, Text
from commandsync.report.scheduled import in_quotes, scheduled
from commandsync.report.summary import plan_line, remark_on
from commandsync.sync.job import plan_manifest
from commandsync.sync.lists import fitted_list
from commandsync.sync.objects import with_objects
from commandsync.sync.settings import Settings, check_notices, read_clock


@dataclass(frozen=True, slots=True)
class PreviewState:
    """What a preview shows for one manifest."""

    plan: Plan  # the plan from the listing to the manifest; apply may refuse it
    notices: tuple[Notice, ...]  # what to know about it: first why apply would refuse it
    page: BotPage


def state_of(settings: Settings, manifest: Manifest, baseline: Baseline) -> PreviewState:
    """Return what a manifest changes, and its page; raises `ManifestError` where it is strict."""
    settings = replace(settings, now=read_clock())
    plan = plan_manifest(manifest, baseline.listed, site=baseline.site, settings=settings)
    check_notices(plan.notices, settings)
    notices = tuple(_notices(plan, manifest, baseline))
    rows = {
        resource: [*_rows(resource, records, baseline, plan)]
        for resource, records in expected_listing(plan, baseline.listed).items()
    }
    sentences = [
        *map(_sentence, notices),
        *scheduled(plan, in_quotes),
        *(  # their mark does not say why they go
            f"The {change.resource} {in_quotes(change.name)} is deleted: {remark_on(change)}."
            for change in plan.changes
            if change.ends_record
        ),
    ]
    refusal = sentences.pop(0) if plan.refusal else ""
    preview = Preview(
        summary=plan_line(plan),
        refusal=redacted(refusal),
        notices=tuple(map(redacted, sentences)),
    )
    listings = tuple(_listings(settings, with_objects(manifest)))
    page = BotPage(bot=baseline.bot, rows=rows, preview=preview, listings=listings)
    return PreviewState(plan, notices, page)


def _listings(settings: Settings, manifest: Manifest) -> Iterator[ListingTab]:
    for number, listing in enumerate(manifest.listings, 1):
        service, rows = listing.list_service, []
        sent = fitted_list(settings, manifest, service)
        for kind, entries in sent.snapshot.collections.items():
            for place, entry in enumerate(entries, 1):
                record = _fields(entry.text)
                if service.slash:
                    record[kind.fields[0]] = f"/{record[kind.fields[0]]}"
                rows.append(Row(kind, record, f"listing-{number}-{place}"))
        said = (loss_notice(loss, at=service.name).message for loss in sent.losses)
        losses = [redacted(text.removeprefix(f"{service.name}: ")) for text in said]
        yield ListingTab(name=service.name, rows=rows, losses=losses)


def page_with(problems: Sequence[Problem], state: PreviewState | None, *, path: str) -> BotPage:
    """Return the page of the last valid state, if any, with the problems of a later manifest."""
    page = state.page if state else BotPage(bot=bot_named(path), rows={})
    return replace(page, preview=replace(page.preview or Preview(), problems=tuple(problems)))


def _notices(plan: Plan, manifest: Manifest, baseline: Baseline) -> Iterator[Notice]:
    if refusal := plan.refusal:
        yield Notice(f"apply would refuse this plan: it {refusal.message}", refusal.hint)
    yield from plan.notices
    if baseline.site is None:
        yield Notice("no listing was read: everything is shown as new")
    if (manifest.bot, manifest.base_url) != baseline.destination:
        message = "bot: or base_url: has changed, and the page still shows the previous listing"
        yield Notice(message, "start the preview again")


def _fields(text: Text) -> dict[str, object]:
    """Return the fields of a record as they are shown: without the token."""
    return {field: redacted(value) for field, value in text._asdict().items()}


def _rows(
    resource: Resource, records: Sequence[ExpectedRecord], baseline: Baseline, plan: Plan
) -> Iterator[Row]:
    """Yield the rows of a kind as it will be listed, then those of records that are gone."""
    listed = baseline.listed.collections[resource]
    for number, record in enumerate(records, 1):
        fields = _fields(record.text)
        anchor = f"new-{resource}-{number}"
        if record.position is not None:
            fields["uses"] = listed[record.position].uses
            anchor = f"{resource}-{record.position + 1}"
        yield Row(resource, fields, anchor, *_marked(record.change))
    deletes = (change for change in plan.changes if isinstance(change, Delete))
    gone = [change for change in deletes if change.resource is resource]
    for number, change in enumerate(gone, 1):
        yield Row(resource, _fields(change.before), f"gone-{resource}-{number}", Mark.GONE)


def _marked(change: Add | Edit | Replace | None) -> tuple[Mark | None, dict[str, str]]:
    """Return the mark of a record, and the listed text of what differs."""
    if change is None:
        return None, {}
    if isinstance(change, Add):
        return Mark.NEW, {}
    before = {field.field: redacted(field.old) for field in change.fields}
    return Mark.EDITED if change.before[0] == change.after[0] else Mark.RENAMED, before


def _sentence(notice: Notice) -> str:
    where = f"{notice.location}: " if notice.location else ""
    hint = f" ({notice.hint})" if notice.hint else ""
    return f"{where}{notice.message}{hint}"
