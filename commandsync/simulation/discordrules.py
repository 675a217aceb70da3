"""Discord's rules for the body of an application command.

`errors_of` returns the `errors` of an answer: a tree by the keys and places of the body,
whose leaves are lists of codes and messages under `_errors`. A body without a wrong part has none.

Rules: Discord's documentation of the API version 10, "Application Commands", and its published
OpenAPI description. The documents do not list the codes below 50035: they are as public reports
quote them.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

CHAT, MENUS, ENTRY_POINT = 1, (2, 3), 4
_SUB_COMMAND, _GROUP, _STRING, _INTEGER, _CHANNEL, _NUMBER = 1, 2, 3, 4, 7, 10
_NESTING = (_SUB_COMMAND, _GROUP)
_VALUED = (_STRING, _INTEGER, _NUMBER)  # the options that may have choices or autocomplete
_COMMAND_TYPES, _OPTION_TYPES = range(1, 5), range(1, 12)
_CHANNEL_TYPES = (*range(6), *range(10, 16))
_MOST_PARTS, _LONGEST_NAME, _LONGEST_TEXT, _MOST_CHARACTERS = 25, 32, 100, 8000
_LARGEST_INTEGER, _LONGEST_INPUT, _ALL_PERMISSIONS = 2**53 - 1, 6000, 2**54 - 1
LOCALES = (
    *("bg", "cs", "da", "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr", "hi", "hr"),
    *("hu", "id", "it", "ja", "ko", "lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th"),
    *("tr", "uk", "vi", "zh-CN", "zh-TW"),
)


class Wrong(NamedTuple):
    """A wrong part of a body."""

    place: tuple[str, ...]  # the keys and the places in lists that lead to it
    code: str
    message: str


Wrongs = Iterator[Wrong]


def errors_of(body: object) -> dict[str, Any]:
    """Return the errors of a command's body; none if it is valid."""
    return nested(_command(body))


def nested(wrongs: Iterable[Wrong]) -> dict[str, Any]:
    """Return wrong parts as the tree of an answer."""
    tree: dict[str, Any] = {}
    for wrong in wrongs:
        node = tree
        for key in wrong.place:
            node = node.setdefault(key, {})
        node.setdefault("_errors", []).append({"code": wrong.code, "message": wrong.message})
    return tree


def command_type(body: Mapping[str, Any]) -> int | None:
    """Return the type of a command, 1 if it is absent; None if there is no such type."""
    given = body.get("type")
    return CHAT if given is None else _one_of(given, _COMMAND_TYPES)


def _one_of(given: object, values: Sequence[int]) -> int | None:
    """Return a whole number of a list, which may be given as a text."""
    is_number = isinstance(given, int | str) and not isinstance(given, bool)
    return next((value for value in values if is_number and str(value) == str(given)), None)


def _below(key: str | int, wrongs: Iterable[Wrong]) -> Wrongs:
    for wrong in wrongs:
        yield wrong._replace(place=(str(key), *wrong.place))


def _command(body: object) -> Wrongs:
    if not isinstance(body, Mapping):
        yield Wrong((), "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        return
    kind = command_type(body)
    if kind is None:
        yield Wrong(("type",), "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4).")
        return
    is_chat = kind == CHAT
    yield from _text(body, "name", most=_LONGEST_NAME, check=_is_name if is_chat else _is_any)
    described = _text(body, "description", most=_LONGEST_TEXT, least=1 if is_chat else 0)
    if kind in MENUS and isinstance(body.get("description"), str) and body["description"]:
        message = "Context menu commands cannot have description"
        yield Wrong(("description",), "APPLICATION_COMMAND_INVALID_DESCRIPTION", message)
    else:
        yield from described
    yield from _settings(body)
    if not is_chat and body.get("options") not in (None, []):
        message = "Only chat input commands can have options"
        yield Wrong(("options",), "APPLICATION_COMMAND_OPTIONS_NOT_ALLOWED", message)
    if is_chat:
        yield from _options(body, _OPTION_TYPES)
        if _characters(body) > _MOST_CHARACTERS:
            message = f"Command exceeds maximum size ({_MOST_CHARACTERS})"
            yield Wrong(("name",), "APPLICATION_COMMAND_TOO_LARGE", message)


def _settings(body: Mapping[str, Any]) -> Wrongs:
    """Yield the errors in the users and the places of a command."""
    for key in ("default_permission", "dm_permission", "nsfw"):
        yield from _flag(body, key)
    permissions = body.get("default_member_permissions")
    if isinstance(permissions, str) and permissions.isascii() and permissions.isdecimal():
        permissions = int(permissions)
    if permissions is not None and not _is_whole(permissions, 0, _ALL_PERMISSIONS):
        message = f"Value {str(permissions)[:40]!r} is not a set of permissions."
        yield Wrong(("default_member_permissions",), "NUMBER_TYPE_COERCE", message)
    yield from _choices_of(body, "contexts", range(3))
    yield from _choices_of(body, "integration_types", range(2))
    if body.get("handler") is not None and _one_of(body["handler"], range(1, 3)) is None:
        yield Wrong(("handler",), "BASE_TYPE_CHOICES", "Value must be one of (1, 2).")


def _flag(part: Mapping[str, Any], key: str) -> Wrongs:
    if part.get(key) is not None and not isinstance(part[key], bool):
        yield Wrong((key,), "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")


def _choices_of(
    part: Mapping[str, Any], key: str, known: Sequence[int], *, least: int = 1
) -> Wrongs:
    """Yield the errors in a list of different known numbers."""
    given = part.get(key)
    if given is None:
        return
    if not isinstance(given, list):
        yield Wrong((key,), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
    elif len(given) < least:
        yield Wrong((key,), "BASE_TYPE_MIN_LENGTH", f"Must be {least} or more in length.")
    elif len({str(each) for each in given}) < len(given):
        yield Wrong((key,), "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains a value.")
    else:
        listed = ", ".join(map(str, known))
        for place, each in enumerate(given):
            if _one_of(each, known) is None:
                message = f"Value must be one of ({listed})."
                yield Wrong((key, str(place)), "BASE_TYPE_CHOICES", message)


# Names and descriptions, with their languages.


def _text(
    part: Mapping[str, Any],
    key: str,
    *,
    most: int,
    least: int = 1,
    check: Callable[[str], bool] = lambda _: True,
) -> Wrongs:
    yield from _below(key, _one_text(part.get(key), most, least, check))
    localized = f"{key}_localizations"
    texts = part.get(localized)
    if texts is None:
        return
    if not isinstance(texts, Mapping):
        yield Wrong((localized,), "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        return
    for locale, text in texts.items():
        if locale not in LOCALES:
            message = f"Value must be one of {LOCALES}."
            yield Wrong((localized, locale), "BASE_TYPE_CHOICES", message)
        else:
            wrongs = _one_text(text, most, 1, check)
            yield from _below(localized, _below(locale, wrongs))


def _one_text(value: object, most: int, least: int, check: Callable[[str], bool]) -> Wrongs:
    if value is None:
        if least:
            yield Wrong((), "BASE_TYPE_REQUIRED", "This field is required")
    elif not isinstance(value, str):
        yield Wrong((), "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    elif not least <= len(value) <= most:
        message = f"Must be between {least} and {most} in length."
        yield Wrong((), "BASE_TYPE_BAD_LENGTH", message)
    elif not check(value):
        yield Wrong((), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


def _is_any(_text: str) -> bool:
    return True


def _is_name(text: str) -> bool:
    """Whether a text is a name of a chat command: letters, digits and `-_'`, in lower case."""
    return text == text.lower() and all(
        sign in "-_'"
        or unicodedata.category(sign)[0] in "LN"
        or unicodedata.name(sign, "").startswith(("DEVANAGARI", "THAI"))
        for sign in text
    )


# Options, and their choices.


def _parts(part: Mapping[str, Any], key: str) -> Wrongs:
    """Yield the errors in a list of parts as a whole."""
    given = part.get(key)
    if given is not None and not isinstance(given, list):
        yield Wrong((key,), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
    elif given and len(given) > _MOST_PARTS:
        message = f"Must be {_MOST_PARTS} or fewer in length."
        yield Wrong((key,), "BASE_TYPE_MAX_LENGTH", message)


def _options(part: Mapping[str, Any], allowed: Sequence[int]) -> Wrongs:
    """Yield the errors in the options of a command, of a group or of a sub-command."""
    wrongs = [*_parts(part, "options")]
    options = part.get("options")
    if wrongs or not options:
        yield from wrongs
        return
    for place, option in enumerate(options):
        wrongs += _below(place, _option(option, allowed))
    yield from _below("options", wrongs or _order(options))


def _order(options: Sequence[Mapping[str, Any]]) -> Wrongs:
    """Yield the errors in options that are valid one by one: their mixture, names and order.

    There is one error for each option.
    """
    names, is_optional = set[str](), False
    nests = _one_of(options[0]["type"], _NESTING) is not None
    for place, option in enumerate(options):
        name, required = option["name"], bool(option.get("required"))
        is_nesting = _one_of(option["type"], _NESTING) is not None
        if is_nesting != nests:
            message = (
                "Sub-command and sub-command group option types are mutually exclusive to all "
                "other types"
            )
            yield Wrong((str(place),), "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", message)
        elif name in names:
            code = "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS"
            yield Wrong((str(place), "name"), code, "Option names must be unique")
        elif required and is_optional:
            message = "Required options must be placed before non-required options"
            yield Wrong((str(place),), "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message)
        names.add(name)
        is_optional = is_optional or not (required or is_nesting)


def _option(option: object, allowed: Sequence[int]) -> Wrongs:
    if not isinstance(option, Mapping):
        yield Wrong((), "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        return
    kind = _one_of(option.get("type"), _OPTION_TYPES)
    if kind is None:
        listed = ", ".join(map(str, _OPTION_TYPES))
        yield Wrong(("type",), "BASE_TYPE_CHOICES", f"Value must be one of ({listed}).")
        return
    yield from _text(option, "name", most=_LONGEST_NAME, check=_is_name)
    yield from _text(option, "description", most=_LONGEST_TEXT)
    yield from _flag(option, "required")
    if kind not in allowed:
        message = "This type of option is not allowed here"
        yield Wrong(("type",), "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", message)
    elif kind == _GROUP:
        yield from _options(option, [_SUB_COMMAND])
    elif kind == _SUB_COMMAND:
        yield from _options(option, _OPTION_TYPES[len(_NESTING) :])
    else:
        yield from _values(option, kind)


def _values(option: Mapping[str, Any], kind: int) -> Wrongs:
    """Yield the errors in the values that an option accepts."""
    yield from _flag(option, "autocomplete")
    wrongs = [*_parts(option, "choices")]
    if not wrongs:
        for place, choice in enumerate(option.get("choices") or ()):
            wrongs += _below("choices", _below(place, _choice(choice, kind)))
    yield from wrongs
    choices, autocomplete = bool(option.get("choices")), option.get("autocomplete") is True
    if kind not in _VALUED:
        for key in ("choices",) * choices + ("autocomplete",) * autocomplete:
            message = f"{key.capitalize()} cannot be configured for this type of option"
            yield Wrong((key,), "APPLICATION_COMMAND_OPTIONS_INVALID", message)
    elif choices and autocomplete:
        message = "Autocomplete cannot be used together with choices"
        yield Wrong(("autocomplete",), "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_INVALID", message)
    if kind in {_INTEGER, _NUMBER}:
        yield from _bounds(option, "value", lambda value, _: _is_value(value, kind))
    elif kind == _STRING:
        yield from _bounds(
            option,
            "length",
            lambda value, key: _is_whole(value, 1 if key == "max_length" else 0, _LONGEST_INPUT),
        )
    elif kind == _CHANNEL:
        yield from _choices_of(option, "channel_types", _CHANNEL_TYPES, least=0)


def _bounds(
    option: Mapping[str, Any], name: str, is_valid: Callable[[object, str], bool]
) -> Wrongs:
    least, most = f"min_{name}", f"max_{name}"
    given = {key: option[key] for key in (least, most) if option.get(key) is not None}
    wrongs = [key for key, value in given.items() if not is_valid(value, key)]
    for key in wrongs:
        yield Wrong((key,), "NUMBER_TYPE_COERCE", f"Value {str(given[key])[:40]!r} is not valid.")
    if not wrongs and len(given) > 1 and given[least] > given[most]:
        message = f"{most} must be greater than or equal to {least}"
        yield Wrong((most,), "APPLICATION_COMMAND_OPTIONS_BOUNDS_INVALID", message)


def _choice(choice: object, kind: int) -> Wrongs:
    if not isinstance(choice, Mapping):
        yield Wrong((), "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        return
    yield from _text(choice, "name", most=_LONGEST_TEXT)
    value = choice.get("value")
    if value is None:
        yield Wrong(("value",), "BASE_TYPE_REQUIRED", "This field is required")
    elif kind == _STRING:
        yield from _below("value", _one_text(value, _LONGEST_TEXT, 0, _is_any))
    elif kind in _VALUED and not _is_value(value, kind):
        message = f"Value {str(value)[:40]!r} is not a number of this option."
        yield Wrong(("value",), "NUMBER_TYPE_COERCE", message)


def _is_value(value: object, kind: int) -> bool:
    """Whether a value is a finite number of an option: Python reads infinite ones, too."""
    if kind == _INTEGER or isinstance(value, int):
        return _is_whole(value, -_LARGEST_INTEGER, _LARGEST_INTEGER)
    return isinstance(value, float) and abs(value) <= _LARGEST_INTEGER


def _is_whole(value: object, least: int, most: int) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value == value // 1 and least <= value <= most  # type: ignore[operator]


def _characters(part: Mapping[str, Any]) -> int:
    """Return the characters of all names, descriptions and values, in the longest language."""
    count = 0
    for key in ("name", "description"):
        given = part.get(f"{key}_localizations")
        texts = [part.get(key), *(given.values() if isinstance(given, Mapping) else ())]
        count += max((len(text) for text in texts if isinstance(text, str)), default=0)
    count += len(part["value"]) if isinstance(part.get("value"), str) else 0
    for key in ("options", "choices"):
        parts = part.get(key)
        if isinstance(parts, list):
            count += sum(_characters(each) for each in parts if isinstance(each, Mapping))
    return count
