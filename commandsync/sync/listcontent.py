"""The contents of whole lists: the wanted list, its baseline, and the lists beside it.

`fitted_list` fits the commands that are due into the service of an entry, in its language. Their
request is compared with the request of the list as read, or of the list that the run knows from
before (`Before`): `list_of` returns it for an earlier version. Then `with_own_keys` gives the keys
of others back to the commands that stay, and `renewed` and `is_reordered` find the differences
that no change of a text shows.

A service with a list for each scope and language shows the most special one. `other_lists` finds
the lists that may hide a list of the manifest: of other scopes, or known from before. `read_others`
reads them, and names each that has commands. A read that fails is a warning, too: nothing else
depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Notice
from commandsync.errors import ListingError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing, identity_for
from commandsync.plan.baseline import AsRead, Baseline, PossibleList, Unknown, Unread
from commandsync.plan.changes import Change, Edit, object_changes
from commandsync.records.snapshot import Audience, Entry, Phase, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.fit import Fitted, fit
from commandsync.services.service import ListService, list_request
from commandsync.services.telegram import OVERRIDING
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.settings import Settings, rules_of
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import Store

if TYPE_CHECKING:
    from commandsync.client.connection import Connection

_COMMANDS = Resource.COMMAND


class Before(NamedTuple):
    """The knowledge of a list before a run."""

    baseline: Baseline  # what it is compared with; of a list that is read, before it is
    audiences: tuple[Audience, ...] = ()  # of the lists that were beside it, or it itself
    store: Store | None = None  # what remembers it, if its service does not return it


class Memory(NamedTuple):
    """The knowledge of all listings before a run."""

    # Returns what is known of a list of a manifest; raises `CommandsyncError` if that is not known.
    before: Callable[[Manifest, ListSite], Before]
    # Returns the version of a manifest that stands for records which are not read; None for none.
    version: Callable[[Manifest], EarlierVersion | None]


def nothing_known(settings: Settings, site: ListSite, *, why: str = "") -> Baseline:
    """Return the baseline of a list that is read, or is otherwise unknown."""
    if site.is_read:
        return AsRead()
    return Unread() if site.returned else Unknown(why=why, accepted=settings.unseen)


def list_of(
    settings: Settings, version: EarlierVersion, identity: str, *, name: str = ""
) -> PossibleList | None:
    """Return the list of an earlier version with an identity; None if it has none."""
    manifest = version.manifest
    if _COMMANDS not in manifest.snapshot.collections:
        return None
    for entry in manifest.listings:
        if entry.identity(manifest.bot) == identity:
            commands = fitted_list(settings, manifest, entry).snapshot
            request = list_request(entry.list_service, entry.bot_of(manifest.bot), commands)
            return PossibleList(commands, request.digest, name or version.name)
    return None


def _translated(entry: Entry, texts: Mapping[str, str]) -> Entry:
    """Return a command with its description in a language, if that has one."""
    text = cast("CommandText", entry.text)  # a list has no other records
    described = texts.get(entry.name.removeprefix("/"), text.description)
    return replace(entry, text=text._replace(description=described))


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


def with_own_keys(wanted: Snapshot, listed: Snapshot, changes: Iterable[Change]) -> Snapshot:
    """Return commands with the keys beside ours that those which stay were listed with."""
    own = {entry.id: entry.own for entry in listed.collections[_COMMANDS]}
    staying = {entry.text: entry.own for entry in listed.collections[_COMMANDS]}
    staying |= {edit.after: own[edit.id] for edit in changes if isinstance(edit, Edit)}
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


class OtherList(NamedTuple):
    """A list that the manifest does not have."""

    service: ListService
    title: str  # what the lists of the entry are called together
    where: str  # where it hides a list of the manifest; empty for one of an earlier version

    def notice(self, count: int) -> Notice:
        """Return the warning about its commands."""
        commands = f"{count} {'command' if count == 1 else 'commands'}"
        scope, language = self.service.audience or Audience("")
        if self.where:
            message = f"{self.title}: hidden {self.where} by a list of {commands}"
            return Notice(message, f"to manage that list, add {scope} to scopes:")
        hint = f"write languages: {{{language}: none}} to delete it"
        if scope != "default":
            hint += f", with {scope} in scopes:"
        message = f"{self.service.label}: an earlier version had this list, of {commands}"
        return Notice(message, hint)


def other_lists(
    manifest: Manifest, entry: Listing, earlier: Iterable[Audience]
) -> tuple[OtherList, ...]:
    """Return the other lists of an entry's service; `entry` is its first one.

    `earlier` are the audiences of lists that were there.
    """
    service = entry.list_service
    if service.for_audience is None or not entry.first:
        return ()
    default = default_identity(entry, manifest.bot)
    own = {
        each.audience
        for each in manifest.listings
        if default_identity(each, manifest.bot) == default
    }
    found = _hiding({audience.scope for audience in own if audience})
    others = [each for each in (dict.fromkeys(earlier, "") | found).items() if each[0] not in own]
    return tuple(
        OtherList(
            replace(service.for_audience(audience), origin=service.origin), service.name, where
        )
        for audience, where in others
    )


def _hiding(scopes: AbstractSet[str]) -> dict[Audience, str]:
    """Return where the lists of other scopes hide the lists of some scopes, by their audiences."""
    return {
        Audience(scope): where
        for scope, (where, hidden) in OVERRIDING.items()
        if scope not in scopes and hidden & scopes
    }


def default_identity(entry: Listing, bot: str) -> str:
    """Return the identity of the default list of an entry's service."""
    return entry.identity(bot).removesuffix(identity_for("", entry.audience))


def audiences_of(version: EarlierVersion, entry: Listing, bot: str) -> tuple[Audience, ...]:
    """Return the audiences of the lists of an earlier version at the address of an entry."""
    default, then = default_identity(entry, bot), version.manifest
    return tuple(
        each.audience
        for each in then.listings
        if each.audience and each.texts is not None and default_identity(each, then.bot) == default
    )


def read_others(
    connection: Connection, bot: str, others: Iterable[OtherList]
) -> tuple[Notice, ...]:
    """Read lists at the same time, and return the warnings."""
    reads = [in_thread(partial(_read, connection, bot, other), name="list") for other in others]
    return tuple(notice for notice in results_of(reads) if notice)


def _read(connection: Connection, bot: str, other: OtherList) -> Notice | None:
    try:
        entries = connection.call(other.service.read(bot, Resource.COMMAND))
    except ListingError as error:
        message = f"{other.service.label}: the list cannot be read: {error.message}"
        return Notice(message, error.hint)
    return other.notice(len(entries)) if entries else None
