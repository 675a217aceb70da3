"""SQLite: the engine of a database file, or of one in memory.

It runs with a write-ahead log and `synchronous=FULL`: a commit is on the disk before its request
is answered, so neither `kill -9` nor a power cut loses what was acknowledged.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import StaticPool

from commandsync.errors import FileError
from commandsync.server.search import endings

ANOTHER = "give another --database; a missing file is created"
"""What to do about a file that cannot be used."""

WRITES = {"commandsync_writes": True}
"""The execution options of a connection that writes."""


def connect(path: str) -> Engine:
    """Return the engine of `:memory:`, or of a file, which is created; raises `FileError`."""
    if not path:  # SQLite would keep an unnamed one in memory
        raise FileError(
            "the database is not a file path", hint="give --database a path, or :memory:"
        )
    url = URL.create("sqlite", database=path)
    options: dict[str, Any]
    if path == ":memory:":  # one connection for all threads
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    else:
        _make_private_file(Path(path))
        # As many connections as the web framework has threads: none waits for one. A write waits
        # for another process on the same file, for up to 30 seconds.
        options = {"pool_size": 40, "connect_args": {"timeout": 30}}
    engine = create_engine(url, hide_parameters=True, **options)
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin)
    return engine


def log_ahead(engine: Engine) -> None:
    """Switch a file to a write-ahead log, for good; no transaction can do that."""
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA journal_mode=WAL")


@contextmanager
def limited(connection: Connection, seconds: float) -> Iterator[None]:
    """Interrupt what a block reads after a time, with the code `SQLITE_INTERRUPT`."""
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    end = monotonic() + seconds
    driver.set_progress_handler(lambda: monotonic() > end, 10_000)  # instructions: below 1 ms
    try:
        yield
    finally:
        driver.set_progress_handler(None, 0)


def _make_private_file(path: Path) -> None:
    """Create the file so that only its owner can read the secret; SQLite's other files follow."""
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileNotFoundError as error:
        raise FileError(
            f"the database's folder {path.parent} does not exist",
            hint="create it first, or give another --database",
        ) from error
    except OSError as error:
        raise FileError(
            f"the database {path} cannot be created: {error.strerror}", hint=ANOTHER
        ) from error


def _prepare_connection(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    connection.isolation_level = None  # the driver begins no transactions itself
    # Read through the memory of the operating system, up to 1 GiB: a connection's own cache of 2 MB
    # is smaller than the indexes of a long list of bots, which every request walks.
    for pragma in ("synchronous=FULL", "foreign_keys=ON", "mmap_size=1073741824"):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("word_endings", 1, endings, deterministic=True)


def _begin(connection: Connection) -> None:
    # A write locks at its beginning: after a read first, the file could have changed.
    writes = connection.get_execution_options().get("commandsync_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
