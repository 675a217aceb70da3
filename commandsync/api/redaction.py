"""The tokens of a run: one set for all that is shown, written to a file or sent.

A run begins with `redacting`. Every token that its environment or its settings have is added by
`keep_secret`. `redacted` hides them in outputs, `contains_token` tells files that may not be
written, and `known_tokens` is for the check before a request. A token of less than 8 characters may
be in a text by chance: it is never hidden, since a name must not change for it, and it counts in a
request only if the run uses it.

It loads little: the outputs of `--version` and `--help` are redacted, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from commandsync.api.credentials import Token

SECRET_VARIABLE = re.compile(
    r"COMMANDSYNC_TOKEN(_\w+)?|INPUT_(GITHUB_)?TOKEN|"
    r"(DISCORD|TOPGG|DISCORDBOTLIST|DBL|TELEGRAM(_BOT)?)_TOKEN"
)
"""The variables that contain a token, even if no setting names them: for the known services, for
Discord, and as inputs of the Action."""

Tokens: TypeAlias = "dict[str, Token]"
"""Tokens by their secrets."""

_of_run: ContextVar[Tokens | None] = ContextVar("_of_run", default=None)


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values of the variables that contain a token."""
    return [value for name, value in sorted(environ.items()) if SECRET_VARIABLE.fullmatch(name)]


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
    if tokens is not None:
        tokens[token.reveal()] = token
    return token


def known_tokens() -> tuple[Token, ...]:
    """Return the tokens of the run, none of which may be sent in a text."""
    return tuple((_of_run.get() or {}).values())


def redacted(text: str, tokens: Tokens | None = None) -> str:
    """Return a text without the run's tokens; cut it afterwards, or a part of one could stay.

    A token may be the beginning of another one.
    """
    tokens = tokens or _of_run.get() or {}
    for secret in sorted(tokens, key=len, reverse=True):
        if not tokens[secret].is_short:
            text = tokens[secret].hide(text)
    return text


def contains_token(text: str, tokens: Tokens | None = None) -> bool:
    """Whether a text contains a token that `redacted` hides."""
    tokens = tokens or _of_run.get() or {}
    return any(token.is_in(text) for token in tokens.values() if not token.is_short)
