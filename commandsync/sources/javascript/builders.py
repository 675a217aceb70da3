"""The builders of discord.js: what each of their methods adds to a command, as Discord has it."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from commandsync.sources.javascript.value import REST, Computed, Function, Record, Value
from commandsync.sources.javascript.value import Written as At

_OPTIONS = "Subcommand SubcommandGroup String Integer Boolean User Channel Role Mentionable Number"
_TYPES = {name: number for number, name in enumerate(f"{_OPTIONS} Attachment".split(), start=1)}
_MENUS = {"UserContextMenuCommand": 2, "MessageContextMenuCommand": 3}
_COMMANDS = {"SlashCommand", "ChatInputCommand", "ContextMenuCommand", *_MENUS}
_KIND = re.compile("^(SlashCommand|ChatInputCommand)(?=.)|(?<=.)Option$")
_ADDED = re.compile(r"add(Subcommand|SubcommandGroup|\w+(?=Option))(?:Option)?s?")
_TEXTS = re.compile("set(Name|Description)Localization(s?)")
_SET = re.compile("set(Name|Description|Type|Required|NSFW|DefaultMemberPermissions)")
_CHOICES = re.compile("(add|set)Choices?")
_OTHER = re.compile(r"(set\w+|add(?:ChannelTypes|Contexts|IntegrationTypes)|toJSON)")
_METHODS = (_TEXTS, _SET, _CHOICES, _ADDED, _OTHER)

Call: TypeAlias = Callable[[Function, list[Value]], Value]


class Builder(Record):
    """What a builder has built so far."""

    def __init__(
        self, fields: dict[str, Value], at: At, level: int = 0, *, is_command: bool = False
    ) -> None:
        super().__init__(fields, at, level)
        self.is_command = is_command  # not a part of one


def fields_of(value: Value) -> dict[str, Value]:
    """Return what an object has; nothing of what is not an object."""
    return value if isinstance(value, Record) else {}


def created(name: str, given: Sequence[Value], at: At, level: int) -> Builder | None:
    """Return what the constructor of a builder makes; None if it is not one."""
    bare = name.removesuffix("Builder")
    kind = _KIND.sub("", bare)
    if bare not in _COMMANDS and (kind == bare or kind not in _TYPES):
        return None
    number = _MENUS.get(bare, _TYPES.get(kind))
    fields = {**fields_of(given[0] if given else None), **({"type": number} if number else {})}
    return Builder(fields, at, level, is_command=bare in _COMMANDS)


def apply(record: Record, method: str, given: list[Value], at: At, call: Call) -> None:
    """Do what a method of a builder does; `call` calls a function with values."""
    match = next(filter(None, (pattern.fullmatch(method) for pattern in _METHODS)), None)
    if match is None:
        record[REST] = Computed(at.node, at.scope)
    elif match.re is _ADDED:
        known = flat([record.get("options", [])])
        record["options"] = [*known, *_options(match[1], given, at, call)]
    elif match.re is not _OTHER:
        _set(record, match, given, at)


def _set(record: Record, match: re.Match[str], given: list[Value], at: At) -> None:
    kind, first = match[1], given[0] if given else None
    if match.re is _TEXTS:
        texts = first if match[2] else _text(record, kind, given, at)
        record[f"{kind.lower()}_localizations"] = texts
    elif match.re is _CHOICES:
        known = list(flat([record.get("choices", [])])) if kind == "add" else []
        record["choices"] = [*known, *_choices([given] if isinstance(first, str) else given, at)]
    else:
        record["nsfw" if kind == "NSFW" else kind[0].lower() + kind[1:]] = first


def _text(record: Record, kind: str, given: list[Value], at: At) -> Record:
    """Return the texts of the languages with another one."""
    texts = record.get(f"{kind.lower()}_localizations")
    known = texts if isinstance(texts, Record) else {REST: texts} if texts else {}
    language, text = (*given, None, None)[:2]
    return Record({**known, language if isinstance(language, str) else REST: text}, at)


def _options(kind: str, given: list[Value], at: At, call: Call) -> Iterator[Value]:
    unknown = Computed(at.node, at.scope)
    for each in flat(given):
        option = call(each, [Builder({}, each)]) if isinstance(each, Function) else each
        if isinstance(option, Record):
            yield Record({**option, "type": _TYPES.get(kind, unknown)}, option.at)
        else:
            yield option if isinstance(option, Computed) else unknown


def flat(values: Sequence[Value]) -> Iterator[Value]:
    """Yield values, and the members of the lists among them."""
    for value in values:
        yield from value if isinstance(value, list) else [value]


def _choices(given: Sequence[Value], at: At) -> Iterator[Value]:
    """Yield choices; older versions write a name and a value, or lists of both."""
    for choice in given:
        if isinstance(choice, list) and choice and isinstance(choice[0], str):
            yield Record({"name": choice[0]}, at)
        else:
            yield from _choices(choice, at) if isinstance(choice, list) else [choice]
