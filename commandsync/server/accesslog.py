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
        record.args = tuple(_redacted(value) for value in record.args)
    return True


def _redacted(value: object) -> object:
    if not isinstance(value, str) or "?" not in value:
        return value
    path, _, query = value.partition("?")
    return f"{path}?{'&'.join(map(_without_token, query.split('&')))}"


def _without_token(parameter: str) -> str:
    name, _, _ = parameter.partition("=")
    return f"{name}=***" if unquote_plus(name).lower() == "token" else parameter
