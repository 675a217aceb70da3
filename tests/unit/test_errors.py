from __future__ import annotations

import inspect

import pytest

from commandsync import errors
from commandsync.errors import (
    ApiError,
    CommandsyncError,
    DecodeError,
    ManifestError,
    RateLimited,
    Reply,
    TransportError,
)
from commandsync.location import Location, Problem

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, Exception)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_hangs_in_the_one_tree_as_drawn(kind: type[Exception]) -> None:
    assert issubclass(kind, CommandsyncError)
    assert kind.__name__ in str(errors.__doc__)


def test_an_error_has_its_message_and_what_to_do() -> None:
    error = CommandsyncError("it broke", hint="mend it")

    assert (str(error), error.message, error.hint) == ("it broke", "it broke", "mend it")


@pytest.mark.parametrize(("count", "said"), [(1, "1 problem"), (2, "2 problems")])
def test_an_invalid_manifest_tells_how_many_problems_it_has(count: int, said: str) -> None:
    problems = [Problem(Location("commands.yaml"), "wrong")] * count

    error = ManifestError(problems)

    assert str(error) == f"the manifest has {said}"
    assert error.problems == tuple(problems)


def test_a_lost_connection_may_have_sent_the_request() -> None:
    error = TransportError("reset")

    assert (error.sent, error.lasting) == (True, False)


def test_an_answer_that_says_no_keeps_the_answer() -> None:
    reply = Reply(418, b"teapot")

    assert ApiError("no", reply=reply).status == 418
    assert ApiError("no", reply=reply).reply is reply
    assert DecodeError("what?", reply=reply).reply is reply
    assert RateLimited("slow", reply=reply, retry_after=3).retry_after == 3


def test_what_an_answer_says_is_not_shown_by_its_repr() -> None:
    reply = Reply(200, b"marked-token", {"x-seen": "marked-token"})

    assert "marked-token" not in repr(reply)
