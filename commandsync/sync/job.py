"""From manifests to plans: connect, read, plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from commandsync.api.operations import Operation
from commandsync.client.driver import start_reading
from commandsync.client.threads import Gate
from commandsync.diagnostics import Location, Notice
from commandsync.errors import CommandsyncError
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import PAGE, RecordService
from commandsync.sync.loading import check_notices
from commandsync.sync.progress import CallProgress
from commandsync.sync.settings import Settings, bot_of, rules_of
from commandsync.sync.site import Site

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.apply.run import Steps
    from commandsync.client.connection import Connection, OnWait
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.history import History


@dataclass(frozen=True, slots=True)
class Job:
    """One manifest with its page or another listing, the settings, and a connection.

    `name` is what the listing is called among several; empty for the only one.
    """

    manifest: Manifest
    site: Site
    settings: Settings
    connection: Connection
    name: str = ""

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the managed collections; what is returned waits for them."""
        return start_reading(self.connection, self.site.bot, self.manifest.snapshot.scope)

    def read(self) -> Planned:
        """Read the managed collections, and plan; raises as `planned`, and `ListingError`."""
        return self.planned(self.start_reading()())

    def planned(self, listed: Snapshot) -> Planned:
        """Plan for a listing as it was read.

        Raises `ManifestError` if the settings are strict, and the plan has warnings.
        """
        plan = self.plan(listed)
        check_notices(plan.notices, self.settings)
        planned = Planned(self.site, self.connection, listed, plan, self.read, self)
        if not (self.settings.owned and self.site.service is PAGE):
            return planned
        from commandsync.sync.history import History  # noqa: PLC0415 - seldom needed

        versions = History(self.manifest, self.site.bot, self.site.address.base_url)
        return planned._replace(versions=versions)

    def plan(self, listed: Snapshot) -> Plan:
        """Compare the manifest with a listing."""
        plan = plan_manifest(self.manifest, listed, site=self.site, settings=self.settings)
        if not self.name:
            return plan
        from commandsync.plan.plan import PlannedListing  # noqa: PLC0415 - seldom needed

        return replace(plan, listing=PlannedListing(name=self.name))

    def request(self, planned: Planned) -> Operation[None] | None:  # noqa: ARG002 - of a whole list
        """Return the request that replaces a whole list, without the token; None for a page."""
        return None

    def replacement(self, planned: Planned) -> Steps[Result] | None:  # noqa: ARG002 - as above
        """Return the steps that replace a whole list; None for a page."""
        return None

    def pinned(self, pins: Mapping[Location | None, str]) -> Job:
        """Return this job with ids for the entries at some locations."""
        collections = {
            resource: tuple(
                replace(entry, id=pins.get(entry.location, entry.id)) for entry in entries
            )
            for resource, entries in self.manifest.snapshot.collections.items()
        }
        snapshot = self.manifest.snapshot._replace(collections=collections)
        return replace(self, manifest=replace(self.manifest, snapshot=snapshot))


class Planned(NamedTuple):
    """A plan, the listing it was made from, and the connection to that."""

    site: Site  # the listing's service, bot and token
    connection: Connection
    listed: Snapshot
    plan: Plan
    read: Callable[[], Planned]  # reads the listing again, and plans; raises as `Job.read`
    job: Job | None = None  # what planned from a manifest; None for a saved plan
    versions: History | None = None  # of a run that takes away no others' records


def plan_manifest(
    manifest: Manifest,
    listed: Snapshot,
    *,
    settings: Settings,
    site: Site | None = None,
    notices: Sequence[Notice] = (),
) -> Plan:
    """Compare a manifest with a listing; without a site, with what stands for one."""
    from commandsync.plan.plan import Target, make_plan  # noqa: PLC0415 - while answers travel

    target = (
        Target(
            bot=site.bot,
            base_url=site.address.base_url,
            abilities=site.service.abilities,
            bot_from=site.bot_from,
            base_url_from=site.base_url_from,
        )
        if site
        else Target(bot=bot_of(settings, manifest)[0], base_url="", abilities=PAGE.abilities)
    )
    warnings = (Notice(each.message, each.hint, each.location) for each in manifest.warnings)
    plan = make_plan(
        desired=manifest.snapshot,
        listed=listed,
        target=target,
        rules=rules_of(settings, manifest),
        now=settings.now,
        manifest=manifest.paths,
        notices=(*notices, *warnings),
    )
    if settings.only:
        plan = plan.only(settings.only)
    warned = site.warnings(plan.changes) if site and isinstance(site.service, RecordService) else ()
    return replace(plan, notices=(*warned, *plan.notices)) if warned else plan


def calls_of(settings: Settings, site: Site) -> OnWait:
    """Return what passes the calls of a connection on as progress."""
    return lambda operation, step: settings.on_progress(CallProgress(site, operation, step))


@contextmanager
def connected(settings: Settings, sites: Sequence[Site]) -> Iterator[list[Connection]]:
    """Open connections to services, with one common limit of requests in flight at pages.

    A service that takes whole lists has a limit of its own: its 429 stops nothing else.
    """
    from commandsync.client.connection import Connection  # noqa: PLC0415 - loads requests

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
                gate=gate if site.service is PAGE else Gate(settings.concurrency),
                service=site.service,
            )
            connection.on_wait = calls_of(settings, site)
            connections.append(opened.enter_context(connection))
        yield connections


def read_listing(
    settings: Settings, site: Site, scope: Sequence[Resource] = tuple(Resource)
) -> Snapshot:
    """Read a listing, for a run that needs no plan; raises `ListingError`."""
    with connected(settings, [site]) as (connection,):
        return start_reading(connection, site.bot, scope)()


def plans_in(planned: Sequence[Planned | CommandsyncError]) -> list[Plan | CommandsyncError]:
    """Return the plans, and the errors in place of plans."""
    return [item.plan if isinstance(item, Planned) else item for item in planned]


def split(
    plans: Sequence[Plan | CommandsyncError],
) -> tuple[tuple[Plan, ...], tuple[CommandsyncError, ...]]:
    """Return the plans, and apart from them the errors."""
    errors = tuple(plan for plan in plans if isinstance(plan, CommandsyncError))
    return tuple(plan for plan in plans if not isinstance(plan, CommandsyncError)), errors
