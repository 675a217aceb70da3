"""The objects and classes of command handlers: of which kind each is, and what it says."""

import re

from commandsync.sources.javascript.parsedfile import field
from commandsync.sources.javascript.value import REST, Computed, Function, Record, fields_of

_COMMAND = re.compile("command", re.IGNORECASE)
_DATA = ("data", "slash", "slashCommand", "command", "builder", "commandData")
_GIVEN = {
    "slash": re.compile(r"\b(interaction|int|inter|itr|i)\b"),
    "prefix": re.compile(r"\b(message|msg|args)\b"),
}


def described(handler: Record) -> Record:
    """Return a module, with what its `help` and the `conf` beside it say."""
    texts, settings = handler.get("help"), handler.get("conf", handler.get("config"))
    if not isinstance(texts, Record):
        return handler
    return Record({**handler, **fields_of(settings), **texts}, texts.at)


def data_of(handler: Record) -> list[Record | Computed]:
    """Return the commands as Discord has them that an object contains."""
    inside = (handler.get(key) for key in _DATA if not isinstance(handler.get(key), Function))
    return [each for each in inside if isinstance(each, (Record, Computed))]


def kind_of(handler: Record, named: str) -> str:
    """Return what an object declares: a `slash` or `prefix` command, `either`, or nothing.

    An object of a few keys is a command if the file, or what else is around it, is `named` so.
    """
    keys, of_type = set(handler), handler.get("type")
    if data_of(handler):
        return "slash"
    if isinstance(of_type, (str, int)):
        return "prefix" if str(of_type).upper() == "LEGACY" else "slash"
    if "messageRun" in keys:
        return "prefix"
    if not keys & {"name", REST} or keys & {"once", "event", "registerApplicationCommands"}:
        return ""  # what is registered is read where that is done
    if keys & {"aliases", "usage"}:
        return "prefix"
    return "slash" if handler.get("options") else _kind_by_functions(handler, named)


def _kind_by_functions(handler: Record, named: str) -> str:
    given = " ".join(
        each.scope.text(field(each.node, "parameters", "parameter"))
        for each in handler.values()
        if isinstance(each, Function)
    )
    kinds = [kind for kind, pattern in _GIVEN.items() if pattern.search(given)]
    if "description" not in handler:
        return "prefix" if kinds == ["prefix"] and "args" in given else ""
    if given:
        return kinds[0] if len(kinds) == 1 else "either"
    return "slash" if _COMMAND.search(named) else ""
