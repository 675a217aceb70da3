"""The memory of a clone: the lists that were sent last from it, which a service does not return.

`memory_of` returns what is known of a list before a run: the version that the settings name, or the
list that was sent last from this clone. That is kept in git's common folder, which all worktrees of
a clone share: one file for each list and manifest. An apply notes there that a list is about to be
sent, and keeps it when the service has accepted it. What another clone sends is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError
from commandsync.manifest import Manifest
from commandsync.plan.baseline import LastSent, OfVersion, PossibleList
from commandsync.records.snapshot import Audience, Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.sync.destinations import ListSite
from commandsync.sync.earlier import earlier_version, git
from commandsync.sync.files import MOST_BYTES, read_file, write_file
from commandsync.sync.history import place_of
from commandsync.sync.listcontent import (
    ANOTHER,
    Before,
    Memory,
    audiences_of,
    default_identity,
    list_of,
    nothing_known,
)
from commandsync.sync.settings import STDIN, Settings

_COMMANDS = Resource.COMMAND


def memory_of(settings: Settings, manifests: Sequence[Manifest]) -> Memory:
    """Return what is known of lists by an earlier version, or else by this clone.

    Raises `CommandsyncError` if the version that the settings name cannot be read.
    """
    named = [manifest for manifest in manifests if settings.since and manifest.listings]
    versions = {each.path: earlier_version(settings.since, each) for each in named}
    another = (ANOTHER,) if settings.resend else ()

    def before(manifest: Manifest, site: ListSite) -> Before:
        entry, bot, unknown = site.entry, manifest.bot, nothing_known(settings, site)
        identity = entry.identity(bot)
        if version := versions.get(manifest.path):
            audiences = audiences_of(version, entry, bot)
            known = None if site.is_read else list_of(settings, version, identity)
            if known is None:
                return Before(unknown, audiences)
            return Before(OfVersion((known, *another), name=version.name), audiences)
        sent = sent_lists(manifest.path) if settings.in_clone else {}
        audiences = sent_audiences(sent, default_identity(entry, bot))
        last = None if site.is_read else sent.get(identity)
        if last is None:
            return Before(unknown, audiences)
        others = (ANOTHER,) if last.is_unclear else another
        known = PossibleList.of(last.commands, last.digest)
        return Before(LastSent((known, *others), name=last.name), audiences)

    return before


def sent_audiences(sent: Mapping[str, SentList], default: str) -> tuple[Audience, ...]:
    """Return the audiences of the lists beside a default one, by the identity of that."""
    keys = [
        identity.removeprefix(f"{default} ").partition("/")
        for identity, last in sent.items()
        if any(last.commands.collections.values()) and identity.startswith(f"{default} ")
    ]
    return tuple(Audience(scope, language) for scope, _, language in keys)


class SentList(NamedTuple):
    """A list that was sent last."""

    name: str  # the clone and the time
    commands: Snapshot  # its commands, as the service shows them
    digest: str  # that of its request
    at: datetime | None = None  # when it was sent, in UTC
    is_unclear: bool = False  # whether another list may have been sent since


_FOLDER = "commandsync"
_VERSION = 1


def sent_lists(manifest: str) -> dict[str, SentList]:
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


def _loaded(document: Mapping[str, Any]) -> SentList:
    """Read a document; raises `ValueError`, `KeyError` or `TypeError` if it has another form."""
    if document["version"] != _VERSION:
        raise ValueError("another version")
    commands = tuple(
        Entry(CommandText(*map(str, texts)), own=tuple(own)) for *texts, own in document["commands"]
    )
    at = datetime.fromisoformat(document["at"])
    name = f"the list last sent from this clone ({at:%Y-%m-%d %H:%M})"
    digest, is_unclear = str(document["digest"]), bool(document["unclear"])
    return SentList(name, Snapshot({_COMMANDS: commands}), digest, at, is_unclear)
