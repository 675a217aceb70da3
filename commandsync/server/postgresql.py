"""PostgreSQL: the engine of a database that many processes and hosts may share (extra [postgres]).

A URL can contain a password: names and reasons that are shown are made here, without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from commandsync.errors import FileError
from commandsync.extras import missing

READS = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
"""The execution options of a connection that sees one state of the database."""

_FORM = "postgresql+psycopg://user:password@host:5432/database"
_HINT = f"write {_FORM}; write @, :, / and % in a password as %40, %3A, %2F and %25"
_DRIVERS = {"postgresql", "postgresql+psycopg"}


def parse(address: str) -> URL:
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
        raise FileError("the URL of the database is not valid", hint=_HINT) from None
    return url.set(drivername="postgresql+psycopg")


def shown(url: URL) -> str:
    """Return a URL as messages show it: without its password and parameters."""
    return url.set(query={}).render_as_string(hide_password=True)


def without_secrets(reason: str, url: URL) -> str:
    """Return a message of the driver in one line, without the passwords of a URL."""
    secrets = [value for key, value in url.query.items() if "password" in key]
    for secret in filter(None, (url.password, *secrets)):
        reason = reason.replace(str(secret), "***")
    return " ".join(reason.split())


def connect(url: URL) -> Engine:
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
            connect_args={"connect_timeout": 10, "application_name": "commandsync"},
            hide_parameters=True,
        )
    except ImportError as error:
        raise missing("a PostgreSQL database needs", "postgres", error) from error
    event.listen(engine, "connect", _prepare_connection)
    return engine


def wait_alone(connection: Connection, key: int) -> None:
    """Wait until no other transaction is past this point, with a key that no other lock has.

    The lock ends with the transaction. In SQLite, transactions that write are alone anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(key)))


@contextmanager
def limited(connection: Connection, seconds: float) -> Iterator[None]:
    """Cancel each statement of a block that reads after a time, with the state 57014.

    The transaction goes on after that, without the limit. Meanwhile indexes are preferred.
    """
    block = connection.begin_nested()
    try:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {round(seconds * 1000)}")
        # To read the words of every bot is much slower than their index; the planner does not know.
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        yield
    finally:
        block.rollback()


def _prepare_connection(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's
    from psycopg.types.string import StrDumperUnknown  # noqa: PLC0415 - comes with an extra

    class Texts(StrDumperUnknown):
        """Finds nothing for an id with a NUL character, which PostgreSQL's texts do not have.

        Columns that store such texts escape them before.
        """

        def dump(self, obj: str) -> Any:  # noqa: ANN401 - the driver's
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    connection.adapters.register_dumper(str, Texts)
