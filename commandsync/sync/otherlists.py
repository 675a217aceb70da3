"""The lists of a service beside those of the manifest, which users may see in their place.

A service with a list for each scope and language shows the most special one. `other_lists` finds
which may hide a list of the manifest: those of other scopes, and those that an earlier version of
the manifest had, or that were sent from this clone. `read_others` reads them, and names each that
has commands. A read that fails is a warning, too: nothing else depends on it.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from commandsync.client.connection import Connection
from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Notice
from commandsync.errors import ListingError
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing, identity_for
from commandsync.records.snapshot import Audience
from commandsync.records.texts import Resource
from commandsync.services.service import ListService
from commandsync.services.telegram import OVERRIDING
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.sentlist import sent_lists


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
            if sent.commands and identity.startswith(f"{default} "):
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
