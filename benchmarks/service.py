"""A listing service for measuring: real HTTP on loopback, one process, every answer equally late.

    python -m benchmarks.service SECONDS RECORDS.json

Prints its port. GET /requests tells how many requests came since it was last asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Lock
from typing import TYPE_CHECKING, cast
from urllib.request import urlopen

from benchmarks.measuring import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNTER = "/requests"


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
    arguments = [PYTHON, "-m", "benchmarks.service", str(delay), str(listed)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe, as just asked for
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def requests_since(base_url: str) -> int:
    """Return how many requests a service has had since it was last asked."""
    with urlopen(base_url + COUNTER) as answer:  # noqa: S310 - loopback
        return int(answer.read())


class _Service(ThreadingTCPServer):
    """The collections of one bot; what is written shows in the next read."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, collections: dict[str, list[dict[str, str]]], delay: float) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.collections = {
            name: {record["id"]: record for record in records}
            for name, records in collections.items()
        }
        self.delay = delay
        self.lock = Lock()
        self.count = 0
        self.listings: dict[str, bytes] = {}

    def answer(self, method: str, path: str, body: bytes) -> bytes:
        """Answer `/v1/bot/:id/:collection`, and below it `/:record`."""
        if path == COUNTER:
            count, self.count = self.count, 0
            return str(count).encode()
        self.count += 1
        name, *rest = path.split("/")[4:]
        records = self.collections[name]
        if method == "GET":
            if name not in self.listings:
                content = {"success": True, "message": "", "data": list(records.values())}
                self.listings[name] = json.dumps(content).encode()
            return self.listings[name]
        self.listings.pop(name, None)
        if method == "DELETE":
            del records[rest[0]]
        else:
            record = {"id": f"new-{self.count}", **json.loads(body)}
            records[record["id"]] = record
        return b'{"success": true, "message": "Done."}'


class _Talk(StreamRequestHandler):
    """Answers the requests of one connection until it is closed."""

    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Read a request, wait, answer; over and over."""
        with suppress(ConnectionError):  # the client is done
            while request := self.rfile.readline():
                method, path, _ = request.decode("latin-1").split(" ")
                self._answer(cast("_Service", self.server), method, path)

    def _answer(self, service: _Service, method: str, path: str) -> None:
        body = self.rfile.read(self._length())
        time.sleep(service.delay)
        with service.lock:
            content = service.answer(method, path, body)
        self.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(content), content)
        )

    def _length(self) -> int:
        """Read to the end of the headers, and return the length of the body that follows."""
        length = 0
        while line := self.rfile.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return length


if __name__ == "__main__":
    _, seconds, listed = sys.argv
    found = json.loads(Path(listed).read_text(encoding="utf-8"))
    with _Service(found, float(seconds)) as service:
        print(service.server_address[1], flush=True)
        service.serve_forever()
