"""From manifests to plans: load, connect, read, plan."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice, Problem
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.records.texts import Resource
from commandsync.sync import DEFAULT_MANIFEST
from commandsync.sync.files import ci_workspace
from commandsync.sync.settings import Settings, about, rules_of, sites_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commandsync.client.connection import Connection, OnWait
    from commandsync.client.driver import SnapshotReading
    from commandsync.diagnostics import Location
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Snapshot
    from commandsync.sync.site import Site

_LONGEST_STDIN = 10 * 1024 * 1024 + 1  # bytes: one more than a manifest may have


@dataclass(frozen=True, slots=True)
class Job:
    """One manifest with its listing, the settings, and a connection."""

    manifest: Manifest
    site: Site
    settings: Settings
    connection: Connection

    def start_reading(self) -> SnapshotReading:
        """Start to read the managed collections."""
        from commandsync.client.driver import SnapshotReading  # noqa: PLC0415 - loads requests

        return SnapshotReading(self.connection, self.site.bot, self.manifest.snapshot.scope)

    def plan(self, listed: Snapshot) -> Plan:
        """Compare the manifest with a listing."""
        return plan_of(self.manifest, listed, site=self.site, settings=self.settings)

    def pinned(self, pins: Mapping[Location | None, str]) -> Job:
        """Return this job with ids for the entries at some locations."""
        collections = {
            resource: tuple(
                replace(entry, id=pins.get(entry.location, entry.id)) for entry in entries
            )
            for resource, entries in self.manifest.snapshot.collections.items()
        }
        snapshot = replace(self.manifest.snapshot, collections=collections)
        return replace(self, manifest=replace(self.manifest, snapshot=snapshot))


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and the listing it was made from.

    `again` reads and plans again. `replan` plans for another listing, and `pinned` with ids for the
    entries at some locations; both are None for a saved plan.
    """

    site: Site
    connection: Connection
    listed: Snapshot
    plan: Plan
    again: Callable[[], Planned]
    replan: Callable[[Snapshot], Plan] | None = None
    pinned: Callable[[Mapping[Location | None, str]], Planned] | None = None


def plan_of(
    manifest: Manifest,
    listed: Snapshot,
    *,
    settings: Settings,
    site: Site | None = None,
    notices: Sequence[Notice] = (),
) -> Plan:
    """Compare a manifest with a listing; without a site, with what stands for one."""
    from commandsync.plan.plan import Target, make_plan  # noqa: PLC0415 - while answers travel

    bot, base_url = (
        (site.bot, site.address.base_url) if site else (settings.bot or manifest.bot, "")
    )
    warnings = (Notice(each.message, each.hint, each.location) for each in manifest.warnings)
    plan = make_plan(
        desired=manifest.snapshot,
        listed=listed,
        target=Target(bot=bot, base_url=base_url),
        rules=rules_of(settings, manifest),
        now=settings.now,
        manifest=manifest.paths,
        notices=(*notices, *warnings, *(site.warnings() if site else ())),
    )
    return plan.only(settings.only) if settings.only else plan


def load(
    settings: Settings,
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> tuple[Manifest, ...]:
    """Load the manifests that the settings name.

    `contents` and `folders` are as for `load_manifests`.

    Raises:
        ManifestError: As `load_files`; if the settings are strict, also with all warnings.
    """
    from commandsync.sync.progress import FilesRead  # noqa: PLC0415 - as late as the loading

    start = monotonic()
    files = settings.files or (DEFAULT_MANIFEST,)
    manifests = load_files(files, contents=contents, folders=folders)
    paths = [path for manifest in manifests for path in manifest.paths]
    settings.on_progress(FilesRead(paths, manifests, monotonic() - start))
    if settings.strict:
        _refuse([warning for manifest in manifests for warning in manifest.warnings])
    return manifests


def strict_plan(plan: Plan, settings: Settings) -> Plan:
    """Return a plan, before anything is written.

    Raises:
        ManifestError: As `check_notices`.
    """
    check_notices(plan.notices, settings)
    return plan


def check_notices(notices: Sequence[Notice], settings: Settings) -> None:
    """Refuse warnings about a manifest's entries if the settings are strict.

    Raises:
        ManifestError: They are, and there is one.
    """
    if settings.strict:
        placed = [(notice.location, notice) for notice in notices]
        _refuse([Problem(at, each.message, each.hint) for at, each in placed if at])


def _refuse(warnings: Sequence[Problem]) -> None:
    if warnings:
        error = ManifestError(warnings)
        error.hint = "with --strict, a warning about the manifest is an error"
        raise error


def load_files(
    paths: Sequence[str],
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> tuple[Manifest, ...]:
    """Load manifests; in CI, no link out of the workspace is followed.

    `contents` and `folders` are as for `load_manifests`.

    Raises:
        ManifestError: With all problems of all of them.
    """
    from commandsync.manifest import load_manifests  # noqa: PLC0415 - loads yaml

    return load_manifests(
        paths,
        stdin=lambda: sys.stdin.buffer.read(_LONGEST_STDIN),
        workspace=ci_workspace(os.environ),
        contents=contents,
        folders=folders,
    )


def calls_of(settings: Settings, site: Site) -> OnWait:
    """Return what passes the calls of a connection on as progress."""
    from commandsync.sync.progress import CallProgress  # noqa: PLC0415 - loads with the connection

    return lambda operation, step: settings.on_progress(CallProgress(site, operation, step))


def load_to_edit(settings: Settings, contents: dict[str, bytes], *, what: str) -> Manifest:
    """Load the one manifest that is edited in place; its files go into `contents`.

    Raises:
        ManifestError: It is invalid.
        UsageError: It is standard input, or there are several; `what` is what edits it.
    """
    hint = "name its file with -f"
    if "-" in settings.files:
        raise UsageError(f"{what} edits the manifest in place", hint=hint)
    manifests = load(settings, contents=contents)
    if len(manifests) != 1:
        raise UsageError(f"{what} works on one manifest", hint=hint)
    return manifests[0]


@contextmanager
def connected(settings: Settings, sites: Sequence[Site]) -> Iterator[list[Connection]]:
    """Open connections to services, with one common limit of requests in flight."""
    from commandsync.client.connection import Connection  # noqa: PLC0415 - loads requests
    from commandsync.client.gate import Gate  # noqa: PLC0415 - as above

    gate = Gate(settings.concurrency)
    with ExitStack() as opened:
        connections = []
        for site in sites:
            connection = Connection(
                site.address,
                site.token,
                timeout=settings.timeout,
                retries=settings.retries,
                concurrency=settings.concurrency,
                gate=gate,
            )
            connection.on_wait = calls_of(settings, site)
            connections.append(opened.enter_context(connection))
        yield connections


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Find the listing of each manifest, and open a connection to it."""
    sites = sites_of(settings, manifests)
    with connected(settings, sites) as connections:
        yield [
            Job(manifest, site, settings, connection)
            for manifest, site, connection in zip(manifests, sites, connections, strict=True)
        ]


def plan_all(opened: Sequence[Job]) -> list[Planned | CommandsyncError]:
    """Read all listings at the same time and plan each; an error takes the place of its plan."""
    readings = [job.start_reading() for job in opened]
    import commandsync.plan.plan  # noqa: PLC0415 - loads pydantic, while the answers travel
    import commandsync.records.models  # noqa: F401, PLC0415 - as above

    planned: list[Planned | CommandsyncError] = []
    for job, reading in zip(opened, readings, strict=True):
        try:
            planned.append(_planned(job, reading.result()))
        except CommandsyncError as error:
            planned.append(about(error, job.manifest.path, of=len(opened)))
    return planned


def read_listing(
    settings: Settings, site: Site, scope: Sequence[Resource] = tuple(Resource)
) -> Snapshot:
    """Read a listing, for a run that needs no plan; raises `ListingError`."""
    with connected(settings, [site]) as (connection,):
        from commandsync.client.driver import SnapshotReading  # noqa: PLC0415 - loads requests

        return SnapshotReading(connection, site.bot, scope).result()


def plans_of(planned: Sequence[Planned | CommandsyncError]) -> list[Plan | CommandsyncError]:
    """Return the plans, and the errors in place of plans."""
    return [item.plan if isinstance(item, Planned) else item for item in planned]


def split(
    plans: Sequence[Plan | CommandsyncError],
) -> tuple[tuple[Plan, ...], tuple[CommandsyncError, ...]]:
    """Return the plans, and apart from them the errors."""
    errors = tuple(plan for plan in plans if isinstance(plan, CommandsyncError))
    return tuple(plan for plan in plans if not isinstance(plan, CommandsyncError)), errors


def _planned(job: Job, listed: Snapshot) -> Planned:
    return Planned(
        site=job.site,
        connection=job.connection,
        listed=listed,
        plan=strict_plan(job.plan(listed), job.settings),
        again=lambda: _planned(job, job.start_reading().result()),
        replan=job.plan,
        pinned=lambda pins: _planned(job.pinned(pins), listed),
    )
