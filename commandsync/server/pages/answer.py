"""The answer with a page: compressed if the client accepts that, and requested again each time."""

import gzip

from fastapi import Request, Response

_LEVEL = 4  # of 9: the time doubles with the next ones, and the size stays
_LEAST = 1_000  # bytes that are worth it


def page_answer(request: Request, text: str, status: int = 200) -> Response:
    """Return a page as the answer to a request."""
    response = compressed(request, text.encode(), "text/html; charset=utf-8", status)
    response.headers["Cache-Control"] = "private, no-cache"  # it shows when its reader may vote
    return response


def compressed(request: Request, content: bytes, media: str, status: int = 200) -> Response:
    """Return an answer that is compressed if the request accepts it.

    No page contains a secret, so that its size tells nothing.
    """
    response = Response(content, status_code=status, media_type=media)
    response.headers["Vary"] = "Accept-Encoding"
    if len(content) >= _LEAST and "gzip" in request.headers.get("Accept-Encoding", ""):
        response.body = gzip.compress(content, _LEVEL, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
    return response
