"""Discord's lists of application commands: one for all servers, and one of each server.

`respond` takes a call and the lists, and returns the response and the next lists. A list keeps each
command as it was sent, and an answer has the keys that Discord adds (`answered`). A POST overwrites
the command of its type and name; the id of a command stays over every edit; a type never changes. A
request that is not valid is refused, and changes nothing.

Rules and shapes: Discord's documentation of the API version 10, "Application Commands", its
published OpenAPI description, and the errors that public reports quote. The documents do not say
when a day of 200 new commands begins: here with the first of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from commandsync.simulation.discordrules import (
    CHAT,
    ENTRY_POINT,
    MENUS,
    Wrong,
    command_type,
    errors_of,
    nested,
)
from commandsync.simulation.exchange import Response

OWN_KEYS = ("id", "version", "application_id", "guild_id")
"""The keys of a command that belong to one registration of it."""

MALFORMED = object()
"""The body of a call that is not JSON."""

_FIRST_ID = 10**18 + 10**6
_MOST = {CHAT: 100, **dict.fromkeys(MENUS, 15), ENTRY_POINT: 1}  # commands of a type in a list
_MOST_SENT = 130  # commands in one request
_NESTING, _STRING, _INTEGER, _CHANNEL, _NUMBER = (1, 2), 3, 4, 7, 10
_BOUNDS = {
    _STRING: ("min_length", "max_length"),
    **dict.fromkeys((_INTEGER, _NUMBER), ("min_value", "max_value")),
}

Found = dict[str, Any]


class Quota(NamedTuple):
    """A number of uses in a time that begins with the first one."""

    most: int
    seconds: float

    def window(self, last: "Window | None", now: datetime) -> "Window":
        """Return the window of a moment: the last one, or a new one."""
        is_over = last is None or (now - last.start).total_seconds() >= self.seconds
        return Window(now, 0) if last is None or is_over else last

    def left(self, window: "Window", now: datetime) -> float:
        """Return the seconds until a window ends."""
        return self.seconds - (now - window.start).total_seconds()


class Window(NamedTuple):
    """The use of a quota since a moment."""

    start: datetime
    used: int

    def spend(self, count: int = 1) -> "Window":
        """Return the window after more uses."""
        return self._replace(used=self.used + count)


_DAILY = Quota(200, 86_400.0)  # new commands of a list


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest:
    """A request about commands."""

    method: str
    application: str
    guild: str = ""  # the server whose list it is; the list for all servers has none
    command_id: str = ""  # the id of one command
    body: Any = None
    localizations: bool = False  # whether a list is answered with all languages
    locale: str = ""  # the language of the caller


@dataclass(frozen=True, slots=True)
class RegisteredCommand:
    """A registered command."""

    id: str
    version: str
    sent: Mapping[str, Any]

    @property
    def key(self) -> tuple[object, object]:
        """The key that is unique in its list."""
        return self.sent["type"], self.sent["name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLists:
    """The commands of an application.

    Attributes:
        installs: Where the application is installed: 0 on servers, 1 by users.
        keeps_unknown: Whether keys that the documents do not name are stored and answered.
        scopes: The commands by server; "" is the list for all servers.
        created: The commands that each list got in its day.
        next_id: The next id or version.
    """

    installs: Sequence[int] = (0, 1)
    keeps_unknown: bool = True
    scopes: Mapping[str, tuple[RegisteredCommand, ...]] = field(default_factory=dict)
    created: Mapping[str, Window] = field(default_factory=dict)
    next_id: int = _FIRST_ID

    def of(self, guild: str) -> tuple[RegisteredCommand, ...]:
        """Return the commands of a server, or those for all servers."""
        return self.scopes.get(guild, ())

    def shown(self, application: str, guild: str = "") -> list[dict[str, Any]]:
        """Return a list as an answer with all languages has it."""
        return [answered(command, self, application, guild) for command in self.of(guild)]


class DiscordError(Exception):
    """A request is refused, with Discord's own number of the reason."""

    def __init__(
        self, status: int, code: int, message: str, errors: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        content = {"message": message, "code": code}
        self.response = Response(
            status, content if errors is None else {**content, "errors": errors}
        )


def respond(
    call: CommandRequest, lists: CommandLists, now: datetime
) -> tuple[Response, CommandLists]:
    """Return the response to a call, and the lists after it."""
    try:
        return _carried_out(call, lists, now)
    except DiscordError as error:
        return error.response, lists


def _carried_out(
    call: CommandRequest, lists: CommandLists, now: datetime
) -> tuple[Response, CommandLists]:
    if call.body is MALFORMED and call.method in {"PATCH", "POST", "PUT"}:
        raise DiscordError(400, 50109, "The request body contains invalid JSON.")
    match call.method:
        case "POST":
            return _added(call, lists, now)
        case "PUT":
            return _replaced(call, lists, now)
        case "PATCH":
            return _edited(call, lists)
        case "DELETE":
            gone = _found(call, lists)
            rest = [command for command in lists.of(call.guild) if command is not gone]
            return Response(204), _with_list(lists, call, rest)
        case _ if call.command_id:
            command = _found(call, lists)
            return Response(200, answered(command, lists, call.application, call.guild)), lists
        case _:  # a list with the requested languages, where one command has all of them
            locale = None if call.localizations else call.locale
            shown = [
                answered(command, lists, call.application, call.guild, locale=locale)
                for command in lists.of(call.guild)
            ]
            return Response(200, shown), lists


def _added(
    call: CommandRequest, lists: CommandLists, now: datetime
) -> tuple[Response, CommandLists]:
    """Add a command, or replace the command with its type and name."""
    _check(errors_of(call.body))
    sent, listed = _sent(call.body), lists.of(call.guild)
    new = RegisteredCommand(str(lists.next_id), str(lists.next_id), sent)
    for known in listed:
        if known.key == new.key:
            return _changed(call, lists, known, sent)
    _check_count([*listed, new])
    after = _with_list(_counted(call, lists, 1, now), call, [*listed, new], made=1)
    return Response(201, answered(new, lists, call.application, call.guild)), after


def _changed(
    call: CommandRequest, lists: CommandLists, known: RegisteredCommand, sent: Mapping[str, Any]
) -> tuple[Response, CommandLists]:
    """Put new content into a command; its version is a new one if that changes its answer."""
    command, made = _next(known, sent, lists, call.guild, lists.next_id)
    after = [command if each is known else each for each in lists.of(call.guild)]
    response = Response(200, answered(command, lists, call.application, call.guild))
    return response, _with_list(lists, call, after, made=made)


def _next(
    known: RegisteredCommand, sent: Mapping[str, Any], lists: CommandLists, guild: str, number: int
) -> tuple[RegisteredCommand, int]:
    """Return a command with new content, and how many numbers that took."""
    command = replace(known, sent=sent)
    if answered(command, lists, "", guild) == answered(known, lists, "", guild):
        return command, 0
    return replace(command, version=str(number)), 1


def _edited(call: CommandRequest, lists: CommandLists) -> tuple[Response, CommandLists]:
    """Change the keys of a command that were sent, but not its type."""
    known = _found(call, lists)
    if not isinstance(call.body, Mapping):
        _check(errors_of(call.body))
    sent = {**known.sent, **_sent({**call.body, "type": known.sent["type"]}, is_whole=False)}
    _check(errors_of(sent))
    edited = replace(known, sent=sent)
    if any(each.key == edited.key for each in lists.of(call.guild) if each is not known):
        raise DiscordError(400, 40041, "An application command with that name already exists")
    return _changed(call, lists, known, sent)


def _replaced(
    call: CommandRequest, lists: CommandLists, now: datetime
) -> tuple[Response, CommandLists]:
    """Replace a whole list; a command that it had before keeps its id."""
    if not isinstance(call.body, list):
        wrong = Wrong((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
        _check(nested([wrong]))
    if len(call.body) > _MOST_SENT:
        message = f"Must be {_MOST_SENT} or fewer in length."
        _check(nested([Wrong((), "BASE_TYPE_MAX_LENGTH", message)]))
    _check({str(at): found for at, each in enumerate(call.body) if (found := errors_of(each))})
    commands, created, made = _matched(call.body, lists, call.guild)
    seen, wrongs = set[object](), list[Wrong]()
    for place, command in enumerate(commands):
        if command.key in seen:
            message = "Application command names must be unique"
            wrongs.append(Wrong((str(place),), "APPLICATION_COMMANDS_DUPLICATE_NAME", message))
        seen.add(command.key)
    _check(nested(wrongs))
    _check_count(commands)
    kept = {command.id for command in commands}
    if any(
        each.sent["type"] == ENTRY_POINT and each.id not in kept for each in lists.of(call.guild)
    ):
        message = (
            "You cannot remove this app's Entry Point command in a bulk update operation. Please "
            "include the Entry Point command in your update request or delete it separately."
        )
        raise DiscordError(400, 50240, message)
    after = _with_list(_counted(call, lists, created, now), call, commands, made=made)
    return Response(200, after.shown(call.application, call.guild)), after


def _matched(
    bodies: Sequence[Mapping[str, Any]], lists: CommandLists, guild: str
) -> tuple[list[RegisteredCommand], int, int]:
    """Return the commands of a whole list, how many of them are new, and the numbers they took.

    A known command is found by its id and type, else by its type and name.
    """
    listed = lists.of(guild)
    by_id = {(command.id, command.sent["type"]): command for command in listed}
    by_key = {command.key: command for command in listed}
    commands, made, created = list[RegisteredCommand](), 0, 0
    for body in bodies:
        sent, number = _sent(body), lists.next_id + made
        new = RegisteredCommand(str(number), str(number), sent)
        known = by_id.get((str(body.get("id")), sent["type"])) or by_key.get(new.key)
        if known is None or any(each.id == known.id for each in commands):
            command, took, created = new, 1, created + 1
        else:
            command, took = _next(known, sent, lists, guild, number)
        commands.append(command)
        made += took
    return commands, created, made


def _with_list(
    lists: CommandLists,
    call: CommandRequest,
    commands: Iterable[RegisteredCommand],
    *,
    made: int = 0,
) -> CommandLists:
    scopes = {**lists.scopes, call.guild: tuple(commands)}
    return replace(lists, scopes=scopes, next_id=lists.next_id + made)


def _sent(body: Mapping[str, Any], *, is_whole: bool = True) -> dict[str, Any]:
    """Return a body that is valid as it is kept."""
    own = {key: value for key, value in body.items() if key not in OWN_KEYS}
    whole = {"type": CHAT, "description": ""} if is_whole else {}
    return {**whole, **own, "type": command_type(body)}


def _found(call: CommandRequest, lists: CommandLists) -> RegisteredCommand:
    if not (call.command_id.isascii() and call.command_id.isdecimal()):
        message = f'Value "{call.command_id[:40]}" is not snowflake.'
        _check(nested([Wrong(("command_id",), "NUMBER_TYPE_COERCE", message)]))
    for command in lists.of(call.guild):
        if command.id == call.command_id:
            return command
    raise DiscordError(404, 10063, "Unknown application command")


# Refusals for other reasons than the content of one command.


def _check(errors: Mapping[str, Any]) -> None:
    if errors:
        raise DiscordError(400, 50035, "Invalid Form Body", errors)


def _check_count(commands: Sequence[RegisteredCommand]) -> None:
    for kind, most in _MOST.items():
        if sum(command.sent["type"] == kind for command in commands) > most:
            message = f"Maximum number of application commands reached ({most})."
            raise DiscordError(400, 30032, message)


def _counted(
    call: CommandRequest, lists: CommandLists, created: int, now: datetime
) -> CommandLists:
    """Count new commands of a list in its day."""
    if not created:
        return lists
    window = _DAILY.window(lists.created.get(call.guild), now).spend(created)
    if window.used > _DAILY.most:
        message = (
            f"Max number of daily application command creates has been reached ({_DAILY.most})"
        )
        raise DiscordError(400, 30034, message)
    return replace(lists, created={**lists.created, call.guild: window})


# Commands in answers: Discord adds keys, and leaves others out.

_ANSWERED = ("name", "description", "name_localizations", "description_localizations")
_KNOWN = {
    *("type", "default_permission", "default_member_permissions", "dm_permission", "nsfw"),
    *("contexts", "integration_types", "options", "handler", *OWN_KEYS, *_ANSWERED),
}
_KNOWN_OF_OPTIONS = {
    *("type", "required", "options", "choices", "autocomplete", "channel_types", *_ANSWERED),
    *("min_value", "max_value", "min_length", "max_length"),
}
_KNOWN_OF_CHOICES = {"name", "name_localizations", "value"}


def answered(
    command: RegisteredCommand,
    lists: CommandLists,
    application: str,
    guild: str = "",
    *,
    locale: str | None = None,
) -> Found:
    """Return a command as Discord answers it.

    `locale` is the language of the caller: the command has the texts of that language alone, or of
    all languages for None.
    """
    sent, kind = command.sent, command.sent["type"]
    permissions = sent.get("default_member_permissions")
    where: Found = {"contexts": None, "integration_types": [0], "guild_id": guild}
    if not guild:
        where = {
            "contexts": sorted(map(int, sent.get("contexts") or ())) or None,
            "integration_types": sorted(map(int, sent.get("integration_types") or lists.installs)),
            "dm_permission": sent.get("dm_permission") is not False,
        }
    options = [_option(each, lists, locale) for each in sent.get("options") or ()]
    return {
        "id": command.id,
        "application_id": application,
        "version": command.version,
        "default_permission": sent.get("default_permission") is not False,
        "default_member_permissions": None if permissions is None else str(int(permissions)),
        "type": kind,
        **_texts(sent, ("name", "description"), locale),
        **where,
        "nsfw": sent.get("nsfw") is True,
        **({"options": options} if options else {}),
        **(
            {"handler": int(sent["handler"])} if kind == ENTRY_POINT and sent.get("handler") else {}
        ),
        **_unknown(sent, _KNOWN, lists),
    }


def _texts(part: Mapping[str, Any], keys: Sequence[str], locale: str | None) -> Found:
    texts: Found = {}
    for key in keys:
        texts[key] = part.get(key) or ""
        languages = part.get(f"{key}_localizations") or None
        if locale is None:
            texts[f"{key}_localizations"] = languages
        elif languages and locale in languages:
            texts[f"{key}_localized"] = languages[locale]
    return texts


def _option(option: Mapping[str, Any], lists: CommandLists, locale: str | None) -> Found:
    kind = int(option["type"])
    found: Found = {"type": kind, **_texts(option, ("name", "description"), locale)}
    found |= {key: True for key in ("required", "autocomplete") if option.get(key) is True}
    for key in _BOUNDS.get(kind, ()):
        found |= {} if option.get(key) is None else {key: _number(option[key], kind)}
    if kind == _CHANNEL and option.get("channel_types"):
        found["channel_types"] = sorted(map(int, option["channel_types"]))
    if choices := option.get("choices"):
        found["choices"] = [
            {
                **_texts(choice, ("name",), locale),
                "value": _number(choice["value"], kind),
                **_unknown(choice, _KNOWN_OF_CHOICES, lists),
            }
            for choice in choices
        ]
    if kind in _NESTING and option.get("options"):
        found["options"] = [_option(each, lists, locale) for each in option["options"]]
    return found | _unknown(option, _KNOWN_OF_OPTIONS, lists)


def _number(value: object, kind: int) -> object:
    """Return the value of a choice, or a bound: each number in the form of its option."""
    if not isinstance(value, int | float):
        return value
    return float(value) if kind == _NUMBER else int(value)


def _unknown(part: Mapping[str, Any], known: set[str], lists: CommandLists) -> Found:
    kept = part.items() if lists.keeps_unknown else ()
    return {key: value for key, value in kept if key not in known}
