"""The list that was sent last from this clone, which a service does not return.

It is kept in git's common folder, which all worktrees of a clone share: one file for each list and
manifest. An apply notes there that a list is about to be sent, and keeps it when the service has
accepted it. The next plan is compared with it. What another clone sends is not known here.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sync.earlier import git
from commandsync.sync.files import MOST_BYTES, read_file, write_file
from commandsync.sync.history import place_of
from commandsync.sync.settings import STDIN

_FOLDER = "commandsync"
_VERSION = 1


class SentList(NamedTuple):
    """A list as it was sent."""

    digest: str  # that of its request
    at: datetime  # when it was sent, in UTC
    commands: tuple[Entry, ...]  # as the service shows them
    unclear: bool = False  # whether another list may have been sent since

    @property
    def name(self) -> str:
        """What a plan is compared with."""
        return f"the list last sent from this clone ({self.at:%Y-%m-%d %H:%M})"


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
    if sent and not sent.unclear:
        keep_sent(manifest, identity, sent._replace(unclear=True))


def keep_sent(manifest: str, identity: str, sent: SentList) -> Notice | None:
    """Keep a list that was sent; a notice says why it is not kept, where there is a clone."""
    commands = [[*entry.text, [dict(node) for node in entry.own]] for entry in sent.commands]
    document = {
        "version": _VERSION,
        "identity": identity,
        "digest": sent.digest,
        "at": sent.at.isoformat(),
        "unclear": sent.unclear,
        "commands": commands,
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
    return SentList(str(document["digest"]), at, commands, bool(document["unclear"]))
