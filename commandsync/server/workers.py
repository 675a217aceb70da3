"""Several processes of one service: started together, replaced when one dies, ended together.

Each has a channel to the first process. A worker reports there that it accepts connections, or why
it cannot; the end of the channel tells the first process that the worker is gone, and tells a
worker that the first process is.
"""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from types import FrameType
from typing import Any

from commandsync.errors import CommandsyncError, UsageError
from commandsync.server.conditions import Conditions

_SECONDS = 10  # to end in; more than the grace of a worker
_CONTEXT = get_context("spawn")  # nothing of a thread or a connection is inherited
_log = logging.getLogger(__name__)


@dataclass
class _Worker:
    process: SpawnProcess
    channel: Connection
    accepting: bool = False


def check_shared(database: str, conditions: Conditions) -> None:
    """Refuse several processes on a database file: its writers wait for one another anyway."""
    if conditions.described():
        raise UsageError(
            "--workers cannot have conditions: each process would count for itself",
            hint="leave --workers out",
        )
    if "://" not in database:
        raise UsageError(
            "--workers needs a PostgreSQL database", hint="give --database postgresql+psycopg://..."
        )


def work(
    prepare: Callable[[None], AbstractContextManager[tuple[Any, object]]], channel: Connection
) -> None:
    """Run one of several processes, a server of `runner`, until SIGTERM or its channel ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the first process
    logging.basicConfig(format="%(message)s")
    try:
        with suppress(BrokenPipeError), prepare(None) as (server, _):

            def end(*_: object) -> None:
                server.should_exit = True

            def end_with_channel() -> None:
                with suppress(EOFError, OSError):
                    channel.recv()
                end()

            # Both end it gently; whether to wait is for the first process to decide.
            signal.signal(signal.SIGTERM, end)
            Thread(target=end_with_channel, daemon=True).start()
            server.run_on_socket(partial(channel.send, None))  # a broken pipe: nobody is left
    except CommandsyncError as error:
        channel.send(error)


def supervise(
    work: Callable[[Connection], None], count: int, when_ready: Callable[[], None]
) -> None:
    """Run workers until SIGINT or SIGTERM; a second signal does not wait for requests in flight.

    A worker runs `work` with its channel. `when_ready` is called once, when all accept connections;
    what it raises ends the service. Raises `CommandsyncError` if a worker ends before that: with
    its own reason, if it sent one.
    """
    signals, sent = _CONTEXT.Pipe(duplex=False)
    with signals, sent, handling(lambda number, _frame: sent.send(number)):
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
    ready = False
    while True:
        events = wait([signals, *(worker.channel for worker in workers)])
        if signals in events:
            signals.recv()
            return
        for worker in [worker for worker in workers if worker.channel in events]:
            if not _accepts(worker):
                workers.remove(worker)
                workers.append(_started(work))
        if not ready and all(worker.accepting for worker in workers):
            ready = True
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
def handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Handle SIGINT and SIGTERM for as long as the block lasts."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
