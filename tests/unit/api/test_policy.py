from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.api.operations import Operation, Overwritten, add, delete, edit, list_records
from commandsync.api.policy import (
    FAILURES_IN_A_ROW,
    LOOK,
    Doubt,
    Failure,
    Health,
    Retry,
    Send,
    Streak,
    Wait,
    attempt,
)
from commandsync.errors import (
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    RateLimited,
    Reply,
    ServerError,
    StoppedError,
    TransportError,
    Unauthorized,
)
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import TOP_GG

TEXT = CommandText("help", "Shows the menu.", "/help")
READ = list_records("42", Resource.COMMAND)
ADD = add("42", Resource.COMMAND, TEXT)
EDIT = edit("42", Resource.COMMAND, "7", TEXT)
DELETE = delete("42", Resource.COMMAND, "7")

OK = Reply(200, b'{"data": []}')
NEVER_MADE = TransportError("refused", sent=False)
RESET = TransportError("reset")
NOT_FOUND = 404
WRONG_BOT = "check the bot's id and the base URL (without /v1)"


def failed(status: int, **headers: str) -> Reply:
    return Reply(status, b"", headers)


def limited(seconds: float) -> Reply:
    return Reply(429, b"", {"retry-after": f"{seconds:.0f}"})


def drive(
    operation: Operation[Any],
    answers: Iterable[Reply | TransportError],
    *,
    retries: int = 4,
    jitter: Callable[[], float] = float,
    health: Health | None = None,
    waits: bool = True,
) -> tuple[list[Wait], object]:
    """Return the waits that were asked for and how it ended; every answer has to be used."""
    steps = attempt(operation, retries=retries, jitter=jitter, health=health or Health())
    left = list(answers)
    waited: list[Wait] = []
    step = next(steps)
    ended: object
    try:
        while True:
            match step:
                case Send():
                    step = steps.send(left.pop(0))
                case Wait():
                    waited.append(step)
                    step = steps.send(waits)
    except StopIteration as end:
        ended = end.value

    assert left == []
    return waited, ended


@pytest.mark.parametrize("operation", [READ, EDIT, DELETE], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "trouble",
    [RESET, NEVER_MADE, failed(408), failed(500), failed(503), limited(0), Reply(200, b"<html>")],
    ids=["reset", "refused", "408", "500", "503", "429", "unreadable"],
)
def test_what_is_idempotent_is_sent_again(
    operation: Operation[Any], trouble: Reply | TransportError
) -> None:
    waits, ended = drive(operation, [trouble, OK])

    assert len(waits) == 1
    assert ended in ((), "")


@pytest.mark.parametrize("trouble", [NEVER_MADE, limited(0)], ids=["refused", "429"])
def test_an_add_that_did_not_happen_is_sent_again(trouble: Reply | TransportError) -> None:
    waits, ended = drive(ADD, [trouble, OK])

    assert len(waits) == 1
    assert ended == ""


@pytest.mark.parametrize(
    "trouble",
    [RESET, failed(408), failed(500), failed(502), Reply(200, b"<html>"), Reply(201, b'{"da')],
    ids=["reset", "408", "500", "502", "html", "cut"],
)
def test_an_add_is_never_sent_again_after_an_unclear_end(trouble: Reply | TransportError) -> None:
    waits, ended = drive(ADD, [trouble])

    assert waits == []
    assert isinstance(ended, Failure)
    assert ended.doubt


@pytest.mark.parametrize(
    ("answers", "proven"),
    [
        ([OK], True),
        ([NEVER_MADE, OK], True),
        ([RESET, OK], False),
        ([replace(OK, resent=True)], False),
    ],
    ids=["at once", "refused", "reset", "sent on a connection that broke"],
)
def test_an_add_overwrote_a_record_unless_an_earlier_try_may_have_made_it(
    answers: list[Reply | TransportError], *, proven: bool
) -> None:
    upsert = replace(ADD, idempotent=True, read=lambda _: Overwritten("7"))

    _, ended = drive(upsert, answers)

    assert ended == "7"
    assert isinstance(ended, Overwritten) is proven


@pytest.mark.parametrize("operation", [READ, ADD, EDIT, DELETE], ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (failed(302), Invalid),
        (failed(400), Invalid),
        (failed(401), Unauthorized),
        (failed(403), Forbidden),
        (failed(422), Invalid),
        (Reply(200, b'{"success": false}'), Invalid),
        (TransportError("certificate", sent=False, lasting=True), TransportError),
    ],
)
def test_a_plain_no_is_not_asked_again(
    operation: Operation[Any], trouble: Reply | TransportError, kind: type[ListingError]
) -> None:
    waits, ended = drive(operation, [trouble])

    assert waits == []
    assert isinstance(ended, Failure)
    assert isinstance(ended.error, kind)
    assert ended.doubt is Doubt.NONE


def test_a_record_that_is_gone_is_a_delete_that_is_done() -> None:
    health = Health()

    waits, ended = drive(DELETE, [failed(500), failed(404)], health=health)

    assert len(waits) == 1
    assert ended == ""
    assert health.writes == Streak()


def test_what_is_gone_is_read_as_an_answer_without_content() -> None:
    def read(reply: Reply) -> Reply:
        if reply.status == NOT_FOUND:
            raise NotFound("it is gone", reply=reply)
        return reply

    operation = Operation("take away", "DELETE", "/record", read, gone_is_done=True)

    _, ended = drive(operation, [failed(NOT_FOUND)])

    assert ended == Reply(204, b"")


@pytest.mark.parametrize(
    ("operation", "hint"),
    [
        (READ, WRONG_BOT),
        (EDIT, "check the id of the command: is it listed?"),
        (ADD, WRONG_BOT),
    ],
)
def test_404_is_an_error_for_anything_else(operation: Operation[Any], hint: str) -> None:
    _, ended = drive(operation, [failed(404)])

    assert isinstance(ended, Failure)
    assert isinstance(ended.error, NotFound)
    assert ended.error.hint == hint


@pytest.mark.parametrize("retries", [0, -1])
def test_without_retries_it_is_sent_once(retries: int) -> None:
    waits, ended = drive(READ, [RESET], retries=retries)

    assert waits == []
    assert ended == Failure(RESET)


@given(retries=st.integers(1, 6))
def test_each_retry_has_its_number_the_most_and_the_error_before_it(retries: int) -> None:
    steps = attempt(READ, retries=retries, jitter=float, health=Health())

    assert next(steps) == Send()
    for number in range(1, retries + 1):
        wait = steps.send(RESET)
        assert isinstance(wait, Wait)
        assert wait.retry == Retry(number, retries, RESET)
        assert steps.send(True) == Send(wait.retry)  # noqa: FBT003 - the wait was not cut short


def test_waits_double_and_stay_below_half_a_minute() -> None:
    unreadable = Reply(200, b"?")

    waits, _ = drive(READ, [unreadable] * 10, retries=9)

    assert [wait.seconds for wait in waits] == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert not any(wait.everyone for wait in waits)


def test_jitter_stretches_a_wait_by_up_to_half() -> None:
    waits, _ = drive(READ, [Reply(200, b"?")] * 3, retries=2, jitter=lambda: 1.0)

    assert [wait.seconds for wait in waits] == [0.375, 0.75]


@given(asked=st.integers(0, 120), jitter=st.floats(0, 1))
@example(asked=120, jitter=0.0)
def test_a_429_makes_everyone_wait_as_long_as_asked(asked: int, jitter: float) -> None:
    waits, _ = drive(READ, [limited(asked), OK], jitter=lambda: jitter)

    assert drive(READ, [limited(asked), OK])[0] == [Wait(asked, everyone=True)]
    assert asked <= waits[0].seconds <= asked + 1


def test_a_429_that_does_not_say_how_long_is_backed_off_from() -> None:
    waits, _ = drive(READ, [failed(429), failed(429), OK])

    assert waits == [Wait(0.25, everyone=True), Wait(0.5, everyone=True)]


def test_a_wait_beyond_two_minutes_is_not_waited_for() -> None:
    waits, ended = drive(READ, [limited(121)])

    assert waits == []
    assert isinstance(ended, Failure)
    assert isinstance(ended.error, RateLimited)


def test_a_wait_that_was_cut_short_ends_with_the_last_error() -> None:
    waits, ended = drive(READ, [RESET], waits=False)

    assert len(waits) == 1
    assert ended == Failure(RESET)


SILENT, ANSWERED, REFUSAL = RESET, failed(500), failed(400)


@pytest.mark.parametrize(
    ("answers", "doubt"),
    [
        ([REFUSAL], Doubt.NONE),
        ([limited(0), REFUSAL], Doubt.NONE),
        ([ANSWERED, REFUSAL], Doubt.REFUSED),
        ([ANSWERED, limited(0), REFUSAL], Doubt.REFUSED),
        ([failed(504), REFUSAL], Doubt.SILENT),
        ([SILENT, REFUSAL], Doubt.SILENT),
        ([SILENT, ANSWERED, REFUSAL], Doubt.SILENT),
        ([ANSWERED, SILENT, REFUSAL], Doubt.SILENT),
    ],
)
def test_a_refusal_leaves_a_doubt(answers: list[Reply | TransportError], doubt: Doubt) -> None:
    _, ended = drive(EDIT, answers)

    assert isinstance(ended, Failure)
    assert isinstance(ended.error, Invalid)
    assert ended.doubt is doubt


def failing(operation: Operation[Any], times: int, health: Health) -> int:
    """Let an operation fail so often, and return how often it was sent before it was given up."""
    troubles: Iterator[Reply | TransportError] = cycle([RESET, failed(500), failed(503)])
    steps = attempt(operation, retries=times - 1, jitter=float, health=health)
    sent = 0
    with suppress(StopIteration):
        step = next(steps)
        while True:
            sent += isinstance(step, Send)
            step = steps.send(next(troubles) if isinstance(step, Send) else True)
    return sent


@given(tries=st.integers(1, 30), operation=st.sampled_from([READ, EDIT, DELETE]))
def test_one_operation_alone_means_nothing(tries: int, operation: Operation[Any]) -> None:
    health = Health()

    assert failing(operation, tries, health) == tries
    assert not health.down


@given(tries=st.lists(st.integers(1, 9), min_size=2, max_size=9))
def test_five_failures_in_a_row_of_several_operations_end_the_retries_too(tries: list[int]) -> None:
    health = Health()

    sent = [
        failing(edit("42", Resource.COMMAND, str(number), TEXT), count, health)
        for number, count in enumerate(tries)
    ]

    assert health.down is (sum(tries) >= FAILURES_IN_A_ROW)
    assert sum(sent) <= max(FAILURES_IN_A_ROW, tries[0] + 1) + len(tries) - 1
    assert failing(READ, 3, health) == 3  # reads still look for the written records


@given(outcomes=st.lists(st.tuples(st.sampled_from([READ, EDIT, DELETE]), st.booleans())))
def test_reads_and_writes_are_counted_apart(outcomes: list[tuple[Operation[Any], bool]]) -> None:
    health = Health()

    for operation, well in outcomes:
        drive(operation, [OK if well else failed(500)], retries=0, health=health)

    def expected(kinds: set[str]) -> int:
        ends = [well for operation, well in outcomes if operation.name in kinds]
        return ([True, *ends][::-1]).index(True)

    assert health.reads.failures == expected({READ.name})
    assert health.writes.failures == expected({EDIT.name, DELETE.name})


def test_any_answer_in_between_starts_the_count_anew() -> None:
    health = Health()
    troubles: list[Reply | TransportError] = [RESET, RESET, RESET, RESET, limited(0)]
    drive(EDIT, [RESET], retries=0, health=health)

    waits, ended = drive(DELETE, [*troubles[1:], *troubles, OK], retries=10, health=health)

    assert len(waits) == 9
    assert ended == ""
    assert not health.down


@pytest.mark.parametrize(
    ("error", "doubt"),
    [
        (RESET, Doubt.SILENT),
        (NEVER_MADE, Doubt.NONE),
        (ServerError("trouble", reply=failed(500)), Doubt.REFUSED),
        (DecodeError("what?", reply=OK), Doubt.SILENT),
        (Invalid("no", reply=failed(400)), Doubt.NONE),
        (RateLimited("slow", reply=failed(429)), Doubt.NONE),
        (StoppedError("stopped"), Doubt.NONE),
    ],
)
def test_only_a_plain_no_or_no_connection_is_certain(error: ListingError, doubt: Doubt) -> None:
    assert Failure(error).doubt is doubt


@pytest.mark.parametrize("doubt", Doubt)
def test_an_add_in_doubt_asks_to_look_and_nothing_else_does(doubt: Doubt) -> None:
    failure = Failure(Invalid("no", reply=failed(400), hint="correct it"), doubt)

    assert failure.raised(EDIT) is failure.error
    assert failure.raised(ADD).hint == (LOOK if doubt else "correct it")
    assert failure.error.hint == "correct it"


@pytest.mark.parametrize("status", [404, 405])
def test_another_method_is_sent_at_once_where_the_service_lacks_the_first(status: int) -> None:
    listed = Snapshot({Resource.COMMAND: ()})
    steps = attempt(TOP_GG.replace("42", listed), retries=0, jitter=float, health=Health())
    first = next(steps)
    second = steps.send(failed(status))

    assert first == Send()
    assert isinstance(second, Send)
    assert second.other is not None
    assert second.other.method == "POST"
    with pytest.raises(StopIteration) as end:
        steps.send(failed(status))
    assert isinstance(end.value.value, Failure)
