import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

from commandsync.extras import install_command
from commandsync.server.app import create_app


def child(script: str) -> str:
    """Return what a script prints in a Python of its own."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_application_opens_its_database_when_it_starts_and_closes_it(tmp_path: Path) -> None:
    path = tmp_path / "listing.db"
    app = create_app(str(path))
    events = iter(["lifespan.startup", "lifespan.shutdown"])
    before, sent = path.exists(), list[str]()

    async def receive() -> dict[str, Any]:
        return {"type": next(events)}

    async def send(message: Any) -> None:  # noqa: ANN401 - an ASGI message
        sent.append(message["type"])

    asyncio.run(app({"type": "lifespan", "state": {}}, receive, send))

    assert (before, path.exists()) == (False, True)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_without_the_extra_every_entry_names_what_to_install() -> None:
    done = child("""
import sys
from importlib import import_module
sys.modules["jwt"] = sys.modules["fastapi"] = sys.modules["uvicorn"] = None
from commandsync.errors import UsageError
for door in ("app", "runner", "administration"):
    try:
        import_module(f"commandsync.server.{door}")
    except UsageError as error:
        print(error.message, "|", error.hint)
""")

    assert len(done.splitlines()) == 3
    for line in done.splitlines():
        message, _, hint = line.partition(" | ")
        assert message.startswith("the embedded service needs the extra [server]: the module '")
        assert hint == f"install it: {install_command('server')}"
