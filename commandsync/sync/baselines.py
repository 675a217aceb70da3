"""The baseline of a list that its service does not return: a version's list, or what was sent.

`memory_of` returns what is known of each list before a run of the command line: the version that
the settings name, or what the state file remembers. `last_sent` makes the lists that may be shown
of the deliveries of a store. That has only the names of their commands. The texts come from the
manifest at the commit of a delivery, if that still makes the request that was sent; else the plan
compares the names alone, and says so.

A store in a file does not know what other machines send. So each version of the manifest since the
commit of the last accepted delivery may be shown as well.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing
from commandsync.plan.baseline import Baseline, LastSent, OfVersion, PossibleList, Unknown
from commandsync.records.snapshot import Audience, Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.service import list_request
from commandsync.sync.earlier import EarlierVersion, earlier_version
from commandsync.sync.history import recent_versions, version_before, versions_after
from commandsync.sync.listcontent import (
    Before,
    Memory,
    audiences_of,
    fitted_list,
    list_of,
    nothing_known,
)
from commandsync.sync.settings import STDIN, Settings
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import (
    Delivery,
    Remembered,
    StateFile,
    Store,
    default_state,
    token_digest,
)

_COMMANDS = Resource.COMMAND


def memory_of(settings: Settings, manifests: Sequence[Manifest]) -> Memory:
    """Return what is known of listings by an earlier version, or else by the state file.

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
    """Return what a store knows of a list; `accepted` allows replacing an unknown one."""
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
    """Return the baseline of a list, by what is remembered of it.

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
            why = f"what was sent since is not known: {error.message}"
    if why or not memory.is_known:
        return Unknown(tuple(lists), why=why, accepted=accepted)
    newest = _shown(memory.possible[0].at)
    return LastSent(tuple(_unlike(lists)), name=f"what was sent on {newest}")


def _why_unknown(memory: Remembered, found: Sequence[PossibleList | None]) -> str:
    """Return why another list may be shown; empty for none, and for one that was never sent."""
    for delivery, known in zip(memory.possible, found, strict=True):
        if known is None:
            sent = f"{delivery.size:,} commands sent on {_shown(delivery.at)}"
            return f"the names of the {sent} are not known"
    if memory.other_token:
        return f"the token is another one than that of {_shown(memory.other_token)}"
    if memory.possible and not memory.is_known:
        at = _shown(memory.possible[0].at)
        return f"the list sent on {at} may have arrived, and none before is known"
    return ""


def _shown(at: datetime) -> str:
    """Return a time for people, to the minute: `2026-06-01 09:30 UTC`."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def notices_of(baseline: Baseline, *, at: str) -> Iterator[Notice]:
    """Yield what to know about the lists of a baseline; `at` is the listing."""
    if isinstance(baseline, Unknown) and baseline.accepted and baseline.error:
        yield replace(baseline.error, message=f"{at}: {baseline.error.message}")
    certain = [each for each in baseline.lists if not each.is_elsewhere]
    if len(certain) > 1:
        names = " or ".join(f"{each.name} ({each.size:,} commands)" for each in certain)
        yield Notice(f"{at}: the service may show {names}: not every request had a clear end")
    first = baseline.first
    if first and not first.has_texts:
        yield Notice(f"{at}: of {first.name} only the names of the commands are known")


def _known(
    delivery: Delivery, settings: Settings, manifest: Manifest, entry: Listing, wanted: Snapshot
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
    settings: Settings, manifest: Manifest, entry: Listing, memory: Remembered
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
