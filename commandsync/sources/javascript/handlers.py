"""The objects and classes of command handlers: of which kind each is, and what it says."""

import re
from collections.abc import Callable, Iterator

from commandsync.sources.applicationcommands import spelled
from commandsync.sources.entry import Trait, only_administrators
from commandsync.sources.javascript.parsedfile import field
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    Record,
    Value,
    fields_of,
    flat,
)

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


def data_of(handler: Record) -> list[Value]:
    """Return the commands as Discord has them that an object contains."""
    inside = (handler.get(key) for key in _DATA)
    return [each for each in inside if isinstance(each, (Record, Computed))]


def kind_of(handler: Record, *, named: bool) -> str:
    """Return what an object declares: a `slash` or `prefix` command, `either`, or nothing.

    `named` is whether its name or its folder says that it is a command.
    """
    keys, of_type = set(handler), handler.get("type")
    if isinstance(handler, Builder) or isinstance(of_type, (str, int)):
        return "prefix" if str(of_type).upper() == "LEGACY" else "slash"
    if not keys & {"name", REST} or keys & {"once", "event"}:
        return ""
    if "registerApplicationCommands" in keys:  # which are registered there
        return "prefix" if "messageRun" in keys else ""
    if keys & {"messageRun", "aliases", "usage"}:
        return "prefix"
    return "slash" if handler.get("options") else _kind_by_functions(handler, named=named)


def _kind_by_functions(handler: Record, *, named: bool) -> str:
    given = list(_parameters(handler))
    kinds = [kind for kind, pattern in _GIVEN.items() if any(map(pattern.search, given))]
    if "description" not in handler:
        return "prefix" if kinds == ["prefix"] and any("args" in each for each in given) else ""
    if given:
        return kinds[0] if len(kinds) == 1 else "either"
    return "slash" if named else ""


def _parameters(handler: Record) -> Iterator[str]:
    """Yield how the parameters of its functions are written."""
    for each in handler.values():
        if isinstance(each, Function):
            yield each.scope.text(field(each.node, "parameters", "parameter"))


def traits_of(handler: Record) -> Iterator[tuple[str, Trait | Computed]]:
    """Yield why a command may not belong on a public list, by the keys that say it.

    What only a run can tell is `Computed`.
    """
    for key, value in spelled(handler).items():
        for keys, trait, holds in _RULES:
            if re.fullmatch(keys, key.replace("_", "").casefold()):
                computed = [each for each in flat([value]) if isinstance(each, Computed)]
                yield from ((key, said) for said in ([trait] if holds(value) else computed[:1]))


def _is_set(value: Value) -> bool:
    return isinstance(value, (bool, str, int, list)) and bool(value)


def _is_administrator(permission: Value) -> bool:
    if isinstance(permission, str):
        return permission.upper() == "ADMINISTRATOR"
    return type(permission) is int and only_administrators(permission)


_RULES: tuple[tuple[str, Trait, Callable[[Value], bool]], ...] = (
    ("nsfw(only)?|agerestricted", Trait.NSFW, _is_set),
    ("hidden|hide|disabled", Trait.HIDDEN, _is_set),
    ("enabled", Trait.HIDDEN, lambda value: value is False),
    ("testonly|guildids?|(test)?guilds", Trait.GUILD_ONLY, _is_set),
    ("(bot)?owner(only)?|dev(eloper)?(only)?", Trait.OWNER_ONLY, _is_set),
    ("preconditions", Trait.OWNER_ONLY, lambda value: "OwnerOnly" in flat([value])),
    (
        "(user|member|default|required)*perm(ission)?s?",
        Trait.ADMIN_ONLY,
        lambda value: any(map(_is_administrator, flat([value]))),
    ),
)
