"""A manifest beside another one: an earlier version, or any file; with no network."""

import os
from collections.abc import Sequence
from dataclasses import replace

from commandsync.diagnostics import Do, Location, Notice, Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.hints import pinned_by_both
from commandsync.plan.plan import Plan
from commandsync.plan.userchanges import UserChanges, user_changes
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.job import plan_manifest
from commandsync.sync.loading import check_notices, load_files
from commandsync.sync.objects import with_objects
from commandsync.sync.revision import manifest_at
from commandsync.sync.settings import Settings

_STDIN = "-"
_TWICE = "give one of the two as a file"


def plan_against(settings: Settings, manifests: Sequence[Manifest], other: str) -> Plan:
    """Plan as if what is due of another manifest were the listing.

    Raises `ManifestError` if the other one is invalid, and `UsageError` if there is more than one
    manifest on a side, or both are standard input.
    """
    if other == _STDIN and _STDIN in settings.files:
        raise UsageError("standard input can be read only once", hint=_TWICE)
    listed = load_files([other])
    if len(manifests) != 1 or len(listed) != 1:
        raise UsageError("a comparison needs one manifest on each side")
    (manifest,), due = manifests, listed[0].snapshot.due(settings.now)
    desired: dict[Resource, tuple[Entry, ...]] = {}
    as_listed: dict[Resource, tuple[Entry, ...]] = {}
    unpinned = 0
    for resource, wanted in manifest.snapshot.collections.items():
        # A collection that the other one does not manage is empty.
        others = due.collections.get(resource, ())
        desired[resource], count = pinned_by_both(wanted, others)
        as_listed[resource] = tuple(  # an id is the pin, or the location
            Entry(entry.text, id=entry.id or str(entry.location)) for entry in others
        )
        unpinned += count
    notices = [Notice(f"this is compared with {other}, and not with the listing")]
    if unpinned:
        one = unpinned == 1
        ids, entries = ("id is", "its entry is") if one else ("ids are", "their entries are")
        message = f"{unpinned:,} pinned {ids} not in the other manifest: {entries} matched by text"
        hint = "an entry that is renamed by its pin alone is shown as added and deleted here"
        notices.append(Notice(message, hint))
    desired_manifest = replace(manifest, snapshot=Snapshot(desired))
    plan = plan_manifest(desired_manifest, Snapshot(as_listed), settings=settings, notices=notices)
    check_notices(plan.notices, settings)
    return plan


def changes_since(since: str, manifest: Manifest) -> UserChanges:
    """Compare a manifest with an earlier one: a file, `-` for standard input, or a git revision.

    Raises:
        UsageError: The earlier one does not exist, or one of the two does not manage commands, so
            that nothing is known about those.
        ManifestError: The earlier one is invalid.
        FileError: Git is needed and not installed.
    """
    if since == manifest.path == _STDIN:
        raise UsageError("standard input can be read only once", hint=_TWICE)
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
        message = f"{since!r} is not a file, and standard input has no revisions"
        raise UsageError(message, hint=Do.NAME_MANIFEST())
    if found := manifest_at(since, manifest.path):
        return found
    at = Location(f"{since}:{os.path.basename(manifest.path)}", is_unread=True)  # noqa: PTH119 - a path as it was given
    hint = "name a later revision, or if its name was another one, a file with its content"
    raise ManifestError([Problem(at, "the manifest is not in this revision", hint)])
