"""The listing of Discord in a manifest, and the commands that are registered by it.

Discord gets more than public lists show: the object of a group once, and the commands that an
import leaves out of public lists. Commands that it does not get, or must keep, are named, too.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from commandsync.diagnostics import Location
from commandsync.manifest import nodes
from commandsync.manifest.overlay import Own
from commandsync.manifest.source import FileProblems
from commandsync.records.imported import Kind, kind_of
from commandsync.records.snapshot import Registrable, Standing

if TYPE_CHECKING:
    from commandsync.manifest.keys import ListingKeys

DISCORD = "discord"
"""The name of the service."""

_KEYS = ("bot", "base_url", "token_env", "lossy", "guild")  # beside `service`
_REGISTERED = frozenset({"hidden", "owner-only", "admin-only", "nsfw"})
"""Why a command is on no public list, though it is registered as the others are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordListing:
    """The commands of an application at Discord, global or of one server."""

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
    report: FileProblems, root: nodes.Mapping, models: "Sequence[ListingKeys]", *, bot: str
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


_MOST_OF_PREFIX = 100  # characters: more than any name has


def registrables(
    commands: Iterable[Own], left_out: Sequence[Own], *, prefix: str | None
) -> tuple[Registrable, ...]:
    """Return the commands of a manifest as they are registered.

    An entry that names a command which is left out of public lists makes it public, with the
    object that the import has.
    """
    rest = {own.imported.command.key: own for own in left_out if own.imported}
    found: list[tuple[Own, str, Own]] = []
    for own in commands:
        syntax = _begun(own.model.syntax, prefix or "")
        other = rest.pop(_key(own, syntax), None) if rest else None
        keeps_own = own.model.own or own.model.object
        found.append((own, syntax, own if keeps_own else other or own))
    found += (
        (own, own.model.syntax, own)
        for (_, kind, _), own in rest.items()
        if kind is not Kind.PREFIX
    )
    # Sub-commands are in the order of the code, whatever comes first on public lists.
    return tuple(_registrable(*each) for each in sorted(found, key=_number))


def _number(of: tuple[Own, str, Own]) -> int:
    *_, whole = of
    return whole.imported.number if whole.imported else sys.maxsize


def _begun(syntax: str, prefix: str) -> str:
    """Return a syntax with the prefix at its beginning, which decides how a command is called.

    A long prefix that is often in it would fill the memory again.
    """
    start, used, rest = syntax.partition("{prefix}")
    return prefix[:_MOST_OF_PREFIX] + rest if used and not start else syntax


def _key(own: Own, syntax: str) -> tuple[str, Kind, Any]:
    """Return what tells the command of an entry from the others, as `ImportedCommand.key`."""
    name, of_object = own.model.name, (own.model.object or {}).get("type", 1)
    if of_object != 1:
        return name, Kind.MENU, of_object
    return name, kind_of(name, syntax), None


def _registrable(own: Own, syntax: str, whole: Own) -> Registrable:
    """Return a command with the object of an entry, which may be left out."""
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
        places=_Places(*whole.object_node) if whole.object_node else {},
    )


class _Places(Mapping[str, Location]):
    """Where the parts of an object are; few are asked for, so each is found when it is."""

    def __init__(self, report: FileProblems, node: nodes.Mapping) -> None:
        self._report, self._node = report, node

    def __getitem__(self, path: str) -> Location:
        part: nodes.Node = self._node
        for key in path.split("/") if path else ():
            match part:
                case nodes.Mapping() if key in part:
                    part = part[key]
                case nodes.Sequence() if key.isdecimal() and int(key) < len(part):
                    part = part[int(key)]
                case _:
                    raise KeyError(path)
        return self._report.source.location(part.at)

    def __iter__(self) -> Iterator[str]:
        waiting: list[tuple[str, nodes.Node]] = [("", self._node)]
        while waiting:
            path, part = waiting.pop()
            yield path
            pairs: Iterable[tuple[object, nodes.Node]] = ()
            if isinstance(part, nodes.Mapping):
                pairs = part.items()
            elif isinstance(part, nodes.Sequence):
                pairs = enumerate(part)
            waiting += ((f"{path}/{key}" if path else str(key), each) for key, each in pairs)

    def __len__(self) -> int:
        return sum(1 for _ in self)
