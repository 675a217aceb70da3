"""The same faults on real sockets, carried through the real client: what is simulated is so."""

from collections.abc import Iterator
from dataclasses import replace
from queue import SimpleQueue

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.run import apply
from commandsync.client.connection import Connection
from commandsync.client.driver import drive, start_reading
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.services.discord import UNKNOWN, discord_service
from commandsync.services.service import PAGE
from tests.support.cases import OPERATIONS, Case
from tests.support.discorddraws import DISCORD_STAGE
from tests.support.discordserver import DiscordServer
from tests.support.discordstory import DiscordStory
from tests.support.discordstory import told as told_at_discord
from tests.support.draws import PAGE_STAGE, scene
from tests.support.home import end_waits
from tests.support.listing import FAULTS, REFUSED, Fault, FaultServer
from tests.support.runs import BOT, EVERYTHING, TARGET, Driver, Run
from tests.support.story import Story, told

SLOW = 0.5  # seconds after which a silent service is given up, where silence is the fault
PATIENT = 30.0


def run_once(server: FaultServer, case: Case, timeout: float, concurrency: int) -> Run:
    """Run as `commandsync apply` does."""
    address, health = parse_address(server.url), Health()
    token, desired = Token("marked-token"), case.desired
    settings = {"retries": 2, "jitter": float, "concurrency": concurrency}
    with Connection(address, token, timeout=timeout, **settings) as connection:  # type: ignore[arg-type]  # each its own
        listed = start_reading(connection, BOT, desired.scope)()
        plan = make_plan(desired=desired, listed=listed, target=TARGET, rules=EVERYTHING)
        steps = apply(plan, service=PAGE, listed=listed, health=health, concurrency=concurrency)
        result = drive(
            steps, connection, health=health, events=SimpleQueue(), on_step=lambda _: None
        )
    return Run(Driver(server.listing), plan, result)


def register_once(server: DiscordServer, story: DiscordStory, timeout: float) -> Run:
    """Run as `commandsync apply` does at Discord."""
    job, health = story.job(), Health()
    address, token = parse_address(server.url, version=None), Token(server.listing.token)
    service = discord_service(UNKNOWN, story.case.guild)
    site = replace(job.site, address=address, token=token, application=None, service=service)
    settings = {"retries": 2, "jitter": float, "service": service}
    with Connection(address, token, timeout=timeout, **settings) as connection:  # type: ignore[arg-type]  # each its own
        planned = replace(job, site=site, connection=connection).start_planning()()
        result = drive(
            planned.job.steps(planned, health=health),
            connection,
            health=health,
            events=SimpleQueue(),
            on_step=lambda _: None,
        )
    assert isinstance(planned.plan, RecordPlan)
    return Run(Driver(server.listing), planned.plan, result)


def played(story: Story, *, slow: bool = False, concurrency: int = 4) -> None:
    """Play a story with the runs of the real client."""
    with FaultServer(story.service) as server:
        story.drive = lambda story, trial: run_once(
            server, story.case, SLOW if slow and not trial.quiet else PATIENT, concurrency
        )
        story.play()


def pairs() -> Iterator[tuple[Fault, str, int]]:
    """Every fault on an add, and on the other operations in turn."""
    for n, fault in enumerate(FAULTS):
        operations = {"add", OPERATIONS[n % len(OPERATIONS)], "read" if n % 2 else "withdraw"}
        for operation in sorted(operations):
            if PAGE_STAGE.meets(fault, operation):
                yield fault, operation, n % 2


@pytest.mark.parametrize(
    ("fault", "operation", "nth"),
    [pytest.param(*case, id=f"{case[0].name} / {case[1]}") for case in pairs()],
)
def test_a_fault_on_the_wire_is_overcome(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, operation: str, nth: int
) -> None:
    end_waits(monkeypatch)
    story = Story(PAGE_STAGE.met(operation, fault, nth, "apply"))

    played(story, slow=fault.wire in {"hang", "drip"})

    assert story.problems == [], told(story)


def pairs_at_discord() -> Iterator[tuple[Fault, str, int]]:
    """Every fault on an add, and on the other operations in turn."""
    operations = [*DISCORD_STAGE.times]
    for number, fault in enumerate(DISCORD_STAGE.faults):
        for operation in sorted({"add", operations[number % len(operations)]}):
            if DISCORD_STAGE.meets(fault, operation):
                yield fault, operation, number % 2


@pytest.mark.parametrize(
    ("fault", "operation", "nth"),
    [pytest.param(*case, id=f"{case[0]} / {case[1]}") for case in pairs_at_discord()],
)
def test_a_fault_on_the_wire_is_overcome_at_discord(
    monkeypatch: pytest.MonkeyPatch, fault: Fault, operation: str, nth: int
) -> None:
    end_waits(monkeypatch)
    story = DiscordStory(DISCORD_STAGE.met(operation, fault, nth, "apply"))
    slow = fault.wire in {"hang", "drip"}

    with DiscordServer(listing=story.service) as server:
        story.drive = lambda story, trial: register_once(
            server, story, SLOW if slow and not trial.quiet else PATIENT
        )
        story.play()

    assert story.problems == [], told_at_discord(story)


@pytest.mark.parametrize("number", [1, 7])
def test_a_service_that_refuses_connections_for_a_while_is_waited_for(number: int) -> None:
    story = Story(scene())
    story.service.faults = {number: REFUSED}

    played(story, concurrency=1)

    result = story.trials[0].result
    assert story.problems == [], told(story)
    assert result is not None
    assert result.complete
    assert story.service.faults == {}
