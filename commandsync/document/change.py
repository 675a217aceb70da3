"""One change as every format shows it: its verb, its remarks, its fields, and its end.

A command at Discord is one object: nobody reads that as one text. It is shown as its keys, with a
line for each option and sub-command, and its change as the parts that differ, with a remark on
those that users of the bot notice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from commandsync.apply.outcomes import Settled
from commandsync.diagnostics import Location
from commandsync.plan.changes import Add, Change, Delete, Edit, PartChange, part_changes
from commandsync.records.snapshot import Node, shown_time
from commandsync.records.texts import Resource, Text, compact, counted, object_of

Verb = Literal["add", "edit", "rename", "replace", "delete"]

BREAKING = "breaking"
"""The remark on a change that users of a bot notice: something does not work as it did."""

_FIRST = {
    "": "",
    "name": "first, since another one gets its name",
    "full": "first, since the list is full",
}
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


class DifferenceView(NamedTuple):
    """One field that differs, or one part of an object, as text."""

    label: str
    old: str
    new: str
    is_whole: bool = False  # whether a part of an object is new or gone: its label says so
    breaking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeView:
    """The change of one record, in the words and values that formats lay out.

    Its parts are compared when a format asks for them: a plan may have 60,000 changes.
    """

    change: Change
    verb: Verb  # the action; a rename is an action of its own
    title: str  # the verb and the kind of record, such as `add command`
    prefix: str  # the kind of record before its name; empty for a command
    name: str  # after the change; a delete has the listed name
    old_name: str  # before a rename; empty for any other change
    location: Location | None  # in the manifest
    is_exact: bool  # whether it is about an object, whose parts have names that are foreign text
    uses: int  # how many uses are lost with it, as far as that is known
    remark: str  # the reason of a delete or of its place, and the number of lost uses; or nothing

    @property
    def record(self) -> dict[str, str]:
        """The fields of the whole record but its name, as they are added or deleted."""
        return whole_fields(self.change.texts[0])

    @property
    def parts(self) -> tuple[PartChange, ...]:
        """The fields of an edit or a replace that differ. An object has its parts, as JSON."""
        change = self.change
        if isinstance(change, Add | Delete):
            return ()
        old, new = object_of(change.before), object_of(change.after)
        if old is None or new is None:
            return tuple(
                PartChange((field.field,), field.field, field.old, field.new, breaking=False)
                for field in change.fields
            )
        return part_changes(old, new)

    @property
    def differences(self) -> tuple[DifferenceView, ...]:
        """The same as text, without the new name of a rename."""
        return tuple(map(_difference, self.parts[1 if self.verb == "rename" else 0 :]))


def verb_of(change: Change) -> Verb:
    """Return the action of a change; a rename is an action of its own."""
    return "rename" if isinstance(change, Edit) and change.renames else change.action


def uses_of(change: Change) -> int:
    """Return how many uses are lost with a change, as far as that is known."""
    return getattr(change, "uses", 0) or 0


def change_view(change: Change) -> ChangeView:
    """Return the view of one change."""
    verb, texts, resource, uses = verb_of(change), change.texts, change.resource, uses_of(change)
    remarks = []
    if isinstance(change, Delete):
        ended = f"it ended at {shown_time(change.until)}" if change.until else ""
        remarks = [ended, _FIRST[change.first]]
    if uses:
        remarks.append(f"{counted(uses, 'use')} {'goes' if uses == 1 else 'go'} with it")
    return ChangeView(
        change=change,
        verb=verb,
        title=_title(verb, resource),
        prefix="" if resource.is_command else f"{resource} ",
        name=texts[0][0],
        old_name=texts[1][0] if verb == "rename" else "",
        location=change.location,
        is_exact=resource.exact,
        uses=uses,
        remark="; ".join(filter(None, remarks)),
    )


@cache  # so that the changes of a large plan share it
def _title(verb: Verb, resource: Resource) -> str:
    return f"{verb} {resource}"


DONE, _ALREADY = "done", "done already"
ENDS = (DONE, _ALREADY, "sent", "failed", "unknown", "skipped")
"""The ends of a change; one that is done already was done before the run."""


class SettledView(NamedTuple):
    """One change and how it ended."""

    settled: Settled
    change: ChangeView
    end: str  # a word or two of `ENDS`
    reasons: tuple[str, ...]  # why it is not done: Discord names each wrong part on a line


def settled_view(settled: Settled) -> SettledView:
    """Return the view of one change and its end."""
    end = _ALREADY if settled.already else settled.outcome.value
    return SettledView(settled, change_view(settled.change), end, tuple(settled.error.splitlines()))


def whole_fields(text: Text) -> dict[str, str]:
    """Return the fields of a record without its name. An object has its keys and options."""
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


def _option_lines(node: Node, indent: str) -> Iterator[str]:
    """Yield a line for each option of an object, and below a sub-command for its options."""
    options = node.get("options", ())
    for option in options if isinstance(options, list | tuple) else ():
        if isinstance(option, Mapping):
            yield f"{indent}{option.get('name', '')}: {_line(option)}"
            yield from _option_lines(option, f"{indent}  ")


def _difference(part: PartChange) -> DifferenceView:
    is_listed = part.path[-2:-1] in {("options",), ("choices",)}
    if is_listed and (part.old is None or part.new is None):
        label = f"{part.label} {'added' if part.old is None else 'removed'}"
        old, new = ("" if value is None else _line(value) for value in (part.old, part.new))
        return DifferenceView(label, old, new, is_whole=True, breaking=part.breaking)
    return DifferenceView(part.label, _value(part.old), _value(part.new), breaking=part.breaking)


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


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)
