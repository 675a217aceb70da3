"""The check of a token before a write: whose it is, and whether a text contains it.

It is part of the check of a plan, and a client makes it for each call that writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.errors import RefusedError, WrongBotError

if TYPE_CHECKING:
    from commandsync.plan.changes import Change


def token_refusal(
    token: Token | None,
    bot: str,
    changes: Iterable[Change] = (),
    *,
    others: Sequence[Token] = (),
    body: object = None,
    what: str = "what was imported from the platform",
) -> RefusedError | None:
    """Return why changes must not be made with a token: it is another bot's, or in a text.

    A token without the id of a bot may write: the service decides, as it does where `bot` is empty.
    """
    if token is None:
        return None
    if bot and token.bot not in {"", bot}:
        return WrongBotError(
            f"the token belongs to bot {token.bot}, not to bot {bot}",
            hint="use the token from this bot's own page",
        )
    for change in changes:
        if _is_any_in((token, *others), getattr(change, "after", ())):
            at = f" at {change.location}" if change.location else ""
            return _exposed(f"the text of {change.resource.with_article}{at}")
    if _is_any_in((token, *others), _texts(body)):
        return _exposed(what)
    return None


def check_call(
    operation: Operation[object], token: Token | None, *, bot: str, others: Sequence[Token] = ()
) -> None:
    """Check a single call of a client for a bot, before it is sent; reads are always allowed.

    Raises `WrongBotError` if the token belongs to another bot, and `RefusedError` if a text
    contains the token.
    """
    if token is None or operation.method == "GET":
        return
    what = f"a text of {operation.name!r}"
    if error := token_refusal(token, bot, others=others, body=operation.body, what=what):
        raise error


def _exposed(what: str) -> RefusedError:
    return RefusedError(
        f"{what} contains a token",
        hint="remove it there, and renew the token: others may have read it",
    )


def _is_any_in(secrets: Sequence[Token], texts: Iterable[str]) -> bool:
    return any(secret.is_in(text) for text in texts for secret in secrets)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _texts(part)
