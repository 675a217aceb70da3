import asyncio
import json
from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.arguments import parse_address
from commandsync.api.policy import Failure, Wait
from commandsync.client.connection import AsyncConnection, Connection
from commandsync.client.events import Buffer, Reconnecting, Vote
from commandsync.client.gateway import Ended, Say, Session, event_of
from commandsync.client.request import Secrecy
from commandsync.client.stream import Stream
from commandsync.client.subscription import Ask, Listen, Open, Subscription, Tally, pause
from commandsync.errors import DecodeError, Invalid, ListingError, Reply, TransportError
from commandsync.records.models import Voter, VoterPage
from tests.support.clients import streamed
from tests.support.gateway import Gateway, event, vote

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SAID = {"user": {"id": "7"}, "bot": {"id": "42"}}


def subscribed() -> Any:  # noqa: ANN401 - a generator that is sent anything
    return Subscription(bot="42", jitter=lambda: 0.5, secrecy=Secrecy(None)).steps()


def test_the_waits_double_from_a_second_to_a_minute() -> None:
    shortest = [pause(failures, 0.0) for failures in range(9)]
    longest = [pause(failures, 1.0) for failures in range(9)]

    assert set(shortest) == {1.0}
    assert longest == [2, 4, 8, 16, 32, 60, 60, 60, 60]


@given(st.integers(0, 10**9), st.floats(0, 1))
def test_every_wait_is_between_a_second_and_a_minute(failures: int, jitter: float) -> None:
    assert 1 <= pause(failures, jitter) <= 60


@pytest.mark.parametrize(
    ("body", "kind"), [(b"", Invalid), (b"{}", Invalid), (b"<html>", DecodeError)]
)
def test_a_page_in_place_of_a_gateway_is_an_error(body: bytes, kind: type[Exception]) -> None:
    steps = subscribed()
    next(steps)

    with pytest.raises(kind):
        steps.send(Reply(200, body))


def test_a_network_that_is_down_is_waited_for() -> None:
    steps = subscribed()
    told = [next(steps)]
    told.append(steps.send(TransportError("refused", sent=False)))
    told.append(steps.send(None))
    told.append(steps.send(None))
    told.append(steps.send(TransportError("refused", sent=False)))

    assert isinstance(told[0], Open)
    assert told[1] == Reconnecting(1006, "refused")
    assert told[2] == Wait(1.5)
    assert told[3] == told[0]
    assert told[4] == Wait(2.5)


def test_waits_do_not_start_anew_for_a_service_that_only_says_hello() -> None:
    steps = subscribed()
    next(steps)
    waits = []
    for _ in range(3):
        step = steps.send(True)  # noqa: FBT003 - the word of a driver
        for frame in ("0{}", '42["message",{"event":"ready","data":{"id":"42"}}]'):
            while not isinstance(step, Listen):
                step = steps.send(None)
            step = steps.send(frame)
        while not isinstance(step, Ask):
            step = steps.send(None)
        step = steps.send(Failure(TransportError("refused", sent=False)))
        while not isinstance(step, Wait):
            step = steps.send(Ended(1011, "crashed") if isinstance(step, Listen) else None)
        waits.append(step.seconds)
        steps.send(None)

    assert waits == [1.5, 2.5, 4.5]


def test_somebody_who_slips_between_pages_has_not_voted_again() -> None:
    steps = subscribed()
    next(steps)
    told: list[str] = []
    step = steps.send(Reply(404, b""))
    for ids in ("ab", "b", "ab", "abc"):
        assert isinstance(step, Ask)
        voters = tuple(Voter(id=one) for one in ids)
        step = steps.send(VoterPage.model_validate({"voters": voters, "queries": {"maxPage": 1}}))
        while not isinstance(step, Ask):
            if isinstance(step, Vote):
                told.append(step.user.id)
            step = steps.send(Reply(404, b"") if isinstance(step, Open) else None)

    assert told == ["c"]


@pytest.mark.parametrize("folds", range(3))
@pytest.mark.parametrize("prefix", ["42", "42/,", "42/?a=1,17", "423"])
def test_an_event_is_read_however_it_is_wrapped(folds: int, prefix: str) -> None:
    frame = prefix + event("vote", SAID, folds=folds)[2:]

    voted = event_of(frame, Secrecy(None))

    assert isinstance(voted, Vote)
    assert voted.user.id == "7"


def test_json_that_is_folded_without_end_is_garbage() -> None:
    assert event_of(event("vote", SAID, folds=6), Secrecy(None)) is None


@pytest.mark.parametrize("promise", ["{}", '{"pingInterval": true, "pingTimeout": 1e300}'])
def test_a_pong_is_a_sign_of_life_and_a_promise_of_nonsense_is_none(promise: str) -> None:
    now = [0.0]
    session = Session(greet=False, secrecy=Secrecy(None), clock=lambda: now[0])

    assert session.receive(f"0{promise}") is None
    assert session.patience == 35.0
    now[0] = 35.0
    assert session.ping() == Say("2")
    assert session.patience == 10.0
    assert session.receive("3") is None
    assert session.patience == 25.0
    assert (session.established, session.heard, session.ready) == (True, True, False)


def test_a_refusal_without_sense_has_words_all_the_same() -> None:
    for frame in ("44", "44{", '44{"message":7}', "44" + "[" * 100_000):
        ended = Session(greet=True, secrecy=Secrecy(None)).receive(frame)

        assert isinstance(ended, Ended)
        assert (ended.code, ended.refusals) == (1008, 1)
        assert ended.reason == "the service refuses the session"


@given(st.text() | st.binary())
def test_no_frame_breaks_a_session(frame: str | bytes) -> None:
    session = Session(greet=True, secrecy=Secrecy(None))
    session.receive(frame)

    assert session.patience > 0


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=3), st.lists, max_leaves=5))
def test_no_event_breaks_a_session(said: object) -> None:
    shapes = (said, ["message", said], ["message", {"event": said, "data": said}])

    for shape in shapes:
        assert event_of("42" + json.dumps(shape), Secrecy(None)) is None


def test_a_stopped_connection_ends_its_stream() -> None:
    async def main(gateway: Gateway) -> list[object]:
        connection = AsyncConnection(parse_address(gateway.url), None, retries=0)

        async def stop(_: float) -> None:
            connection.stop()

        async with connection:
            return list(await streamed(subscribed(), connection, stop))

    with Gateway(voters=[[{"id": "1"}]]) as polled:
        assert asyncio.run(main(polled)) == []
    with Gateway(status=[503]) as troubled:
        assert [type(one) for one in asyncio.run(main(troubled))] == [Reconnecting]


def test_a_thread_that_is_stopped_before_it_begins_connects_nowhere() -> None:
    def steps() -> Generator[Any, Any, None]:
        yield pytest.fail("a stopped stream takes no step")

    with Connection(parse_address("http://127.0.0.1:9"), None) as connection:
        buffer: Buffer = Buffer(1, lambda _: None)
        stream = Stream(steps(), connection, buffer)
        stream.stop()
        stream.start()
        stream.wait()


def test_a_vote_needs_nobody_who_is_ready() -> None:
    session = Session(greet=True, secrecy=Secrecy(None))

    assert isinstance(session.receive(vote(1)), Vote)
    assert not session.ended(1008, "bye").refusals


def voters(ids: Sequence[str]) -> list[Voter]:
    return [Voter(id=identifier) for identifier in ids]


def new(tally: Tally, ids: Sequence[str], *, caught_up: bool = False) -> str:
    return "".join(voter.id for voter in tally.read(voters(ids), caught_up=caught_up))


@given(
    st.lists(st.sampled_from("abcdef"), min_size=3, unique=True),
    st.lists(st.sampled_from("uvwxyz"), min_size=1),
    st.booleans(),
)
def test_new_voters_are_found_at_either_end_of_a_list(
    first: list[str],
    more: list[str],
    newest_last: bool,  # noqa: FBT001 - drawn
) -> None:
    tally = Tally(lambda: 0.0)
    listed = [first, first + more]

    found = [new(tally, ids if newest_last else ids[::-1]) for ids in listed]

    assert found == ["", "".join(more[::-1] if newest_last else more)]


def test_a_list_that_drops_its_oldest_entries_is_read() -> None:
    tally = Tally(lambda: 0.0)

    found = [new(tally, ids[::-1]) for ids in ("abcd", "bcde", "cdefd")]

    assert found == ["", "e", "fd"]


def page_by_page(tally: Tally, listed: Sequence[Voter]) -> tuple[list[str], int]:
    """Return the missed voters, and how many entries of a list were read for them."""
    for count in range(100, len(listed) + 100, 100):
        if tally.reaches(listed[:count]):
            return [voter.id for voter in tally.read(listed[:count], whole=False)], count
    return [voter.id for voter in tally.read(listed, whole=True)], len(listed)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 3_000), st.booleans())
def test_a_long_list_is_read_until_a_vote_that_was_seen(
    told: int,
    missed: int,
    users: int,
    timed: bool,  # noqa: FBT001 - drawn
) -> None:
    fewest = 1 if timed else 10  # without times, voters in a row identify a place
    earlier = [str(number % max(users, fewest)) for number in range(1_500)]
    events = [f"told-{number}" for number in range(told)]
    new = [f"missed-{number}" for number in range(missed)]
    listed = [
        Voter(id=user, votedAt=BEGIN + timedelta(minutes=minute) if timed else None)
        for minute, user in enumerate([*earlier, *events, *new])
    ][::-1]
    tally = Tally(lambda: 0.0)

    assert page_by_page(tally, listed[missed + told :]) == ([], 1_000)
    assert all(tally.count(user) for user in events)
    found, count = page_by_page(tally, listed)
    assert found == new
    assert count <= missed + told + 200
    assert page_by_page(tally, listed) == ([], 100)


def test_a_list_without_any_vote_that_was_seen_is_an_error_once() -> None:
    tally = Tally(lambda: 0.0)
    first, second = (voters([f"{name}{number}" for number in range(1_200)]) for name in "ab")
    page_by_page(tally, first)

    with pytest.raises(ListingError, match="none of the votes that were seen is listed"):
        page_by_page(tally, second)
    assert page_by_page(tally, [*voters("c"), *second]) == (["c"], 100)


def test_the_event_of_a_vote_that_was_caught_up_just_before_is_not_told_again() -> None:
    now = [0.0]
    tally = Tally(lambda: now[0])
    new(tally, "ab", caught_up=True)

    caught_up = new(tally, "abc", caught_up=True)
    told = [tally.count("c"), tally.count("c"), tally.count("a")]
    now[0] = 11.0
    later = new(tally, "abccad", caught_up=True)
    now[0] = 22.0

    assert (caught_up, told, later) == ("c", [False, True, True], "d")
    assert tally.count("d") is True
