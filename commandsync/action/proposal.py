"""A proposal beside its base branch: the changes that decide where the token goes.

Anybody who may push a branch can write another service into the manifest. So the token of the input
is handed over for the manifests of the run, and where a proposal names another service than the
base branch does, nothing is sent. `with_destinations` shows the changed keys before all else.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from commandsync.action.step import GitHubEvent, say
from commandsync.action.verdict import Verdict
from commandsync.diagnostics import Location
from commandsync.errors import CommandsyncError, RefusedError, UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.report.github import Annotation
from commandsync.report.lines import code
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.history import version_before
from commandsync.sync.settings import TOKEN_VARIABLE

_KEYS = ("base_url", "bot", "token_env")
_GIVE = "give the input base-url, or set the variable COMMANDSYNC_BASE_URL for the job"


class DestinationChange(NamedTuple):
    """A key of the manifest that decides where the token goes, and its values; empty for none."""

    key: str
    old: str
    new: str
    path: str  # the manifest


def hand_over_token(manifests: Sequence[Manifest], token: str, *, writes: bool) -> None:
    """Put the token of the input into the variable of each manifest.

    Raises `WrongBotError` if a run that writes has one token for manifests of several bots.
    """
    manifests = [manifest for manifest in manifests if manifest.has_page]
    variables = [manifest.token_env or TOKEN_VARIABLE for manifest in manifests]
    shared = len(manifests) > 1 if token else len(set(variables)) < len(variables)
    if writes and shared:
        raise WrongBotError(
            f"there is one token for {len(manifests)} manifests, and a token belongs to one bot",
            hint="give each manifest its own token_env: and set these variables instead of the "
            "input token, or use one job for each bot",
        )
    if token:
        os.environ.update(dict.fromkeys(variables, token))


def base_manifests(
    manifests: Sequence[Manifest], event: GitHubEvent, *, base_url: str
) -> dict[str, EarlierVersion]:
    """Load the manifests of the base branch of a proposal from git, by the paths of its own.

    One that the base branch does not have is empty, with no paths. If one cannot be read, there are
    none, and the log has the reason.

    Raises `RefusedError` if a token would be sent to a service that only the proposal names:
    without a `base_url` that overrides it.
    """
    if not event.proposes:
        return {}
    guarded = not base_url and any(map(_has_token, manifests))
    try:
        if not event.base_sha:
            raise UsageError("the event does not name its commit")
        found = {
            each.path: (version_before(event.base_sha, each) or _nothing(each.path))._replace(
                name=event.base_sha[:7]
            )
            for each in manifests
        }
    except CommandsyncError as error:
        message = f"the manifest of the base branch cannot be read: {error.message}"
        if guarded:
            why = "; without it the manifest's base_url must not decide where the token goes"
            raise RefusedError(message + why, hint=_GIVE) from error
        say(f"{message} ({error.hint})" if error.hint else message)
        return {}
    if guarded:
        _refuse_another_service(destination_changes(manifests, found))
    return found


def _nothing(path: str) -> EarlierVersion:
    """Return the version before a manifest was there."""
    return EarlierVersion("", Manifest(path))


def _refuse_another_service(changes: Iterable[DestinationChange]) -> None:
    for change in changes:
        if change.key == "base_url" and change.new:
            was = f"{change.old} in the base branch" if change.old else "not set in the base branch"
            message = f"this pull request sets base_url to {change.new}, and it is {was}"
            raise RefusedError(f"{message}: the token is not sent", hint=_GIVE)


def destination_changes(
    manifests: Sequence[Manifest], bases: Mapping[str, EarlierVersion]
) -> Iterator[DestinationChange]:
    """Yield the changes of a proposal that decide where the token goes."""
    for manifest in manifests:
        for key in _KEYS if manifest.path in bases else ():
            old, new = getattr(bases[manifest.path].manifest, key), getattr(manifest, key)
            if old != new:
                yield DestinationChange(key, old, new, manifest.path)


def with_destinations(
    verdict: Verdict,
    manifests: Sequence[Manifest],
    bases: Mapping[str, EarlierVersion],
    *,
    overridden: Mapping[str, str],
) -> Verdict:
    """Return a verdict that begins with changes of where the token goes.

    Those of the keys that are `overridden` by a setting do not count, nor does a first manifest.
    """
    known = {path: base for path, base in bases.items() if base.manifest.paths}
    changes = [
        change for change in destination_changes(manifests, known) if not overridden.get(change.key)
    ]
    if not changes:
        return verdict
    keys = ", ".join(dict.fromkeys(f"`{change.key}`" for change in changes))
    notes = [f"`{each.key}` was {_shown(each.old)} and is {_shown(each.new)}." for each in changes]
    warnings = (
        Annotation(
            "warning",
            "Changed destination",
            f"{change.key} was {change.old or 'not set'} and is {change.new or 'not set'}",
            "the token goes there after the merge",
            Location(change.path),
        )
        for change in changes
    )
    behind = verdict.after([*notes, ""], [*notes, ""], warnings)
    return replace(behind, title=f"this pull request changes {keys}")


def _has_token(manifest: Manifest) -> bool:
    return bool(os.environ.get(manifest.token_env or TOKEN_VARIABLE, "").strip())


def _shown(value: str) -> str:
    return code(value) if value else "not set"
