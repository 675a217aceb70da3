import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, select

from commandsync.errors import FileError
from commandsync.records.texts import Resource
from commandsync.server import migrations, selection, storage, tokens
from commandsync.server.counters import days, with_counts
from commandsync.server.database import Database, opened
from commandsync.server.selection import Wanted
from commandsync.server.tables import bots, catalogue, metadata
from commandsync.server.votes import cast

OLD = sorted((Path(__file__).parents[2] / "fixtures" / "databases").glob("*.sql"))
HARBOR = "812045337190064138"
RECORD = {"profile": {"username": "Harbor", "avatar": ""}, "statistics": {"totalVotes": 0}}
TO_VERSION_4 = (  # what makes a database one of an older version
    "DELETE FROM bot_words",
    "UPDATE catalogue SET total_votes = 7",
    "CREATE TABLE bot_tags (tag VARCHAR PRIMARY KEY)",
    "CREATE TABLE alembic_version (version_num VARCHAR PRIMARY KEY)",
    "DROP INDEX ix_vote_days_day",
    "UPDATE settings SET value = '4' WHERE key = 'schema'",
)
TO_VERSION_3 = (
    *TO_VERSION_4,
    "ALTER TABLE bots DROP COLUMN token_key",
    "DROP INDEX ix_voters_bot_remind_at",
    "CREATE INDEX ix_voters_remind_at ON voters (remind_at)",
    "UPDATE settings SET value = '3' WHERE key = 'schema'",
)


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


def assert_votes_are_counted(connection: Connection) -> None:
    """Check that the list is sorted by the votes that it shows."""
    keys = [*connection.execute(select(bots.c.seq)).scalars()]
    shown = with_counts(connection, storage.bots_of(connection, keys), at=datetime.now(UTC))
    sorted_by = connection.execute(select(catalogue.c.id, catalogue.c.total_votes))

    assert dict(sorted_by.all()) == {b["id"]: b["statistics"]["totalVotes"] for b in shown}


def test_an_old_database_gets_the_tables_of_a_new_one(old: str) -> None:
    with opened(old) as database, opened(":memory:") as new:
        assert described(database) == described(new)


def test_an_old_database_keeps_every_row(old: str) -> None:
    kept = {table.name for table in metadata.sorted_tables} - {"settings", "bot_words"}
    columns = {table: columns_of(old, table) for table in tables_of(old) & kept}
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


def test_the_bots_of_an_old_database_are_sorted_by_all_their_votes(old: str) -> None:
    with opened(old) as database, database.reading() as connection:
        assert_votes_are_counted(connection)


@pytest.mark.parametrize("statements", [TO_VERSION_3, TO_VERSION_4], ids=["3", "4"])
def test_a_database_from_before_the_first_release_is_upgraded(
    database_url: str, statements: tuple[str, ...]
) -> None:
    with opened(database_url) as database:
        new = described(database)
        with database.writing() as connection:
            for bot in ("42", "43"):
                storage.add_bot(connection, bot, {**RECORD, "information": {"tags": [bot]}})
            cast(connection, "43", {"id": "1"}, at=datetime.now(UTC))
            for statement in statements:
                connection.exec_driver_sql(statement)
    with opened(database_url) as database, database.writing() as connection:
        storage.add(connection, "42", Resource.ANNOUNCEMENT, {"title": "New", "description": "."})
        wanted = Wanted(sort="-totalVotes"), Wanted(tags=("43",))
        found = [selection.find(connection, one, days=days(datetime.now(UTC))) for one in wanted]

        assert found == [([2, 1], 2), ([2], 1)]
        assert_votes_are_counted(connection)
    with opened(database_url) as database:
        assert described(database) == new


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
