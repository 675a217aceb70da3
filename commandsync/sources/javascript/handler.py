"""The kind of command that an object or a class of a command handler declares.

Command handlers have no common form: the members that belong together may be in parts such as
`help`, `conf` or `slashCommand`. `described` puts them into one object. The keys of that, its type,
the parameters of its functions and the names around it tell its kind (`kind_of`): a slash command,
whose data may be in a member of its own (`data_of`), a prefix command, or neither.
"""

import re

from commandsync.sources.javascript.value import (
    REST,
    Computed,
    Function,
    Record,
    Value,
    field,
    fields_of,
)
from commandsync.sources.objects import type_number

_COMMAND = re.compile("command", re.IGNORECASE)
_DATA = ("data", "slash", "slashCommand", "command", "builder", "commandData")
_SLASHES = ("slashCommand", "slash", "SlashCommand")
_SLASH = re.compile(r"(?i:slash|interaction|application)\w*Command")  # in the name of a base class
_OTHER = re.compile(  # in the names around an object that is not a command
    r"(Module|Plugin|Event|Listener|Inhibitor|Precondition|Task|Monitor|Finalizer|Error|Model)s?\b"
    r"|\b(activit(y|ies)|presence|status|events?)\b"
)
_GIVEN = {
    "slash": re.compile(r"\b(interaction|int|inter|itr|i)\b"),
    "prefix": re.compile(r"\b(message|msg|args)\b"),
}


def described(handler: Record) -> Record:
    """Return a module, with the members of its `help` and of the `conf` beside it.

    Its options may be in the part for slash commands, and its usage in its description.
    """
    texts, settings = handler.get("help"), handler.get("conf", handler.get("config"))
    if isinstance(texts, Record):
        handler = _with(handler, {**fields_of(settings), **texts}, texts.at)
    about = handler.get("description")
    if isinstance(about, Record) and "content" in about:
        handler = _with(handler, {"usage": None, **about, "description": about["content"]})
    if "name" in handler:
        handler = _with_slash(handler)
    if isinstance(prefix := handler.get("command"), Record) and "name" not in prefix:
        handler = _with(handler, {"command": True, **prefix, "enabled": True})
    return handler


def _with_slash(handler: Record) -> Record:
    """Return a module with the options of its part for slash commands, if that is on."""
    for key in ("slashCommand", "SlashCommand", "slash"):
        part = handler.get(key)
        if isinstance(part, Record) and "name" not in part and "enabled" in {*part, "enabled"}:
            is_on = part.get("enabled") is not False
            options = {"options": part["options"]} if "options" in part else {}
            handler = _with(handler, {key: is_on, **(options if is_on else {})})
    return handler


def _with(handler: Record, members: dict[str, Value], at: Computed | None = None) -> Record:
    """Return an object with other members."""
    changed = Record({**handler, **members}, at or handler.at)
    changed.bases = handler.bases
    return changed


def data_of(handler: Record) -> list[Record | Computed]:
    """Return the commands as Discord has them that an object contains."""
    inside = (handler.get(key) for key in _DATA if not isinstance(handler.get(key), Function))
    return [command for command in inside if isinstance(command, (Record, Computed))]


def kind_of(handler: Record, named: str) -> str:
    """Return the kind of command that an object declares: `slash`, `prefix`, `either`, or none.

    An object of a few keys is a command if the file, or the object around it, is `named` so.
    """
    keys, of_type = set(handler), handler.get("type")
    if data_of(handler):
        return "slash"
    if keys & {"required", "autocomplete"} or _OTHER.search(named):
        return ""  # an option, an activity, an event or a module
    if isinstance(of_type, (str, int)):
        return _kind_by_type(of_type)
    return _kind_by_keys(handler, named)


def _kind_by_type(of_type: str | int) -> str:
    """Return the kind by a type of Discord's; that of an activity or an event is none."""
    is_slash = isinstance(type_number(of_type, "command"), int)
    return "slash" if is_slash else "prefix" if str(of_type).upper() == "LEGACY" else ""


def _kind_by_keys(handler: Record, named: str) -> str:
    keys = set(handler)
    if any(handler.get(key) not in (None, False) for key in _SLASHES) or _SLASH.search(named):
        return "slash"
    if "messageRun" in keys:
        return "prefix"
    if not keys & {"name", REST} or keys & {"once", "event", "registerApplicationCommands"}:
        return ""  # the call that registers it is read
    if keys & {"aliases", "usage"}:
        return "prefix"
    return "slash" if handler.get("options") else _kind_by_functions(handler, named)


def _kind_by_functions(handler: Record, named: str) -> str:
    given = " ".join(
        member.scope.text(field(member.node, "parameters", "parameter"))
        for member in handler.values()
        if isinstance(member, Function)
    )
    kinds = [kind for kind, pattern in _GIVEN.items() if pattern.search(given)]
    if "description" not in handler:
        return "prefix" if kinds == ["prefix"] and "args" in given else ""
    if given.strip("() "):
        return kinds[0] if len(kinds) == 1 else "either"
    return "slash" if _COMMAND.search(named) else ""
