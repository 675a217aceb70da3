"""The way from manifests to plans, as plan and apply share it: load, snapshot, make_plan."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError
from commandsync.records.texts import Resource
from commandsync.sync.files import ci_workspace
from commandsync.sync.settings import DEFAULT_MANIFEST, Settings, Site, about, rules_of, sites_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commandsync.client.connection import Connection
    from commandsync.client.driver import SnapshotReading
    from commandsync.diagnostics import Location
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Snapshot

_LONGEST_STDIN = 10 * 1024 * 1024 + 1  # bytes: one more than a manifest may have


@dataclass(frozen=True, slots=True)
class Job:
    """One manifest, the listing it is for, and the way there."""

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
        """Return this job with ids for the entries at some places."""
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
    """What is listed now, what would make it match, and the way there.

    Attributes:
        site: The listing.
        connection: The way there.
        listed: What it shows.
        plan: What to do.
        again: Reads and plans once more.
        replan: Plans another listing; None for a saved plan.
        pinned: Plans once more with ids for the entries at some places; None for a saved plan.
    """

    site: Site
    connection: Connection
    listed: Snapshot
    plan: Plan
    again: Callable[[], Planned]
    replan: Callable[[Snapshot], Plan] | None = None
    pinned: Callable[[Mapping[Location | None, str]], Planned] | None = None


def plan_of(manifest: Manifest, listed: Snapshot, *, site: Site, settings: Settings) -> Plan:
    """Compare a manifest with a listing."""
    from commandsync.plan.plan import Target, make_plan  # noqa: PLC0415 - while answers travel

    plan = make_plan(
        desired=manifest.snapshot,
        listed=listed,
        target=Target(bot=site.bot, base_url=site.address.base_url),
        rules=rules_of(settings, manifest),
        manifest=manifest.paths,
        notices=(*warnings_of(manifest), *site.warnings()),
    )
    return plan.only(settings.only) if settings.only else plan


def load(settings: Settings) -> tuple[Manifest, ...]:
    """Load the manifests that the settings name.

    Raises:
        ManifestError: With all problems of all of them.
    """
    return load_files(settings.files or (DEFAULT_MANIFEST,))


def load_files(paths: Sequence[str]) -> tuple[Manifest, ...]:
    """Load manifests, in CI with no link out of the workspace.

    Raises:
        ManifestError: With all problems of all of them.
    """
    from commandsync.manifest import load_manifests  # noqa: PLC0415 - loads yaml

    return load_manifests(paths, stdin=_stdin, workspace=ci_workspace(os.environ))


def _stdin() -> bytes:
    return sys.stdin.buffer.read(_LONGEST_STDIN)


def warnings_of(manifest: Manifest) -> tuple[Notice, ...]:
    """Return a manifest's warnings as notices."""
    return tuple(Notice(one.message, one.hint, one.location) for one in manifest.warnings)


@contextmanager
def connected(settings: Settings, sites: Sequence[Site]) -> Iterator[list[Connection]]:
    """Open the ways to some services; together they keep to one number of requests in flight."""
    from commandsync.client.connection import Connection  # noqa: PLC0415 - loads requests
    from commandsync.client.gate import Gate  # noqa: PLC0415 - as above

    gate = Gate(settings.concurrency)
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                Connection(
                    site.address,
                    site.token,
                    timeout=settings.timeout,
                    retries=settings.retries,
                    concurrency=settings.concurrency,
                    gate=gate,
                )
            )
            for site in sites
        ]


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Decide where each manifest goes, and open the way there."""
    sites = sites_of(settings, manifests)
    with connected(settings, sites) as connections:
        yield [
            Job(manifest, site, settings, connection)
            for manifest, site, connection in zip(manifests, sites, connections, strict=True)
        ]


def plan_all(some: Sequence[Job]) -> list[Planned | CommandsyncError]:
    """Read every listing at the same time and plan each; one that fails leaves its error."""
    readings = [job.start_reading() for job in some]
    import commandsync.plan.plan  # noqa: PLC0415 - loads while the answers travel, and pydantic
    import commandsync.records.models  # noqa: F401, PLC0415 - as above

    planned: list[Planned | CommandsyncError] = []
    for job, reading in zip(some, readings, strict=True):
        try:
            planned.append(_planned(job, reading))
        except CommandsyncError as error:
            planned.append(about(error, job.manifest.path, of=len(some)))
    return planned


def read_listing(
    settings: Settings, site: Site, scope: Sequence[Resource] = tuple(Resource)
) -> Snapshot:
    """Read what is listed, for a run that needs nothing more.

    Raises:
        ListingError: It cannot be read.
    """
    with connected(settings, [site]) as (connection,):
        from commandsync.client.driver import SnapshotReading  # noqa: PLC0415 - loads requests

        return SnapshotReading(connection, site.bot, scope).result()


def _planned(job: Job, reading: SnapshotReading) -> Planned:
    return _compared(job, reading.result())


def _compared(job: Job, listed: Snapshot) -> Planned:
    return Planned(
        site=job.site,
        connection=job.connection,
        listed=listed,
        plan=job.plan(listed),
        again=lambda: _planned(job, job.start_reading()),
        replan=job.plan,
        pinned=lambda pins: _compared(job.pinned(pins), listed),
    )
