"""Discord's objects of commands in one form, in which what is sent and what is listed are equal.

Discord adds keys to a command, leaves out others, and sorts sets; frameworks write defaults that
another one leaves out. `canonical_object` makes one form of all of them (Discord's documentation of
application commands). Keys that it does not know stay: `with_unknown` takes over those that only
the listed object has, so that no write loses them and no comparison counts them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from commandsync.records.snapshot import NESTING, Entry, Node
from commandsync.records.texts import ApplicationCommand

SLASH, MENUS = "1", ("2", "3")
"""The types of commands that are written; all others are left alone."""

Object = dict[str, Any]

_OF_DISCORD = frozenset(
    (
        *("id", "application_id", "guild_id", "version", "default_permission"),
        *("name_localized", "description_localized"),
    )
)
_OF_ALL_SERVERS = ("contexts", "integration_types", "dm_permission")
_SETS = ("contexts", "integration_types", "channel_types", "file_types")
_TEXTS = {"name", "name_localizations", "description", "description_localizations"}
_KNOWN = {
    "command": _TEXTS
    | {"type", "options", "default_member_permissions", "nsfw", "handler", *_OF_ALL_SERVERS}
    | _OF_DISCORD,
    "options": _TEXTS
    | {"type", "options", "choices", "required", "autocomplete", "channel_types", "file_types"}
    | {"min_value", "max_value", "min_length", "max_length"}
    | _OF_DISCORD,
    "choices": {"name", "name_localizations", "value"} | _OF_DISCORD,
}
_LISTS = ("options", "choices")  # of parts with keys of their own
_PART = "part"
_ALL_PERMISSIONS = 2**54 - 1  # as Discord's schema has it
_LONGEST_NUMBER = 40  # digits that are read as a number


def canonical_object(
    node: Node, *, installs: Sequence[int] = (), guild: str = "", is_whole: bool = True
) -> Object:
    """Return Discord's object of a command in the form that is compared and sent.

    Args:
        node: The object of a command.
        installs: The `integration_types` of the application, which those of a command without any
            are.
        guild: The server whose command it is; empty for a command of all servers.
        is_whole: Whether it is a command; else it is one of its options.
    """
    part = {key: value for key, value in node.items() if key not in _OF_DISCORD}
    if is_whole:
        part = _command(part, guild)
    found = {key: _canonical(key, value) for key, value in part.items()}
    if installs and found.get("integration_types") == sorted({*installs}):
        del found["integration_types"]
    return {key: value for key, value in found.items() if key == "value" or not _is_absent(value)}


def _command(part: Node, guild: str) -> Object:
    """Return the object of a command without the keys that mean nothing for it."""
    node = {**part, "type": part.get("type") or 1}
    dropped: set[str] = {"dm_permission", *(_OF_ALL_SERVERS if guild else ())}
    if str(node["type"]) in MENUS:
        dropped |= {"description", "description_localizations"}
    if node.get("dm_permission") is False and not node.get("contexts"):
        node["contexts"] = [0]  # only on servers, as older bots say it
    node["default_member_permissions"] = _permissions(node.get("default_member_permissions"))
    return {key: value for key, value in node.items() if key not in dropped}


def _canonical(key: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case dict() if key == _PART:
            return canonical_object(value, is_whole=False)
        case dict():
            found = {inner: _canonical(inner, part) for inner, part in value.items()}
            return {inner: part for inner, part in found.items() if not _is_absent(part)}
        case list() | tuple():
            parts = [_canonical(_PART if key in _LISTS else "", part) for part in value]
            return _as_set(parts) if key in _SETS else parts
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _as_set(parts: list[Any]) -> list[Any]:
    """Return the parts of a set in their order; what is not of numbers and texts is none."""
    if not all(type(part) in {int, str} for part in parts):
        return parts
    return sorted({*parts}, key=lambda part: (isinstance(part, str), part))


def _is_absent(value: object) -> bool:
    """Whether a value means the same as no value; 0 does not."""
    return value is None or value is False or value in ("", [], {})


def _permissions(value: object) -> object:
    """Return permissions as Discord answers them: as decimal digits; "0" is for nobody."""
    value = _canonical("", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    number = number_of(value)
    return value if number is None else str(number)


def number_of(permissions: object) -> int | None:
    """Return permissions as a number; None if they are none that Discord has."""
    text = permissions if isinstance(permissions, str) else ""
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        return None
    return number if (number := int(text)) <= _ALL_PERMISSIONS else None


def text_of(node: Node, *, installs: Sequence[int] = (), guild: str = "") -> ApplicationCommand:
    """Return a command as it is compared; the arguments are those of `canonical_object`."""
    return ApplicationCommand.of(canonical_object(node, installs=installs, guild=guild))


def entries_of(
    nodes: Iterable[Node], *, installs: Sequence[int] = (), guild: str = ""
) -> tuple[Entry, ...]:
    """Return the listed commands that may be written, of the objects that Discord answers.

    Others, such as Entry Points, are left alone.
    """
    texts = ((text_of(node, installs=installs, guild=guild), node) for node in nodes)
    return tuple(
        Entry(text, id=str(node.get("id", "")), own=(node,))
        for text, node in texts
        if text.type in {SLASH, *MENUS}
    )


def with_unknown(node: Node, listed: Node, level: str = "command") -> Object:
    """Return an object with the keys of the listed one that only that one has, and are not known.

    Options and choices are the same if their names and types are.
    """
    own = {key: value for key, value in listed.items() if key not in _KNOWN[level]}
    found = {**own, **node}
    for key in ("options", "choices"):
        known = {_key_of(part): part for part in _parts(listed, key)}
        if key in found and key in _KNOWN[level]:
            found[key] = [
                with_unknown(part, known[_key_of(part)], key)
                if isinstance(part, Mapping) and _key_of(part) in known
                else part
                for part in found[key]
            ]
    return found


def _key_of(part: Node) -> tuple[str, str]:
    return str(part.get("name")), str(part.get("type"))


def _parts(node: Node, key: str) -> Iterator[Node]:
    parts = node.get(key)
    return (part for part in (parts if isinstance(parts, list) else ()) if isinstance(part, dict))


def options_of(node: Node) -> list[Node]:
    """Return the options of an object."""
    return [*_parts(node, "options")]


def choices_of(node: Node) -> list[Node]:
    """Return the choices of an option."""
    return [*_parts(node, "choices")]


def nested_in(node: Node) -> list[Node]:
    """Return the sub-commands and their groups directly below an object."""
    return [option for option in options_of(node) if option.get("type") in NESTING]
