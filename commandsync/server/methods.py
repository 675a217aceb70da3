"""The methods of a path: HEAD wherever there is GET, and those that a refusal names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match

if TYPE_CHECKING:
    from fastapi import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

HEAD_ONLY = "commandsync.head_only"
"""The name, in the scope of a request, of whether only the head of its answer is sent."""

_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


class HeadAsGet:
    """Answers HEAD as GET: the headers are the same, and the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET", HEAD_ONLY: True}
        await self._app(scope, receive, send)


def allowed(request: Request) -> str:
    """Return the value of `Allow` for the path of a request.

    The framework's own value names the methods of one endpoint only.
    """
    methods = [method for method in _METHODS if _matches(request, method)]
    if methods[:1] == ["GET"]:
        methods.insert(1, "HEAD")
    return ", ".join(methods)


def _matches(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)
