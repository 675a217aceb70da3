"""Application commands for tests: generated ones, those at each limit, and Discord's own schema.

`commands()` and `trees()` make what Discord accepts: all types, all kinds of options, languages,
contexts and permissions. `AT_LIMITS` has a command at each limit of the documents, and `BEYOND`
the same with one thing too much, each with the place of its error. `schema_problems` validates a
body or an answer by the description that Discord publishes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from random import Random
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
    return [*_problems(json.dumps(value), schema)]


@lru_cache(maxsize=256)
def _problems(text: str, schema: str) -> tuple[str, ...]:
    """Return the problems of a value as JSON: the same ones are often sent again."""
    errors = _validator(schema).iter_errors(json.loads(text))
    return tuple(f"{'.'.join(map(str, error.path))}: {error.message[:200]}" for error in errors)


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
_LOCALES = ("de", "en-US", "es-419", "id", "ja", "pt-BR", "zh-TW")
_SIGNS = "abcxyz019-_'äéßπжकखกฉあ中"
_LETTERS = "abcxyz019-_'äéßπжकखกฉあ中ABZÄ<>&\"`*@#:/\\%{}👍🏽🔨"
_MENU_NAMES = ("Report User", "Info", "größe", "m" * 32, "Ban 🔨", "Quote it")
_MOST_CHARACTERS = 8000
_NINE = 2**53 - 1
_MOST_OPTIONS = 25
_INPUTS = {3: "length", 4: "value", 10: "value"}
_CHANNEL = 7


def command(numbers: Random, types: Sequence[int] = (1, 2, 3)) -> Record:
    """Draw one command of some types, as a program may send it."""
    kind = numbers.choice(types)
    settings = {key: draw(numbers) for key, draw in _SETTINGS.items() if numbers.random() < 0.3}
    if kind in {2, 3}:
        empty = numbers.choice([{}, {}, {"description": ""}])
        name = {"name": numbers.choice(_MENU_NAMES)}
        return {"type": kind, **name, **_languages(numbers, "name", _menu), **empty, **settings}
    if kind == 4:
        return {"type": 4, **_described(numbers), "handler": 2, **settings}
    shown: Record = numbers.choice([{}, {"type": 1}])
    body = {**shown, **_described(numbers), **settings, **_options(numbers, most=4)}
    return body if characters(body) <= _MOST_CHARACTERS else {**body, "options": []}


def edited(numbers: Random, body: Record) -> Record:
    """Draw another version of a command, with the same type and name: one to three parts differ."""
    for _ in range(numbers.randint(1, 3)):
        body = _edited(numbers, body)
    return body


_NUMBERS = st.integers(0, 2**32 - 1).map(Random)


def commands(*, types: tuple[int, ...] = (1, 2, 3)) -> Made:
    """Return commands of some types, as a program may send them."""
    return _NUMBERS.map(lambda numbers: command(numbers, types))


def trees(*, most: int = 6, types: tuple[int, ...] = (1, 2, 3)) -> Made:
    """Return lists of commands, each with another type or another name."""
    key: Callable[[Record], object] = lambda body: (body.get("type", 1), body["name"])  # noqa: E731 - it is short
    return st.lists(commands(types=types), max_size=most, unique_by=key)


def _name(numbers: Random) -> str:
    if numbers.random() < 0.05:
        return "n" * 32
    return "".join(numbers.choices(_SIGNS, k=numbers.randint(1, 6)))


def _menu(numbers: Random) -> str:
    return numbers.choice(_MENU_NAMES)


def _text(numbers: Random) -> str:
    """Draw a text; some have spaces in them, and some are as long as Discord allows."""
    if numbers.random() < 0.05:
        return "t" * 100
    words = ["".join(numbers.choices(_LETTERS, k=numbers.randint(1, 6))) for _ in range(2)]
    return " ".join(words[: numbers.randint(1, 2)])


def _languages(numbers: Random, key: str, draw: Callable[[Random], str]) -> Record:
    """Draw the translations of a text; they may be absent, null or none."""
    chance = numbers.random()
    if chance < 0.6:
        return {}
    locales = numbers.sample(_LOCALES, numbers.randint(0, 3))
    made = {locale: draw(numbers) for locale in locales}
    return {f"{key}_localizations": None if chance < 0.65 else made}


def _described(numbers: Random) -> Record:
    languages = (_languages(numbers, key, draw) for key, draw in _DRAWN.items())
    name, description = languages
    return {"name": _name(numbers), "description": _text(numbers), **name, **description}


_DRAWN: Mapping[str, Callable[[Random], str]] = {"name": _name, "description": _text}


def _integer(numbers: Random) -> int:
    return numbers.choice((0, 1, -1, numbers.randint(-_NINE, _NINE), _NINE))


def _number(numbers: Random) -> float:
    return numbers.choice((0.5, numbers.uniform(-_NINE, _NINE), 10.0, _integer(numbers)))


def _value(numbers: Random, kind: int) -> object:
    """Draw the value of a choice of a kind of option."""
    if kind == 3:
        return "" if numbers.random() < 0.05 else _text(numbers)
    return _integer(numbers) if kind == 4 else _number(numbers)


def _bounds(numbers: Random, kind: int) -> Record:
    """Draw the least and the greatest value of an option, either of which may be absent."""
    draw: Callable[[], Any] = {
        3: lambda: numbers.choice((1, 6000, numbers.randint(1, 6000))),
        4: lambda: _integer(numbers),
        10: lambda: _number(numbers),
    }[kind]
    pair = sorted((draw(), draw()))
    both = zip(("min", "max"), pair, strict=True)
    return {f"{end}_{_INPUTS[kind]}": value for end, value in both if numbers.random() < 0.4}


def _choices(numbers: Random, kind: int) -> list[Record]:
    made: dict[str, Record] = {}
    for _ in range(numbers.choice((0, 0, 1, 2, 4))):
        name = _text(numbers)
        value = {"value": _value(numbers, kind)}
        made[name] = {"name": name, **value, **_languages(numbers, "name", _text)}
    return [*made.values()]


_ALL_KINDS = range(3, 12)


def _options(numbers: Random, *, most: int, inside: int = 0) -> Record:
    """Draw options with different names, required ones first; an empty list may be left out.

    `inside` is the type of the option that has them; 0 for those of a command.
    """
    nested = {0: numbers.choice((range(1, 3), _ALL_KINDS, _ALL_KINDS)), 2: range(1, 2)}
    kinds = nested.get(inside, _ALL_KINDS)
    made = [_option(numbers, numbers.choice(kinds)) for _ in range(numbers.randint(0, most))]
    options = _sorted({option["name"]: option for option in made}.values())
    return {"options": options} if options or numbers.random() < 0.5 else {}


def _sorted(options: Iterable[Record]) -> list[Record]:
    return sorted(options, key=lambda option: not option.get("required"))


def _option(numbers: Random, kind: int) -> Record:
    option: Record = {"type": kind, **_described(numbers)}
    if kind <= 2:
        return option | _options(numbers, most=3, inside=kind)
    option |= numbers.choice([{}, {}, {"required": True}, {"required": False}])
    if kind == _CHANNEL and numbers.random() < 0.6:
        types = [0, 2, 5, 13, 15]
        option["channel_types"] = numbers.sample(types, numbers.randint(0, 5))
    if kind not in _INPUTS:
        return option
    choices = _choices(numbers, kind)
    more = {"choices": choices} if choices else numbers.choice(_AUTOCOMPLETE)
    return {**option, **_bounds(numbers, kind), **more}


_AUTOCOMPLETE: list[Record] = [{}, {"autocomplete": True}, {"autocomplete": False}, {"choices": []}]


def _some(numbers: Random, values: Sequence[int]) -> list[int]:
    return numbers.sample(values, numbers.randint(1, len(values)))


_SETTINGS: dict[str, Callable[[Random], Any]] = {
    "default_member_permissions": lambda n: n.choice([None, "0", "8", str(2**54 - 1), 8]),
    "dm_permission": lambda n: n.choice([None, True, False]),
    "nsfw": lambda n: n.choice([True, False]),
    "contexts": lambda n: n.choice([None, _some(n, (0, 1, 2)), _some(n, (0, 1, 2))]),
    "integration_types": lambda n: n.choice([None, _some(n, (0, 1))]),
}


def _edited(numbers: Random, body: Record) -> Record:
    """Change one part of a command."""
    is_menu = body.get("type") in {2, 3}
    draw = _menu if is_menu else _name
    ways: list[Callable[[], Record]] = [
        lambda: {**_without(body, "name_localizations"), **_languages(numbers, "name", draw)},
        *[lambda: _with_setting(numbers, body)] * 2,
    ]
    if not is_menu:
        ways += [lambda: _with_text(numbers, body), lambda: _with_options(numbers, body)] * 2
        ways += [lambda: _with_options(numbers, body)] * 3
    changed = numbers.choice(ways)()
    return changed if characters(changed) <= _MOST_CHARACTERS else body


def _without(part: Record, *keys: str) -> Record:
    return {key: value for key, value in part.items() if key not in keys}


def _with_setting(numbers: Random, body: Record) -> Record:
    key = numbers.choice([*_SETTINGS])
    kept = _without(body, key)
    return kept if numbers.random() < 0.3 else {**kept, key: _SETTINGS[key](numbers)}


def _with_text(numbers: Random, part: Record) -> Record:
    kept = _without(part, "description_localizations")
    return {
        **kept,
        "description": _text(numbers),
        **_languages(numbers, "description", _text),
    }


def _with_options(numbers: Random, part: Record) -> Record:
    """Change the options of a command, a group or a sub-command: one is new, gone or another."""
    options, kind = [*(part.get("options") or ())], part.get("type", 1)
    nesting = kind == 2 or any(option["type"] <= 2 for option in options)
    chance, at = numbers.random(), numbers.randrange(len(options) or 1)
    if not options or (chance < 0.2 and len(options) < _MOST_OPTIONS):
        new = _option(numbers, 1 if nesting else numbers.choice(_ALL_KINDS))
        options.insert(at, new)
    elif chance < 0.35:
        del options[at]
    elif chance < 0.5:
        numbers.shuffle(options)
    else:
        options[at] = _other_option(numbers, options[at])
    unique = {option["name"]: option for option in options}
    return {**part, "options": _sorted(unique.values())}


def _other_option(numbers: Random, option: Record) -> Record:
    kind = option["type"]
    if kind <= 2 and numbers.random() < 0.6:
        return _with_options(numbers, option)
    if numbers.random() < 0.5:
        return _with_text(numbers, option)
    return {**_option(numbers, kind), "name": option["name"]}


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
