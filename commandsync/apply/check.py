"""The one check before a first write: token, owners of deleted records, listing, limit.

The command line, the Action, `run` and `run_async` ask it about each plan, and a client about each
call that writes.
"""

from collections.abc import Iterable, Iterator, Sequence

from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.apply.ownership import unexplained
from commandsync.apply.resume import progress_of
from commandsync.apply.states import State
from commandsync.diagnostics import Do
from commandsync.errors import (
    NotOwnedError,
    RefusedError,
    StalePlanError,
    TooManyDeletesError,
    WrongBotError,
)
from commandsync.plan.changes import Change
from commandsync.plan.guard import countable, refusal, with_copies
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import named


def refusal_of(
    plan: Plan,
    *,
    listed: Snapshot,
    token: Token | None,
    others: Sequence[Token] = (),
    versions: Iterable[Snapshot] | None = None,
    body: object = None,
) -> RefusedError | None:
    """Return why a plan must not be applied; None if it may be.

    `listed` is the listing now, every collection of the plan's scope. The token is None for a run
    that only plans, and `others` are those of the other bots of the run. `versions` is what each
    version of the manifest wanted, the newest first, of a run that deletes and replaces its own
    records only; None for one that takes away what anybody listed. `body` is a whole list.
    """
    listing = plan.listing
    bot = "" if listing and listing.whole else plan.target.bot
    by_token = token_refusal(token, bot, plan.changes, others=others, body=body)
    if by_token is None and listing:
        refused = listing.refusal(plan.rules, changes=bool(plan.changes))
        by_token = RefusedError(refused.message, hint=refused.hint) if refused else None
    not_owned = None if versions is None else _not_owned(plan, versions)
    return by_token or not_owned or _outdated_or_limited(plan, listed)


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


def check_call(operation: Operation[object], token: Token | None, *, bot: str) -> None:
    """Check a single call of a client for a bot, before it is sent; reads are always allowed.

    Raises `WrongBotError` if the token belongs to another bot, and `RefusedError` if a text
    contains the token.
    """
    if token is None or operation.method == "GET":
        return
    what = f"a text of {operation.name!r}"
    if error := token_refusal(token, bot, body=operation.body, what=what):
        raise error


def _exposed(what: str) -> RefusedError:
    return RefusedError(
        f"{what} contains the bot's token",
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


def _not_owned(plan: Plan, versions: Iterable[Snapshot]) -> RefusedError | None:
    """Return why a plan takes away what somebody else has listed."""
    foreign = unexplained(plan, versions=versions)
    if not foreign:
        return None
    names = named([f"{change.resource} {change.name!r}" for change in foreign], most=5)
    return NotOwnedError(
        f"apply would delete or replace what no version of the manifest had: {names}",
        hint=Do.APPLY_ALL(first="somebody else listed it: add it to the manifest"),
    )


def _outdated_or_limited(plan: Plan, listed: Snapshot) -> RefusedError | None:
    """Return why what is left of a plan does not fit the listing, or deletes too much."""
    try:
        states = progress_of(plan, listed)
    except StalePlanError as error:
        return error
    both = zip(plan.changes, states, strict=True)
    pending = [change for change, state in both if state is not State.DONE]
    refused = refusal(
        with_copies(pending, listed),  # what was one when a plan was saved may be the last one now
        listed=countable(listed, plan.scope, plan.rules),
        rules=plan.rules,
        saved=plan.saved,
    )
    return None if refused is None else TooManyDeletesError(refused.message, hint=refused.hint)
