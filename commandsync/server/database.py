"""The database and its transactions: many readers, one writer, nothing lost.

A commit is on the disk before its request is answered. In SQLite all writes wait for one another;
in PostgreSQL only those of one bot's lists do (see `listing`).
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from math import inf
from threading import Lock
from time import monotonic

from sqlalchemy import Connection, Engine, delete, insert, inspect, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from commandsync.errors import FileError
from commandsync.server import postgresql, sqlite
from commandsync.server.sqlite import ANOTHER
from commandsync.server.tables import SCHEMA, metadata, settings

_ALONE = 7_265_120_934


class Database:
    """An open database; its secret signs tokens and never leaves it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_file = engine.dialect.name == "sqlite"
        lock = Lock()
        # In memory all threads share one connection, reads as well.
        self._reading = lock if isinstance(engine.pool, StaticPool) else nullcontext()
        # SQLite has one writer: the threads of a process wait here, in order and without a limit.
        self._writing = lock if self._is_file else nullcontext()
        self._reader = engine.execution_options(**({} if self._is_file else postgresql.READS))
        self._writer = engine.execution_options(**(sqlite.WRITES if self._is_file else {}))
        self.secret = ""
        self._written_at = -inf
        self.after_commit: Callable[[], object] = lambda: None
        """Called after each transaction that may have written, in the thread that wrote."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a transaction that sees one state of the database."""
        with self._reading, self._reader.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a transaction that may write; it is on the disk when the block ends."""
        with self._writing, self._writer.begin() as connection:
            yield connection
        self.after_commit()

    @contextmanager
    def writing_alone(self) -> Iterator[Connection]:
        """Yield a transaction that may write, and that runs while no other of these does.

        It may look for something and add it where it is missing, also with several hosts.
        """
        with self.writing() as connection:
            postgresql.wait_alone(connection, _ALONE)
            yield connection

    def check_writable(self) -> None:
        """Write a row, at most once a second; raises what the database does."""
        if monotonic() - self._written_at >= 1:
            with self.writing() as connection:
                connection.execute(delete(settings).where(settings.c.key == "written"))
                row = {"key": "written", "value": ""}
                connection.execute(insert(settings).values(row))
            self._written_at = monotonic()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


@contextmanager
def opened(name: str) -> Iterator[Database]:
    """Open a database: a file path, `:memory:`, or a URL of PostgreSQL. A new one is set up.

    Raises `FileError` if it cannot be opened or was not written by this version of the service, and
    `UsageError` if the driver of PostgreSQL is not installed.
    """
    engine = postgresql.connect(postgresql.parse(name)) if "://" in name else sqlite.connect(name)
    shown = postgresql.shown(engine.url) if "://" in name else name
    with closing(Database(engine)) as handle, _failures(engine, shown):
        with handle.writing_alone() as connection:
            handle.secret = _secret(connection, shown)
        if engine.dialect.name == "sqlite":
            sqlite.log_ahead(engine)  # only now: a file of another program is not changed
        yield handle


@contextmanager
def _failures(engine: Engine, name: str) -> Iterator[None]:
    """Report the failures of a database without its password."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error)
        raise FileError(
            f"the database {name} cannot be used: {postgresql.without_secrets(reason, engine.url)}",
            hint=_HINTS[engine.dialect.name],
        ) from error


def _secret(connection: Connection, name: str) -> str:
    """Return the secret of a database, whose tables are created if there are none."""
    if not inspect(connection).get_table_names():
        metadata.create_all(connection)
        rows = {"schema": SCHEMA, "secret": secrets.token_hex(32)}.items()
        values = [{"key": key, "value": value} for key, value in rows]
        connection.execute(insert(settings), values)
    elif not inspect(connection).has_table(settings.name):
        raise FileError(f"the database {name} is not a listing database", hint=ANOTHER)
    known = {row.key: row.value for row in connection.execute(select(settings))}
    stamp = known.get("schema", "none")
    if stamp != SCHEMA:
        raise FileError(
            f"the database {name} was written by another version of commandsync "
            f"(its schema is {stamp}, this version supports only {SCHEMA})",
            hint="give another --database, or install the version that wrote it",
        )
    return known["secret"]


_HINTS = {
    "sqlite": ANOTHER,
    "postgresql": "check the URL, that the server runs, and that the user may create tables",
}
