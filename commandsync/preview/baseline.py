"""What a preview begins with: the bot as it is listed, or a new one without a listing."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from commandsync.api.operations import get_bot
from commandsync.client.driver import SnapshotReading
from commandsync.errors import ListingError, UsageError
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.job import connected
from commandsync.sync.settings import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.client.connection import Connection
    from commandsync.manifest import Manifest
    from commandsync.sync.settings import Settings
    from commandsync.sync.site import Site

_OFFLINE = "commandsync preview --offline shows the page without what is listed"
_NOTHING = Snapshot(dict.fromkeys(Resource, ()))


@dataclass(frozen=True, slots=True)
class Baseline:
    """A bot and its listing before any change.

    Attributes:
        site: Where it is listed; None for a new bot, without a service.
        bot: The bot's id; empty if it is not known.
        name: What to call the bot if its profile has no name.
        profile: The bot as the service sent it.
        listed: All of its collections.
    """

    site: Site | None
    bot: str
    name: str
    profile: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    listed: Snapshot = _NOTHING


def baseline_of(settings: Settings, manifest: Manifest, *, offline: bool) -> Baseline:
    """Read the listing of a manifest; a new bot if `offline`, or if no service is known.

    Raises:
        UsageError: The bot's id is missing.
        ListingError: The bot or its listing cannot be read.
    """
    if offline or not (settings.base_url or manifest.base_url):
        return new_bot(settings, manifest)
    try:
        site = site_of(settings, manifest)
        with connected(settings, [site]) as (connection,):
            return completed(connection, site, Snapshot())
    except (ListingError, UsageError) as error:
        error.hint = f"{error.hint}; {_OFFLINE}" if error.hint else _OFFLINE
        raise


def new_bot(settings: Settings, manifest: Manifest) -> Baseline:
    """Return a bot without a listing: everything in its manifest is new."""
    bot = settings.bot or manifest.bot
    return Baseline(None, bot, bot or manifest.path)


def completed(connection: Connection, site: Site, listed: Snapshot) -> Baseline:
    """Read a bot, and the collections that are not `listed` yet.

    Raises:
        ListingError: The bot or its listing cannot be read.
    """
    rest = tuple(resource for resource in Resource if resource not in listed.collections)
    reading = SnapshotReading(connection, site.bot, rest)
    bot = connection.call(get_bot(site.bot))
    whole = Snapshot({**listed.collections, **reading.result().collections})
    return Baseline(site, site.bot, bot.profile.username or site.bot, bot.raw, whole)
