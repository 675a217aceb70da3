"""The settings of a run, and the manifests that they name.

A door makes one `Settings` of its options (flag over environment over manifest), and every step of
the job takes it. `load` reads the manifests of the settings, and a strict run refuses those with
warnings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from commandsync.diagnostics import Do, Hint, Notice, Problem
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.sync import DEFAULT_MANIFESTS
from commandsync.sync.files import ci_workspace
from commandsync.sync.site import FilesRead, Progress

if TYPE_CHECKING:
    from commandsync.manifest import Manifest


E = TypeVar("E", bound=CommandsyncError)

TOKEN_VARIABLE = "COMMANDSYNC_TOKEN"  # noqa: S105 - the variable's name
BOT_VARIABLE = "COMMANDSYNC_BOT"
BASE_URL_VARIABLE = "COMMANDSYNC_BASE_URL"
HOSTS_VARIABLE = "COMMANDSYNC_HOSTS"
"""The hosts, separated by commas or spaces, that may get a token though a manifest names them."""

STDIN = "-"
"""The path of a manifest that is read from standard input."""

_LONGEST_STDIN = 10 * 1024 * 1024 + 1  # bytes: one more than a manifest may have


def read_clock() -> datetime:
    """Return the time, in UTC to the second: the only place where it is read."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The flags and the environment, under the names of the flags, and the time of the run.

    What is empty or None comes from the manifest, the token or the default. `timeout` is in seconds
    per request; `concurrency` is the most requests in flight. `now` is given once, so that the
    plan, the plan that is made again after a question, and the verification agree on what is due.
    `owned` is for a run that deletes and replaces only what a version of the manifest had.
    `since` is an earlier manifest, what was sent last to a list that cannot be read; `unseen`
    allows to replace one of which nothing is known, `resend` sends one without changes, and
    `listing` has the names of the listings of the run, none for all.
    `base_url_from` and `bot_from` are the flag, variable or input that each is from.
    `on_progress` is called with what the run does meanwhile, from any thread.
    """

    now: datetime = field(kw_only=True, compare=False)
    files: tuple[str, ...] = ()
    base_url: str = ""
    base_url_from: str = ""
    bot: str = ""
    bot_from: str = ""
    token_file: str = ""
    insecure_http: bool = False
    timeout: float = 30.0
    retries: int = 4
    concurrency: int = 4
    prune: bool = True
    max_deletes: DeleteLimit | None = None
    only: str = ""
    strict: bool = False
    owned: bool = False
    since: str = ""
    unseen: bool = False
    resend: bool = False
    listing: tuple[str, ...] = ()
    on_progress: Callable[[Progress], object] = field(
        default=lambda _progress: None, repr=False, compare=False
    )


def rules_of(settings: Settings, manifest: Manifest) -> SyncRules:
    """Return a manifest's rules, overridden by the flags."""
    rules = manifest.rules
    if not settings.prune:
        rules = replace(rules, prune=False)
    if settings.max_deletes is not None:
        rules = replace(rules, max_deletes=settings.max_deletes)
    return rules


def about(error: E, path: str, *, of: int) -> E:
    """Return an error with the path of its manifest in the message, if there are several."""
    return error if of == 1 else error.having(message=f"{path}: {error.message}")


def default_manifest(folder: str = "") -> str:
    """Return the path of a folder's manifest that no option names: the first name if there is none.

    Raises `UsageError` if the folder has both.
    """
    paths = [str(Path(folder, name)) for name in DEFAULT_MANIFESTS]
    found = [path for path in paths if os.path.lexists(path)]
    if len(found) > 1:
        message = f"{found[0]} and {found[1]} both exist, and each is the manifest by default"
        raise UsageError(message, hint="name the one to use, or remove the other")
    return found[0] if found else paths[0]


def load(
    settings: Settings, *, contents: dict[str, bytes] | None = None, folders: set[str] | None = None
) -> tuple[Manifest, ...]:
    """Load the manifests that the settings name.

    `contents` and `folders` are as for `load_manifests`. Raises `ManifestError` as `load_files`; if
    the settings are strict, also with all warnings.
    """
    start = monotonic()
    files = settings.files or (default_manifest(),)
    manifests = load_files(files, contents=contents, folders=folders)
    paths = [path for manifest in manifests for path in manifest.paths]
    settings.on_progress(FilesRead(paths, manifests, monotonic() - start))
    check_notices([warning for each in manifests for warning in each.warnings], settings)
    return manifests


def load_single(
    settings: Settings,
    problem: str,
    *,
    hint: str | Hint,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that the settings name; `UsageError` with the problem if several."""
    manifests = load(settings, contents=contents, folders=folders)
    if len(manifests) != 1:
        paths = " and ".join(manifest.path for manifest in manifests[:2])
        raise UsageError(f"{problem}, not several: {paths}", hint=hint)
    return manifests[0]


def load_to_edit(settings: Settings, contents: dict[str, bytes], *, what: str) -> Manifest:
    """Load the one manifest that is edited in place; its files go into `contents`.

    Raises `ManifestError` if it is invalid, and `UsageError` if it is standard input, or there are
    several; `what` is what edits it.
    """
    hint = Do.NAME_MANIFEST()
    if STDIN in settings.files:
        raise UsageError(f"{what} edits the manifest in place", hint=hint)
    return load_single(settings, f"{what} works on one manifest", hint=hint, contents=contents)


def check_stdin(paths: Sequence[str]) -> None:
    """Raise `UsageError` if standard input would be read twice."""
    if paths.count(STDIN) > 1:
        hint = "give one of the two as a file"
        raise UsageError("standard input can be read only once", hint=hint)


def check_notices(notices: Sequence[Notice | Problem], settings: Settings) -> None:
    """Refuse warnings about a manifest's entries if the settings are strict.

    Raises `ManifestError` if they are, and there is one.
    """
    placed = [(each.location, each) for each in notices] if settings.strict else []
    if warnings := [Problem(at, each.message, each.hint) for at, each in placed if at]:
        hint = "a strict run refuses warnings about the manifest, too"
        raise ManifestError(warnings).having(hint=hint)


def load_files(
    paths: Sequence[str],
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> tuple[Manifest, ...]:
    """Load manifests; in CI, no link out of the workspace is followed.

    `contents` and `folders` are as for `load_manifests`. Raises `ManifestError` with all problems
    of all of them.
    """
    from commandsync.manifest import load_manifests  # noqa: PLC0415 - loads yaml

    return load_manifests(
        paths,
        stdin=lambda: sys.stdin.buffer.read(_LONGEST_STDIN),
        workspace=ci_workspace(os.environ),
        contents=contents,
        folders=folders,
    )
