"""The plan from one manifest to another, with no network."""

from collections.abc import Sequence
from dataclasses import replace

from commandsync.diagnostics import Notice
from commandsync.errors import UsageError
from commandsync.manifest import Manifest
from commandsync.plan.hints import pinned_by_both
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.job import plan_manifest
from commandsync.sync.loading import check_notices, load_files
from commandsync.sync.settings import Settings


def plan_against(settings: Settings, manifests: Sequence[Manifest], other: str) -> Plan:
    """Plan as if what is due of another manifest were the listing.

    Raises `ManifestError` if the other one is invalid, and `UsageError` if there is more than one
    manifest on a side, or both are standard input.
    """
    if other == "-" and "-" in settings.files:
        raise UsageError(
            "standard input can be read only once", hint="give one of the two as a file"
        )
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
