"""Records and their changes as fields to show; those of a registered command are its parts.

A command at Discord is one object: nobody reads that as one text. `whole_fields` returns its keys,
with a line for each option and sub-command, and `shown_changes` its parts that differ, with a
remark on those that users of the bot notice.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from commandsync.plan.changes import Edit, PartChange, Replace, part_changes
from commandsync.records.snapshot import Node
from commandsync.records.texts import Text, compact, object_of

_TYPES = {1: "slash command", 2: "user menu", 3: "message menu"}
_OPTION_TYPES = {
    1: "sub-command",
    2: "sub-command group",
    3: "string",
    4: "integer",
    5: "boolean",
    6: "user",
    7: "channel",
    8: "role",
    9: "mentionable",
    10: "number",
    11: "attachment",
}
_SHOWN = {"name", "type", "description", "options", "required", "choices"}  # apart from others
BREAKING = "breaking"
"""The remark on a change that users of a bot notice: something does not work as it did."""


class Shown(NamedTuple):
    """One field that differs, or one part of an object."""

    label: str
    old: str
    new: str
    is_whole: bool = False  # whether a part of an object is new or gone: its label says so
    breaking: bool = False


def whole_fields(text: Text) -> dict[str, str]:
    """Return the fields of a record but its name; of an object its keys, and lines of options."""
    node = object_of(text)
    if node is None:
        return dict(zip(text._fields[1:], text[1:], strict=True))
    others = {key: _value(value) for key, value in node.items() if key not in _SHOWN}
    return {
        "type": _TYPES.get(node.get("type", 1), _value(node.get("type"))),
        "description": _value(node.get("description", "")),
        **others,
        "options": "\n".join(_option_lines(node, "")),
    }


def shown_changes(change: Edit | Replace) -> list[Shown]:
    """Return the fields or parts that differ, without the new name of a rename."""
    renamed = isinstance(change, Edit) and change.renames
    old, new = object_of(change.before), object_of(change.after)
    if old is None or new is None:
        fields = [Shown(*field) for field in change.fields]
        return fields[1:] if renamed else fields
    shown = [_shown(part) for part in part_changes(old, new)]
    return shown[1:] if renamed else shown


def _shown(part: PartChange) -> Shown:
    is_listed = part.path[-2:-1] in {("options",), ("choices",)}
    if is_listed and (part.old is None or part.new is None):
        label = f"{part.label} {'added' if part.old is None else 'removed'}"
        old, new = ("" if value is None else _line(value) for value in (part.old, part.new))
        return Shown(label, old, new, is_whole=True, breaking=part.breaking)
    return Shown(part.label, _value(part.old), _value(part.new), breaking=part.breaking)


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)


def _option_lines(node: Node, indent: str) -> Iterator[str]:
    """Yield a line for each option of an object, those of a sub-command below it."""
    options = node.get("options", ())
    for option in options if isinstance(options, list | tuple) else ():
        if isinstance(option, Mapping):
            yield f"{indent}{option.get('name', '')}: {_line(option)}"
            yield from _option_lines(option, f"{indent}  ")


def _line(part: Node) -> str:
    """Return an option or a choice on one line, without its name."""
    if "value" in part:
        return _value(part["value"])
    kind = _OPTION_TYPES.get(part.get("type", 0), _value(part.get("type")))
    words = [f"required {kind}" if part.get("required") else kind]
    choices = part.get("choices")
    if isinstance(choices, list | tuple):
        names = [_value(choice.get("name")) for choice in choices if isinstance(choice, Mapping)]
        words.append(f"one of {', '.join(names)}")
    words += [f"{key} {_value(value)}" for key, value in part.items() if key not in _SHOWN]
    return f"{_value(part.get('description', ''))} ({'; '.join(words)})".lstrip()
