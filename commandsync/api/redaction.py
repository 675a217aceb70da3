"""The tokens of a run: redacted in what it shows, and refused in what it writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.api.credentials import Token


class Redaction:
    """Finds and hides the tokens that a run knows.

    A short token is left out: it may be in a text by chance, and a name must not change for it.
    """

    def __init__(self) -> None:
        self._tokens: dict[str, Token] = {}

    def add(self, token: Token) -> None:
        """Add a token."""
        if not token.is_short:
            self._tokens[token.reveal()] = token

    def is_needed(self, text: str) -> bool:
        """Whether a text contains a token, as `Token.is_in`."""
        return any(token.is_in(text) for token in self._tokens.values())

    def redacted(self, text: str) -> str:
        """Return a text without the tokens; a token may be the beginning of another one."""
        for secret in sorted(self._tokens, key=len, reverse=True):
            text = self._tokens[secret].hide(text)
        return text


_of_run: ContextVar[Redaction | None] = ContextVar("_of_run", default=None)


@contextmanager
def redacting(redaction: Redaction) -> Iterator[None]:
    """Make a redaction that of the run, until the block ends."""
    before = _of_run.set(redaction)
    try:
        yield
    finally:
        _of_run.reset(before)


def keep_secret(token: Token) -> Token:
    """Add a token to those of the run, and return it; the library has no such run."""
    if redaction := _of_run.get():
        redaction.add(token)
    return token


def redacted(text: str) -> str:
    """Return a text without the run's tokens, before it is cut: else a part of one could stay."""
    redaction = _of_run.get()
    return redaction.redacted(text) if redaction else text


def contains_token(text: str) -> bool:
    """Whether a text contains a token of the run."""
    redaction = _of_run.get()
    return redaction is not None and redaction.is_needed(text)
