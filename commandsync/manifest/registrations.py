"""The listing of Discord in a manifest, and the commands that are registered by it.

Discord gets more than public lists show: the object of a group once, and the commands that an
import leaves out of public lists. What it does not get, and what it must keep, is named, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from commandsync.diagnostics import Location
from commandsync.manifest import nodes
from commandsync.manifest.fields import with_prefix
from commandsync.manifest.listingmodel import ListingModel
from commandsync.manifest.overlay import Own
from commandsync.manifest.source import FileProblems
from commandsync.records.imported import Kind, kind_of
from commandsync.records.registrations import Registrable, Standing

DISCORD = "discord"
"""The name of the service."""

_KEYS = ("bot", "base_url", "token_env", "lossy", "guild")  # beside `service`
_REGISTERED = frozenset({"hidden", "owner-only", "admin-only", "nsfw"})
"""Why a command is on no public list, though it is registered as the others are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordListing:
    """The commands of an application at Discord: the global ones, or those of one server."""

    guild: str = ""  # the id of the server; empty for the global commands
    base_url: str = ""  # the scheme and host in place of Discord's own; empty for these
    token_env: str = ""  # the variable that holds the token; empty for the service's own
    bot: str = ""  # the id of the bot or its application; empty if the token decides
    lossy: tuple[str, ...] = ()  # what may be missing without a warning
    location: Location
    service: ClassVar[str] = DISCORD

    @property
    def name(self) -> str:
        """Its name in output: `discord`, or `discord (server 613425648685547541)`."""
        return f"{DISCORD} (server {self.guild})" if self.guild else DISCORD


def discord_listing(
    report: FileProblems, root: nodes.Mapping, models: Sequence[ListingModel], *, bot: str
) -> DiscordListing | None:
    """Return the listing of Discord; None without one. Problems beside other keys are reported."""
    first: DiscordListing | None = None
    entries = cast("list[nodes.Mapping]", root.get("listings", []))
    for node, model in zip(entries, models, strict=True):
        if model.service != DISCORD:
            if "guild" in node:
                message = f"guild is allowed for {DISCORD} only"
                report.error(node["guild"].at, message, "remove guild:")
            continue
        for key in sorted({*node} - {"service", *_KEYS}):
            report.error(node[key].at, f"{key} is not allowed for {DISCORD}", f"remove {key}:")
        location = report.source.location(node.at)
        if first:
            message = f"duplicate listing {DISCORD} (first at {first.location})"
            hint = "keep one: each run can name a server instead"
            report.error(node.at, message, hint)
            continue
        values = {key: getattr(model, key) for key in _KEYS}
        first = DiscordListing(**values | {"bot": model.bot or bot}, location=location)
    return first


def registrables(
    commands: Iterable[Own], left_out: Sequence[Own], *, prefix: str | None
) -> tuple[Registrable, ...]:
    """Return the commands of a manifest as they are registered.

    An entry that names a command which is left out of public lists makes it public, with the
    object that the import has.
    """
    rest = {own.imported.command.key: own for own in left_out if own.imported}
    found = []
    for own in commands:
        syntax = with_prefix(own.model.syntax, prefix or "")
        other = rest.pop(_key(own, syntax), None)
        keeps = other is None or own.model.own or own.model.object
        found.append(_registrable(own, syntax, own if keeps else other))
    found += (
        _registrable(own, own.model.syntax)
        for (_, kind, _), own in rest.items()
        if kind is not Kind.PREFIX
    )
    return tuple(found)


def _key(own: Own, syntax: str) -> tuple[str, Kind, Any]:
    """Return what tells the command of an entry from the others, as `ImportedCommand.key`."""
    name, of_object = own.model.name, (own.model.object or {}).get("type", 1)
    if of_object != 1:
        return name, Kind.MENU, of_object
    return name, kind_of(name, syntax), None


def _registrable(own: Own, syntax: str, whole: Own | None = None) -> Registrable:
    """Return a command, perhaps with the object of one that is left out."""
    whole = whole or own
    imported = own.imported or whole.imported
    left_out = own.imported.command.left_out if own.imported else ""
    is_registered = {*left_out.split(" and ")} <= {"", *_REGISTERED}
    return Registrable(
        name=own.model.name.removeprefix("/"),
        description=own.model.description,
        syntax=syntax,
        standing=Standing.REGISTERED if is_registered else Standing.UNTOUCHED,
        reason=left_out,
        discord=whole.model.object,
        id=own.pin,
        formerly=own.model.formerly,
        location=own.place,
        source=imported.command.source if imported else "",
        places=dict(_places(whole)),
    )


def _places(own: Own) -> Iterator[tuple[str, Location]]:
    """Yield where the parts of an object are, by their keys and numbers: `options/0/name`."""
    if own.object_node is None:
        return
    report, node = own.object_node
    waiting: list[tuple[str, nodes.Node]] = [("", node)]
    while waiting:
        path, part = waiting.pop()
        yield path, report.source.location(part.at)
        match part:
            case nodes.Mapping():
                waiting += [(f"{path}/{key}" if path else key, each) for key, each in part.items()]
            case nodes.Sequence():
                waiting += [(f"{path}/{number}", each) for number, each in enumerate(part)]
            case nodes.Scalar():
                pass
