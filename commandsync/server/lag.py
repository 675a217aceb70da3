"""Reads that show writes late: each sees the database as it was some seconds ago.

Before a write, a read transaction is opened, which keeps seeing the state before it (SQLite's
write-ahead log and PostgreSQL's REPEATABLE READ both ensure that). Reads use it until the write is
old enough.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic

from sqlalchemy import Connection, select

from commandsync.server.database import Database
from commandsync.server.tables import settings

_MOST_STATES = 8
"""States that are kept at a time; writes that follow one another quickly are shown together."""


@dataclass(slots=True)
class _State:
    """The database before a write."""

    connection: Connection  # a transaction that sees it
    resources: ExitStack  # what ends the transaction
    since: float  # when it began
    until: float  # when the last write ended that it does not see


class LateDatabase(Database):
    """Another database, with reads that see it as it was `seconds` ago.

    It shares the other's connections, which are not those of a database in memory: they see one
    state only.
    """

    def __init__(
        self, database: Database, seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        vars(self).update(vars(database))
        self._database = database
        self._seconds = seconds
        self._clock = clock
        self._states: deque[_State] = deque()
        self._using = Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a transaction that sees one state of the database."""
        with ExitStack() as own:
            with self._using:
                self._end_states(before=self._clock() - self._seconds)
                if self._states:
                    yield self._states[0].connection
                    return
                connection = self._begin(own)  # before any write that begins now
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a transaction that may write; reads see it `seconds` after its end."""
        with self._using:
            state = self._state()
        try:
            with self._database.writing() as connection:
                yield connection
        finally:
            state.until = self._clock()

    def state(self) -> None:
        """Return None: what reads see changes without a write."""

    def end(self) -> None:
        """End every transaction that is kept."""
        with self._using:
            self._end_states(before=float("inf"))

    def _state(self) -> _State:
        """Return the state before a write that begins now."""
        now = self._clock()
        self._end_states(before=now - self._seconds)
        newest = self._states[-1] if self._states else None
        if newest is None or newest.since + self._seconds / _MOST_STATES <= now:
            with ExitStack() as resources:
                connection = self._begin(resources)
                newest = _State(connection, resources.pop_all(), since=now, until=now)
            self._states.append(newest)
        newest.until = now
        return newest

    def _begin(self, resources: ExitStack) -> Connection:
        """Begin a transaction that sees this state until the resources are closed."""
        connection = resources.enter_context(self._database.reading())
        connection.execute(select(settings.c.key).limit(1)).all()  # what it sees is decided here
        return connection

    def _end_states(self, *, before: float) -> None:
        while self._states and self._states[0].until < before:
            self._states.popleft().resources.close()


@contextmanager
def late(database: Database, seconds: float) -> Iterator[Database]:
    """Yield a database whose reads see another one as it was `seconds` ago; itself for 0."""
    if not seconds:
        yield database
        return
    view = LateDatabase(database, seconds)
    try:
        yield view
    finally:
        view.end()


@contextmanager
def stored(database: str, *, lag: float) -> Iterator[str]:
    """Yield the name of a database that can have a lag: a temporary file instead of `:memory:`."""
    if lag and database == ":memory:":
        with TemporaryDirectory(prefix="commandsync-") as folder:
            yield str(Path(folder) / "listing.db")
    else:
        yield database
