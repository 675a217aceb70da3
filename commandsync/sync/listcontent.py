"""The contents of whole lists: the wanted one, the one it is compared with, and those beside it.

`fitted_list` fits the commands that are due into the service of an entry, in its language. Their
request is compared with that of an `EarlierList`, or with the list as read. Then `with_own_keys`
gives back to the commands that stay the keys that are not ours, and `renewed` and `is_reordered`
find the differences that no change of a text shows.

An `EarlierList` is that of an earlier version, or the one that was sent last from this clone, which
a service does not return. That is kept in git's common folder, which all worktrees of a clone
share: one file for each list and manifest. An apply notes there that a list is about to be sent,
and keeps it when the service has accepted it. What another clone sends is not known here.

A service with a list for each scope and language shows the most special one. `other_lists` finds
those which may hide a list of the manifest: of other scopes, of an earlier version, or sent from
this clone. `read_others` reads them, and names each that has commands. A read that fails is a
warning, too: nothing else depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, ListingError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing, identity_for
from commandsync.plan.changes import Edit, object_changes
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Audience, Entry, Phase, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.fit import Fitted, fit
from commandsync.services.service import ListService, list_request
from commandsync.services.telegram import OVERRIDING
from commandsync.sync.earlier import EarlierVersion, git
from commandsync.sync.files import MOST_BYTES, read_file, write_file
from commandsync.sync.history import place_of
from commandsync.sync.settings import STDIN, Settings, rules_of

if TYPE_CHECKING:
    from commandsync.client.connection import Connection

_COMMANDS = Resource.COMMAND


class EarlierList(NamedTuple):
    """A list that was sent last, or the one of an earlier version."""

    name: str  # the file, the revision or the record that it is from
    commands: Snapshot  # its commands, as the service shows them
    digest: str  # that of its request
    at: datetime | None = None  # when it was sent, in UTC
    is_unclear: bool = False  # whether another list may have been sent since


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


_FOLDER = "commandsync"
_VERSION = 1


def sent_lists(manifest: str) -> dict[str, EarlierList]:
    """Return the lists of a manifest that were sent last, by their identities.

    One whose file is damaged is not known.
    """
    folder, place = _folder(manifest)
    lists = {}
    for file in sorted(folder.glob("*.json")) if folder else ():
        with suppress(CommandsyncError, ValueError, KeyError, TypeError, RecursionError):
            document = json.loads(read_file(str(file), most=MOST_BYTES))
            identity = str(document["identity"])
            if file.name == _name(identity, place):
                lists[identity] = _loaded(document)
    return lists


def mark_unclear(manifest: str, identity: str) -> None:
    """Note that another list is about to be sent than the one that is known, if one is."""
    sent = sent_lists(manifest).get(identity)
    if sent and sent.at and not sent.is_unclear:
        keep_sent(manifest, identity, sent.commands, sent.digest, at=sent.at, is_unclear=True)


def keep_sent(
    manifest: str,
    identity: str,
    sent: Snapshot,
    digest: str,
    *,
    at: datetime,
    is_unclear: bool = False,
) -> Notice | None:
    """Keep a list that was sent; a notice says why it is not kept, where there is a clone."""
    entries = sent.collections[_COMMANDS]
    document = {
        "version": _VERSION,
        "identity": identity,
        "digest": digest,
        "at": at.isoformat(),
        "unclear": is_unclear,
        "commands": [[*each.text, [dict(node) for node in each.own]] for each in entries],
    }
    folder, place = _folder(manifest)
    if folder is None:
        return None
    path = str(folder / _name(identity, place))
    try:
        write_file(path, json.dumps(document), force=True, new_folder=True, private=True)
    except CommandsyncError as error:
        message = f"the list that was sent is not kept for the next plan: {error.message}"
        return Notice(message, "mend that, or name for the next plan what was sent last")
    return None


def _name(identity: str, place: str) -> str:
    digest = sha256(f"{identity}\n{place}".encode()).hexdigest()
    return f"{digest[:32]}.json"


def _folder(manifest: str) -> tuple[Path | None, str]:
    """Return the folder of the lists, None outside a clone, and the manifest's path in it."""
    if manifest == STDIN:
        return None, ""
    try:
        folder, place = place_of(manifest)
        common = git(folder, "rev-parse", "--git-common-dir").decode().strip("\n")
    except CommandsyncError:
        return None, ""
    return (Path(folder) / common).resolve() / _FOLDER, place


def _loaded(document: Mapping[str, Any]) -> EarlierList:
    """Read a document; raises `ValueError`, `KeyError` or `TypeError` if it has another form."""
    if document["version"] != _VERSION:
        raise ValueError("another version")
    commands = tuple(
        Entry(CommandText(*map(str, texts)), own=tuple(own)) for *texts, own in document["commands"]
    )
    at = datetime.fromisoformat(document["at"])
    name = f"the list last sent from this clone ({at:%Y-%m-%d %H:%M})"
    digest, is_unclear = str(document["digest"]), bool(document["unclear"])
    return EarlierList(name, Snapshot({_COMMANDS: commands}), digest, at, is_unclear)


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
    manifest: Manifest, entry: Listing, version: EarlierVersion | None, *, in_clone: bool
) -> tuple[OtherList, ...]:
    """Return the lists beside those of an entry's service; `entry` is its first one."""
    service = entry.list_service
    if service.for_audience is None or not entry.first:
        return ()
    default = _default(entry, manifest.bot)
    own = {each.audience for each in manifest.listings if _default(each, manifest.bot) == default}
    found = _hiding({audience.scope for audience in own if audience})
    earlier = dict.fromkeys(_earlier(manifest, default, version, in_clone=in_clone), "")
    others = [each for each in (earlier | found).items() if each[0] not in own]
    return tuple(
        OtherList(
            replace(service.for_audience(audience), origin=service.origin), service.name, where
        )
        for audience, where in others
    )


def _hiding(scopes: AbstractSet[str]) -> dict[Audience, str]:
    """Return where the lists of other scopes hide those of some scopes, by their audiences."""
    return {
        Audience(scope): where
        for scope, (where, hidden) in OVERRIDING.items()
        if scope not in scopes and hidden & scopes
    }


def _default(entry: Listing, bot: str) -> str:
    """Return the identity of the default list of an entry's service."""
    return entry.identity(bot).removesuffix(identity_for("", entry.audience))


def _earlier(
    manifest: Manifest, default: str, version: EarlierVersion | None, *, in_clone: bool
) -> Iterator[Audience]:
    """Yield the audiences of an earlier version's lists, or else of those that were sent last."""
    if version:
        bot = version.manifest.bot
        for each in version.manifest.listings:
            if each.audience and each.texts is not None and _default(each, bot) == default:
                yield each.audience
    elif in_clone:
        for identity, sent in sent_lists(manifest.path).items():
            if any(sent.commands.collections.values()) and identity.startswith(f"{default} "):
                scope, _, language = identity.removeprefix(f"{default} ").partition("/")
                yield Audience(scope, language)


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
