"""The manifests of a run: loaded, and refused if the settings are strict and there are warnings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.diagnostics import Do, Hint, Notice, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.sync import DEFAULT_MANIFESTS
from commandsync.sync.files import ci_workspace
from commandsync.sync.progress import FilesRead
from commandsync.sync.settings import Settings

if TYPE_CHECKING:
    from commandsync.manifest import Manifest

_LONGEST_STDIN = 10 * 1024 * 1024 + 1  # bytes: one more than a manifest may have


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
    if "-" in settings.files:
        raise UsageError(f"{what} edits the manifest in place", hint=hint)
    return load_single(settings, f"{what} works on one manifest", hint=hint, contents=contents)


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
