"""The hidden first line of a comment: whose it is, and which plan it has shown."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from commandsync.plan.changes import Delete, Replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan

_LINE = re.compile(r"<!-- commandsync:([0-9a-f]{20}):([A-Za-z0-9+/]+={0,2}) -->")
_LONGEST = 16_000  # characters of a line, a quarter of a comment: the ids of about 350 records
_DIGITS = 8  # of the digest of a change


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """What a comment's first line says about it.

    Attributes:
        key: Which run may edit the comment (see `key_of`).
        fingerprint: The digest of the plan that it shows; empty for none.
        removals: The listed records that this plan deletes or replaces, each as its resource, a
            colon and its id. Where a line cannot hold them all, only their digest is known.
        applied: Whether the plan was applied to its end.
        changes: The digests of the plan's changes but those deletes; None where a line cannot hold
            them.
    """

    key: str
    fingerprint: str
    removals: frozenset[str]
    applied: bool = False
    changes: frozenset[str] | None = None

    def has_shown(self, removals: frozenset[str]) -> bool:
        """Whether the comment's plan has every one of these removals.

        Of a plan of which only a digest is known, this is true for all of its removals, and for
        none.
        """
        return removals <= self.removals or frozenset({_digest(removals)}) == self.removals


def fingerprint_of(plans: Sequence[Plan]) -> str:
    """Return the fingerprint of a plan, or one digest over those of several; empty for none."""
    fingerprints = "\n".join(plan.fingerprint for plan in plans)
    if len(plans) > 1:
        return f"sha256:{sha256(fingerprints.encode()).hexdigest()}"
    return fingerprints


def removals_of(plans: Iterable[Plan]) -> frozenset[str]:
    """Return what plans delete and replace, as a marker names it."""
    changes = (change for plan in plans for change in plan.changes)
    return frozenset(removal for change in changes if (removal := removal_of(change)))


def removal_of(change: Change) -> str:
    """Return what a change deletes or replaces, as a marker names it; empty for nothing.

    A record whose `until` has passed is not named: the manifest, which was reviewed, asks for its
    delete, often before the record was listed and had an id.
    """
    if isinstance(change, Delete | Replace) and not change.ends_record:
        return f"{change.resource}:{change.id}"
    return ""


def changes_of(plans: Iterable[Plan]) -> frozenset[str]:
    """Return the digests of what plans do beyond deletes that need a review."""
    return frozenset(
        digest_of(change)
        for plan in plans
        for change in plan.changes
        if change.ends_record or not isinstance(change, Delete)
    )


def digest_of(change: Change) -> str:
    """Return a digest of what a change does, short: it tells a few thousand changes apart."""
    content = [change.action, change.resource, getattr(change, "id", ""), change.texts]
    return sha256(json.dumps(content).encode()).hexdigest()[:_DIGITS]


def key_digest(text: str) -> str:
    """Return the key for a text that names a run."""
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:20]


def render(marker: Marker) -> str:
    """Return a marker as an HTML comment on one line, which shows nothing and which no id ends."""
    line = _rendered(marker)
    if len(line) > _LONGEST:
        line = _rendered(marker := replace(marker, changes=None))
    if len(line) > _LONGEST:
        line = _rendered(replace(marker, removals=frozenset({_digest(marker.removals)})))
    return line


def parse(line: str) -> Marker | None:
    """Read the first line of a comment; None for one that is not ours.

    Anybody can write such a line: a comment is ours only if its author is.
    """
    match = _LINE.fullmatch(line.rstrip())
    if match is None or len(line) > 2 * _LONGEST:
        return None
    try:
        content = json.loads(base64.b64decode(match[2], validate=True))
        fingerprint, changes = str(content["fingerprint"]), content.get("changes")
        return Marker(
            key=match[1],
            fingerprint=fingerprint,
            removals=frozenset(map(str, content["removals"])),
            applied=content["applied"] is True,
            changes=None if changes is None else frozenset(map(str, changes)),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _rendered(marker: Marker) -> str:
    content: dict[str, object] = {
        "fingerprint": marker.fingerprint,
        "removals": sorted(marker.removals),
        "applied": marker.applied,
    }
    if marker.changes is not None:
        content["changes"] = sorted(marker.changes)
    encoded = base64.b64encode(json.dumps(content, separators=(",", ":")).encode()).decode()
    return f"<!-- commandsync:{marker.key}:{encoded} -->"


def _digest(removals: frozenset[str]) -> str:
    """Return the digest of removals, which is not a removal itself: its part before the colon."""
    return f"sha256:{sha256(json.dumps(sorted(removals)).encode()).hexdigest()}"
