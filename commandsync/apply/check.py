"""The one check before a first write: token, owners of deleted records, listing, limit.

The command line, the Action, `run` and `run_async` ask it about each plan.
"""

from collections.abc import Iterable, Sequence

from commandsync.api.credentials import Token
from commandsync.apply.ownership import unexplained
from commandsync.apply.resume import progress_of
from commandsync.apply.states import State
from commandsync.apply.token import token_refusal
from commandsync.diagnostics import Do
from commandsync.errors import (
    NotOwnedError,
    RefusedError,
    StalePlanError,
    TooManyDeletesError,
)
from commandsync.plan.plan import Plan
from commandsync.plan.rules import countable, refusal, with_copies
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
