"""A failed answer in place of the service's own, before or after it did what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.server.endpoint import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


def answer_instead(app: ASGIApp, status: int, *, after: bool) -> ASGIApp:
    """Return an application that answers a request with a status.

    Args:
        app: The application whose answer is replaced.
        status: The status of the answer.
        after: Whether the application does what is asked first; its answer is discarded.
    """

    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        if after:
            await app(scope, receive, _discard)
        response = json_response({"error": f"failed on request, with {status}"}, status)
        await response(scope, receive, send)

    return failing


async def _discard(_message: Message) -> None:
    pass
