"""Where a proposal would send the token: what it changes of the bot, the service and the token.

Anybody who may push a branch can write another service into the manifest.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commandsync.action.base import base_head
from commandsync.action.event import GitHubEvent
from commandsync.action.reporter import say
from commandsync.action.rest import GitHub, GitHubError
from commandsync.action.verdict import Verdict
from commandsync.diagnostics import Location
from commandsync.errors import ManifestError, RefusedError
from commandsync.manifest import Manifest
from commandsync.report.escape import code
from commandsync.report.github import Annotation
from commandsync.sync.settings import TOKEN_VARIABLE

_KEYS = ("base_url", "bot", "token_env")
_GIVE = "give the input base-url, or set the variable COMMANDSYNC_BASE_URL for the job"


@dataclass(frozen=True, slots=True)
class DestinationChange:
    """A key of the manifest that decides where the token goes, and its values; empty for none.

    `is_first` is for a manifest that the base branch does not have under its name.
    """

    key: str
    old: str
    new: str
    location: Location | None
    is_first: bool


def destination_changes(
    manifests: Sequence[Manifest],
    github: GitHub | None,
    event: GitHubEvent,
    *,
    base_url: str,
    bot: str,
) -> list[DestinationChange]:
    """Compare the manifests of a proposal with those of the base branch.

    What another setting overrides is not a change: `base_url` and `bot`, if they are not empty. Nor
    is what a first manifest says. If the base branch cannot be read and need not be, the log has
    the reason.

    Raises `RefusedError` if a token would be sent to a service that only the proposal names.
    """
    if not event.proposes:
        return []
    guarded = not base_url and any(map(_has_token, manifests))
    try:
        changes = [change for each in manifests for change in _changes(each, github, event)]
    except (GitHubError, ManifestError) as error:
        message = f"the manifest of the base branch cannot be read: {error.message}"
        if guarded:
            why = "; without it the manifest's base_url must not decide where the token goes"
            raise RefusedError(message + why, hint=_GIVE) from error
        say(message)
        return []
    if guarded:
        _refuse_another_service(changes)
    overrides = {"base_url": base_url, "bot": bot}
    return [each for each in changes if not (each.is_first or overrides.get(each.key))]


def with_destinations(verdict: Verdict, changes: Sequence[DestinationChange]) -> Verdict:
    """Return a verdict that begins with changes of where the token goes."""
    if not changes:
        return verdict
    keys = ", ".join(dict.fromkeys(f"`{change.key}`" for change in changes))
    notes = [
        f"`{change.key}` was {_shown(change.old)} and is {_shown(change.new)}."
        for change in changes
    ]
    warnings = (
        Annotation(
            "warning",
            "Changed destination",
            f"{change.key} was {change.old or 'not set'} and is {change.new or 'not set'}",
            "the token goes there after the merge",
            change.location,
        )
        for change in changes
    )
    return replace(
        verdict,
        title=f"this pull request changes {keys}",
        text="\n".join([*notes, "", verdict.text]),
        markdown="\n".join([*notes, "", verdict.markdown]),
        annotations=(*warnings, *verdict.annotations),
    )


def _refuse_another_service(changes: Sequence[DestinationChange]) -> None:
    for change in changes:
        if change.key == "base_url" and change.new:
            was = f"{change.old} in the base branch" if change.old else "not set in the base branch"
            message = f"this pull request sets base_url to {change.new}, and it is {was}"
            raise RefusedError(f"{message}: the token is not sent", hint=_GIVE)


def _changes(
    manifest: Manifest, github: GitHub | None, event: GitHubEvent
) -> Iterator[DestinationChange]:
    if github is None:
        raise GitHubError("no github-token was given")
    if not event.base_sha:
        raise GitHubError("the event does not name its commit")
    base = base_head(manifest, github, event)
    for key in _KEYS:
        old, new = getattr(base, key, ""), getattr(manifest, key)
        if old != new:
            location = getattr(manifest, f"{key}_at")
            yield DestinationChange(key, old, new, location, is_first=base is None)


def _has_token(manifest: Manifest) -> bool:
    return bool(os.environ.get(manifest.token_env or TOKEN_VARIABLE, "").strip())


def _shown(value: str) -> str:
    return code(value) if value else "not set"
