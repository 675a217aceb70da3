"""The log of requests, without tokens: the gateway's URL carries one by protocol (wire notes).

Headers are never logged, so that of the URL's query is the only one.
"""

from __future__ import annotations

import logging
from urllib.parse import unquote_plus

_LOGGERS = ("uvicorn.access", "uvicorn.error")  # the second logs the requests of WebSockets


def log_without_tokens() -> None:
    """Let the web server log no token; a second call changes nothing."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_redact)


def _redact(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            without_token(value) if isinstance(value, str) else value for value in record.args
        )
    return True


def without_token(path: str) -> str:
    """Return a path and its query with `***` in place of a token."""
    path, question, query = path.partition("?")
    return path + question + "&".join(map(_redacted, query.split("&")))


def _redacted(parameter: str) -> str:
    name, _, _ = parameter.partition("=")
    return f"{name}=***" if unquote_plus(name).lower() == "token" else parameter
