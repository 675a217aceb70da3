"""One write by hand: agreed to, finished when a signal comes, honest when its end is unclear."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from commandsync.cli.calling import calling
from commandsync.cli.output import ResultLostError
from commandsync.cli.telling import tell
from commandsync.errors import CommandsyncError, ListingError, UsageError
from commandsync.sync import exits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandsync import Client
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings, Site
    from commandsync.sync.signals import Signals

    Told = tuple[str, dict[str, Any]]

T = TypeVar("T")

_GLANCE = 0.2  # seconds: a wait that a signal cannot break (Windows) is never longer than this
_STOPPING = b"\nstopping: what is in flight is finished first (again: stop at once)\n"


class _AbandonedError(Exception):
    """A second signal came before the end."""


def check_asking(output: Output, *, yes: bool) -> None:
    """Refuse a delete that nobody can be asked about, before any request.

    Raises:
        UsageError: There is no terminal, and no --yes.
    """
    if not (yes or output.interactive):
        raise UsageError(
            "a delete is asked about first, and there is no terminal to ask on",
            hint="--yes deletes without asking",
        )


def agreed(question: str, output: Output) -> bool:
    """Ask; after a no, say that nothing was changed."""
    try:
        yes = click.confirm(question, default=False, err=True)
    except click.Abort:
        yes = False
    if not yes and output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed"), kind="declined")
    elif not yes:
        output.talk("Nothing was changed.")
    return yes


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a write is made.

    Attributes:
        client: The way to the service; a signal closes it, so that nothing is sent again.
        site: Which listing.
        signals: Who hears of signals.
        output: How to speak.
        look: The command that shows whether something was written.
    """

    client: Client
    site: Site
    signals: Signals
    output: Output
    look: str


@contextmanager
def writing(settings: Settings, signals: Signals, output: Output, *, look: str) -> Iterator[Desk]:
    """Open a client that may write; refused with no token, or another bot's."""
    with calling(settings, with_token=True) as (client, site):
        yield Desk(client, site, signals, output, look)


def written(desk: Desk, work: Callable[[], T], told: Callable[[T], Told]) -> int:
    """Write, and tell what came of it.

    Args:
        desk: Where.
        work: Calls the service.
        told: Says what was done: in words, and as parts of a JSON document.

    Returns:
        The exit code.

    Raises:
        ListingError: It was certainly not written.
    """
    try:
        said, about = told(_finished(work, desk))
        tell(said, site=desk.site, output=desk.output, **about)
    except ResultLostError as error:
        desk.output.failure(error.after_writing())
        return exits.Exit.INCOMPLETE
    except _AbandonedError:
        return _unclear("interrupted", "interrupted", desk)
    except ListingError as error:
        from commandsync.api.policy import may_have_happened  # noqa: PLC0415 - as above
        from commandsync.document import failure_kind  # noqa: PLC0415 - seldom needed

        if not may_have_happened(error):
            raise
        return _unclear(error.message, failure_kind(error), desk)
    return exits.Exit.DONE


def _unclear(message: str, kind: str, desk: Desk) -> int:
    error = CommandsyncError(
        f"{message}; it may have been written all the same",
        hint=f"look before you do it again: commandsync {desk.look}",
    )
    desk.output.failure(error, kind=kind)
    return exits.Exit.INCOMPLETE


def _finished(work: Callable[[], T], desk: Desk) -> T:
    """Do the work on a thread that never keeps the program alive, and wait for its end.

    Raises:
        _AbandonedError: A second signal came before.
    """
    ends: SimpleQueue[Callable[[], T]] = SimpleQueue()

    def run() -> None:
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits
            ends.put(_raising(error))
        else:
            ends.put(lambda: value)

    def answer(count: int) -> None:
        if count > 1:
            ends.put(_raising(_AbandonedError()))
            return
        desk.client.close()
        with suppress(OSError):  # nobody may be there to read it
            os.write(2, _STOPPING)

    with desk.signals.answered_by(answer):
        Thread(target=run, name="commandsync-write", daemon=True).start()
        return _next(ends)()


def _next(ends: SimpleQueue[Callable[[], T]]) -> Callable[[], T]:
    while True:
        with suppress(Empty):
            return ends.get(timeout=_GLANCE)


def _raising(error: BaseException) -> Callable[[], Any]:
    def end() -> NoReturn:
        raise error

    return end
