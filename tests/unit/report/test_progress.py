import pytest

from commandsync.api.policy import Retry, Send, Wait
from commandsync.errors import Reply, ServerError
from commandsync.report.progress import reread_line, wait_line

FAILED = ServerError("HTTP 503\n::error::x\x1b[31m", reply=Reply(503, b""))
RETRY = Retry(2, 4, FAILED)


@pytest.mark.parametrize(
    ("step", "elapsed", "line"),
    [
        (Send(), 0, "no answer for 0 s from example.org"),
        (Send(), 12.4, "no answer for 12 s from example.org"),
        (Send(RETRY), 3, "retry 2 of 4, no answer for 3 s from example.org"),
        (Wait(0.25, retry=RETRY), 0, "retry 2 of 4 in 1 s: HTTP 503"),
        (Wait(120, everyone=True, retry=RETRY), 33.5, "retry 2 of 4 in 87 s: HTTP 503"),
        (Wait(2, retry=RETRY), 2.5, "retry 2 of 4 in 0 s: HTTP 503"),
    ],
)
def test_a_wait_shows_the_call_and_what_it_waits_for(
    step: Send | Wait, elapsed: float, line: str
) -> None:
    shown = wait_line(step, elapsed, call="list commands", host="example.org")

    assert shown.startswith(f"list commands: {line}")


def test_the_reason_of_a_retry_is_escaped() -> None:
    line = wait_line(Wait(1, retry=RETRY), 0, call="list commands", host="example.org")

    assert line == "list commands: retry 2 of 4 in 1 s: HTTP 503\\n::error::x\\x1b[31m"


def test_seconds_that_are_left_are_counted_down_to_one() -> None:
    assert reread_line(3.0).startswith("reading again in 3 s: ")
    assert reread_line(0.1).startswith("reading again in 1 s: ")
