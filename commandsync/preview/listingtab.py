"""The tabs of a preview: each other listing of a manifest as it will be, with the changes marked.

`read_lists` reads the lists, or gets those that were sent last, when a preview begins. `tab_of`
plans a list again for each text of the manifest, exactly as a run does, and puts what would be sent
into rows. A list of which nothing is known is shown without marks.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from commandsync.api.credentials import redacted
from commandsync.errors import CommandsyncError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing
from commandsync.pages.botpage import ListingTab, Mark, Row
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import Plan
from commandsync.records.losses import loss_notice
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text
from commandsync.report.summary import compared, counted, plan_line
from commandsync.sync.job import Planned
from commandsync.sync.listcontent import fitted_list, renewed
from commandsync.sync.lists import ListJob, listing_jobs
from commandsync.sync.settings import Settings

_COMMANDS = Resource.COMMAND


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
    known = [each for each in plans if each.plan.listing and each.plan.listing.whole]
    return {each.job.identity: each for each in known if each.plan.known}


def tab_of(
    settings: Settings, manifest: Manifest, entry: Listing, number: int, known: Planned | None
) -> tuple[ListingTab, Plan | None]:
    """Return the tab of an entry of the manifest, and its plan if its list is known."""
    service, fitted, plan = entry.list_service, fitted_list(settings, manifest, entry), None
    entries = fitted.snapshot.collections[_COMMANDS]
    parts: Mapping[str, Sequence[str]] = {}
    with_what = "not compared"
    if known and isinstance(known.job, ListJob):
        site, listed = replace(known.job.site, entry=entry), known.listed
        job = replace(known.job, settings=settings, manifest=manifest, site=site, fitted=fitted)
        plan = job.plan(listed)
        entries = job.wanted(plan, listed).collections[_COMMANDS]
        parts = {} if job.is_read else renewed(listed.collections[_COMMANDS], entries)
        with_what = compared(plan.listing, str) if plan.listing else with_what
    said = (loss_notice(loss, at=service.label).message for loss in fitted.losses)
    rows = _rows(entries, plan.changes if plan else (), parts, slash="/" if service.slash else "")
    tab = ListingTab(
        name=service.label,
        rows=[
            replace(row, anchor=f"listing-{number}-{place}") for place, row in enumerate(rows, 1)
        ],
        losses=[redacted(text.removeprefix(f"{service.label}: ")) for text in said],
        summary=plan_line(plan) if plan else f"Plan: {counted(len(entries), 'command')} to send.",
        compared=redacted(f"{with_what[0].upper()}{with_what[1:]}."),
    )
    return tab, plan


def _rows(
    entries: Sequence[Entry],
    changes: Sequence[Change],
    parts: Mapping[str, Sequence[str]],
    *,
    slash: str,
) -> Iterator[Row]:
    """Yield the rows of a list as it will be sent, then those of commands that are gone."""
    changed = {each.after: each for each in changes if not isinstance(each, Delete)}
    for entry in entries:
        mark, before = marked(changed.get(entry.text))
        own = parts.get(entry.name, ())
        mark = Mark.EDITED if own and mark is None else mark
        before = _slashed(before, slash)
        yield Row(_COMMANDS, _slashed(fields_of(entry.text), slash), "", mark, before, own)
    for change in changes:
        if isinstance(change, Delete):
            yield Row(_COMMANDS, _slashed(fields_of(change.before), slash), "", Mark.GONE)


def _slashed(fields: Mapping[str, str], slash: str) -> dict[str, str]:
    name = _COMMANDS.fields[0]
    return {key: f"{slash}{text}" if key == name else text for key, text in fields.items()}


def fields_of(text: Text) -> dict[str, str]:
    """Return the fields of a record as they are shown: without the token."""
    return {field: redacted(value) for field, value in text._asdict().items()}


def marked(change: Add | Edit | Replace | None) -> tuple[Mark | None, dict[str, str]]:
    """Return the mark of a record, and the listed texts of its fields that differ."""
    if change is None:
        return None, {}
    if isinstance(change, Add):
        return Mark.NEW, {}
    before = {field.field: redacted(field.old) for field in change.fields}
    return Mark.EDITED if change.before[0] == change.after[0] else Mark.RENAMED, before
