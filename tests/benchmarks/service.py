"""A listing service for measuring: real HTTP on loopback, one process, every answer equally late.

    python -m tests.benchmarks.service SECONDS RECORDS.json

Prints its port.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tests.benchmarks.budgets import PYTHON
from tests.support.rawserver import Exchange, Request, SocketServer, answer

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def running(
    records: list[dict[str, str]],
    folder: Path,
    *,
    delay: float = 0.0,
) -> Iterator[str]:
    """Run a service that lists some commands, and yield its base URL.

    Args:
        records: The commands.
        folder: Where the service may find them.
        delay: Seconds that every answer is late.
    """
    listed = folder / "listed.json"
    content = {"commands": records, "announcements": []}
    listed.write_text(json.dumps(content), encoding="utf-8")
    arguments = [PYTHON, "-m", "tests.benchmarks.service", str(delay), str(listed)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@dataclass
class _Service(SocketServer):
    """The collections of one bot; what is written shows in the next read."""

    collections: dict[str, dict[str, dict[str, str]]]
    delay: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lock = Lock()
        self._listings: dict[str, bytes] = {}

    def handle(self, exchange: Exchange) -> None:
        """Wait, and answer."""
        time.sleep(self.delay)
        with self._lock:
            content = self._content(exchange.request)
        exchange.send(answer(content))

    def _content(self, request: Request) -> bytes:
        """Answer `/v1/bot/:id/:collection`, and below it `/:record`."""
        name, *rest = request.target.split("/")[4:]
        records = self.collections[name]
        if not request.writes:
            if name not in self._listings:
                listing = {"success": True, "message": "", "data": list(records.values())}
                self._listings[name] = json.dumps(listing).encode()
            return self._listings[name]
        self._listings.pop(name, None)
        if request.method == "DELETE":
            del records[rest[0]]
        else:
            record = {"id": f"new-{len(self.requests)}", **request.json}
            records[record["id"]] = record
        return b'{"success": true, "message": "Done."}'


if __name__ == "__main__":
    _, seconds, path = sys.argv
    seeded = {
        name: {record["id"]: record for record in records}
        for name, records in json.loads(Path(path).read_text(encoding="utf-8")).items()
    }
    with _Service(seeded, float(seconds)) as service:
        print(service.port, flush=True)
        service.released.wait()
