"""Discord's objects of commands: their one form, and Discord's rules for them.

Discord adds keys to a command, leaves out others, and sorts sets; frameworks write defaults that
another one leaves out. `canonical_object` makes one form of all of them, in which a sent and a
listed object are equal. Keys that it does not know stay: `with_unknown` takes over those that only
the listed object has, so that no write loses them and no comparison counts them.

`wrong_parts` goes through an object in this form and yields each part that Discord would refuse, so
that it is known before any write. A part has a place: the keys that lead to it, where options and
choices have their names. Rules that may change, such as the known types of options and of channels,
are left to Discord.

Rules: Discord's documentation of application commands, and its published schema.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from commandsync.records.losses import Limit
from commandsync.records.snapshot import NESTING, Entry, Node
from commandsync.records.texts import ApplicationCommand

SLASH, MENUS = "1", ("2", "3")
"""The types of commands that are written; all others are left alone."""

COMMAND, SUB_COMMAND, GROUP = 1, 1, 2
"""The types of a command, and of the options that are sub-commands or groups of them."""

NOT_DESCRIBED = "…"
"""The description of a group that nothing describes: Discord requires one."""

Object = dict[str, Any]

DESCRIPTION = Limit(least=1, most=100)
NAME = Limit(
    least=1,
    most=32,
    # letters and digits of all scripts, and all of the scripts Devanagari and Thai
    pattern=r"[-\w'\u0900-\u0950\u0955-\u0963\u0966-\u097f\ua8e0-\ua8ff\U00011b00-\U00011b09"
    r"\u0e01-\u0e3a\u0e40-\u0e5b]+",
    lower_case=True,
    allowed="lower-case letters, digits, -, _ and '",
)
"""The limits of the texts of a command, and of its options."""

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
        installs: The `integration_types` of the application, for a command without any.
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
    """Return the parts of a set in their order, if all are numbers and texts."""
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
    """Return a command as it is compared; the arguments are as in `canonical_object`."""
    return ApplicationCommand.of(canonical_object(node, installs=installs, guild=guild))


def entries_of(
    nodes: Iterable[Node], *, installs: Sequence[int] = (), guild: str = ""
) -> tuple[Entry, ...]:
    """Return the listed commands that may be written, from the objects that Discord answers.

    Others, such as Entry Points, are left alone.
    """
    texts = ((text_of(node, installs=installs, guild=guild), node) for node in nodes)
    return tuple(
        Entry(text, id=str(node.get("id", "")), own=(node,))
        for text, node in texts
        if text.type in {SLASH, *MENUS}
    )


def with_unknown(node: Node, listed: Node, level: str = "command") -> Object:
    """Return an object with the unknown keys that only the listed object has.

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


MOST_OPTIONS = MOST_CHOICES = 25
MOST_CHARACTERS = 8_000
"""Of all names, descriptions and values in one command, each text in its longest language."""

LOCALES = frozenset(
    (
        *("ar", "bg", "cs", "da", "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr"),
        *("he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "nl", "no", "pl", "pt-BR", "ro"),
        *("ru", "sv-SE", "th", "tr", "uk", "vi", "zh-CN", "zh-TW"),
    )
)
"""The languages of Discord."""

_STRING, _INTEGER, _NUMBER = 3, 4, 10
_CHOOSING = (_STRING, _INTEGER, _NUMBER)
_LONGEST_CHOICE, _LONGEST_INPUT, _LARGEST = 100, 6_000, 2**53 - 1
_BOUNDS: Mapping[int, tuple[str, ...]] = {
    _STRING: ("min_length", "max_length"),
    **dict.fromkeys((_INTEGER, _NUMBER), ("min_value", "max_value")),
}


class WrongPart(NamedTuple):
    """A part of an object that Discord refuses."""

    place: tuple[str, ...]  # the keys that lead to it, with the names of options and choices
    message: str  # the error in it, as the end of a sentence


_Wrong = Iterator[WrongPart]


def wrong_parts(node: Node) -> _Wrong:
    """Yield the parts of a command that Discord refuses, in the order of the object."""
    is_menu = str(node.get("type")) in MENUS
    yield from _texts(node, "name", _length_of_name if is_menu else _name)
    if is_menu:
        if node.get("options"):
            yield WrongPart(("options",), "are not allowed: a command in a menu has none")
    else:
        yield from _texts(node, "description", _description)
        yield from _options(node, (SUB_COMMAND, GROUP))
    permissions = node.get("default_member_permissions", "0")
    if number_of(permissions) is None:
        message = "is not a number whose bits are permissions"
        yield WrongPart(("default_member_permissions",), message)
    if (count := _characters(node)) > MOST_CHARACTERS:
        most = f"at most {MOST_CHARACTERS:,} characters"
        message = (
            f"its names, descriptions and values have {count:,} characters: {most} are allowed"
        )
        yield WrongPart((), message)


def _below(key: str, wrong: Iterable[WrongPart]) -> _Wrong:
    for part in wrong:
        yield part._replace(place=(key, *part.place))


# Names and descriptions, with their languages.


def _texts(part: Node, key: str, rule: Callable[[str], str]) -> _Wrong:
    """Yield the wrong parts of a text and of its translations."""

    def message_of(text: object) -> str:
        return rule(text) if isinstance(text, str) else "is not a string"

    languages = f"{key}_localizations"
    if message := message_of(part.get(key, "")):
        yield WrongPart((key,), message)
    translations = part.get(languages, {})
    if not isinstance(translations, Mapping):
        yield WrongPart((languages,), "is not a mapping of languages")
        return
    for locale, translation in translations.items():
        if locale not in LOCALES:
            yield WrongPart((languages, str(locale)), "is not a language of Discord")
        elif message := message_of(translation):
            yield WrongPart((languages, locale), message)


def _length(text: str, least: int, most: int | None) -> str:
    """Return the error in the number of characters of a text, as Discord counts them."""
    if len(text) < least:
        return f"is shorter than {least} characters" if text else "is missing"
    return f"is longer than {most} characters" if most and len(text) > most else ""


def _length_of_name(text: str) -> str:
    return _length(text, NAME.least, NAME.most)


def _name(text: str) -> str:
    allowed = f"contains other characters than {NAME.allowed}"
    return _length_of_name(text) or ("" if NAME.allows(text) else allowed)


def _description(text: str) -> str:
    return _length(text, DESCRIPTION.least, DESCRIPTION.most)


# Options, and the values that they take.


def _options(part: Node, nesting: Sequence[int]) -> _Wrong:
    """Yield the wrong parts of options; options of the `nesting` types may have options."""
    options, names, is_optional = options_of(part), set[str](), False
    yield from _shapes(part, "options")
    if len(options) > MOST_OPTIONS:
        yield WrongPart(("options",), f"are {len(options)}: at most {MOST_OPTIONS} are allowed")
    has_nested = bool(nested_in(part))
    for option in options:
        name = str(option.get("name"))
        place, is_nested = ("options", name), option.get("type") in NESTING
        if name in names:
            yield WrongPart(place, "is there twice")
        names.add(name)
        if message := _misplaced(option, nesting, has_nested=has_nested):
            yield WrongPart(place, message)
            continue
        if option.get("required") and is_optional:
            yield WrongPart(place, "is required: it must be before the optional ones")
        is_optional = is_optional or not (option.get("required") or is_nested)
        yield from _below("options", _below(name, _option(option, nesting)))


def _shapes(part: Node, key: str) -> _Wrong:
    """Yield the errors of a list of objects as such."""
    parts = part.get(key, [])
    if not isinstance(parts, list):
        yield WrongPart((key,), "is not a list")
        return
    for number, each in enumerate(parts):
        if not isinstance(each, Mapping):
            yield WrongPart((key, str(number)), "is not an object")


def _misplaced(option: Node, nesting: Sequence[int], *, has_nested: bool) -> str:
    """Return why an option cannot be where it is; empty if it can."""
    kind = option.get("type")
    if kind in NESTING:
        return "" if kind in nesting else "is a sub-command or a group where none is allowed"
    if nesting == (SUB_COMMAND,):
        return "is an option of a group, which has only sub-commands"
    return "is an option beside sub-commands" if has_nested else ""


def _option(option: Node, nesting: Sequence[int]) -> _Wrong:
    yield from _texts(option, "name", _name)
    yield from _texts(option, "description", _description)
    match option.get("type"):
        case 1 | 2 as kind:
            yield from _options(option, nesting[:-1] if kind == GROUP else ())
        case int() as kind:
            yield from _choices(option, kind)
            yield from _bounds(option, kind)
        case _:
            yield WrongPart(("type",), "is missing or not a number")


def _choices(option: Node, kind: int) -> _Wrong:
    choices, is_choosing = choices_of(option), kind in _CHOOSING
    for key in ("choices", "autocomplete"):
        if option.get(key) and not is_choosing:
            yield WrongPart((key,), "is allowed for texts and numbers only")
    if choices and option.get("autocomplete"):
        yield WrongPart(("autocomplete",), "is not allowed beside choices")
    yield from _shapes(option, "choices")
    if len(choices) > MOST_CHOICES:
        yield WrongPart(("choices",), f"are {len(choices)}: at most {MOST_CHOICES} are allowed")
    for choice in choices:
        name = str(choice.get("name"))
        wrong = _texts(choice, "name", lambda text: _length(text, 1, _LONGEST_CHOICE))
        yield from _below("choices", _below(name, wrong))
        if is_choosing and (message := _value(choice.get("value"), kind)):
            yield WrongPart(("choices", name, "value"), message)


def _value(value: object, kind: int) -> str:
    """Return the error in the value of a choice."""
    if kind == _STRING:
        if not isinstance(value, str):
            return "is not a string"
        return _length(value, 0, _LONGEST_CHOICE)
    return "" if _is_number(value, kind) else f"is not {_numbers(kind)}"


def _is_number(value: object, kind: int) -> bool:
    is_number = isinstance(value, int | float if kind == _NUMBER else int)
    return is_number and not isinstance(value, bool) and abs(cast("float", value)) <= _LARGEST


def _numbers(kind: int) -> str:
    whole = "a number" if kind == _NUMBER else "a whole number"
    return f"{whole} from -(2^53 - 1) to 2^53 - 1"


def _bounds(option: Node, kind: int) -> _Wrong:
    """Yield the errors in the least and the greatest value or length."""
    keys = _BOUNDS.get(kind, ())
    given, wrong = {key: option[key] for key in keys if key in option}, False
    for key, value in given.items():
        is_length = kind == _STRING
        is_valid = _is_number(value, _INTEGER if is_length else kind)
        if is_length:
            is_valid = is_valid and (key == "max_length") <= value <= _LONGEST_INPUT
        if not is_valid:
            wrong = True
            least = int(key == "max_length")
            numbers = f"a whole number from {least} to {_LONGEST_INPUT:,}"
            yield WrongPart((key,), f"is not {numbers if is_length else _numbers(kind)}")
    if not wrong and len(given) > 1 and given[keys[0]] > given[keys[1]]:
        yield WrongPart((keys[0],), f"is greater than {keys[1]}")


def _characters(part: Node) -> int:
    """Return how many characters count towards the size of a command."""
    count = 0
    for key in ("name", "description"):
        languages = part.get(f"{key}_localizations")
        translations = languages.values() if isinstance(languages, Mapping) else ()
        texts = (text for text in (part.get(key), *translations) if isinstance(text, str))
        count += max(map(len, texts), default=0)
    if isinstance(value := part.get("value"), str):
        count += len(value)
    return count + sum(map(_characters, (*options_of(part), *choices_of(part))))
