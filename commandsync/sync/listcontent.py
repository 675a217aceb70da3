"""The content of a whole list: what a version of a manifest sends, and how two lists differ.

`fitted_list` fits the commands that are due into the service of an entry, in its language. The
request of them is compared with that of an `EarlierList`, or with the list as read.
Then `with_own_keys` gives back to the commands that stay the keys that are not ours, and `renewed`
and `is_reordered` find the differences that no change of a text shows.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing
from commandsync.plan.changes import Edit, object_changes
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Entry, Phase, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.fit import Fitted, fit
from commandsync.services.service import list_request
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.settings import Settings, rules_of

_COMMANDS = Resource.COMMAND


class EarlierList(NamedTuple):
    """A list that was sent earlier, or the one of an earlier version."""

    name: str  # the file, the revision or the record that it is from
    commands: Snapshot  # its commands, as the service shows them
    digest: str  # that of its request


def earlier_list(settings: Settings, version: EarlierVersion, entry: Listing) -> EarlierList:
    """Return the list of an earlier version of a manifest for one of its listings."""
    commands = fitted_list(settings, version.manifest, entry).snapshot
    request = list_request(entry.list_service, entry.bot_of(version.manifest.bot), commands)
    return EarlierList(version.name, commands, request.digest)


def _translated(entry: Entry, texts: Mapping[str, str]) -> Entry:
    """Return a command with its description in a language, if that has one."""
    described = texts.get(entry.name.removeprefix("/"), entry.text.description)
    return replace(entry, text=entry.text._replace(description=described))


def fitted_list(settings: Settings, manifest: Manifest, entry: Listing) -> Fitted:
    """Fit the commands of a manifest that are due into one of its listings, in its language."""
    rules, unprotected = rules_of(settings, manifest), []
    if rules.ignore:
        unprotected.append("ignore")
    if not rules.prune:
        unprotected.append("prune: false")
    commands = manifest.snapshot.collections.get(_COMMANDS, ())
    due = [each for each in commands if each.phase(settings.now) is Phase.DUE]
    texts = entry.texts
    wanted = () if texts is None else tuple(_translated(each, texts) for each in due)
    due_list = Snapshot({_COMMANDS: wanted})
    return fit(entry.list_service, due_list, unprotected=unprotected, objects=manifest.objects)


def with_own_keys(wanted: Snapshot, listed: Snapshot, plan: Plan) -> Snapshot:
    """Return commands with the keys beside ours that those which stay were listed with."""
    own = {entry.id: entry.own for entry in listed.collections[_COMMANDS]}
    staying = {entry.text: entry.own for entry in listed.collections[_COMMANDS]}
    staying |= {edit.after: own[edit.id] for edit in plan.changes if isinstance(edit, Edit)}
    entries = wanted.collections[_COMMANDS]
    return Snapshot({_COMMANDS: tuple(replace(e, own=staying.get(e.text, ())) for e in entries)})


def renewed(before: Sequence[Entry], now: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """Return the differences of commands whose texts are as they were, by their names."""
    known = {entry.text: entry.own for entry in before}
    pairs = [(entry, known.get(entry.text, entry.own)) for entry in now]
    return {
        entry.name: object_changes(own, entry.own)
        for entry, own in pairs
        if json.dumps(own) != json.dumps(entry.own)
    }


def is_reordered(before: Sequence[Entry], now: Sequence[Entry]) -> bool:
    """Whether the names that two lists have in common are in another order."""
    old, new = ([entry.name for entry in entries] for entries in (before, now))
    both = {*old} & {*new}
    return [name for name in old if name in both] != [name for name in new if name in both]
