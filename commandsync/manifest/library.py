"""`load`: the commands of a manifest, for the bot that they belong to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from commandsync.errors import UsageError
from commandsync.manifest.loading import load_manifests
from commandsync.records.texts import by_category

if TYPE_CHECKING:
    from commandsync.records.texts import CommandText


def load(path: str | os.PathLike[str]) -> dict[str, tuple[CommandText, ...]]:
    """Load the commands of a manifest by category, as `/help` of the bot shows them.

    Args:
        path: The manifest, with everything that it includes; or a folder with one manifest in it.

    Returns:
        The commands of each category, both in the order of their first appearance; those without a
        category come first, under `""`. The prefix is filled in, and defaults are applied.

    Raises:
        ManifestError: It is invalid or cannot be read. The traceback has the place of each problem.
        UsageError: It is a folder with several manifests.
    """
    manifests = load_manifests([os.fspath(path)], stdin=bytes)
    if len(manifests) != 1:
        raise UsageError(
            f"{os.fspath(path)} contains {len(manifests)} manifests",
            hint="pass the path of one file",
        )
    return by_category(manifests[0].snapshot.commands)
