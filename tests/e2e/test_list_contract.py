"""The contract of every service that takes whole lists.

Each rule is a function: it says what the value of a service must do over HTTP.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Failure
from commandsync.client.connection import Connection
from commandsync.errors import ApiError, ArgumentError, RateLimited, Unauthorized
from commandsync.records.snapshot import Audience, Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from commandsync.services.abilities import Reads, Support
from commandsync.services.catalogue import LISTS
from commandsync.services.fit import as_listed, fit
from commandsync.services.service import ListService
from commandsync.services.telegram import OVERRIDING
from commandsync.sync.listcontent import OtherList, read_others
from commandsync.sync.settings import load_files
from tests.support.bots import Instead, Proxy
from tests.support.destination import LOST, LOST_AFTER, Destination, destination
from tests.support.home import Home
from tests.support.simulations import SERVICES

COMMANDS = Resource.COMMAND
AUDIENCES = [
    Audience(scope, language) for scope in ("default", *OVERRIDING) for language in ("", "de")
]
TEXTS = (
    CommandText("ping", "Says pong.", "/ping marked-syntax", "marked-category"),
    CommandText("ban", "Bans a user.", "/ban", ""),
    CommandText("afk", "Says who is away.", "/afk", ""),
)
_SENT = {
    "name": "ping",
    "description": "Says pong.",
    "syntax": "marked-syntax",
    "category": "marked-category",
}
OTHERS = {"is_ephemeral": True, "icon": {"id": "7", "sizes": [16, 32]}}
NEWS = AnnouncementText("v2.0 is out", "Slash commands everywhere.")


@dataclass
class Trial:
    """A service's value, and the simulation that it is tried on."""

    service: ListService  # the value; its origin is the proxy in front of the simulation
    place: Destination  # the simulation
    logged: pytest.LogCaptureFixture

    def fitted(self, *texts: CommandText) -> Snapshot:
        return fit(self.service, Snapshot({COMMANDS: tuple(map(Entry, texts))})).snapshot

    def call(self, operation: Operation[Any], *, token: str = "") -> Any:  # noqa: ANN401 - any value
        address = parse_address(self.service.origin, version=None)
        secret = Token(token or self.place.listing.token)
        with Connection(address, secret, service=self.service) as connection:
            return connection.attempt(operation)

    def replace(self, *texts: CommandText) -> Any:  # noqa: ANN401 - as above
        return self.call(self.service.replace(self.place.listing.bot, self.fitted(*texts)))

    def read(self) -> Any:  # noqa: ANN401 - as above
        return self.call(self.service.read(self.place.listing.bot, COMMANDS))

    @property
    def written(self) -> str:
        """The bodies that were sent."""
        return "".join(request.body.decode() for request in self.place.proxy.writes)


def twice_is_no_change(trial: Trial) -> None:
    assert [trial.replace(*TEXTS) for _ in range(2)] == [None, None]
    first, second = trial.place.proxy.writes
    assert (first.method, first.target, first.body) == (second.method, second.target, second.body)
    one, other = trial.place.listing.writes
    assert one == other
    assert trial.place.names == ["ping", "ban", "afk"]


def each_ability_is_as_declared(trial: Trial) -> None:
    facts, place = trial.service.facts, trial.place
    assert facts.replace.value is Support.YES
    trial.replace(*TEXTS)
    trial.replace(*TEXTS[1::-1])
    assert place.names == ["ban", "ping"]
    for name, fact in facts.fields.items():
        sent = _SENT[name]
        assert (sent in trial.written) is (fact.value is Support.YES), name
    _reads(trial)
    if facts.clear.value is not Support.UNKNOWN:
        cleared = trial.call(trial.service.replace(place.listing.bot, Snapshot({COMMANDS: ()})))
        assert (cleared is None) is (facts.clear.value is Support.YES)
        assert (place.names == []) is (facts.clear.value is Support.YES)
    _checks_the_token(trial)
    _announces(trial)


def _reads(trial: Trial) -> None:
    if trial.service.facts.read.value is Reads.NO:
        with pytest.raises(ArgumentError):
            trial.service.read("42", COMMANDS)
        return
    try:
        entries = trial.read()
    except ArgumentError:
        pytest.fail("the list cannot be read")
    assert entries == as_listed(trial.fitted(*TEXTS[1::-1])).collections[COMMANDS]
    assert all(entry.uses is None for entry in entries)


def _checks_the_token(trial: Trial) -> None:
    if trial.service.check is None:
        return
    before = len(trial.place.proxy.writes)
    assert isinstance(trial.call(trial.service.check()), str)
    refused = trial.call(trial.service.check(), token="8120454873:wrong-token")
    assert isinstance(refused.error, Unauthorized)
    assert len(trial.place.proxy.writes) == before


def _announces(trial: Trial) -> None:
    announce, fact = trial.service.announce, trial.service.facts.announcements
    assert (announce is not None) is (fact.value is Support.YES)
    if announce is None:
        return
    before = len(trial.place.proxy.writes)
    trial.place.fail(lambda _: LOST)
    assert isinstance(trial.call(announce(NEWS, "announcement")), Failure)
    assert len(trial.place.proxy.writes) == before + 1
    trial.place.proxy.rule = lambda _: None
    assert trial.call(announce(NEWS, "announcement")) is None
    assert [each["title"] for each in trial.place.listing.announcements] == [NEWS.title]


def a_lost_answer_is_asked_for_again(trial: Trial) -> None:
    trial.place.fail(lambda _: LOST_AFTER, times=1)

    assert trial.replace(*TEXTS) is None
    assert len(trial.place.proxy.writes) == 2
    assert trial.place.names == ["ping", "ban", "afk"]


def a_429_is_waited_for_up_to_two_minutes(trial: Trial) -> None:
    place = trial.place
    place.fail(lambda listing: listing.fail_next(429, retry_after=20), times=1)
    assert trial.replace(*TEXTS) is None
    assert len(place.proxy.writes) == 2

    place.fail(lambda listing: listing.fail_next(429, retry_after=3600))
    failure = trial.replace(*TEXTS)
    assert isinstance(failure.error, RateLimited)
    assert failure.error.retry_after == 3600
    assert len(place.proxy.writes) == 3


def no_output_has_the_token(trial: Trial) -> None:
    trial.logged.set_level(logging.DEBUG)
    trial.logged.clear()
    operation = trial.service.replace(trial.place.listing.bot, trial.fitted(*TEXTS))
    said = [repr(trial.service), repr(operation), operation.path]
    echo = f"/bot{trial.place.listing.token}/x".encode()
    for status in (400, 500):
        trial.place.fail(lambda _, status=status: Instead(status, {"message": echo.decode()}))  # type: ignore[misc]  # bound
        error = trial.replace(*TEXTS).error
        said += [repr(error), str(error), str(error.reply)]
    trial.place.proxy.rule = lambda _: None
    trial.replace(*TEXTS)

    assert "urllib3" in trial.logged.text
    assert trial.place.secret not in "".join(said) + trial.logged.text


def keys_that_are_not_ours_survive(trial: Trial) -> None:
    """A list that is read and sent again has the keys of each command that nothing here knows."""
    if not trial.place.is_read:
        return
    operation = trial.service.replace(trial.place.listing.bot, trial.fitted(*TEXTS))
    body = {"commands": [{**each, **OTHERS} for each in operation.body["commands"]]}
    assert trial.call(replace(operation, body=body)) is None
    before = trial.place.listing.commands
    assert all(each.items() >= OTHERS.items() for each in before)

    entries = trial.read()
    assert trial.call(trial.service.replace("42", Snapshot({COMMANDS: entries}))) is None

    assert trial.place.listing.commands == before


def each_audience_has_its_own_list(trial: Trial) -> None:
    """Each list of a scope and language is written once; a second run changes nothing."""
    service = trial.service
    if service.for_audience is None:
        return
    texts, lists = trial.fitted(*TEXTS), dict[str, list[Any]]()
    for _ in range(2):
        for audience in AUDIENCES:
            own = replace(service.for_audience(audience), origin=service.origin)
            assert trial.call(own.replace("42", texts)) is None
        lists = {key: list(shown) for key, shown in trial.place.listing.lists.items()}
        assert [*lists] == [f"{scope} {language}".rstrip() for scope, language in AUDIENCES]
    assert len(trial.place.proxy.writes) == 2 * len(AUDIENCES)

    own = replace(service.for_audience(AUDIENCES[-1]), origin=service.origin)
    assert trial.call(own.replace("42", trial.fitted(*TEXTS[1:]))) is None
    assert trial.call(own.read("42", COMMANDS))[0].name == TEXTS[1].name
    del lists[[*lists][-1]]
    assert {key: trial.place.listing.lists[key] for key in lists} == lists


def overriding_lists_are_named(trial: Trial) -> None:
    """The lists that users see in place of another one are read, and never written."""
    service, place = trial.service, trial.place
    if service.for_audience is None:
        return
    for number, scope in enumerate(OVERRIDING, start=1):
        listed = [{"command": f"c{each}", "description": "D."} for each in range(number)]
        place.call("setMyCommands", commands=listed, scope={"type": scope})
    others = [
        OtherList(
            replace(service.for_audience(Audience(scope)), origin=service.origin), "name", where
        )
        for scope, (where, _) in OVERRIDING.items()
    ]
    address = parse_address(service.origin, version=None)
    with Connection(address, Token(place.listing.token), service=service) as connection:
        notices = read_others(connection, "42", others)

    assert [notice.message for notice in notices] == [
        "name: hidden in private chats by a list of 1 command",
        "name: hidden in groups by a list of 2 commands",
        "name: hidden from administrators of groups by a list of 3 commands",
    ]
    assert place.proxy.writes == []


def no_redirect_is_followed(trial: Trial) -> None:
    with Proxy(trial.place.listing.base_url) as other:
        trial.place.fail(lambda _: Instead(307, headers={"Location": f"{other.url}/x"}))
        failure = trial.replace(*TEXTS)

    assert other.requests == []
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, ApiError)
    assert len(trial.place.proxy.writes) == 1


RULES: dict[str, Callable[[Trial], None]] = {
    rule.__name__: rule
    for rule in (
        *(twice_is_no_change, each_ability_is_as_declared, a_lost_answer_is_asked_for_again),
        *(a_429_is_waited_for_up_to_two_minutes, no_output_has_the_token),
        *(no_redirect_is_followed, keys_that_are_not_ours_survive, each_audience_has_its_own_list),
        overriding_lists_are_named,
    )
}


def test_every_service_can_be_tried() -> None:
    assert LISTS.keys() <= SERVICES.keys()


@pytest.mark.promise("exit-code-0")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("service", [name for name in SERVICES if name != "discord"])
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
