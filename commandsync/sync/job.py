"""One listing of a run: connected, read, planned and written.

`Planned` is a job, its listing as it was read, and the plan. A job is of one of four kinds, which
plan and write in their own way: the records of a manifest's page (`RecordJob`), the commands of an
application at Discord (`registrations.RegistrationJob`), a list that is sent as a whole
(`lists.ListJob`), and a saved plan (`selection.SavedJob`). `selection.jobs` finds the jobs of a
run, and `apply` has the order of the steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, assert_never, cast

from commandsync.api.operations import Operation
from commandsync.client.driver import start_reading
from commandsync.client.threads import Gate
from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import OF_MANIFEST, Resource
from commandsync.services.service import PAGE, RecordService
from commandsync.sync.settings import CallProgress, Settings, Site, check_notices, rules_of
from commandsync.sync.sites import bot_of

if TYPE_CHECKING:
    from commandsync.api.policy import Health
    from commandsync.apply.outcomes import Result
    from commandsync.apply.run import Steps
    from commandsync.client.connection import Connection, OnWait
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan, RecordPlan
    from commandsync.sync.history import History


@dataclass(frozen=True, slots=True)
class Job(ABC):
    """One listing of a run: its bot and token, the settings, and a connection."""

    site: Site
    settings: Settings
    connection: Connection

    @property
    @abstractmethod
    def scope(self) -> Sequence[Resource]:
        """The collections that are managed."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The path of the manifest."""

    @property
    def name(self) -> str:
        """The name of the listing among several; empty for the only one."""
        return ""

    @property
    def identity(self) -> str:
        """The identity of the listing, which no spelling changes."""
        return self.site.identity

    @property
    def is_read(self) -> bool:
        """Whether the listing is read; a list that the service does not return is not."""
        return True

    @property
    def versions(self) -> History | None:
        """The versions of the manifest, of a run that takes away no others' records."""
        return None

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the managed collections; the returned function waits for them."""
        return start_reading(self.connection, self.site.bot, self.scope)

    def start_planning(self) -> Callable[[], Planned]:
        """Start to read the listing; the returned function waits for it, and plans."""
        reading = self.start_reading()
        return lambda: self.planned(reading())

    def other_notices(self, planned: Planned) -> Sequence[Notice]:  # noqa: ARG002 - of some services
        """Read other listings, and return the warnings about them."""
        return ()

    def planned(self, listed: Snapshot) -> Planned:
        """Plan for a listing as it was read.

        Raises `ManifestError` if the settings are strict, and the plan has warnings.
        """
        plan = self.plan(listed)
        check_notices(plan.notices, self.settings)
        return Planned(self, listed, plan)

    @abstractmethod
    def plan(self, listed: Snapshot) -> Plan:
        """Compare the wanted records with a listing."""

    def pinned(self, pins: Mapping[Location | None, str]) -> Job:  # noqa: ARG002 - of records alone
        """Return this job with ids for the entries at some locations."""
        return self

    def request(self, planned: Planned) -> Operation[None] | None:  # noqa: ARG002 - of a whole list
        """Return the request that replaces a whole list, without the token; None for a page."""
        return None

    def shown(self, planned: Planned) -> list[dict[str, object]]:
        """Return the requests of an apply as keys of a JSON document: without the token.

        An answer that is missing, or an error, may lead to others.
        """
        return [
            {
                "listing": self.name or self.site.name,
                "method": operation.method,
                "url": self.site.address.api + operation.path,
                "authorization": self.site.service.authorization or None,
                "body": operation.body,
            }
            for operation in _writes(planned)
        ]

    def steps(self, planned: Planned, *, health: Health, unordered: bool = False) -> Steps[Result]:
        """Return the steps that carry out a plan of records; they plan again to verify."""
        from commandsync.apply.run import apply  # noqa: PLC0415 - no plan needs it
        from commandsync.plan.plan import RecordPlan  # noqa: PLC0415 - as above

        plan = planned.plan
        assert isinstance(plan, RecordPlan)  # noqa: S101 - a list has steps of its own
        replan = cast("Callable[[Snapshot], RecordPlan]", self.plan)
        return apply(
            plan,
            service=self.site.records,
            listed=planned.listed,
            health=health,
            replan=None if plan.saved else replan,  # a saved plan verifies its own changes
            concurrency=self.settings.concurrency,
            unordered=unordered,
        )


class Planned(NamedTuple):
    """A job with its listing as it was read, and the plan for that."""

    job: Job
    listed: Snapshot
    plan: Plan


@dataclass(frozen=True, slots=True)
class RecordJob(Job):
    """The page of a manifest, whose records have ids."""

    manifest: Manifest
    name: str = ""  # of the listing among several; empty for the only one
    versions: History | None = None

    @property
    def scope(self) -> Sequence[Resource]:
        """The collections of the manifest."""
        return self.manifest.snapshot.scope

    @property
    def path(self) -> str:
        """The path of the manifest."""
        return self.manifest.path

    def plan(self, listed: Snapshot) -> RecordPlan:
        """Compare the manifest with a listing."""
        plan = plan_manifest(self.manifest, listed, site=self.site, settings=self.settings)
        return replace(plan, label=self.name) if self.name else plan

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


def _writes(planned: Planned) -> Iterator[Operation[str]]:
    """Yield the requests that write the records of a plan, in the order of an apply."""
    from commandsync.plan.changes import Add, Delete, Edit, Replace  # noqa: PLC0415 - as above

    job, listed, plan = planned
    service, bot = job.site.records, plan.target.bot
    entries = {entry.id: entry for kind in plan.scope for entry in listed.collections[kind]}
    actions = (Edit, Add, Replace, Delete)
    ordered = sorted(plan.changes, key=lambda change: actions.index(type(change)))
    for change in sorted(ordered, key=lambda change: not getattr(change, "first", "")):
        match change:
            case Edit(id=record):
                yield service.edit(bot, change.resource, entries[record], change.after)
            case Add(after=after):
                yield service.add(bot, change.resource, after)
            case Replace(id=record, after=after):
                yield service.add(bot, change.resource, after)
                yield service.delete(bot, change.resource, record)
            case Delete(id=record):
                yield service.delete(bot, change.resource, record)
            case _:
                assert_never(change)


def calls_of(settings: Settings, site: Site) -> OnWait:
    """Return a function that passes the calls of a connection on as progress."""
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
    settings: Settings, site: Site, scope: Sequence[Resource] = OF_MANIFEST
) -> Snapshot:
    """Read a listing, for a run that needs no plan; raises `ListingError`."""
    with connected(settings, [site]) as (connection,):
        return start_reading(connection, site.bot, scope)()


def plan_manifest(
    manifest: Manifest,
    listed: Snapshot,
    *,
    settings: Settings,
    site: Site | None = None,
    notices: Sequence[Notice] = (),
) -> RecordPlan:
    """Compare a manifest with a listing, or without a site with records of another source."""
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
