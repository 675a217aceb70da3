import os
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import IntegrityError

from commandsync.errors import FileError
from commandsync.server.database import Database, opened
from commandsync.server.tables import SCHEMA, bots, settings


def sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def pragma(database: Database, name: str) -> object:
    with database.reading() as connection:
        return connection.execute(text(f"PRAGMA {name}")).scalar_one()


def test_each_file_has_a_secret_of_its_own_which_it_keeps(tmp_path: Path) -> None:
    secrets = []
    for name in ("a.db", "a.db", "b.db"):
        with opened(str(tmp_path / name)) as database:
            secrets.append(database.secret)

    assert len(secrets[0]) == 64
    assert secrets[0] == secrets[1] != secrets[2]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "listing.db"
    with opened(str(path)):
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}

    assert modes == {0o600}


def test_a_file_is_written_through_a_log_and_to_the_disk(tmp_path: Path) -> None:
    with opened(str(tmp_path / "listing.db")) as database:
        found = {name: pragma(database, name) for name in ("journal_mode", "synchronous")}

    assert found == {"journal_mode": "wal", "synchronous": 2}


def test_memory_is_one_database_for_all_threads() -> None:
    def read(database: Database) -> object:
        with database.reading() as connection:
            query = select(settings.c.value).where(settings.c.key == "secret")
            return connection.execute(query).scalar_one()

    with opened(":memory:") as database, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read, [database] * 8)) == [database.secret] * 8


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    row = {"id": "1", "record": {}, "created_at": "", "updated_at": "", "token_key": ""}
    with opened(str(tmp_path / "listing.db")) as database:
        with pytest.raises(IntegrityError), database.writing() as connection:
            connection.execute(bots.insert(), [row, row])
        with database.reading() as connection:
            rows = connection.execute(select(bots)).all()

    assert rows == []


def test_a_write_keeps_other_processes_out_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "listing.db"
    with (
        opened(str(path)) as database,
        closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other,
    ):
        with database.writing(), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        with database.reading():
            other.execute("BEGIN IMMEDIATE")  # readers keep nobody out


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be created"), opened(str(tmp_path / ("x" * 5000))):
        pass


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder that refuses its user"
)
def test_a_folder_that_may_not_be_written_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot be created"), opened(str(tmp_path / "a.db")):
        pass


def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database. " * 100)
    with pytest.raises(FileError, match="not a database"), opened(str(path)):
        pass

    assert path.read_text() == "Not a database. " * 100


def test_a_database_of_another_program_is_refused_and_keeps_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    sqlite(path, "CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(FileError, match="is not a listing database"), opened(str(path)):
        pass

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize(
    "url",
    [
        *("nothing://x/y", "postgresql+nothing://u@h/d", "://", "sqlite:///listing.db"),
        *("nothing://user:hunter2@h/d", ""),
    ],
)
def test_a_url_of_another_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(FileError, match="not a file path") as caught, opened(url):
        pass

    assert "hunter2" not in str(caught.value)
    assert url or ":memory:" in str(caught.value.hint)


def stamped(database_url: str, stamp: str | None) -> None:
    """Make a database, and give it another stamp, or none."""
    with opened(database_url) as database, database.writing() as connection:
        row = settings.c.key == "schema"
        if stamp is None:
            connection.execute(delete(settings).where(row))
        else:
            connection.execute(update(settings).where(row).values(value=stamp))


@pytest.mark.parametrize("stamp", ["4", "1000", None])
def test_a_database_of_another_version_is_refused(database_url: str, stamp: str | None) -> None:
    stamped(database_url, stamp)
    with pytest.raises(FileError) as caught, opened(database_url):
        pass

    assert "another version of commandsync" in str(caught.value)
    assert f"its schema is {stamp or 'none'}, this version supports only {SCHEMA})" in str(
        caught.value
    )
    assert "another --database" in str(caught.value.hint)


def test_processes_that_start_at_once_make_one_database(database_url: str) -> None:
    def secret(url: str) -> str:
        with opened(url) as database:
            return database.secret

    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(secret, [database_url] * 8))

    assert len(secrets) == 1
