"""Whole runs of the product on the simulated service: read, plan, apply."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from commandsync.api.operations import Operation, reading
from commandsync.apply.outcomes import Result, Step, StepResult
from commandsync.apply.run import apply
from commandsync.plan.plan import Plan, Target, make_plan
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text
from commandsync.services.service import PAGE
from tests.support.driver import Driver, Moments, to_its_end
from tests.support.listing import Listing
from tests.support.plans import resource_of

BOT = "42"
TARGET = Target(bot=BOT, base_url="https://listing.example", abilities=PAGE.abilities)
EVERYTHING = SyncRules(max_deletes=DeleteLimit(), announcements="mirror")
"""Prunes and mirrors without a limit."""


def command(name: str, description: str = "Does it.", syntax: str = "", category: str = "") -> Text:
    """Return a command's text; its syntax is its name when none is given."""
    return CommandText(name, description, syntax or f"/{name}", category)


def announcement(title: str, description: str = "It is out.") -> Text:
    """Return an announcement's text."""
    return AnnouncementText(title, description)


def wanted(
    commands: Iterable[Text | Entry] | None = None,
    announcements: Iterable[Text | Entry] | None = None,
) -> Snapshot:
    """Return the desired side."""
    given = {Resource.COMMAND: commands, Resource.ANNOUNCEMENT: announcements}
    return Snapshot(
        {
            resource: tuple(one if isinstance(one, Entry) else Entry(one) for one in some)
            for resource, some in given.items()
            if some is not None
        }
    )


def seed(service: Listing, texts: Iterable[Text]) -> None:
    """Put texts on the service as they are."""
    for text in texts:
        service.seed(resource_of(text).collection, [text._asdict()])


def read(driver: Driver, scope: Iterable[Resource]) -> Snapshot:
    """Read the listing; raises as the operations do."""
    return to_its_end(_reading(driver, scope))


def _reading(driver: Driver, scope: Iterable[Resource]) -> Moments[Snapshot]:
    collections = {}
    for resource in scope:
        collections[resource] = yield from driver.calling(reading(BOT, resource))
    return Snapshot(collections)


@dataclass(frozen=True)
class Parts:
    """What a run is made of; others replace parts, to test that a wrong one is caught.

    Attributes:
        planning: Makes the plan.
        applying: Makes the steps.
        bend: Makes another operation of each.
    """

    planning: Callable[..., Plan] = make_plan
    applying: Callable[..., Generator[Step, StepResult, Result]] = apply
    bend: Callable[[Operation[Any]], Operation[Any]] = lambda operation: operation


PRODUCT = Parts()


@dataclass
class Run:
    """One run, as far as it came."""

    driver: Driver
    plan: Plan
    result: Result
    first_request: int = field(default=0)


def sync(
    service: Listing,
    desired: Snapshot,
    *,
    rules: SyncRules = EVERYTHING,
    driver: Driver | None = None,
    concurrency: int = 4,
    unordered: bool = False,
    now: datetime | None = None,
) -> Run:
    """Make the listing match, as `commandsync apply` does it.

    Raises:
        ListingError: The listing cannot be read.
        Killed: The driver was told to.
    """
    driver = driver or Driver(service)
    return to_its_end(
        syncing(driver, desired, rules=rules, concurrency=concurrency, unordered=unordered, now=now)
    )


def syncing(
    driver: Driver,
    desired: Snapshot,
    *,
    rules: SyncRules = EVERYTHING,
    concurrency: int = 4,
    unordered: bool = False,
    parts: Parts = PRODUCT,
    now: datetime | None = None,
) -> Moments[Run]:
    """Make the listing match as `sync` does, letting others come between."""
    first = len(driver.service.requests)
    driver.bend = parts.bend
    listed = yield from _reading(driver, desired.scope)
    sides: dict[str, Any] = {"desired": desired, "target": TARGET, "rules": rules}
    sides |= {} if now is None else {"now": now}
    plan = parts.planning(listed=listed, **sides)
    result = yield from driver.running(
        parts.applying(
            plan,
            service=PAGE,
            listed=listed,
            health=driver.health,
            replan=lambda again: make_plan(listed=again, **sides),
            concurrency=concurrency,
            unordered=unordered,
        )
    )
    return Run(driver, plan, result, first)


def finishing(
    driver: Driver, plan: Plan, *, unordered: bool = False, parts: Parts = PRODUCT
) -> Moments[Run]:
    """Apply a saved plan, as `commandsync apply --plan` does it."""
    first = len(driver.service.requests)
    driver.bend = parts.bend
    listed = yield from _reading(driver, plan.scope)
    steps = parts.applying(
        plan, service=PAGE, listed=listed, health=driver.health, unordered=unordered
    )
    result = yield from driver.running(steps)
    return Run(driver, plan, result, first)


def carry_out(
    plan: Plan, listed: Snapshot, driver: Driver, *, concurrency: int = 4, unordered: bool = False
) -> Result:
    """Apply a plan to a listing that was just read."""
    return driver.run(
        apply(
            plan,
            service=PAGE,
            listed=listed,
            health=driver.health,
            concurrency=concurrency,
            unordered=unordered,
        )
    )


def plan_now(service: Listing, desired: Snapshot, *, rules: SyncRules = EVERYTHING) -> Plan:
    """Return the plan against what the service shows now."""
    listed = read(Driver(service), desired.scope)
    return make_plan(desired=desired, listed=listed, target=TARGET, rules=rules)
