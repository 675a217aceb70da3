"""The plans of a run: of the listings that it selects, or of one manifest against another.

`jobs` finds the listings of the manifests, the page of each or all that they name, and opens a
connection to each. `plan_jobs` starts to read all of them, and plans each as its answer arrives; an
error takes the place of a plan. An apply reads by its driver, and plans with `plan_read`.
`plan_against` needs no network: it plans as if another manifest were the listing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, UsageError
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.destinations import sites_of
from commandsync.sync.job import Job, Planned, connected, page_job, plan_manifest
from commandsync.sync.settings import Settings, about, check_notices, check_stdin, load_files

if TYPE_CHECKING:
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan, RecordPlan
    from commandsync.sync.listcontent import Memory
    from commandsync.sync.lists import ManifestJob


@contextmanager
def jobs(
    settings: Settings, manifests: Sequence[Manifest], memory: Memory | None = None
) -> Iterator[list[ManifestJob]]:
    """Find the listings of each manifest, and open a connection to each.

    `memory` is as of `listing_jobs`. Raises `CommandsyncError` as `sites_of`, or as `listing_jobs`
    for manifests with `listings:`.
    """
    has_listings = any(manifest.listings or manifest.discord for manifest in manifests)
    if settings.listing or settings.guild or has_listings:
        from commandsync.sync.lists import listing_jobs  # noqa: PLC0415 - seldom needed

        with listing_jobs(settings, manifests, memory) as opened:
            yield opened
        return
    sites = sites_of(settings, manifests)
    with connected(settings, sites) as connections:
        parts = zip(manifests, sites, connections, strict=True)
        yield [page_job(settings, *part) for part in parts]


def plan_jobs(
    opened: Sequence[Job], *, meanwhile: Callable[[], object] = lambda: None
) -> list[Planned | CommandsyncError]:
    """Read all listings at the same time and plan each, as `plan_read`."""
    return plan_read(opened, [job.start_planning() for job in opened], meanwhile=meanwhile)


def plan_read(
    opened: Sequence[Job],
    plannings: Sequence[Callable[[], Planned]],
    *,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Planned | CommandsyncError]:
    """Plan each listing as its reading ends; an error takes the place of its plan.

    `plannings` are the jobs' functions that wait for that, as `Job.start_planning` returns them.
    `meanwhile` loads what is needed afterwards: while the answers travel, as what plans does.
    """
    import commandsync.plan.plan  # noqa: PLC0415 - while the answers travel
    import commandsync.records.models  # noqa: F401, PLC0415 - as above, and loads pydantic

    meanwhile()
    planned: list[Planned | CommandsyncError] = []
    for job, planning in zip(opened, plannings, strict=True):
        try:
            item = planning()
            planned.append(item.with_notices(item.job.other_notices(item)))
        except CommandsyncError as error:
            at = f"{job.path}: {job.name}" if job.name else job.path
            named = about(error, at, of=len(opened))
            planned.append(named.having(listing=job.name) if job.name else named)
    return planned


def plan_against(settings: Settings, manifests: Sequence[Manifest], other: str) -> RecordPlan:
    """Plan as if what is due of another manifest were the listing.

    Raises `ManifestError` if the other one is invalid, and `UsageError` if there is more than one
    manifest on a side, or both are standard input.
    """
    from commandsync.plan.hints import pinned_by_both  # noqa: PLC0415 - no other plan needs it

    check_stdin([other, *settings.files])
    listed = load_files([other])
    if len(manifests) != 1 or len(listed) != 1:
        raise UsageError("a comparison needs one manifest on each side")
    (manifest,), due = manifests, listed[0].snapshot.due(settings.now)
    desired: dict[Resource, tuple[Entry, ...]] = {}
    as_listed: dict[Resource, tuple[Entry, ...]] = {}
    for resource, wanted in manifest.snapshot.collections.items():
        # A collection that the other one does not manage is empty.
        others = due.collections.get(resource, ())
        desired[resource] = pinned_by_both(wanted, others)
        as_listed[resource] = tuple(  # an id is the pin, or the location
            Entry(entry.text, id=entry.id or str(entry.location)) for entry in others
        )
    notices = [Notice(f"this is compared with {other}, and not with the listing")]
    desired_manifest = replace(manifest, snapshot=Snapshot(desired))
    plan = plan_manifest(desired_manifest, Snapshot(as_listed), settings=settings, notices=notices)
    check_notices(plan.notices, settings)
    return plan


def plans_in(planned: Sequence[Planned | CommandsyncError]) -> list[Plan | CommandsyncError]:
    """Return the plans, and the errors in place of plans."""
    return [item.plan if isinstance(item, Planned) else item for item in planned]


def split(
    plans: Sequence[Plan | CommandsyncError],
) -> tuple[tuple[Plan, ...], tuple[CommandsyncError, ...]]:
    """Return the plans, and apart from them the errors."""
    errors = tuple(plan for plan in plans if isinstance(plan, CommandsyncError))
    return tuple(plan for plan in plans if not isinstance(plan, CommandsyncError)), errors
