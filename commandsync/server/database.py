"""The database: one of SQLite or PostgreSQL, its transactions, and the stamp of its tables.

`opened` makes the engine of a file, of `:memory:` or of a URL. The first transaction of a process
creates the tables of a new database, or compares the stamp of an old one: no other version's tables
are read or changed. Processes that start at once do this one after the other. The open `Database`
then gives transactions: many that read, each of one state, and transactions that write. A commit is
on the disk before its request is answered, so neither `kill -9` nor a power cut loses an
acknowledged write. In SQLite all writes wait for one another; in PostgreSQL only writes to the
lists of one bot do (see `storage`).

A URL of PostgreSQL can contain a password: messages show names and reasons without it.
"""

import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Any, cast

from pydantic import TypeAdapter
from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from commandsync.errors import FileError
from commandsync.extras import missing
from commandsync.server.tables import SCHEMA, metadata, settings

_log = logging.getLogger(__name__)
_ANOTHER = "give another --database; a missing file is created"
_FORM = "postgresql+psycopg://user:password@host:5432/database"
_URL_HINT = f"write {_FORM}; write @, :, / and % in a password as %40, %3A, %2F and %25"
_DRIVERS = {"postgresql", "postgresql+psycopg"}
_HINTS = {
    "sqlite": _ANOTHER,
    "postgresql": "check the URL, that the server runs, and that the user may create tables",
}
# The execution options of connections: to read, and to write.
_ONE_STATE = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
_WRITES = {"commandsync_writes": True}
_LOCKED = 30  # seconds that a file which another process has locked is waited for
_JSON = TypeAdapter[object](Any)
# Of both kinds of engine. pydantic writes JSON in a third of the time of the standard library.
_OPTIONS: dict[str, Any] = {
    "hide_parameters": True,
    "json_serializer": lambda value: _JSON.dump_json(value).decode(),
}
# The keys of the locks of `Database.writing_alone` and `Database.check_writable`.
_ALONE, _CHECKING = 7_265_120_934, 7_265_120_935


class Database:
    """An open database; its secret signs tokens and never leaves it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        is_file = engine.dialect.name == "sqlite"
        lock = Lock()
        # In memory all threads share one connection, reads as well.
        self._reading = lock if isinstance(engine.pool, StaticPool) else nullcontext()
        # SQLite has one writer: the threads of a process wait here, in order and without a limit.
        self._writing = lock if is_file else nullcontext()
        self._reader = engine.execution_options(**({} if is_file else _ONE_STATE))
        self._writer = engine.execution_options(**(_WRITES if is_file else {}))
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

        It may add rows that it does not find, even if several processes do the same.
        """
        with self.writing() as connection:
            wait_alone(connection, _ALONE)
            yield connection

    def check_writable(self) -> None:
        """Write a row, at most once a second; raises the error of the database."""
        if monotonic() - self._written_at >= 1:
            with self.writing() as connection:
                wait_alone(connection, _CHECKING)  # two processes could add the row twice
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
    engine = _postgresql_engine(_parsed(name)) if "://" in name else _sqlite_engine(name)
    shown = engine.url.set(query={}).render_as_string(hide_password=True) if "://" in name else name
    with closing(Database(engine)) as database, _failures(engine, shown):
        with database.writing_alone() as connection:
            database.secret = _secret(connection, shown)
        if engine.dialect.name == "sqlite":  # only now: a file of another program is not changed
            # A copy of a file may have the mode of other files.
            files = [path for path in _files_of(name) if name != ":memory:" and path.exists()]
            readable = [path for path in files if path.stat().st_mode & 0o077]
            if os.name == "posix" and readable:
                for path in readable:
                    path.chmod(0o600)
                _log.warning(
                    "other users could read the secrets in %s: only its owner can, now", name
                )
            _log_ahead(engine)
        yield database


@contextmanager
def reserved(name: str) -> Iterator[ExitStack]:
    """Keep other services off a SQLite file while the block lasts; raises `FileError`.

    Yields a stack that removes a new file at its end: `pop_all` keeps the file. Other databases may
    be shared.
    """
    with ExitStack() as stack, ExitStack() as removal:
        is_file = name not in {"", ":memory:"} and "://" not in name
        if is_file and not os.path.isdir(name):  # noqa: PTH112 - False also for a name that is too long
            _make_private_file(Path(f"{name}-lock"), name)
            # A lock of SQLite ends with its process, on every system.
            lock = sqlite3.connect(f"{name}-lock", timeout=0, isolation_level=None)
            stack.callback(lock.close)
            try:
                lock.execute("PRAGMA journal_mode = OFF")
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise FileError(
                    f"another service uses the database {name}",
                    hint="stop it, or give another --database; services can share PostgreSQL",
                ) from error
            if not Path(name).exists():
                for path in _files_of(name):
                    removal.callback(path.unlink, missing_ok=True)
        yield removal


def _files_of(name: str) -> list[Path]:
    """Return the files of a database of SQLite."""
    return [Path(f"{name}{end}") for end in ("", "-wal", "-shm")]


@contextmanager
def _failures(engine: Engine, name: str) -> Iterator[None]:
    """Report the failures of a database without its password."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason, url = str(getattr(error, "orig", None) or error), engine.url
        passwords = [value for key, value in url.query.items() if "password" in key]
        for password in filter(None, (url.password, *passwords)):
            reason = reason.replace(str(password), "***")
        message = f"the database {name} cannot be used: {' '.join(reason.split())}"
        raise FileError(message, hint=_HINTS[engine.dialect.name]) from error


def _secret(connection: Connection, name: str) -> str:
    """Return the secret of a database, whose tables are created if there are none."""
    tables = inspect(connection).get_table_names()
    if not tables:
        metadata.create_all(connection)
        created = {"schema": SCHEMA, "secret": secrets.token_hex(32)}
        rows = [{"key": key, "value": value} for key, value in created.items()]
        connection.execute(insert(settings), rows)
    elif settings.name not in tables:
        raise FileError(f"the database {name} is not a listing database", hint=_ANOTHER)
    known: dict[str, str] = {row.key: row.value for row in connection.execute(select(settings))}
    stamp = known.get("schema", "none")
    if stamp != SCHEMA:
        raise FileError(
            f"the database {name} was written by another version of commandsync "
            f"(its schema is {stamp}, this version supports only {SCHEMA})",
            hint="give another --database, or install the version that wrote it",
        )
    return known["secret"]


def wait_alone(connection: Connection, key: int) -> None:
    """Wait until no other transaction is past this point, with a key that no other lock has.

    The lock ends with the transaction. In SQLite, transactions that write are alone anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(key)))


def limited(connection: Connection, seconds: float) -> AbstractContextManager[None]:
    """Return a block whose reads end with an error after a time.

    The code of the error is `SQLITE_INTERRUPT`, or the state 57014 of PostgreSQL. The transaction
    goes on after the block, without the limit.
    """
    is_file = connection.dialect.name == "sqlite"
    return (_interrupting if is_file else _timing_out)(connection, seconds)


# SQLite: a write-ahead log and `synchronous=FULL`


def _sqlite_engine(path: str) -> Engine:
    """Return the engine of `:memory:`, or of a file, which is created; raises `FileError`."""
    if not path:  # SQLite would keep an unnamed one in memory
        raise FileError(
            "the database is not a file path", hint="give --database a path, or :memory:"
        )
    options: dict[str, Any]
    if path == ":memory:":  # one connection for all threads
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    else:
        _make_private_file(Path(path), path)
        # As many connections as the web framework has threads: none waits for one.
        options = {"pool_size": 40, "connect_args": {"timeout": _LOCKED}}
    url = URL.create("sqlite", database=path)
    engine = create_engine(url, **_OPTIONS, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def _make_private_file(path: Path, name: str) -> None:
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
            f"the database {name} cannot be created: {error.strerror}", hint=_ANOTHER
        ) from error


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    connection.isolation_level = None  # the driver begins no transactions itself
    # Read through the memory of the operating system, up to 1 GiB: a connection's own cache is
    # smaller than the indexes of a long list of bots, which every request walks. It has 64 MiB for
    # writes: with the 2 MB of SQLite, many new bots take twice the time, as each has many indexes.
    for pragma in (
        "synchronous=FULL",
        "foreign_keys=ON",
        "mmap_size=1073741824",
        "temp_store=MEMORY",
        "cache_size=-65536",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A write locks at its beginning: after a read first, the file could have changed.
    writes = connection.get_execution_options().get("commandsync_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _log_ahead(engine: Engine) -> None:
    """Switch a file to a write-ahead log, for good; no transaction can do that.

    SQLite does not wait for the lock that this needs: another process may be starting, too.
    """
    end = monotonic() + _LOCKED
    with closing(engine.raw_connection()) as connection:
        while True:
            try:
                connection.cursor().execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > end:
                    raise
                sleep(0.01)
            else:
                return


@contextmanager
def _interrupting(connection: Connection, seconds: float) -> Iterator[None]:
    driver = cast("sqlite3.Connection", connection.connection.driver_connection)
    end = monotonic() + seconds
    driver.set_progress_handler(lambda: monotonic() > end, 10_000)  # instructions: below 1 ms
    try:
        yield
    finally:
        driver.set_progress_handler(None, 0)


# PostgreSQL (extra [postgres]): many processes and hosts may share a database


def _parsed(address: str) -> URL:
    """Return the URL of a database; raises `FileError`, which shows no part of it."""
    if address.partition("://")[0] not in _DRIVERS:
        raise FileError(
            "the database is not a file path or a URL of PostgreSQL",
            hint=f"give --database a path, :memory:, or {_FORM}",
        )
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        url = None
    # An @ in a password ends up in the host or the database's name, with the rest of the password.
    if url is None or "@" in f"{url.host}{url.database}" or not url.database:
        raise FileError("the URL of the database is not valid", hint=_URL_HINT) from None
    return url.set(drivername="postgresql+psycopg")


def _postgresql_engine(url: URL) -> Engine:
    """Return the engine of a database; it connects when it is first used.

    Raises `UsageError` without the driver, `FileError` if a parameter of the URL is not valid.
    """
    try:
        engine = create_engine(
            url,
            # Far below the 100 connections of a server as it is installed; threads wait for one.
            pool_size=10,
            max_overflow=0,
            pool_pre_ping=True,  # after a restart of the server, no request meets a dead connection
            connect_args={
                "connect_timeout": 10,
                "application_name": "commandsync",
                "prepare_threshold": None,  # a pooler such as PgBouncer changes the connection
            },
            **_OPTIONS,
        )
    except ImportError as error:
        raise missing("a PostgreSQL database needs", "postgres", error) from error
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_postgresql(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    from psycopg.types.string import StrDumperUnknown  # noqa: PLC0415 - comes with an extra

    class Texts(StrDumperUnknown):
        """Finds nothing for an id with a NUL character, which PostgreSQL's texts do not have.

        Columns that store such texts escape them before.
        """

        def dump(self, obj: str) -> Any:  # noqa: ANN401 - the driver's
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    connection.adapters.register_dumper(str, Texts)


@contextmanager
def _timing_out(connection: Connection, seconds: float) -> Iterator[None]:
    block = connection.begin_nested()
    try:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {round(seconds * 1000)}")
        # To read the words of every bot is much slower than their index; the planner does not know.
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        yield
    finally:
        block.rollback()
