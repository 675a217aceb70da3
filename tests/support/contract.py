"""schemathesis against the service: every operation answers as its OpenAPI document says."""

import json
import subprocess
import sys
from pathlib import Path

from sqlalchemy import update

from commandsync.records.texts import Resource
from commandsync.server.bodies import AN_ID
from commandsync.server.database import opened
from commandsync.server.runner import running
from commandsync.server.tables import record_tables

_PROGRAM = "from schemathesis.cli import schemathesis; schemathesis()"
_TEXTS = {
    Resource.COMMAND: {"name": "ping", "description": "Says pong.", "syntax": "/ping"},
    Resource.ANNOUNCEMENT: {"title": "v2", "description": "It is out."},
}
_BOT = {
    "id": "779641401482805289",  # as the examples of the document have it
    "profile": {"username": "Lantern"},
    **{kind.collection: [text] for kind, text in _TEXTS.items()},
}


def run_schemathesis(
    database: str, folder: Path, *arguments: str, longest: float
) -> subprocess.CompletedProcess[str]:
    """Run all checks of schemathesis on a service, and return how it ended.

    Args:
        database: What the service stores its bot in: the one of the document's examples.
        folder: Where what schemathesis writes is left.
        arguments: What it is told beyond that, such as its phases.
        longest: Seconds after which it is ended.
    """
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"bots": [_BOT]}), encoding="utf-8")
    with running(database, seed=seed) as service:
        _give_example_ids(database)
        header = f"Authorization: Bot {service.bots[0].token}"
        return subprocess.run(
            [
                *(sys.executable, "-c", _PROGRAM, "run", f"{service.url}/v1/openapi.json"),
                *("--checks", "all", "--header", header, "--no-color"),
                *("--generation-database", "none", *arguments),
            ],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=longest,
            check=False,
        )


def _give_example_ids(database: str) -> None:
    with opened(database) as handle, handle.writing() as connection:
        for kind in Resource:
            connection.execute(update(record_tables[kind]).values(id=AN_ID))
