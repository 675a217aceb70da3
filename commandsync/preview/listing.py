"""A preview while its manifest changes: each manifest planned as always, and applied in memory."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, replace
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING

from commandsync.api.address import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Outcome
from commandsync.apply.run import apply
from commandsync.client.connection import Connection
from commandsync.client.driver import SnapshotReading, drive
from commandsync.diagnostics import Notice
from commandsync.plan.expected import expected_listing
from commandsync.plan.plan import Target, make_plan
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.sync.execution import reported
from commandsync.sync.job import plan_of, strict_plan
from commandsync.sync.settings import Settings, with_time_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Add, Edit, Replace
    from commandsync.plan.expected import ExpectedRecord
    from commandsync.plan.plan import Plan
    from commandsync.preview.baseline import Baseline
    from commandsync.records.texts import Resource
    from commandsync.server import PreviewService

_PLAIN = re.compile(r"[0-9A-Za-z_-]+")
_MANY = 100
"""Changes from which on an apply in memory takes a moment, and is shown as an apply elsewhere."""

_EVERYTHING = SyncRules(max_deletes=DeleteLimit(), announcements="mirror")
"""In memory whatever differs from the expected listing is changed: the plan had the real rules."""

Key = tuple[str, tuple[str, ...], int]
"""What an expected record and a record in memory have in common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewState:
    """What a preview shows for one manifest.

    Attributes:
        plan: The plan from the listing to the manifest.
        changes: How the plan changes the records that are shown, by their ids in memory.
        notices: What differs from an apply, beside the plan's own notices.
    """

    plan: Plan
    changes: Mapping[Resource, Mapping[str, Add | Edit | Replace]]
    notices: tuple[Notice, ...] = ()


class PreviewListing:
    """Keeps a service in memory as an apply of the manifest would leave the listing.

    From one manifest to the next only the differences are applied. The result is compared with the
    listing that is expected; if it is another one, everything is applied again to what is listed.
    """

    def __init__(self, baseline: Baseline, settings: Settings, service: PreviewService) -> None:
        self._baseline = baseline
        self._settings = settings
        self._service = service
        self._target = Target(bot=service.bot, base_url=service.url)
        self._connection = Connection(parse_address(service.url), Token(service.token))
        self._listed = _with_ids(baseline.listed)
        self._ids = {
            resource: {entry.id for entry in entries}
            for resource, entries in self._listed.collections.items()
        }
        self._destination: tuple[str, str] | None = None
        self._shown = Snapshot()
        self._reset()

    def close(self) -> None:
        """Close the connections to the service."""
        self._connection.close()

    def bring_to(self, manifest: Manifest) -> PreviewState:
        """Apply a manifest in memory, and return what that changes.

        A plan that apply would refuse is shown as well: `PreviewState.plan` has the refusal.

        Raises:
            ManifestError: The settings are strict, and there is a warning about an entry.
        """
        baseline, settings = self._baseline, with_time_now(self._settings)
        plan = plan_of(manifest, baseline.listed, site=baseline.site, settings=settings)
        expected = expected_listing(strict_plan(plan, self._settings), baseline.listed)
        result = self._apply(expected)
        if not self._arrange(expected):
            self._reset()
            result = self._apply(expected)
            self._arrange(expected)
        return PreviewState(
            plan=plan,
            changes={
                resource: dict(self._changed(resource, records))
                for resource, records in expected.items()
            },
            notices=(*self._other_listing(manifest), *_not_taken(result)),
        )

    def _other_listing(self, manifest: Manifest) -> Iterator[Notice]:
        """Yield how what the preview began with differs from the listing of a manifest."""
        if self._baseline.site is None:
            yield Notice("no listing was read: everything is shown as new")
        destination = manifest.bot, manifest.base_url
        if (self._destination or destination) != destination:
            message = "bot: or base_url: has changed, and this is still the listing from before"
            yield Notice(message, "start the preview again")
        self._destination = self._destination or destination

    def _apply(self, expected: Mapping[Resource, Sequence[ExpectedRecord]]) -> Result:
        """Apply the difference between what is in memory and what is expected."""
        desired = Snapshot(
            {
                resource: tuple(
                    Entry(record.text, id=self._id(resource, record)) for record in records
                )
                for resource, records in expected.items()
            }
        )

        def planned(listed: Snapshot) -> Plan:
            return make_plan(desired=desired, listed=listed, target=self._target, rules=_EVERYTHING)

        health, plan = Health(), planned(self._shown)
        takes_long = len(plan.changes) >= _MANY
        with reported(plan, self._settings if takes_long else Settings()) as on_step:
            result = drive(
                apply(plan, listed=self._shown, health=health, replan=planned),
                self._connection,
                health=health,
                events=SimpleQueue(),
                on_step=on_step,
            )
        reading = SnapshotReading(self._connection, self._service.bot, tuple(expected))
        self._shown = reading.result()
        return result

    def _arrange(self, expected: Mapping[Resource, Sequence[ExpectedRecord]]) -> bool:
        """Bring the records in memory into the expected order; False if they are others.

        What is added between records that an earlier manifest has added comes after them in memory.
        """
        wanted = {
            resource: [self._key_of(resource, record) for record in records]
            for resource, records in expected.items()
        }
        shown = {
            resource: [self._key(resource, entry) for entry in self._shown.collections[resource]]
            for resource in expected
        }
        for resource, keys in wanted.items():
            if shown[resource] == keys:
                continue
            if Counter(shown[resource]) != Counter(keys):
                return False
            by_key = _by_key(shown[resource], self._shown.collections[resource])
            self._replace(resource, [by_key[key].popleft() for key in keys])
        return True

    def _changed(
        self, resource: Resource, records: Iterable[ExpectedRecord]
    ) -> Iterator[tuple[str, Add | Edit | Replace]]:
        """Yield what the plan does to each record in memory, with the record's id."""
        entries = self._shown.collections[resource]
        by_key = _by_key([self._key(resource, entry) for entry in entries], entries)
        for record in records:
            same = by_key[self._key_of(resource, record)]
            if same and record.change is not None:  # it is missing if the service refused it
                yield same.popleft().id, record.change

    def _reset(self) -> None:
        """Make the listing in memory what is listed."""
        for resource, entries in self._listed.collections.items():
            self._replace(resource, entries)

    def _replace(self, resource: Resource, entries: Sequence[Entry]) -> None:
        rows = [
            {"id": entry.id, **entry.text._asdict(), "uses": entry.uses or 0} for entry in entries
        ]
        self._service.replace(resource, rows)
        self._shown = Snapshot({**self._shown.collections, resource: tuple(entries)})

    def _id(self, resource: Resource, record: ExpectedRecord) -> str:
        """Return the id in memory of a record that is listed; empty for a new one."""
        if record.position is None:
            return ""
        return self._listed.collections[resource][record.position].id

    def _key_of(self, resource: Resource, record: ExpectedRecord) -> Key:
        uses = 0
        if record.position is not None:
            uses = self._listed.collections[resource][record.position].uses or 0
        return self._id(resource, record), record.text, uses

    def _key(self, resource: Resource, entry: Entry) -> Key:
        is_listed = entry.id in self._ids[resource]
        return entry.id if is_listed else "", entry.text, entry.uses or 0


def _by_key(keys: Iterable[Key], entries: Iterable[Entry]) -> defaultdict[Key, deque[Entry]]:
    by_key: defaultdict[Key, deque[Entry]] = defaultdict(deque)
    for key, entry in zip(keys, entries, strict=True):
        by_key[key].append(entry)
    return by_key


def _not_taken(result: Result) -> Iterator[Notice]:
    """Yield what the service in memory refused, as a service may."""
    for settled in result.settled:
        if settled.outcome in {Outcome.FAILED, Outcome.UNKNOWN}:
            name = settled.change.name
            yield Notice(f'"{name}" is not shown as it would be: {settled.error}', settled.hint)


def _with_ids(listed: Snapshot) -> Snapshot:
    """Return a listing in which every record has an id of its own, which can be part of a path."""
    taken = {entry.id for entries in listed.collections.values() for entry in entries}
    free = (name for number in count(1) if (name := f"listed-{number}") not in taken)
    return Snapshot(
        {
            resource: tuple(
                entry if _PLAIN.fullmatch(entry.id) else replace(entry, id=next(free))
                for entry in entries
            )
            for resource, entries in listed.collections.items()
        }
    )
