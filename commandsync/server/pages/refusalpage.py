"""Failed requests of pages: the same statuses as those of the interface, as a page to read."""

import json
import re
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response

from commandsync.pages.assets import served
from commandsync.pages.templates import render
from commandsync.server.endpoint import page_answer
from commandsync.server.middleware import HEADERS

_INTERFACE = re.compile(r"/(?:v\d|healthz$|readyz$)")
_PAGES = re.compile(r"/$|/bot/")
_HEADERS = ("Allow", "Retry-After")
_TITLES = {
    400: "This address is not valid",
    404: "This page does not exist",
    500: "Something went wrong here",
    503: "The listing is not available",
}


def install(app: FastAPI) -> None:
    """Answer the failed requests of pages with pages; the interface keeps its own answers."""
    for error, handler in [*app.exception_handlers.items()]:
        app.add_exception_handler(error, _with_page(handler))


def _with_page(handler: Any) -> Any:  # noqa: ANN401 - the framework's type has every kind of handler
    async def handle(request: Request, error: Exception) -> Response:
        response: Response = await handler(request, error)
        path = request.url.path
        by_browser = "text/html" in request.headers.get("Accept", "")
        is_page = not _INTERFACE.match(path) and (by_browser or _PAGES.match(path))
        return _page(request, response) if is_page else response

    return handle


def _page(request: Request, response: Response) -> Response:
    status = response.status_code
    is_path = status != HTTPStatus.NOT_FOUND or "route" in request.scope  # set where one matches
    text = render(
        "refusal",
        assets=served(),
        status=status,
        title=_TITLES.get(status, HTTPStatus(status).phrase),
        reason=json.loads(bytes(response.body))["error"] if is_path else "check the address",
    )
    page = page_answer(text, status)
    page.headers.update(HEADERS)  # no middleware sees the answer to an error that nobody handles
    page.headers.update({n: response.headers[n] for n in _HEADERS if n in response.headers})
    return page
