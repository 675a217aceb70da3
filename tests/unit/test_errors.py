import copy
import inspect
import pickle
from collections.abc import Callable

import pytest

from commandsync import errors
from commandsync.diagnostics import Location, Problem
from commandsync.errors import (
    ApiError,
    CommandsyncError,
    DecodeError,
    ManifestError,
    RateLimited,
    Reply,
    TransportError,
    Unauthorized,
)

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, Exception)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_is_in_the_tree_of_the_docstring(kind: type[Exception]) -> None:
    assert issubclass(kind, CommandsyncError)
    assert kind.__name__ in str(errors.__doc__)


@pytest.mark.parametrize(
    ("error", "kind", "code", "reason"),
    [
        (errors.UsageError, "usage", 2, "invalid"),
        (errors.ArgumentError, "usage", 2, "invalid"),
        (errors.ManifestError, "invalid", 4, "invalid"),
        (errors.FileError, "file", 1, "invalid"),
        (errors.TooManyDeletesError, "refused", 5, "refused"),
        (errors.WrongBotError, "refused", 5, "refused"),
        (errors.PlainHttpError, "refused", 5, "refused"),
        (errors.StalePlanError, "stale", 5, "stale"),
        (errors.TransportError, "network", 1, "network"),
        (errors.ServerError, "network", 1, "network"),
        (errors.DecodeError, "service", 1, "network"),
        (errors.Invalid, "service", 1, "rejected"),
        (errors.NotFound, "service", 1, "rejected"),
        (errors.Unauthorized, "auth", 1, "auth"),
        (errors.Forbidden, "auth", 1, "auth"),
        (errors.RateLimited, "rate-limited", 1, "rate-limited"),
        (CommandsyncError, "failed", 1, "incomplete"),
    ],
)
def test_what_is_said_of_an_error(
    error: type[CommandsyncError], kind: str, code: int, reason: str
) -> None:
    assert (error.kind, error.exit_code, error.failure_reason) == (kind, code, reason)


def test_an_error_has_a_message_and_a_hint() -> None:
    error = CommandsyncError("it broke", hint="mend it")
    another = error.having(message="it fell", listing="page")

    assert (str(error), error.message, error.hint) == ("it broke", "it broke", "mend it")
    assert (str(another), another.hint, another.listing) == ("it fell", "mend it", "page")


@pytest.mark.parametrize(("count", "said"), [(1, "1 problem"), (2, "2 problems")])
def test_an_invalid_manifest_shows_how_many_problems_it_has(count: int, said: str) -> None:
    problems = [Problem(Location("commands.yaml"), "wrong")] * count

    error = ManifestError(problems)

    assert str(error) == f"the manifest has {said}"
    assert error.problems == tuple(problems)


def test_a_lost_connection_may_have_sent_the_request() -> None:
    error = TransportError("reset")

    assert (error.sent, error.lasting) == (True, False)


def test_an_error_of_the_service_keeps_its_answer() -> None:
    reply = Reply(418, b"teapot")

    assert ApiError("no", reply=reply).status == 418
    assert ApiError("no", reply=reply).reply is reply
    assert DecodeError("what?", reply=reply).reply is reply
    assert RateLimited("slow", reply=reply, retry_after=3).retry_after == 3


def test_the_repr_of_an_answer_hides_its_content() -> None:
    reply = Reply(200, b"marked-token", {"x-seen": "marked-token"})

    assert "marked-token" not in repr(reply)


def sent(error: CommandsyncError) -> object:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - its own pickle


TWICE = [Problem(Location("commands.yaml"), "wrong")] * 2


@pytest.mark.parametrize("again", [copy.copy, sent, CommandsyncError.having])
@pytest.mark.parametrize(
    "error",
    [
        ManifestError(TWICE),
        TransportError("reset", hint="wait", sent=False, lasting=True),
        DecodeError("what?", reply=Reply(200, b"x")),
        Unauthorized("no", reply=Reply(401, b"{}", {"date": "now"}), hint="copy it"),
        RateLimited("slow", reply=Reply(429, b""), retry_after=3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_copy_of_an_error_is_whole(
    error: CommandsyncError, again: Callable[[CommandsyncError], object]
) -> None:
    copied = again(error)

    assert isinstance(copied, type(error))
    assert (copied.args, vars(copied)) == (error.args, vars(error))


def test_the_body_of_an_answer_is_read_as_json_and_as_text() -> None:
    reply = Reply(200, '{"name": "h\u00e9lp"}'.encode())

    assert reply.json() == {"name": "h\u00e9lp"}
    assert reply.text == '{"name": "h\u00e9lp"}'


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_json_is_an_error(body: bytes) -> None:
    with pytest.raises(DecodeError, match="not valid JSON") as caught:
        Reply(502, body).json()

    assert caught.value.reply.status == 502


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ('text/html; charset="latin-1"', b"h\xe9lp", "h\u00e9lp"),
        ("text/html; charset=unheard-of", b"help", "help"),
        ("text/html", b"h\xe9lp", "h\ufffdlp"),
    ],
)
def test_the_text_of_an_answer_has_its_own_encoding(kind: str, body: bytes, text: str) -> None:
    assert Reply(200, body, {"content-type": kind}).text == text
