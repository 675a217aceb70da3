import os
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError, InternalError

from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.server import storage
from commandsync.server.administration import Seed, create_bots
from commandsync.server.database import Database, opened
from commandsync.server.tables import SCHEMA, bots, settings
from tests.support.postgres import Server


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


def made_at_once(url: str) -> set[str]:
    """Return the secrets that eight processes read from one new database."""

    def secret(url: str) -> str:
        with opened(url) as database:
            return database.secret

    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(secret, [url] * 8))


def test_processes_that_start_at_once_make_one_database(postgres_url: str) -> None:
    assert len(made_at_once(postgres_url)) == 1


def test_processes_that_start_at_once_make_one_file(tmp_path: Path) -> None:
    # SQLite refuses one of two that switch to the write-ahead log, in some of these.
    for number in range(10):
        assert len(made_at_once(str(tmp_path / f"{number}.db"))) == 1


COMMAND = {"name": "help", "description": "Shows help.", "syntax": "/help"}


def names(database: Database) -> list[str]:
    with database.reading() as connection:
        return [one["name"] for one in storage.records_of(connection, "42", Resource.COMMAND)]


def add(database: Database, name: str) -> None:
    with database.writing() as connection:
        storage.add(connection, "42", Resource.COMMAND, COMMAND | {"name": name})


def waits(postgres: Server, url: str) -> bool:
    """Return whether a transaction of the database waits for a lock."""
    query = "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    return postgres.admin.execute(query, [make_url(url).database]).fetchone() is not None


def test_a_read_sees_one_state(postgres_url: str) -> None:
    with opened(postgres_url) as database:
        with database.writing() as connection:
            storage.add_bots(connection, {"42": {}})
        with database.reading() as connection:
            before = storage.records_of(connection, "42", Resource.COMMAND)
            add(database, "help")
            after = storage.records_of(connection, "42", Resource.COMMAND)

        assert before == after == []
        assert names(database) == ["help"]


def test_a_read_cannot_write(postgres_url: str) -> None:
    with (
        opened(postgres_url) as database,
        pytest.raises(InternalError, match="read-only"),
        database.reading() as connection,
    ):
        storage.add_bots(connection, {"42": {}})


def test_a_record_that_is_added_later_is_listed_later(postgres: Server, postgres_url: str) -> None:
    with opened(postgres_url) as database:
        with database.writing() as connection:
            storage.add_bots(connection, {"42": {}})
        with database.writing() as connection:
            storage.add(connection, "42", Resource.COMMAND, COMMAND | {"name": "first"})
            later = Thread(target=add, args=(database, "second"))
            later.start()
            while later.is_alive() and not waits(postgres, postgres_url):
                pass

            assert later.is_alive()
        later.join()

        assert names(database) == ["first", "second"]


def test_hosts_that_start_together_create_each_bot_once(postgres_url: str) -> None:
    seed = Seed.model_validate({"bots": [{"id": "42", "profile": {"username": "Lantern"}}]})

    def start(url: str) -> list[str]:
        with opened(url) as database:
            return [bot.token for bot in create_bots(seed, database)]

    with ThreadPoolExecutor(4) as hosts:
        tokens = [*chain(*hosts.map(start, [postgres_url] * 4))]

    assert (len(tokens), len(set(tokens))) == (4, 1)


@pytest.mark.parametrize("description", ["a\0b", "\0", "\U0010ffff", "\U0010ffff0\0\U0010ffff1"])
def test_any_text_is_stored_exactly(database_url: str, description: str) -> None:
    with opened(database_url) as database, database.writing() as connection:
        storage.add_bots(connection, {"42": {"prefix": description}})
        storage.add(connection, "42", Resource.COMMAND, COMMAND | {"description": description})
        (command,) = storage.records_of(connection, "42", Resource.COMMAND)
        bot = storage.bot_of(connection, "42")

    assert command["description"] == bot["prefix"] == description


def test_an_id_with_a_nul_character_is_unknown(postgres_url: str) -> None:
    with (
        opened(postgres_url) as database,
        database.reading() as connection,
        pytest.raises(storage.UnknownError),
    ):
        storage.check_bot(connection, "4\x002")


def test_a_database_of_another_program_is_refused(postgres: Server, postgres_url: str) -> None:
    with postgres.connected(postgres_url) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    with pytest.raises(FileError, match="is not a listing database"), opened(postgres_url):
        pass


def test_a_server_that_does_not_answer_is_reported_without_the_password() -> None:
    url = "postgresql://user:hunter2@127.0.0.1:1/listing?sslpassword=hunter3"
    with pytest.raises(FileError, match="refused") as caught, opened(url):
        pass

    assert "postgresql+psycopg://user:***@127.0.0.1:1/listing" in str(caught.value)
    assert "hunter" not in f"{caught.value}{caught.value.hint}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@host:port/listing",
        "postgresql://user:hun@ter2/x@host/listing",
        "postgresql://user:hun@ter2@host/listing",
        "postgresql://user:hunter2@host",
        "postgresql://",
    ],
)
def test_an_invalid_url_is_refused_and_no_part_of_it_is_shown(url: str) -> None:
    with pytest.raises(FileError, match="the URL of the database is not valid") as caught:
        opened(url).__enter__()

    assert "%40" in str(caught.value.hint)
    assert "ter2" not in str(caught.value)


def test_an_unknown_parameter_of_a_url_is_reported(postgres_url: str) -> None:
    with pytest.raises(FileError, match="invalid connection option"), opened(f"{postgres_url}&a=b"):
        pass


def test_a_missing_driver_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"the extra \[postgres\]") as caught:
        opened("postgresql://u:hunter2@h/d").__enter__()

    assert "[postgres]" in str(caught.value.hint)
    assert "hunter2" not in f"{caught.value}"


def test_no_statement_is_prepared_on_the_server(postgres_url: str) -> None:
    with opened(postgres_url) as database:
        for _ in range(8):  # more than the driver's own threshold
            with database.reading() as connection:
                connection.execute(select(settings)).all()
        with database.reading() as connection:
            number = connection.execute(text("SELECT count(*) FROM pg_prepared_statements"))

            assert number.scalar_one() == 0
