"""Discord: the commands that an application has registered, of all servers or of one.

They are records, which are written one by one: the request that replaces the whole list is never
made (it gives renamed commands new ids). The answers of Discord's interface, version 10, are read
here, and its errors get words and the place in the object that they are about.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from commandsync import errors
from commandsync.api import arguments, operations
from commandsync.api.arguments import Address
from commandsync.api.content import content_of, json_or_none
from commandsync.api.operations import Operation, Overwritten, bot_part
from commandsync.diagnostics import Do
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, Text, object_of
from commandsync.services.abilities import (
    DISCORD_ABILITIES,
    OF_OBJECTS,
    Reads,
    Support,
    facts_of,
)
from commandsync.services.discordobjects import (
    DESCRIPTION,
    NAME,
    Object,
    entries_of,
    number_of,
    with_unknown,
)
from commandsync.services.service import RecordService
from commandsync.version import __version__

ORIGIN = "https://discord.com"
"""Its scheme and host; the paths of its operations begin after them."""

VARIABLES = ("DISCORD_TOKEN", "COMMANDSYNC_TOKEN_DISCORD")
"""The variables of its token; the first set one counts."""

_VERSION = 10
_API = f"/api/v{_VERSION}"
# Discord may block requests without one of this form ("User Agent" of its reference).
_AGENT = f"DiscordBot (https://pypi.org/project/commandsync/, {__version__})"
_FACTS = facts_of(
    OF_OBJECTS,
    ("description",),
    {"name": NAME, "description": DESCRIPTION},
    read=Reads.RECORDS,
    **dict.fromkeys(("replace", "write", "clear", "ids", "options"), Support.YES),
    most_records=sum(DISCORD_ABILITIES[Resource.APPLICATION_COMMAND].most.values()),
    most_sub_commands=25,
    levels=2,
)
# The values of keys that a command does not have any more.
_RESETS: Mapping[str, Any] = MappingProxyType(
    {
        "options": [],
        "nsfw": False,
        "contexts": None,
        "default_member_permissions": None,
        "name_localizations": None,
        "description_localizations": None,
    }
)
_ID = re.compile(r"[0-9]{1,20}")
_MOST_ERRORS = 20  # of one answer that are named


def discord_address(base_url: str = ORIGIN) -> Address:
    """Read a URL of Discord's interface, with or without `/api` and the version after it.

    Raises as `parse_address`.
    """
    try:
        address = arguments.parse_address(base_url, version=_VERSION)
    except errors.UsageError as error:
        raise error.having(hint=f"give it as {ORIGIN}") from error.__cause__
    return Address(address.base_url.removesuffix("/api"), None)


class Application(NamedTuple):
    """An application at Discord, which a token belongs to."""

    id: str
    bot: str  # the id of its bot's user, which old applications have apart from their own; or empty
    name: str
    integration_types: tuple[int, ...]  # where it can be installed: 0 on servers, 1 by users


def application() -> Operation[Application]:
    """Return the request for the application of the token: GET /applications/@me."""
    return Operation("read application", "GET", f"{_API}/applications/@me", _application)


def _application(reply: errors.Reply) -> Application:
    with _explained():
        content = content_of(reply)
    match content:
        case {"id": str(id_)} if _ID.fullmatch(id_):
            bot, name = content.get("bot"), content.get("name")
            config = content.get("integration_types_config")
            types = config if isinstance(config, dict) else {}
            return Application(
                id_,
                str(bot.get("id") or "") if isinstance(bot, dict) else "",
                name if isinstance(name, str) else "",
                tuple(sorted(int(key) for key in types if _ID.fullmatch(str(key)))) or (0,),
            )
        case _:
            raise errors.DecodeError("the answer contains no application", reply=reply, hint=_LATER)


class _List(NamedTuple):
    """A list of commands: of all servers, or of one."""

    application: Application
    guild: str = ""

    def path(self, bot: str, *parts: str) -> str:
        """Return the path of the list, or of one of its commands."""
        owner = bot_part(self.application.id or bot)
        server = ("guilds", bot_part(self.guild)) if self.guild else ()
        return "/".join((f"{_API}/applications", owner, *server, "commands", *parts))

    def read(self, bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:
        """Return the request that reads the commands; those of other types are left out."""
        installs = self.application.integration_types

        def read(reply: errors.Reply) -> tuple[Entry, ...]:
            return entries_of(self.listed(reply), installs=installs, guild=self.guild)

        name, query = f"list {resource.collection}", (("with_localizations", "true"),)
        return Operation(name, "GET", self.path(bot), read, query)

    def listed(self, reply: errors.Reply) -> list[Object]:
        """Return the objects of a list, each id once.

        Raises as `content_of`, and `DecodeError` if the list is not whole.
        """
        with _explained(self.guild):
            content = content_of(reply)
        if not isinstance(content, list) or reply.status == _ACCEPTED:
            message = "the answer contains no list of application commands"
            raise errors.DecodeError(message, reply=reply, hint=_LATER)
        nodes: dict[str, Object] = {}
        for item in content:
            match item:
                case {"id": str(id_), "name": str(name)} if name and _ID.fullmatch(id_):
                    nodes.setdefault(id_, item)
                case _:
                    message = "the answer contains a command without an id or a name"
                    raise errors.DecodeError(message, reply=reply, hint=_LATER)
        return [*nodes.values()]

    def add(self, bot: str, resource: Resource, text: Text) -> Operation[str]:
        """Return the request that adds a command; one of its type and name is replaced by it."""
        body = _sent(_object(text))

        def read(reply: errors.Reply) -> str:
            added = self.stored(body, reply)
            return added if reply.status == _CREATED else Overwritten(added)

        return Operation(f"add {resource}", "POST", self.path(bot), read, body=body)

    def edit(self, bot: str, resource: Resource, entry: Entry, text: Text) -> Operation[str]:
        """Return the request that changes the keys of a command that differ, and no others."""
        before, after = _object(entry.text), _object(text)
        installs = [*self.application.integration_types] or None
        resets = {**_RESETS, "integration_types": installs}
        gone = {key: value for key, value in resets.items() if key in before and key not in after}
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        body = _sent(gone | changed)
        own: Object = dict(*entry.own)
        body.pop("type", None)  # no command can change it
        if "contexts" in gone and own.get("dm_permission") is False:
            body["dm_permission"] = True  # the older way to say that it is for servers only
        if "options" in changed:
            # They are replaced as a whole: unknown keys of the listed ones would be lost.
            listed = {"options": own.get("options")}
            body |= with_unknown({"options": changed["options"]}, listed)
        path = self.path(bot, arguments.identifier("id", entry.id))
        read = partial(self.stored, body)
        return Operation(f"edit {resource}", "PATCH", path, read, body=body, missing=_CHANGED)

    def stored(self, body: Mapping[str, Any], reply: errors.Reply) -> str:
        """Read the answer to an add or an edit: the id of the command, which Discord answers.

        Raises `DecodeError` if there is none: somebody else answers, and the result is unknown.
        """
        with _explained(self.guild, body):
            identifier = operations.acknowledged(reply)
        if not identifier:
            message = "the answer contains no application command"
            raise errors.DecodeError(message, reply=reply, hint=_LATER)
        return identifier

    def delete(self, bot: str, resource: Resource, record_id: str) -> Operation[str]:
        """Return the request that deletes a command."""

        def read(reply: errors.Reply) -> str:
            try:
                with _explained(self.guild):
                    return operations.acknowledged(reply)
            except errors.NotFound as error:
                content = json_or_none(reply)
                if isinstance(content, dict) and content.get("code") == _GONE:
                    raise
                # Only Discord's own word for it says that the command is gone.
                raise errors.Invalid(error.message, reply=reply, hint=_LATER) from error

        path = self.path(bot, arguments.identifier("id", record_id))
        return Operation(f"delete {resource}", "DELETE", path, read, gone_is_done=True)


def discord_service(application: Application, guild: str = "") -> RecordService:
    """Return the service of an application's commands, of all servers or of one."""
    of = _List(application, guild)
    return RecordService(
        name="discord",
        abilities=DISCORD_ABILITIES,
        facts=_FACTS,
        authorization="Bot {token}",
        simulated_only=True,
        agent=_AGENT,
        read=of.read,
        add=of.add,
        edit=of.edit,
        delete=of.delete,
    )


def registered(application: str) -> Operation[bytes]:
    """Return the request for the body of an answer with the global commands of an application."""
    of = _List(UNKNOWN)

    def read(reply: errors.Reply) -> bytes:
        of.listed(reply)
        return reply.body

    reading = of.read(application, Resource.APPLICATION_COMMAND)
    return Operation(reading.name, reading.method, reading.path, read, reading.query)


def _object(text: Text) -> Object:
    return object_of(text) or {}


def _sent(node: Mapping[str, Any]) -> Object:
    """Return an object as requests have it: permissions are numbers in Discord's schema."""
    number = number_of(node.get("default_member_permissions"))
    return {**node} if number is None else {**node, "default_member_permissions": number}


_NOTHING: Mapping[str, Any] = MappingProxyType({})

# The answers of Discord to a request that it refuses.

_CREATED, _ACCEPTED = 201, 202
_GONE, _INVALID, _NO_ACCESS = 10063, 50035, 50001
_LATER = "run again later"
_CHANGED = "it was deleted or changed meanwhile: make a plan again"
_PORTAL = "copy the token of the bot again from Discord's developer portal"
_REFUSALS: Mapping[int, tuple[type[errors.ApiError], str, str]] = {
    10002: (errors.NotFound, "Discord does not know the application", _PORTAL),
    _GONE: (errors.NotFound, "the command is not registered any more", _CHANGED),
    20012: (errors.Forbidden, "the token belongs to another application", _PORTAL),
    30032: (
        errors.Invalid,
        "Discord takes no more commands of this type",
        "a list has at most 100 slash commands, 15 user menus and 15 message menus",
    ),
    30034: (
        errors.Invalid,
        "Discord takes no more new commands today: at most 200 in 24 hours",
        "run again tomorrow",
    ),
    40041: (errors.Invalid, "another command of this type has that name", _CHANGED),
    50240: (
        errors.Invalid,
        "Discord does not remove the Entry Point command of an application with its other commands",
        "",
    ),
}


@contextmanager
def _explained(guild: str = "", body: Mapping[str, Any] = _NOTHING) -> Iterator[None]:
    """Say in words why Discord refuses, and where in the body that was sent."""
    try:
        yield
    except errors.ApiError as error:
        raise _in_words(error, body, guild) from error.__cause__
    except errors.DecodeError as error:
        raise error.having(hint=_LATER) from error.__cause__


def _in_words(error: errors.ApiError, body: Mapping[str, Any], guild: str) -> errors.ApiError:
    reply, content = error.reply, json_or_none(error.reply)
    code = content.get("code") if isinstance(content, dict) else None
    if code == _INVALID:
        return errors.Invalid(_wrong_parts(content, body) or error.message, reply=reply)
    if code == _NO_ACCESS:
        message = f"the application has no access to the server {guild}" if guild else error.message
        hint = "add it to the server with the scope applications.commands"
        return errors.Forbidden(message, reply=reply, hint=hint if guild else _PORTAL)
    if isinstance(code, int) and code in _REFUSALS:
        kind, message, hint = _REFUSALS[code]
        return kind(message, reply=reply, hint=hint)
    if isinstance(error, errors.Unauthorized):
        return error.having(hint=_PORTAL if reply.with_token else Do.GIVE_TOKEN())
    return _limited(error, content) if isinstance(error, errors.RateLimited) else error


def _limited(error: errors.RateLimited, content: object) -> errors.RateLimited:
    """Return the error of a 429 with the seconds of the body: the header has whole ones."""
    asked = content.get("retry_after") if isinstance(content, dict) else None
    is_number = isinstance(asked, int | float) and not isinstance(asked, bool) and asked >= 0
    seconds = float(cast("float", asked)) if is_number else error.retry_after
    return errors.RateLimited(
        error.message, reply=error.reply, hint=error.hint, retry_after=seconds
    )


def _wrong_parts(content: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """Return the errors of an answer, one on each line, with their places; empty for none."""
    lines = [*_errors(content.get("errors"), body, ())]
    more = [f"and {len(lines) - _MOST_ERRORS:,} more"] if len(lines) > _MOST_ERRORS else []
    return "\n".join([*lines[:_MOST_ERRORS], *more])


def _errors(tree: object, part: object, place: tuple[str, ...]) -> Iterator[str]:
    """Yield the errors below a place; options and choices are called by their names there."""
    if not isinstance(tree, dict):
        return
    for key, below in tree.items():
        if key == "_errors":
            wrongs = below if isinstance(below, list) else []
            for wrong in wrongs:
                message = wrong.get("message") if isinstance(wrong, dict) else None
                words = message if isinstance(message, str) else "is not valid"
                yield f"{'/'.join(place)}: {words}" if place else words
        else:
            name, inner = _inner(part, str(key))
            yield from _errors(below, inner, (*place, name))


def _inner(part: object, key: str) -> tuple[str, object]:
    """Return the part that a key of a tree of errors names, and its name."""
    match part:
        case Mapping():
            return key, part.get(key)
        case Sequence() if not isinstance(part, str) and key.isdecimal() and int(key) < len(part):
            inner = part[int(key)]
            name = inner.get("name") if isinstance(inner, Mapping) else None
            return (name if isinstance(name, str) else key), inner
        case _:
            return key, None


UNKNOWN = Application("", "", "", ())
"""The application of a token before it is read."""

DISCORD = discord_service(UNKNOWN)
"""Discord without an application, for its facts."""
