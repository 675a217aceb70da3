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

A list that its service does not return has as its baseline the list of a version, or the list that
was sent. `memory_of` returns the knowledge of each list before a run of the command line: the
version that the settings name, or the deliveries in the state file. `last_sent` makes the lists
that may be shown of the deliveries of a store, which has only the names of their commands. The
texts come from the manifest at the commit of a delivery, if that still makes the request that was
sent; else the plan compares the names alone, and says so. A store in a file does not know what
other machines send. So each version of the manifest since the commit of the last accepted delivery
may be shown as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, ListingError, RefusedError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import ManifestListing, identity_for
from commandsync.plan.changes import Change, Edit, object_changes
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    OfVersion,
    PossibleList,
    Unknown,
    Unread,
)
from commandsync.records.snapshot import Audience, Entry, Phase, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.fit import Fitted, fit
from commandsync.services.service import ListService, list_request
from commandsync.services.telegram import OVERRIDING
from commandsync.sync.earlier import EarlierVersion, earlier_version
from commandsync.sync.history import recent_versions, version_before, versions_after
from commandsync.sync.settings import STDIN, Settings, rules_of
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import (
    Delivery,
    Remembered,
    StateFile,
    Store,
    default_state,
    token_digest,
)

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


def fitted_list(settings: Settings, manifest: Manifest, entry: ManifestListing) -> Fitted:
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
    manifest: Manifest, entry: ManifestListing, earlier: Iterable[Audience]
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


def default_identity(entry: ManifestListing, bot: str) -> str:
    """Return the identity of the default list of an entry's service."""
    return entry.identity(bot).removesuffix(identity_for("", entry.audience))


def audiences_of(version: EarlierVersion, entry: ManifestListing, bot: str) -> tuple[Audience, ...]:
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


def memory_of(settings: Settings, manifests: Sequence[Manifest]) -> Memory:
    """Return the knowledge of listings by an earlier version, or else by the state file.

    Raises `CommandsyncError` if the version that the settings name cannot be read.
    """
    with_listings = [each for each in manifests if each.listings or each.discord]
    named = with_listings if settings.since else []
    versions = {each.path: earlier_version(settings.since, each) for each in named}

    def before(manifest: Manifest, site: ListSite) -> Before:
        version = versions.get(manifest.path)
        if site.returned:
            audiences = earlier_audiences(manifest, site, version)
            known = (
                None if site.is_read else version and of_version(settings, version, manifest, site)
            )
            return Before(known or nothing_known(settings, site), audiences)
        try:
            store = None if settings.state is None else state_file(settings, manifest)
        except RefusedError as error:
            return Before(unreadable(error))
        if version:
            why = f"{version.name} does not have this list"
            known = of_version(settings, version, manifest, site)
            return Before(known or nothing_known(settings, site, why=why), store=store)
        if store is None:
            return Before(nothing_known(settings, site))
        return stored(store, settings, manifest, site)

    return Memory(before, lambda manifest: versions.get(manifest.path))


def state_file(settings: Settings, manifest: Manifest) -> StateFile:
    """Return the state file of a manifest; raises `RefusedError` as `default_state`."""
    folder = "." if manifest.path == STDIN else str(Path(manifest.path).absolute().parent)
    return StateFile(settings.state or default_state(folder))


def earlier_audiences(
    manifest: Manifest, site: ListSite, version: EarlierVersion | None
) -> tuple[Audience, ...]:
    """Return the audiences of the lists that were beside one, in a version or in git's newest."""
    if not site.service.for_audience:
        return ()
    versions = [version] if version else recent_versions(manifest.path)
    found = [audiences_of(each, site.entry, manifest.bot) for each in versions]
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def of_version(
    settings: Settings, version: EarlierVersion, manifest: Manifest, site: ListSite
) -> Baseline | None:
    """Return the baseline of the list that an earlier version had; None if it had none."""
    found = list_of(settings, version, site.entry.identity(manifest.bot))
    return found and OfVersion((found,), name=version.name)


def unreadable(error: RefusedError) -> Baseline:
    """Return the baseline of a list whose store cannot be read."""
    return Unknown(error=Notice(error.message, error.hint))


def stored(
    store: Store, settings: Settings, manifest: Manifest, site: ListSite, *, accepted: bool = False
) -> Before:
    """Return the knowledge of a store of a list; `accepted` allows replacing an unknown one."""
    identity = site.entry.identity(manifest.bot)
    try:
        known = store.memory(site.service.name, identity, digest_of(site, identity))
    except RefusedError as error:
        return Before(unreadable(error))
    shared, accepted = store.is_shared, accepted or settings.unseen
    baseline = last_sent(known, settings, manifest, site, is_shared=shared, accepted=accepted)
    return Before(baseline, store=store)


def digest_of(site: ListSite, identity: str) -> str:
    """Return the digest of the token of a list; empty where the token is not known."""
    if site.token is None and site.service.authorization:
        return ""
    return token_digest(site.token, identity)


def last_sent(
    memory: Remembered,
    settings: Settings,
    manifest: Manifest,
    site: ListSite,
    *,
    is_shared: bool,
    accepted: bool,
) -> Baseline:
    """Return the baseline of a list, by the memory of it.

    `is_shared` is whether all machines that send this list remember it in one store, and `accepted`
    whether an unknown list may be replaced.
    """
    entry, wanted = site.entry, fitted_list(settings, manifest, site.entry).snapshot
    found = [_known(each, settings, manifest, entry, wanted) for each in memory.possible]
    lists = [*filter(None, found)]
    why = _why_unknown(memory, found)
    if memory.is_known and not is_shared and not why:
        try:
            lists += _elsewhere(settings, manifest, entry, memory)
        except RefusedError as error:
            why = f"the lists sent since are not known: {error.message}"
    if why or not memory.is_known:
        return Unknown(tuple(lists), why=why, accepted=accepted)
    newest = _shown(memory.possible[0].at)
    return LastSent(tuple(_unlike(lists)), name=f"the list sent on {newest}")


def _why_unknown(memory: Remembered, found: Sequence[PossibleList | None]) -> str:
    """Return why another list may be shown; empty for none, and for a list that was never sent."""
    for delivery, known in zip(memory.possible, found, strict=True):
        if known is None:
            sent = f"{delivery.size:,} commands sent on {_shown(delivery.at)}"
            return f"the names of the {sent} are not known"
    if memory.other_token:
        return f"the token differs from that of {_shown(memory.other_token)}"
    if memory.possible and not memory.is_known:
        at = _shown(memory.possible[0].at)
        return f"the list sent on {at} may have arrived, and no list before it is known"
    return ""


def _shown(at: datetime) -> str:
    """Return a time for people, to the minute: `2026-06-01 09:30 UTC`."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def notices_of(baseline: Baseline, *, at: str) -> Iterator[Notice]:
    """Yield notices on the lists of a baseline; `at` is the listing."""
    if isinstance(baseline, Unknown) and baseline.accepted and baseline.error:
        yield replace(baseline.error, message=f"{at}: {baseline.error.message}")
    certain = [each for each in baseline.lists if not each.is_elsewhere]
    if len(certain) > 1:
        names = " or ".join(f"{each.name} ({each.size:,} commands)" for each in certain)
        yield Notice(f"{at}: the service may show {names}: some requests have an unknown result")
    first = baseline.first
    if first and not first.has_texts:
        yield Notice(f"{at}: only the names of the commands of {first.name} are known")


def _known(
    delivery: Delivery,
    settings: Settings,
    manifest: Manifest,
    entry: ManifestListing,
    wanted: Snapshot,
) -> PossibleList | None:
    """Return the list of a delivery; None if not even its names are known."""
    name = f"the list sent on {_shown(delivery.at)}"
    now = list_request(entry.list_service, entry.bot_of(manifest.bot), wanted)
    if now.digest == delivery.digest:
        return PossibleList(wanted, now.digest, name)
    if delivery.commit:
        with suppress(CommandsyncError):  # the names have to do then
            then = replace(settings, now=delivery.at)
            version = version_before(delivery.commit, manifest)
            found = version and list_of(then, version, delivery.identity, name=name)
            if found and found.digest == delivery.digest:
                return found
    if delivery.names is None:
        return None
    commands = Snapshot({_COMMANDS: tuple(_named(delivery.names, wanted))})
    return PossibleList(commands, delivery.digest, name, has_texts=False)


def _named(names: Sequence[str], wanted: Snapshot) -> Iterator[Entry]:
    """Yield commands whose names alone are known, with the texts that are wanted now.

    So their comparison with the wanted ones finds nothing but names.
    """
    texts = {text.name: text for text in wanted.commands}
    pairs = zip(wanted.collections[_COMMANDS], wanted.commands, strict=True)
    former = {old: text for entry, text in pairs for old in entry.formerly}
    for name in names:
        text = texts.get(name) or former.get(name) or CommandText(name, "", "")
        yield Entry(text._replace(name=name))


def _elsewhere(
    settings: Settings, manifest: Manifest, entry: ManifestListing, memory: Remembered
) -> Iterator[PossibleList]:
    """Yield the lists of the versions since the last accepted one; raises `RefusedError`."""
    identity = entry.identity(manifest.bot)
    commit = next(each.commit for each in memory.possible if each.is_sent)
    for version in versions_after(manifest.path, commit) if commit else ():
        name = f"the list of {version.name}, which another machine may have sent"
        if found := list_of(settings, version, identity, name=name):
            yield found._replace(is_elsewhere=True)


def _unlike(lists: Sequence[PossibleList]) -> Iterator[PossibleList]:
    """Yield the lists, each request once."""
    seen: set[str] = set()
    for each in lists:
        if each.digest not in seen:
            seen.add(each.digest)
            yield each
