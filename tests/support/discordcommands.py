"""Application commands for tests: generated ones, those at each limit, and Discord's own schema.

`commands()` and `trees()` make what Discord accepts: all types, all kinds of options, languages,
contexts and permissions. `AT_LIMITS` has a command at each limit of the documents, and `BEYOND`
the same with one thing too much, each with the place of its error. `schema_problems` validates a
body or an answer by the description that Discord publishes.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

Record = dict[str, Any]
Made = st.SearchStrategy[Any]

_FILE = Path(__file__).parents[1] / "fixtures/discord/schema/application-commands.openapi.json"
_COMPONENTS: Record = json.loads(_FILE.read_text(encoding="utf-8"))["components"]
CREATE, EDIT, REPLACE, ANSWER = (
    f"ApplicationCommand{name}"
    for name in ("CreateRequest", "PatchRequestPartial", "UpdateRequest", "Response")
)
"""The names of the schemas of a POST, of a PATCH, of one command in a PUT, and of an answer."""


def schema_problems(value: object, schema: str) -> list[str]:
    """Return what a schema does not allow in a value, each problem with its place.

    In a request, the schema wants permissions as a number. The documents and all answers have them
    as a text, which is as good here.
    """
    if schema != ANSWER and isinstance(value, dict):
        permissions = value.get("default_member_permissions")
        if isinstance(permissions, str) and permissions.isdecimal():
            value = {**value, "default_member_permissions": int(permissions)}
    errors = _validator(schema).iter_errors(value)
    return [f"{'.'.join(map(str, error.path))}: {error.message[:200]}" for error in errors]


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**_COMPONENTS["schemas"][schema], "components": _COMPONENTS})


def characters(part: Mapping[str, Any]) -> int:
    """Return the characters of a command that count: each text in its longest language."""
    texts = [[part.get(key), *(part.get(f"{key}_localizations") or {}).values()] for key in _TEXTS]
    own = sum(max((len(text) for text in group if text), default=0) for group in texts)
    value = part.get("value")
    inside = [*(part.get("options") or ()), *(part.get("choices") or ())]
    return own + (len(value) if isinstance(value, str) else 0) + sum(map(characters, inside))


_TEXTS = ("name", "description")
_LOCALES = st.sampled_from(["de", "en-US", "es-419", "id", "ja", "pt-BR", "zh-TW"])
_SIGNS = "abcxyz019-_'äéßπжकखกฉあ中"
_WORDS = st.characters(exclude_categories=("C", "Z"), codec="utf-8")
_NAMES = st.text(_SIGNS, min_size=1, max_size=6) | st.just("n" * 32)
_MENU_NAMES = st.sampled_from(["Report User", "Info", "größe", "m" * 32, "Ban 🔨"])
_MOST_CHARACTERS = 8000


def _text(most: int, *, least: int = 1) -> Made:
    return st.text(_WORDS, min_size=least, max_size=8) | st.just("t" * most)


def _localized(texts: Made) -> Made:
    return st.none() | st.dictionaries(_LOCALES, texts, max_size=3)


def _of_range(name: str, values: Made) -> Made:
    """Return the least and the greatest value of an option, either of which may be absent."""
    pairs = st.lists(values, min_size=2, max_size=2).map(sorted)
    keys = st.sets(st.sampled_from([f"min_{name}", f"max_{name}"]))
    both = pairs.map(lambda pair: {f"min_{name}": pair[0], f"max_{name}": pair[1]})
    return st.tuples(both, keys).map(lambda made: {key: made[0][key] for key in made[1]})


_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
_NUMBERS = st.floats(-(2.0**53) + 1, 2.0**53 - 1) | _INTEGERS
_VALUES: dict[int, Made] = {3: _text(100, least=0), 4: _INTEGERS, 10: _NUMBERS}
_RANGES: dict[int, Made] = {
    3: _of_range("length", st.integers(1, 6000)),
    4: _of_range("value", _INTEGERS),
    10: _of_range("value", _NUMBERS),
}
_FLAGS: Made = st.booleans()
_CHANNELS: Made = st.fixed_dictionaries(
    {},
    optional={
        "channel_types": st.lists(st.sampled_from([0, 2, 5, 13, 15]), unique=True, max_size=5)
    },
)


def _choices(kind: int) -> Made:
    choice = st.fixed_dictionaries(
        {"name": _text(100), "value": _VALUES[kind]},
        optional={"name_localizations": _localized(_text(100))},
    )
    return st.lists(choice, max_size=4, unique_by=lambda made: made["name"])


@st.composite
def _options(draw: st.DrawFn, kinds: range) -> list[Record]:
    """Return options with different names; the required ones come first."""
    made = [draw(_option(kind)) for kind in draw(st.lists(st.sampled_from(kinds), max_size=4))]
    named = {option["name"]: option for option in made}
    return sorted(named.values(), key=lambda option: not option.get("required"))


@st.composite
def _option(draw: st.DrawFn, kind: int) -> Record:
    option: Record = {"type": kind, **draw(_described(_NAMES))}
    if kind <= 2:
        inner = draw(_options(range(3, 12) if kind == 1 else range(1, 2)))
        is_shown = bool(inner) or draw(_FLAGS)
        return option | ({"options": inner} if is_shown else {})
    option |= draw(st.sampled_from([{}, {"required": True}, {"required": False}]))
    if kind == 7:
        option |= draw(_CHANNELS)
    if kind not in _VALUES:
        return option
    option |= draw(_RANGES[kind])
    choices = draw(_choices(kind))
    return option | ({"choices": choices} if choices else draw(st.sampled_from(_AUTOCOMPLETE)))


_AUTOCOMPLETE: list[Record] = [{}, {"autocomplete": True}, {"autocomplete": False}, {"choices": []}]


def _described(names: Made) -> Made:
    return st.fixed_dictionaries(
        {"name": names, "description": _text(100)},
        optional={
            "name_localizations": _localized(names),
            "description_localizations": _localized(_text(100)),
        },
    )


_SETTINGS: dict[str, Made] = {
    "default_member_permissions": st.sampled_from([None, "0", "8", str(2**54 - 1), 8]),
    "dm_permission": st.sampled_from([None, True, False]),
    "nsfw": st.booleans(),
    "contexts": st.none() | st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True),
    "integration_types": st.none()
    | st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True),
}


@st.composite
def commands(draw: st.DrawFn, *, types: tuple[int, ...] = (1, 2, 3)) -> Record:
    """Return one command of some types, as a program may send it."""
    kind = draw(st.sampled_from(types))
    settings = draw(st.fixed_dictionaries({}, optional=_SETTINGS))
    if kind in {2, 3}:
        names = st.fixed_dictionaries(
            {"name": _MENU_NAMES}, optional={"name_localizations": _localized(_MENU_NAMES)}
        )
        empty = draw(st.sampled_from([{}, {"description": ""}]))
        return {"type": kind, **draw(names), **empty, **settings}
    if kind == 4:
        return {"type": 4, **draw(_described(_NAMES)), "handler": 2, **settings}
    shown: Record = draw(st.sampled_from([{}, {"type": 1}]))
    kinds = draw(st.sampled_from([range(1, 3), range(3, 12)]))
    options = draw(_options(kinds))
    body = {**shown, **draw(_described(_NAMES)), **settings}
    is_shown = bool(options) or draw(_FLAGS)
    body |= {"options": options} if is_shown else {}
    return body if characters(body) <= _MOST_CHARACTERS else {**body, "options": []}


def trees(*, most: int = 6, types: tuple[int, ...] = (1, 2, 3)) -> Made:
    """Return lists of commands, each with another type or another name."""
    key: Callable[[Record], object] = lambda body: (body.get("type", 1), body["name"])  # noqa: E731 - it is short
    return st.lists(commands(types=types), max_size=most, unique_by=key)


# Every limit of the documents.


def option(**keys: object) -> Record:
    """Return an option of a text with other keys."""
    return {"type": 3, "name": "text", "description": "A text.", **keys}


def chat(*options: Record, **keys: object) -> Record:
    """Return a command with these options and other keys."""
    return {"name": "ping", "description": "Says pong.", "options": [*options], **keys}


def _choice(number: int = 0, **keys: object) -> Record:
    return {"name": f"c{number}", "value": f"v{number}", **keys}


def _many(count: int, **keys: object) -> list[Record]:
    return [option(name=f"o{number}", **keys) for number in range(count)]


def _nested(*kinds: int) -> Record:
    """Return options of these kinds in each other, the outermost first."""
    made: Record = option()
    for kind in reversed(kinds):
        made = {"type": kind, "name": "inner", "description": "Inner.", "options": [made]}
    return made


def _wide(groups: int, subs: int) -> Record:
    inner = [{"type": 1, "name": f"s{n}", "description": "s"} for n in range(subs)]
    outer = [
        {"type": 2, "name": f"g{n}", "description": "g", "options": inner} for n in range(groups)
    ]
    return chat(*outer)


def _long(count: int) -> Record:
    """Return a command with so many characters."""
    texts = [{"name": f"{n:0100}", "value": "v" * 100} for n in range(25)]
    body = chat(option(choices=texts), option(name="more", choices=[*texts[:14], _choice()]))
    last = body["options"][1]["choices"][14]
    left = count - characters(body)
    last |= {"name": last["name"] + "c" * (left // 2), "value": "v" * (2 + left - left // 2)}
    return body


_NINE = 2**53 - 1
AT_LIMITS: dict[str, Record] = {
    "a long name": chat(name="n" * 32),
    "a long description": chat(description="d" * 100),
    "long texts in a language": chat(
        name_localizations={"de": "n" * 32}, description_localizations={"de": "d" * 100}
    ),
    "many options": chat(*_many(25)),
    "many choices": chat(option(choices=[_choice(n) for n in range(25)])),
    "a long choice": chat(option(choices=[{"name": "c" * 100, "value": "v" * 100}])),
    "many groups and sub-commands": _wide(25, 25),
    "two levels": chat(_nested(2, 1)),
    "many characters": _long(8000),
    "a long input": chat(option(min_length=6000, max_length=6000)),
    "a large integer": chat(option(type=4, min_value=-_NINE, max_value=_NINE)),
    "equal bounds": chat(option(type=10, min_value=0.5, max_value=0.5)),
    "all permissions": chat(default_member_permissions=str(2**54 - 1)),
    "a long name of a menu": {"type": 2, "name": "M" * 32},
}
BEYOND: dict[str, tuple[Record, str]] = {
    "no name": ({"description": "d"}, "name"),
    "an empty name": (chat(name=""), "name"),
    "a long name": (chat(name="n" * 33), "name"),
    "a capital": (chat(name="Ping"), "name"),
    "a space": (chat(name="ping it"), "name"),
    "a sign": (chat(name="ping!"), "name"),
    "no description": ({"name": "ping"}, "description"),
    "a long description": (chat(description="d" * 101), "description"),
    "a long name in a language": (
        chat(name_localizations={"de": "n" * 33}),
        "name_localizations.de",
    ),
    "a capital in a language": (
        chat(option(name_localizations={"de": "Wort"})),
        "options.0.name_localizations.de",
    ),
    "languages as a list": (chat(name_localizations=["n"]), "name_localizations"),
    "an unknown language": (chat(name_localizations={"xx": "n"}), "name_localizations.xx"),
    "a long description in a language": (
        chat(description_localizations={"de": "d" * 101}),
        "description_localizations.de",
    ),
    "many options": (chat(*_many(26)), "options"),
    "many options of a sub-command": (
        chat({**_nested(1), "options": _many(26)}),
        "options.0.options",
    ),
    "many choices": (
        chat(option(choices=[_choice(n) for n in range(26)])),
        "options.0.choices",
    ),
    "a choice as a text": (chat(option(choices=["c"])), "options.0.choices.0"),
    "a long name of a choice": (
        chat(option(choices=[_choice(name="c" * 101)])),
        "options.0.choices.0.name",
    ),
    "a long value of a choice": (
        chat(option(choices=[_choice(value="v" * 101)])),
        "options.0.choices.0.value",
    ),
    "a text as the value of a number": (
        chat(option(type=4, choices=[_choice()])),
        "options.0.choices.0.value",
    ),
    "a fraction as an integer": (
        chat(option(type=4, choices=[_choice(value=0.5)])),
        "options.0.choices.0.value",
    ),
    "choices and autocomplete": (
        chat(option(choices=[_choice()], autocomplete=True)),
        "options.0.autocomplete",
    ),
    "autocomplete of a user": (chat(option(type=6, autocomplete=True)), "options.0.autocomplete"),
    "choices of a channel": (chat(option(type=7, choices=[_choice()])), "options.0.choices"),
    "a required option last": (
        chat(*_many(1), option(name="last", required=True)),
        "options.1",
    ),
    "a required option last in a sub-command": (
        chat({**_nested(1), "options": [*_many(1), option(name="last", required=True)]}),
        "options.0.options.1",
    ),
    "two options of a name": (chat(option(), option()), "options.1.name"),
    "a sub-command beside an option": (chat(option(), _nested(1)), "options.1"),
    "a group in a group": (chat(_nested(2, 2, 1)), "options.0.options.0.type"),
    "a sub-command in a sub-command": (chat(_nested(1, 1)), "options.0.options.0.type"),
    "an option in a group": (chat(_nested(2)), "options.0.options.0.type"),
    "an unknown option": (chat(option(type=12)), "options.0.type"),
    "bounds the wrong way round": (
        chat(option(type=4, min_value=2, max_value=1)),
        "options.0.max_value",
    ),
    "lengths the wrong way round": (
        chat(option(min_length=2, max_length=1)),
        "options.0.max_length",
    ),
    "a long input": (chat(option(max_length=6001)), "options.0.max_length"),
    "a large integer": (chat(option(type=4, max_value=2**53)), "options.0.max_value"),
    "an unknown channel": (
        chat(option(type=7, channel_types=[99])),
        "options.0.channel_types.0",
    ),
    "many characters": (_long(8001), "name"),
    "an unknown type": (chat(type=9), "type"),
    "a description of a menu": ({"type": 2, "name": "Info", "description": "d"}, "description"),
    "options of a menu": ({"type": 3, "name": "Info", "options": [option()]}, "options"),
    "an unknown context": (chat(contexts=[3]), "contexts.0"),
    "no contexts": (chat(contexts=[]), "contexts"),
    "a context twice": (chat(contexts=[0, 0]), "contexts"),
    "a permission as a word": (
        chat(default_member_permissions="ban"),
        "default_member_permissions",
    ),
    "too many permissions": (
        chat(default_member_permissions=2**54),
        "default_member_permissions",
    ),
    "a flag as a word": (chat(nsfw="yes"), "nsfw"),
}
"""For each rule a command that breaks it, and the place of the error."""
