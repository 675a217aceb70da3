"""What users notice since an earlier manifest: a file, or a revision of git."""

import os

from commandsync.diagnostics import Do, Location, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.userchanges import UserChanges, user_changes
from commandsync.records.texts import Resource
from commandsync.sync.loading import load_files
from commandsync.sync.objects import with_objects

_STDIN = "-"


def changes_since(since: str, manifest: Manifest) -> UserChanges:
    """Compare a manifest with an earlier one.

    Args:
        since: The earlier one: a file, `-` for standard input, or a revision of git.
        manifest: The later one.

    Raises:
        UsageError: There is no earlier manifest of that name, or one of the two does not manage
            commands, so that nothing is known about those.
        ManifestError: The earlier one is invalid.
        FileError: Git is needed and not installed.
    """
    if since == manifest.path == _STDIN:
        raise UsageError("standard input can be read only once", hint="give a file for one of them")
    earlier = earlier_manifest(since, manifest)
    for name, each in ((since, earlier), (manifest.path, manifest)):
        entries = each.snapshot.collections.get(Resource.COMMAND)
        if entries is None:
            message = f"{name} does not manage commands: nothing is known about them"
            raise UsageError(message, hint="compare two manifests that have commands:")
    return user_changes(old=earlier.snapshot, new=manifest.snapshot)


def earlier_manifest(since: str, manifest: Manifest) -> Manifest:
    """Load an earlier manifest; arguments and exceptions as of `changes_since`."""
    if since == _STDIN or os.path.isfile(since):  # noqa: PTH113 - False for too long a name, too
        (earlier,) = load_files([since])
        return with_objects(earlier)
    if manifest.path == _STDIN:
        raise UsageError(
            f"{since!r} is not a file, and standard input has no revisions", hint=Do.NAME_MANIFEST()
        )
    from commandsync.sync.revision import manifest_at  # noqa: PLC0415 - seldom needed

    if found := manifest_at(since, manifest.path):
        return found
    at = Location(f"{since}:{os.path.basename(manifest.path)}", is_unread=True)  # noqa: PTH119 - as above
    hint = "name a later revision, or if its name was another one, a file with its content"
    raise ManifestError([Problem(at, "the manifest is not in this revision", hint)])
