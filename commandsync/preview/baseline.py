"""What a preview begins with: a manifest, and its bot as listed, or a new one without a listing."""

from dataclasses import dataclass

from commandsync.api.operations import get_bot
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.errors import ListingError, UsageError
from commandsync.manifest import Manifest
from commandsync.records.models import Bot, Profile
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.destinations import site_of
from commandsync.sync.job import connected
from commandsync.sync.settings import Settings, load_single
from commandsync.sync.site import Site

_OFFLINE = "commandsync preview --offline shows the page without what is listed"
_NOTHING = Snapshot(dict.fromkeys(Resource, ()))


@dataclass(frozen=True, slots=True)
class Baseline:
    """A bot and its listing before any change."""

    destination: tuple[str, str]  # `bot` and `base_url` of the manifest that it was read for
    bot: Bot  # the bot, which has a name; its id is empty if it is not known
    site: Site | None = None  # where it is listed; None for a new bot, without a service
    listed: Snapshot = _NOTHING  # all of its collections


def load_one(
    settings: Settings,
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that a preview shows, as `load_single`."""
    problem, hint = "preview shows one manifest", "name one file: commandsync preview PATH"
    return load_single(settings, problem, hint=hint, contents=contents, folders=folders)


def baseline_of(settings: Settings, manifest: Manifest, *, offline: bool) -> Baseline:
    """Read the listing of a manifest; a new bot if `offline`, or if no service is known.

    Raises `UsageError` without the bot's id, `ListingError` if the listing cannot be read.
    """
    if offline or not (settings.base_url or manifest.base_url):
        return new_bot(settings, manifest)
    try:
        site = site_of(settings, manifest)
        with connected(settings, [site]) as (connection,):
            return completed(connection, site, Snapshot(), manifest)
    except (ListingError, UsageError) as error:
        hint = f"{error.hint}; {_OFFLINE}" if error.hint else _OFFLINE
        raise error.having(hint=hint) from error.__cause__


def new_bot(settings: Settings, manifest: Manifest) -> Baseline:
    """Return a bot without a listing: everything in its manifest is new."""
    bot = settings.bot or manifest.bot
    return Baseline(
        (manifest.bot, manifest.base_url), bot_named(manifest.name or bot or manifest.path, id_=bot)
    )


def bot_named(name: str, *, id_: str = "") -> Bot:
    """Return a bot of which nothing else is known."""
    return Bot.model_construct(id=id_, profile=Profile(username=name))


def completed(connection: Connection, site: Site, listed: Snapshot, manifest: Manifest) -> Baseline:
    """Read a bot, and its collections that are not `listed` yet; raises `ListingError`."""
    rest = tuple(resource for resource in Resource if resource not in listed.collections)
    reading = start_reading(connection, site.bot, rest)
    bot = connection.call(get_bot(site.bot))
    whole = Snapshot({**listed.collections, **reading().collections})
    profile = bot.profile.model_copy(update={"username": bot.profile.username or site.bot})
    bot = bot.model_copy(update={"profile": profile})
    return Baseline((manifest.bot, manifest.base_url), bot, site, whole)
