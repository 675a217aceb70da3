"""The contract of every service that takes whole lists, and broken ones that one rule finds."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from types import MappingProxyType
from typing import Any

import pytest

from commandsync.api.operations import Operation
from commandsync.errors import Invalid, RateLimited, Reply
from commandsync.server.simulations import SERVICES
from commandsync.services.abilities import Answer, Reads, Source
from commandsync.services.catalogue import LISTS
from commandsync.services.discordlists import TOP_GG
from commandsync.services.service import ListService
from commandsync.sync.settings import load_files
from tests.support.destination import Destination, destination
from tests.support.home import Home
from tests.support.listcontract import RULES, Trial

SAYS = Source("a test").says

Change = Callable[[Operation[None], Destination], Operation[None]]


def test_every_service_can_be_tried() -> None:
    assert LISTS.keys() <= SERVICES.keys()


@pytest.mark.promise("exit-code-0")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("service", SERVICES)
def test_the_contract_holds(
    home: Home, caplog: pytest.LogCaptureFixture, service: str, rule: str
) -> None:
    with destination(home, service) as place:
        RULES[rule](Trial(service_of(place), place, caplog))


def service_of(place: Destination) -> ListService:
    """Return the service as a manifest leads to it."""
    place.write("ping")
    (manifest,) = load_files(["commands.yaml"])
    (listing,) = manifest.listings
    return listing.list_service


def sending(change: Change) -> Callable[[ListService, Destination], ListService]:
    """Return what breaks the request that replaces the list."""

    def broken(service: ListService, place: Destination) -> ListService:
        return replace(service, replace=lambda *given: change(service.replace(*given), place))

    return broken


def reading(
    status: range, result: Callable[[Reply, Operation[None]], None]
) -> Callable[[ListService, Destination], ListService]:
    """Return what breaks the reader of some answers."""

    def change(operation: Operation[None], _place: Destination) -> Operation[None]:
        def read(reply: Reply) -> None:
            return (result if reply.status in status else as_it_is)(reply, operation)

        return replace(operation, read=read)

    return sending(change)


def as_it_is(reply: Reply, operation: Operation[None]) -> None:
    return operation.read(reply)


def at_once(reply: Reply, operation: Operation[None]) -> None:
    try:
        operation.read(reply)
    except RateLimited as error:
        raise Invalid(error.message, reply=reply) from error


def declaring(**facts: Any) -> Callable[[ListService, Destination], ListService]:  # noqa: ANN401 - facts
    return lambda service, _place: replace(service, facts=replace(service.facts, **facts))


NUMBERS = count()
FIELDS = MappingProxyType({**TOP_GG.facts.fields, "category": SAYS(Answer.YES)})

BROKEN = {
    "each request has another body": (
        "twice_is_no_change",
        sending(
            lambda operation, _: replace(
                operation, body=[{**each, "nonce": next(NUMBERS)} for each in operation.body]
            )
        ),
    ),
    "it cannot be read as it says": (
        "each_ability_is_as_declared",
        declaring(read=SAYS(Reads.LIST)),
    ),
    "it sends no category as it says": ("each_ability_is_as_declared", declaring(fields=FIELDS)),
    "it takes announcements and says no": (
        "each_ability_is_as_declared",
        declaring(announcements=SAYS(Answer.NO)),
    ),
    "it can be cleared and says no": (
        "each_ability_is_as_declared",
        declaring(clear=SAYS(Answer.NO)),
    ),
    "a request is not repeated": (
        "a_lost_answer_is_asked_for_again",
        sending(lambda operation, _: replace(operation, idempotent=False)),
    ),
    "a 429 is a refusal": (
        "a_429_is_waited_for_up_to_two_minutes",
        reading(range(429, 430), at_once),
    ),
    "the token is in the path": (
        "no_output_has_the_token",
        sending(
            lambda operation, place: replace(
                operation, path=f"{operation.path}?key={place.listing.token}"
            )
        ),
    ),
    "a redirect is a success": (
        "no_redirect_is_followed",
        reading(range(300, 400), lambda _reply, _operation: None),
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_exactly_one_rule_finds_a_broken_service(
    home: Home, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    expected, damage = BROKEN[broken]
    found = []
    for name, rule in RULES.items():
        with destination(home, "top.gg") as place:
            trial = Trial(damage(service_of(place), place), place, caplog)
            try:
                rule(trial)
            except (AssertionError, pytest.fail.Exception):
                found.append(name)

    assert found == [expected]


def test_each_rule_finds_a_broken_service() -> None:
    assert {rule for rule, _ in BROKEN.values()} == RULES.keys()
