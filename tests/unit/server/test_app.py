import asyncio
from pathlib import Path
from typing import Any

from commandsync.server.app import create_app


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
