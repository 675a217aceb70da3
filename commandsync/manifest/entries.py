"""Edits of the lists of a manifest file -> changes to its text."""

from collections import defaultdict
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace

from commandsync.manifest import layout
from commandsync.manifest.entry import edit_fields, fitting_key
from commandsync.manifest.layout import OddLayoutError, after_colon, column, key_of
from commandsync.manifest.model import TABLES
from commandsync.manifest.nodes import Mapping, Sequence
from commandsync.manifest.patch import (
    Patch,
    content_end,
    is_alias,
    is_flow,
    line_break,
    line_end,
    line_start,
)
from commandsync.manifest.scalars import Value
from commandsync.manifest.style import STEP, EntryStyle, style_of

Values = AnyMapping[str, Value]


@dataclass(slots=True)
class ListEdits:
    """The edits of the entries of one list, by their indices in the file as it is."""

    # The new values of fields; None removes a key, if it is there.
    changed: defaultdict[int, dict[str, Value | None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    removed: set[int] = field(default_factory=set)
    # New entries, each after that of an index, or None for the end.
    added: list[tuple[int | None, Values]] = field(default_factory=list)


def edit_list(patch: Patch, root: Mapping, name: str, edits: ListEdits) -> None:
    """Edit the entries of one list of a file; `OddLayoutError` where that is not possible."""
    entries = _entries(patch.text, root, name)
    collection = _List(patch, root, name, entries, tuple(TABLES[name].model_fields))
    for index in edits.changed.keys() - edits.removed:
        entry = entries[index]
        if not isinstance(entry, Mapping):
            raise OddLayoutError(entry.at)
        edit_fields(patch, entry, edits.changed[index], collection.keys)
    last = len(entries) - 1
    if max(edits.removed, default=last) > last:
        raise IndexError(max(edits.removed))
    added = [(last if after is None else after, values) for after, values in edits.added]
    collection.edit(edits.removed, added)


def _entries(text: str, root: Mapping, name: str) -> Sequence:
    """Return the entries of a list; `OddLayoutError` if it is an alias, or empty as in JSON."""
    entries = root.get(name, Sequence(0))
    odd = is_alias(text, entries) or (not entries and is_flow(text, root))
    if isinstance(entries, Sequence) and not odd:
        return entries
    raise OddLayoutError(entries.at)


@dataclass(frozen=True, slots=True)
class _List:
    patch: Patch
    root: Mapping
    name: str
    entries: Sequence
    keys: tuple[str, ...]  # that an entry may have, in their order

    def edit(self, removed: set[int], added: list[tuple[int, Values]]) -> None:
        """Remove and add entries."""
        if not self.entries:
            if added:
                self.fill([values for _, values in added])
        elif is_flow(self.patch.text, self.entries):
            items = [(after, self.flow_item(after, values)) for after, values in added]
            layout.edit_flow(self.patch, self.entries, removed=removed, added=items)
        else:
            self.edit_lines(removed, added)

    def edit_lines(self, removed: set[int], added: list[tuple[int, Values]]) -> None:
        """Edit a list whose entries begin with dashes."""
        text = self.patch.text
        lines = layout.lines_of(text, self.entries)
        items = []
        for after, values in added:
            style, indent = style_of(text, self.entries[after]), column(text, lines[after].dash)
            is_apart = layout.has_empty_lines(text, lines, after)
            item = self.item(values, style, indent)
            items.append((after, line_break(text) + item if is_apart else item))
        colon = after_colon(text, key_of(self.root, self.name))
        layout.edit_lines(self.patch, lines, colon=colon, removed=removed, added=items)

    def flow_item(self, after: int, values: Values) -> str:
        """Return a new entry of a list in brackets, on a line of its own."""
        text, neighbour = self.patch.text, self.entries[after]
        style = replace(style_of(text, neighbour), in_flow=True)
        before = text[line_start(text, neighbour.at) : neighbour.at]
        indent = before if not before.strip() else " " * STEP
        return f"{line_break(text)}{indent}{style.flow_entry(self.ordered(values, style))}"

    def fill(self, entries: list[Values]) -> None:
        """Put the first entries into a list, or add the list."""
        text, root = self.patch.text, self.root
        indent = column(text, next(root.written_keys()).at)
        lines = [self.item(values, EntryStyle(), indent + STEP) for values in entries]
        end = content_end(text, root)
        if self.name in root:
            end = self.entries.end
            self.patch.cut(after_colon(text, key_of(root, self.name)), end)
        else:
            lines.insert(0, f"{' ' * indent}{self.name}:")
        separator = line_break(text)
        self.patch.insert(line_end(text, end), "".join(f"{separator}{line}" for line in lines))

    def item(self, values: Values, style: EntryStyle, indent: int) -> str:
        """Return the lines of a new entry, from its dash on."""
        values = self.ordered(values, style)
        dash = f"{' ' * indent}-{style.lead}"
        if style.in_flow:
            return f"{dash}{style.flow_entry(values)}"
        separator = line_break(self.patch.text)
        inner = column(dash, len(dash))
        lines = [
            style.block_field(key, value, indent=inner, separator=separator)
            for key, value in values.items()
        ]
        return dash + f"{separator}{' ' * inner}".join(lines)

    def ordered(self, values: Values, style: EntryStyle) -> Values:
        """Return the fields of a new entry in the order of its neighbour's."""
        names = [key for key in style.samples if key in values]
        for key in sorted(values.keys() - set(names), key=self.keys.index):
            before = fitting_key(key, names, self.keys)
            names.insert(names.index(before) + 1 if before else 0, key)
        return {name: values[name] for name in names}
