"""The tokens of a run: redacted in what it shows, and refused in what it writes.

A short token is left out: it may be in a text by chance, and a name must not change for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from commandsync.api.credentials import Token

Tokens: TypeAlias = "dict[str, Token]"
"""Tokens by their secrets."""

_of_run: ContextVar[Tokens | None] = ContextVar("_of_run", default=None)


@contextmanager
def redacting() -> Iterator[Tokens]:
    """Begin a run without tokens, until the block ends."""
    tokens: Tokens = {}
    before = _of_run.set(tokens)
    try:
        yield tokens
    finally:
        _of_run.reset(before)


def keep_secret(token: Token) -> Token:
    """Add a token to those of the run, and return it; the library has no such run."""
    tokens = _of_run.get()
    if tokens is not None and not token.is_short:
        tokens[token.reveal()] = token
    return token


def redacted(text: str, tokens: Tokens | None = None) -> str:
    """Return a text without the run's tokens, before it is cut: else a part of one could stay.

    A token may be the beginning of another one.
    """
    tokens = tokens or _of_run.get() or {}
    for secret in sorted(tokens, key=len, reverse=True):
        text = tokens[secret].hide(text)
    return text


def contains_token(text: str, tokens: Tokens | None = None) -> bool:
    """Whether a text contains a token of the run, as `Token.is_in`."""
    return any(token.is_in(text) for token in (tokens or _of_run.get() or {}).values())
