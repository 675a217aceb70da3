"""A bare Starlette answer, the least that an answer of the service can cost.

    python -m benchmarks.bare ANSWER.json

Prints its port, and answers every request with the bytes of the file.
"""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


def application(content: bytes) -> Starlette:
    """Return an application with one answer."""

    async def answer(_request: Request) -> Response:
        return Response(content, media_type="application/json")

    return Starlette(routes=[Route("/{path:path}", answer)])


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    # asyncio sends small answers at once only on sockets that are declared as TCP.
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, listener.detach())
    print(tcp.getsockname()[1], flush=True)
    config = uvicorn.Config(
        application(Path(sys.argv[1]).read_bytes()),
        http="h11",
        loop="asyncio",
        ws="none",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
    )
    uvicorn.Server(config).run(sockets=[tcp])
