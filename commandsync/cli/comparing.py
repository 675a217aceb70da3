"""`plan --against`: compare manifests with each other, with no network."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from commandsync.cli.settings import Settings, rules_of
from commandsync.cli.syncing import warnings_of
from commandsync.errors import UsageError
from commandsync.location import Notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.manifest import Manifest
    from commandsync.plan import Plan
    from commandsync.snapshot import Entry, Snapshot


def plan_against(
    settings: Settings, manifests: Sequence[Manifest], other: str, *, called: str = ""
) -> Plan:
    """Plan as if the listing showed what another manifest says.

    Args:
        settings: Flags and environment.
        manifests: The one manifest to plan for.
        other: The manifest to take for the listing.
        called: What the plan's first notice calls it; empty where the caller says it.

    Raises:
        ManifestError: The other one is invalid.
        UsageError: There is more than one manifest on a side.
    """
    from commandsync.manifest import load_manifests  # noqa: PLC0415 - loads yaml
    from commandsync.plan import Target, make_plan  # noqa: PLC0415 - when needed

    listed = load_manifests([other], stdin=sys.stdin.buffer.read)
    if len(manifests) != 1 or len(listed) != 1:
        raise UsageError("--against compares one manifest with one other")
    (manifest,) = manifests
    told = f"this is compared with {called}, and not with the listing"
    return make_plan(
        desired=manifest.snapshot,
        listed=_as_listed(listed[0].snapshot, manifest.snapshot),
        # No base URL: nothing there was read.
        target=Target(bot=settings.bot or manifest.bot, base_url=""),
        rules=rules_of(settings, manifest),
        manifest=manifest.paths,
        notices=(*((Notice(told),) if called else ()), *warnings_of(manifest)),
    )


def _as_listed(other: Snapshot, desired: Snapshot) -> Snapshot:
    """Take a manifest for a listing; what it does not manage shows nothing."""
    from commandsync.snapshot import Snapshot  # noqa: PLC0415 - when needed

    return Snapshot(
        {
            resource: tuple(map(_identified, other.collections.get(resource, ())))
            for resource in desired.scope
        }
    )


def _identified(entry: Entry) -> Entry:
    """Give an entry an id: its pin, or its place."""
    from commandsync.snapshot import Entry  # noqa: PLC0415 - when needed

    return Entry(entry.text, id=entry.id or str(entry.location))
