"""What a run does and what it waits for, as one line each; the numbers come first."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, assert_never

from commandsync.api.policy import Send, Wait
from commandsync.report import summary
from commandsync.report.escape import path, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan


def wait_line(step: Send | Wait, elapsed: float, *, call: str, host: str) -> str:
    """Return what a call waits for.

    Args:
        step: The answer or the retry that it waits for.
        elapsed: Seconds since it began to wait for that.
        call: The call, such as `list commands`.
        host: The service.
    """
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


def call_line(call: str, elapsed: float) -> str:
    """Return how long a call took."""
    return f"{call}: {elapsed:.2f} s"


def file_line(paths: Sequence[str], content: tuple[Manifest, ...] | Plan, elapsed: float) -> str:
    """Return which files were read, how much they contain, and how long it took."""
    if isinstance(content, tuple):
        contained = "; ".join(summary.managed(manifest.snapshot) for manifest in content)
    else:
        contained = f"a plan of {summary.counted(len(content.changes), 'change')}"
    return f"read {', '.join(map(path, paths))}: {contained}, {elapsed:.2f} s"


def site_line(*, bot: str, base_url: str, token_of: str | None, token_from: str) -> str:
    """Return which bot a run is for, on which service, and with which token.

    Args:
        bot: The bot's id; empty where the run is for none.
        base_url: The service.
        token_of: The id in the token, empty if it contains none; None if there is no token.
        token_from: The variable or file of the token.
    """
    where = f"bot {visible(bot)} at {visible(base_url)}" if bot else visible(base_url)
    source = visible(token_from)
    if token_of is None:
        return f"{where}, without a token ({source} is not set)"
    owner = f"token of bot {visible(token_of)}" if token_of else "token"
    return f"{where}, with the {owner} from {source}"


def under_way(change: Change) -> str:
    """Return a change that was sent and is not settled yet."""
    return f"{summary.named(change)} {visible(change.name)}"
