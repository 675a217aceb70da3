"""Names of databases that are none, and databases of others, which stay as they are."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import Engine, create_mock_engine

from commandsync.errors import FileError
from commandsync.server.database import Database, opened


def test_an_empty_name_is_refused_since_it_would_keep_nothing() -> None:
    with pytest.raises(FileError, match="has no name") as caught, opened(""):
        pass

    assert ":memory:" in caught.value.hint


def test_a_url_with_a_bad_port_is_refused() -> None:
    with (
        pytest.raises(FileError, match="cannot be used"),
        opened("postgresql://u@host:port/listing"),
    ):
        pass


def test_a_database_of_another_program_keeps_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(FileError, match="something else than a listing"), opened(str(path)):
        pass

    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_another_kind_of_database_keeps_its_own_log() -> None:
    engine = create_mock_engine("postgresql://", pytest.fail)
    database = Database(cast("Engine", engine), in_memory=False)
    database.log_ahead()

    assert not hasattr(engine, "raw_connection")
