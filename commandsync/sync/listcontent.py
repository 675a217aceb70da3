"""A whole list: its content, the lists that its service may show now, and what is certain of them.

`fitted_list` is the list that a manifest wants: the commands that are due, fitted into the service
of an entry in its language. `list_of` is the list that an earlier version of the manifest had.

`KnownList` is the knowledge of a list before a run. A list that is read needs none. Any other one
is compared with the list of a version that the settings name, or else with the deliveries in a
store: `last_sent` makes of them the lists that may be shown. A delivery has only the names of its
commands. Their texts come from the manifest at its commit, if that still makes the request that was
sent; else the plan compares the names alone, and says so. A store in a file does not know what
other machines send. So each version of the manifest since the commit of the last accepted delivery
may be shown as well. Each door has its own `Memory`; `memory_of` returns the command line's.

`uncertainties` and `unseen_differences` yield the notices that a plan has beside its changes.

A service with a list for each scope and language shows the most special one. `other_lists` finds
the lists that may hide a list of the manifest: of other scopes, or of earlier versions.
`read_others` reads them, and names each that has commands. A read that fails is a warning, too:
nothing else depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, ListingError, RefusedError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import ManifestListing, identity_for
from commandsync.plan.changes import object_changes
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    OfVersion,
    PossibleList,
    Unknown,
    Unread,
)
from commandsync.records.losses import renewed_notices
from commandsync.records.snapshot import Audience, Entry, Phase, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.fit import Fitted, fit
from commandsync.services.service import ListService, list_request
from commandsync.services.telegram import OVERRIDING
from commandsync.sync import statefile
from commandsync.sync.earlier import EarlierVersion, earlier_version
from commandsync.sync.history import recent_versions, version_before, versions_after
from commandsync.sync.settings import STDIN, Settings, rules_of
from commandsync.sync.sites import ListSite

if TYPE_CHECKING:
    from commandsync.client.connection import Connection


_COMMANDS = Resource.COMMAND


def fitted_list(settings: Settings, manifest: Manifest, entry: ManifestListing) -> Fitted:
    """Fit the commands of a manifest that are due into one of its listings, in its language."""
    rules, unprotected = rules_of(settings, manifest), []
    if rules.ignore:
        unprotected.append("ignore")
    if not rules.prune:
        unprotected.append("prune: false")
    wanted, texts = [], entry.texts
    for each in manifest.snapshot.collections.get(_COMMANDS, ()):
        if texts is not None and each.phase(settings.now) is Phase.DUE:  # else it is deleted
            text = cast("CommandText", each.text)  # a list has no other records
            described = texts.get(each.name.removeprefix("/"), text.description)
            wanted.append(replace(each, text=text._replace(description=described)))
    snapshot = Snapshot({_COMMANDS: tuple(wanted)})
    return fit(entry.list_service, snapshot, unprotected=unprotected, objects=manifest.objects)


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


class KnownList(NamedTuple):
    """The knowledge of a list before a run."""

    baseline: Baseline  # what it is compared with; empty before a list is read
    others: tuple[OtherList, ...] = ()  # the lists beside it, which are only read
    store: statefile.Store | None = None  # that remembers it, if its service does not return it


class Memory(NamedTuple):
    """The knowledge of all listings before a run."""

    # Returns the knowledge of a list of a manifest; raises `CommandsyncError` without it.
    known: Callable[[Manifest, ListSite], KnownList]
    # The versions of manifests, by their paths, that stand for records which are not read.
    versions: Mapping[str, EarlierVersion]


def memory_of(settings: Settings, manifests: Sequence[Manifest]) -> Memory:
    """Return the knowledge of listings by an earlier version, or else by the state file.

    Raises `CommandsyncError` if the version that the settings name cannot be read.
    """
    with_listings = [each for each in manifests if each.listings or each.discord]
    named = with_listings if settings.since else []
    versions = {each.path: earlier_version(settings.since, each) for each in named}

    def known(manifest: Manifest, site: ListSite) -> KnownList:
        version = versions.get(manifest.path)
        if site.is_read:
            earlier = [version] if version else recent_versions(manifest.path)
            return KnownList(AsRead(), other_lists(manifest, site, earlier))
        of_version = version and baseline_of(settings, version, site)
        if site.returned:
            return KnownList(of_version or Unread())
        try:
            store = None if settings.state is None else state_file(settings, manifest)
        except RefusedError as error:
            return KnownList(Unknown(error=Notice(error.message, error.hint)))
        if version:
            why = f"{version.name} does not have this list"
            unknown = Unknown(why=why, accepted=settings.unseen)
            return KnownList(of_version or unknown, store=store)
        if store is None:
            return KnownList(Unknown(accepted=settings.unseen))
        return stored(store, settings, manifest, site)

    return Memory(known, versions)


def baseline_of(settings: Settings, version: EarlierVersion, site: ListSite) -> Baseline | None:
    """Return the baseline of the list that an earlier version had; None if it had none."""
    found = list_of(settings, version, site.identity)
    return found and OfVersion((found,), name=version.name)


def state_file(settings: Settings, manifest: Manifest) -> statefile.StateFile:
    """Return the state file of a manifest; raises `RefusedError` as `default_state`."""
    folder = "." if manifest.path == STDIN else str(Path(manifest.path).absolute().parent)
    return statefile.StateFile(settings.state or statefile.default_state(folder))


def stored(
    store: statefile.Store,
    settings: Settings,
    manifest: Manifest,
    site: ListSite,
    *,
    accepted: bool = False,
) -> KnownList:
    """Return the knowledge of a store of a list; `accepted` allows replacing an unknown one."""
    try:
        remembered = store.remembered(site.service.name, site.identity, digest_of(site))
    except RefusedError as error:
        return KnownList(Unknown(error=Notice(error.message, error.hint)))
    accepted = accepted or settings.unseen
    baseline = last_sent(remembered, store, settings, manifest, site, accepted=accepted)
    return KnownList(baseline, store=store)


def digest_of(site: ListSite) -> str:
    """Return the digest of the token of a list; empty where the token is not known."""
    if site.token is None and site.service.authorization:
        return ""
    return statefile.token_digest(site.token, site.identity)


def last_sent(
    remembered: statefile.Remembered,
    store: statefile.Store,
    settings: Settings,
    manifest: Manifest,
    site: ListSite,
    *,
    accepted: bool,
) -> Baseline:
    """Return the baseline of a list by its deliveries in a store.

    `accepted` allows replacing an unknown list.
    """
    wanted = fitted_list(settings, manifest, site.entry).snapshot
    found = [_delivered(each, settings, manifest, site, wanted) for each in remembered.possible]
    lists, why = [*filter(None, found)], _doubt(remembered, found)
    if remembered.is_known and not store.is_shared and not why:
        try:
            lists += _sent_elsewhere(remembered, settings, manifest, site)
        except RefusedError as error:
            why = f"the lists sent since are not known: {error.message}"
    if why or not remembered.is_known:
        return Unknown(tuple(lists), why=why, accepted=accepted)
    by_request: dict[str, PossibleList] = {}
    for each in lists:
        by_request.setdefault(each.digest, each)
    newest = _minute(remembered.possible[0].at)
    return LastSent(tuple(by_request.values()), name=f"the list sent on {newest}")


def _delivered(
    delivery: statefile.Delivery,
    settings: Settings,
    manifest: Manifest,
    site: ListSite,
    wanted: Snapshot,
) -> PossibleList | None:
    """Return the list of a delivery; None if not even its names are known."""
    name = f"the list sent on {_minute(delivery.at)}"
    request = list_request(site.service, site.bot, wanted)
    if request.digest == delivery.digest:
        return PossibleList(wanted, request.digest, name)
    if delivery.commit:
        with suppress(CommandsyncError):  # the names have to do then
            then = replace(settings, now=delivery.at)
            version = version_before(delivery.commit, manifest)
            found = version and list_of(then, version, delivery.identity, name=name)
            if found and found.digest == delivery.digest:
                return found
    if delivery.names is None:
        return None
    # With the texts that are wanted now, a comparison with these finds nothing but names.
    pairs = [*zip(wanted.collections[_COMMANDS], wanted.commands, strict=True)]
    texts = {old: text for entry, text in pairs for old in entry.formerly}
    texts |= {text.name: text for _, text in pairs}
    entries = [
        Entry(texts.get(each, CommandText(each, "", ""))._replace(name=each))
        for each in delivery.names
    ]
    commands = Snapshot({_COMMANDS: tuple(entries)})
    return PossibleList(commands, delivery.digest, name, has_texts=False)


def _doubt(remembered: statefile.Remembered, found: Sequence[PossibleList | None]) -> str:
    """Return why another list may be shown; empty for none, and for a list that was never sent."""
    for delivery, known in zip(remembered.possible, found, strict=True):
        if known is None:
            sent = f"{delivery.size:,} commands sent on {_minute(delivery.at)}"
            return f"the names of the {sent} are not known"
    if remembered.other_token:
        return f"the token differs from that of {_minute(remembered.other_token)}"
    if remembered.possible and not remembered.is_known:
        at = _minute(remembered.possible[0].at)
        return f"the list sent on {at} may have arrived, and no list before it is known"
    return ""


def _sent_elsewhere(
    remembered: statefile.Remembered, settings: Settings, manifest: Manifest, site: ListSite
) -> Iterator[PossibleList]:
    """Yield the lists of the versions since the last accepted one; raises `RefusedError`."""
    commit = next(each.commit for each in remembered.possible if each.is_sent)
    for version in versions_after(manifest.path, commit) if commit else ():
        name = f"the list of {version.name}, which another machine may have sent"
        if found := list_of(settings, version, site.identity, name=name):
            yield found._replace(is_elsewhere=True)


def _minute(at: datetime) -> str:
    """Return a time for people, to the minute: `2026-06-01 09:30 UTC`."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def uncertainties(baseline: Baseline, *, at: str) -> Iterator[Notice]:
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


def unseen_differences(first: PossibleList, wanted: Snapshot, site: ListSite) -> Iterator[Notice]:
    """Yield the differences of a wanted list from another one that no change of a text shows."""
    at = site.service.label
    before, now = (each.collections[_COMMANDS] for each in (first.commands, wanted))
    known = {entry.text: entry.own for entry in before}
    if first.has_texts and not site.is_read:
        renewed = {
            entry.name: object_changes(known[entry.text], entry.own)
            for entry in now
            if entry.text in known and json.dumps(known[entry.text]) != json.dumps(entry.own)
        }
        yield from renewed_notices(renewed, at=at)
    if _is_reordered(before, now):
        yield Notice(f"{at}: the order of the commands changed")
    if first.has_texts:
        request = list_request(site.service, site.bot, first.commands)
        if request.digest != first.digest:
            what = "its method, its address or its keys"
            yield Notice(f"{at}: the request is made in another way ({what})")


def _is_reordered(before: Sequence[Entry], now: Sequence[Entry]) -> bool:
    """Whether the names that two lists have in common are in another order."""
    old, new = ([entry.name for entry in entries] for entries in (before, now))
    both = {*old} & {*new}
    return [name for name in old if name in both] != [name for name in new if name in both]


class OtherList(NamedTuple):
    """A list that the manifest does not have."""

    service: ListService
    title: str  # of all lists of the entry
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
    manifest: Manifest, site: ListSite, versions: Iterable[EarlierVersion]
) -> tuple[OtherList, ...]:
    """Return the other lists of a service that users may see, beside the first list of an entry.

    They are of other scopes, or of earlier versions, which are read only for a service that has
    several lists.
    """
    service, for_audience, entry = site.service, site.service.for_audience, site.entry
    if for_audience is None or not entry.first:
        return ()
    default = _default_identity(entry, manifest.bot)
    own = {each.audience for each in _lists_of(manifest, default)}
    earlier = [
        each.audience
        for version in versions
        for each in _lists_of(version.manifest, default)
        if each.audience and each.texts is not None
    ]
    scopes = {audience.scope for audience in own if audience}
    found = dict.fromkeys(earlier, "") | _hiding(scopes)
    return tuple(
        OtherList(replace(for_audience(each), origin=service.origin), service.name, where)
        for each, where in found.items()
        if each not in own
    )


def _lists_of(manifest: Manifest, default: str) -> list[ManifestListing]:
    """Return the lists of a manifest whose default list has an identity."""
    bot = manifest.bot
    return [each for each in manifest.listings if _default_identity(each, bot) == default]


def _default_identity(entry: ManifestListing, bot: str) -> str:
    """Return the identity of the default list of an entry's service."""
    return entry.identity(bot).removesuffix(identity_for("", entry.audience))


def _hiding(scopes: AbstractSet[str]) -> dict[Audience, str]:
    """Return the places where lists of other scopes hide the lists of some scopes, by audience."""
    return {
        Audience(scope): where
        for scope, (where, hidden) in OVERRIDING.items()
        if scope not in scopes and hidden & scopes
    }


def read_others(
    connection: Connection, bot: str, others: Iterable[OtherList]
) -> tuple[Notice, ...]:
    """Read lists at the same time, and return the warnings."""

    def warning(other: OtherList) -> Notice | None:
        try:
            entries = connection.call(other.service.read(bot, _COMMANDS))
        except ListingError as error:
            message = f"{other.service.label}: the list cannot be read: {error.message}"
            return Notice(message, error.hint)
        return other.notice(len(entries)) if entries else None

    reads = [in_thread(partial(warning, other), name="list") for other in others]
    return tuple(filter(None, results_of(reads)))
