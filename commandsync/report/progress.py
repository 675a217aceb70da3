"""What a run waits for, as one line; the numbers come first."""

from math import ceil
from typing import assert_never

from commandsync.api.policy import Send, Wait
from commandsync.report.escape import visible


def wait_line(step: Send | Wait, elapsed: float, *, call: str, host: str) -> str:
    """Return what a call, such as `list commands`, waits for, since so many seconds."""
    retry, after = step.retry, ""
    if retry:
        call, after = f"{call}: retry {retry.number} of {retry.most}", visible(retry.error.message)
    match step:
        case Send():
            mark = "," if retry else ":"
            return f"{call}{mark} no answer for {elapsed:.0f} s from {visible(host)}"
        case Wait(seconds=seconds):
            return f"{call} in {max(0, ceil(seconds - elapsed))} s: {after}"
        case _:
            assert_never(step)


def reread_line(seconds: float) -> str:
    """Return why a list is read again after a pause."""
    return f"reading again in {ceil(seconds)} s: not every write is listed yet"
