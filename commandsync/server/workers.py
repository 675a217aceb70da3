"""Several processes of one service: started together, replaced when one dies, ended together.

Each has a channel to the first process. A worker reports there that it accepts connections, or why
it cannot; the end of the channel tells the first process that the worker is gone, and tells a
worker that the first process is.
"""

from __future__ import annotations

import logging
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from commandsync.errors import CommandsyncError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess
    from types import FrameType

_SECONDS = 10  # to end in; more than the grace of a worker
_CONTEXT = get_context("spawn")  # nothing of a thread or a connection is inherited
_log = logging.getLogger(__name__)


@dataclass
class _Worker:
    process: SpawnProcess
    channel: Connection
    accepting: bool = False


def supervise(
    work: Callable[[Connection], None], count: int, when_ready: Callable[[], None]
) -> None:
    """Run workers until SIGINT or SIGTERM; a second signal does not wait for requests in flight.

    Args:
        work: What a worker runs; its argument is its channel. It can be pickled.
        count: How many workers there are.
        when_ready: Called once, when all accept connections. What it raises ends the service.

    Raises:
        CommandsyncError: A worker ended before it accepted connections: with its own reason, if it
            sent one.
    """
    with _signals() as signals:
        workers: list[_Worker] = []
        try:
            workers += [_started(work) for _ in range(count)]
            _watch(workers, work, signals, when_ready)
        finally:
            _end(workers, signals)


def _started(work: Callable[[Connection], None]) -> _Worker:
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=work, args=(theirs,), name="commandsync-worker")
    process.start()
    theirs.close()  # only the worker has it now: its end is seen here
    return _Worker(process, ours)


def _watch(
    workers: list[_Worker],
    work: Callable[[Connection], None],
    signals: Connection,
    when_ready: Callable[[], None],
) -> None:
    """Return at the first signal."""
    told = False
    while True:
        events = wait([signals, *(worker.channel for worker in workers)])
        if signals in events:
            signals.recv()
            return
        for worker in [worker for worker in workers if worker.channel in events]:
            if not _accepts(worker):
                workers.remove(worker)
                workers.append(_started(work))
        if not told and all(worker.accepting for worker in workers):
            told = True
            when_ready()


def _accepts(worker: _Worker) -> bool:
    """Read what a worker reports; False when it has ended after it accepted connections."""
    with suppress(EOFError, ConnectionResetError):
        report = worker.channel.recv()
        if isinstance(report, CommandsyncError):
            raise report
        worker.accepting = True
        return True
    worker.process.join()
    worker.channel.close()
    ended = f"process {worker.process.pid} ended with exit code {worker.process.exitcode}"
    if not worker.accepting:
        raise CommandsyncError(f"a worker cannot start: {ended}", hint="its messages are above")
    _log.warning("%s; another one takes its place", ended)
    return False


def _end(workers: list[_Worker], signals: Connection) -> None:
    """End all workers: requests in flight are answered first, unless there is a signal."""
    for worker in workers:
        worker.channel.close()
    left = [worker.process for worker in workers]
    while left:
        events = wait([signals, *(process.sentinel for process in left)], _SECONDS)
        if signals in events or not events:
            break
        left = [process for process in left if process.is_alive()]
    for process in left:
        process.kill()
        process.join()


@contextmanager
def _signals() -> Iterator[Connection]:
    """Yield a connection that receives each SIGINT and SIGTERM."""
    received, sent = _CONTEXT.Pipe(duplex=False)

    def send(number: int, _frame: FrameType | None) -> None:
        sent.send(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, send) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        received.close()
        sent.close()
