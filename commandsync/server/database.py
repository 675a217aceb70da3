"""The database and its transactions: many readers, one writer, nothing lost.

SQLite runs with a write-ahead log and `synchronous=FULL`: a commit is on the disk before its
request is answered, so neither `kill -9` nor a power cut loses what was acknowledged.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, insert, inspect, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateColumn

from commandsync.errors import FileError
from commandsync.server.tables import SCHEMA_VERSION, metadata, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

_ANOTHER = "give another --database; a missing file is created"


class Database:
    """An open database; its secret signs tokens and never leaves it."""

    def __init__(self, engine: Engine, *, in_memory: bool) -> None:
        self._engine = engine
        self._writer = engine.execution_options(commandsync_writes=True)
        self._lock = Lock()
        # In memory all threads share one connection, reads as well.
        self._reading = self._lock if in_memory else nullcontext()
        self.secret = ""
        self.after_commit: Callable[[], object] = lambda: None
        """Called after each transaction that may have written, in the thread that wrote."""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a transaction that sees one state of the database."""
        with self._reading, self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield the one transaction that may write; it is on the disk when the block ends."""
        with self._lock, self._writer.begin() as connection:
            yield connection
        self.after_commit()

    def log_ahead(self) -> None:
        """Switch the file to a write-ahead log, for good; no transaction can do that."""
        with closing(self._engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA journal_mode=WAL")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()


@contextmanager
def opened(database: str) -> Iterator[Database]:
    """Open a database, a file path or `:memory:`, and set it up when it is new.

    Raises:
        FileError: It cannot be opened, is not a database of this service, or is of a newer version.
    """
    if not database or "://" in database:  # SQLite would keep an unnamed one in memory
        raise FileError(
            "the database is not a file path", hint="give --database a path, or :memory:"
        )
    with closing(_connect(database)) as handle:
        handle.secret = _set_up(handle, database)
        yield handle


def _connect(database: str) -> Database:
    url = URL.create("sqlite", database=database)
    in_memory = database == ":memory:"
    if in_memory:
        engine = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
    else:
        _make_private_file(Path(database))
        # As many connections as the web framework has threads: none waits for one. A write waits
        # for another process on the same file, for up to 30 seconds.
        engine = create_engine(url, pool_size=40, connect_args={"timeout": 30})
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin)
    return Database(engine, in_memory=in_memory)


def _make_private_file(path: Path) -> None:
    """Create the file so that only its owner can read the secret; SQLite's other files follow."""
    if not path.parent.is_dir():
        raise FileError(
            f"the database's folder {path.parent} does not exist",
            hint="create it first, or give another --database",
        )
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise FileError(
            f"the database {path} cannot be created: {error.strerror}", hint=_ANOTHER
        ) from error


def _prepare_connection(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    connection.isolation_level = None  # the driver begins no transactions itself
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A write locks at its beginning: after a read first, the file could have changed.
    writes = connection.get_execution_options().get("commandsync_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up(handle: Database, name: str) -> str:
    """Create the tables of a new database, or check those of an old one; return its secret."""
    known: dict[str, str] = {}
    try:
        with handle.writing() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables:
                metadata.create_all(connection)
                rows = {"schema": str(SCHEMA_VERSION), "secret": secrets.token_hex(32)}
                values = [{"key": key, "value": value} for key, value in rows.items()]
                connection.execute(insert(settings), values)
            if not tables or settings.name in tables:
                known = {row.key: row.value for row in connection.execute(select(settings))}
            secret = _checked(known, name)
            _add_missing(connection)
        handle.log_ahead()  # only now: a file of another program is not changed
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = getattr(error, "orig", None) or error
        raise FileError(f"the database {name} cannot be used: {reason}", hint=_ANOTHER) from error
    return secret


def _add_missing(connection: Connection) -> None:
    """Add the tables and columns that a database of an older release does not have."""
    metadata.create_all(connection)
    for table in metadata.tables.values():
        present = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.c:
            if column.name not in present:
                definition = CreateColumn(column).compile(connection)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")


def _checked(known: dict[str, str], name: str) -> str:
    version = known.get("schema", "")
    if not (version.isascii() and version.isdigit() and known.get("secret")):
        raise FileError(f"the database {name} is not a listing database", hint=_ANOTHER)
    if int(version) > SCHEMA_VERSION:
        raise FileError(
            f"the database {name} was written by a newer commandsync "
            f"(its version is {version}, this one supports {SCHEMA_VERSION})",
            hint="upgrade commandsync, or give another --database",
        )
    return known["secret"]
