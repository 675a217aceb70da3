import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Thread

import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.exc import InternalError

from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.server import storage
from commandsync.server.administration import Seed, create_bots
from commandsync.server.database import Database, opened
from tests.support.postgres import Server

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
            storage.add_bot(connection, "42", {})
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
        storage.add_bot(connection, "42", {})


def test_a_record_that_is_added_later_is_listed_later(postgres: Server, postgres_url: str) -> None:
    with opened(postgres_url) as database:
        with database.writing() as connection:
            storage.add_bot(connection, "42", {})
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
        storage.add_bot(connection, "42", {"prefix": description})
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
