import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from commandsync.errors import FileError
from commandsync.records.texts import Resource
from commandsync.server import migrations, selection, storage, tokens
from commandsync.server.counters import days
from commandsync.server.database import Database, opened
from commandsync.server.selection import Wanted
from commandsync.server.tables import metadata

OLD = sorted((Path(__file__).parents[2] / "fixtures" / "databases").glob("*.sql"))
HARBOR = "812045337190064138"


@pytest.fixture(params=OLD, ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database file as an older release wrote it."""
    path = tmp_path / "listing.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text(encoding="utf-8"))
    return str(path)


def columns_of(path: str, table: str) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def rows(path: str, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1"  # noqa: S608 - our own names
        return list(connection.execute(query))


def tables_of(path: str) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        return {
            row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "table"
        } & names


def described(database: Database) -> dict[str, Any]:
    """Return the tables of a database; the order of their columns does not matter."""
    with database.reading() as connection:
        inspector = inspect(connection)
        return {
            table: {
                "columns": {
                    column["name"]: (str(column["type"]), column["nullable"], column["default"])
                    for column in inspector.get_columns(table)
                },
                "key": inspector.get_pk_constraint(table)["constrained_columns"],
                "unique": [one["column_names"] for one in inspector.get_unique_constraints(table)],
                "indexes": [
                    (one["name"], one["column_names"], one["unique"])
                    for one in inspector.get_indexes(table)
                ],
                "references": [
                    (one["constrained_columns"], one["referred_table"], one["referred_columns"])
                    for one in inspector.get_foreign_keys(table)
                ],
            }
            for table in metadata.tables
        }


def test_the_last_version_is_that_of_the_code() -> None:
    heads = ScriptDirectory.from_config(migrations.configuration()).get_heads()

    assert heads == [str(migrations.LATEST)]


def test_a_new_database_has_the_tables_of_the_code(database_url: str) -> None:
    with opened(database_url) as database:
        with database.writing() as connection:
            metadata.drop_all(connection)
            connection.exec_driver_sql("DROP TABLE alembic_version")
            migrations.upgrade(connection)
            if connection.dialect.name == "postgresql":
                # The index of the search is defined by the migrations alone.
                connection.exec_driver_sql("ALTER TABLE bot_words DROP COLUMN endings")
        migrated = described(database)
        with database.writing() as connection:
            metadata.drop_all(connection)
            metadata.create_all(connection)

        assert migrated == described(database)


def test_an_old_database_gets_the_tables_of_a_new_one(old: str) -> None:
    with opened(old) as database, opened(":memory:") as new:
        assert described(database) == described(new)


def test_an_old_database_keeps_every_row(old: str) -> None:
    derived = {"bot_tags", "bot_words"}  # from the bots, for the search: see below
    columns = {
        table: columns_of(old, table)
        for table in tables_of(old) - {"settings", "alembic_version"} - derived
    }
    before = {table: rows(old, table, names) for table, names in columns.items()}
    with opened(old):
        pass

    assert {table: rows(old, table, names) for table, names in columns.items()} == before
    assert [] not in before.values()


def test_an_old_database_keeps_its_tokens_and_is_written_to(old: str) -> None:
    secret = dict(rows(old, "settings", ["key", "value"]))["secret"]
    command = {"name": "ping", "description": "Says pong.", "syntax": "!ping"}
    with opened(old) as database, database.writing() as connection:
        storage.add(connection, HARBOR, Resource.COMMAND, command)
        listed = storage.records_of(connection, HARBOR, Resource.COMMAND)
    token = tokens.sign(HARBOR, issued_at=1, secret=secret)

    assert [record["name"] for record in listed] == ["help", "afk", "ping"]
    assert tokens.owner_of_header(f"Bot {token}", secret=database.secret) == (HARBOR, "")


def test_the_bots_of_an_old_database_are_searched(old: str) -> None:
    wanted = Wanted(q="harb", tags=("Music", "fun"))
    with opened(old) as database, database.reading() as connection:
        found = selection.find(connection, wanted, days=days(datetime.now(UTC)))
        (bot,) = storage.bots_of(connection, found[0])

    assert (bot["id"], found[1]) == (HARBOR, 1)


@pytest.mark.parametrize("old", [path for path in OLD if path.stem == "7e8a328"], indirect=True)
def test_an_upgrade_that_fails_changes_nothing(old: str) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE _alembic_tmp_commands (a)")
        before = list(connection.iterdump())
    with pytest.raises(FileError, match="table _alembic_tmp_commands already exists"), opened(old):
        pass
    with closing(sqlite3.connect(old)) as connection:
        assert list(connection.iterdump()) == before


def test_an_upgraded_database_is_not_upgraded_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(database_url):
        pass
    monkeypatch.delattr(migrations, "upgrade")
    with opened(database_url) as database:
        assert database.secret
