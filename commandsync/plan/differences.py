"""Differences that no plan has: in the commands of two manifests, and in names at several places.

`user_changes` finds the changes between two manifests that users of a bot notice: commands gone,
changed and new. It matches the commands as for a plan, and compares the two texts of each: which
fields differ, whether it is called differently, and whether the text that users typed after its
name still works. For that, the parts of both usages, words and arguments, are compared place by
place. Announcements are left out: they speak for themselves.

`parity` compares the names that a bot serves, its manifest's names, and listed names, and no texts.
They are folded, and a listed one may be cut.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice, zip_longest
from typing import NamedTuple

from commandsync.diagnostics import Notice
from commandsync.plan.changes import FieldChange, all_field_changes
from commandsync.plan.comparison import in_quotes
from commandsync.plan.matching import match, most_alike, pinned_by_both, starts_of
from commandsync.records.losses import MOST_NAMED
from commandsync.records.rewrites import folded, folded_start
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource, named

_ANY_ID = "-"
_CLOSING = {"<": ">", "[": "]"}
_WORD = re.compile(r"[\w|/-]*\w[\w|/-]*")  # all else outside of brackets is punctuation
_MOST_PARTS = 100  # that are compared: nobody types more
_LONGEST_LEAD = 40  # characters before the name: a prefix, and the names of groups


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in the outermost brackets of a syntax: `<required>` or `[optional]`."""

    text: str
    required: bool  # whether the brackets are `<>`

    def __str__(self) -> str:
        return f"<{self.text}>" if self.required else f"[{self.text}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCommand:
    """A command with another text than before."""

    before: CommandText
    after: CommandText
    fields: tuple[FieldChange, ...]
    # The text before the name, then and now (`!` and `/`); None if equal or not known.
    leads: tuple[str, str] | None = None
    needs: tuple[Argument, ...] = ()  # the arguments that users have to give now
    accepts_less: bool = False  # whether something that users could type after the name fails now

    @property
    def renamed(self) -> bool:
        """Whether users call it differently."""
        return self.leads is not None or self.differs("name")

    @property
    def breaking(self) -> bool:
        """Whether anything that users typed no longer works as it did."""
        return self.renamed or bool(self.needs) or self.accepts_less

    def differs(self, field: str) -> bool:
        """Whether a field is different."""
        return any(change.field == field for change in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChanges:
    """The changes that users notice, each in the order of the manifest that has it."""

    gone: tuple[CommandText, ...] = ()  # the commands that only the old manifest has: breaking
    changed: tuple[ChangedCommand, ...] = ()  # the commands with another text
    new: tuple[CommandText, ...] = ()  # the commands that only the new manifest has
    notices: tuple[Notice, ...] = ()  # to be checked before the changes are published
    since: str = ""  # the earlier manifest: a file, or a revision of git
    manifest: tuple[str, ...] = ()  # the files of the later manifest

    @property
    def count(self) -> int:
        """How many commands have a change."""
        return len(self.gone) + len(self.changed) + len(self.new)

    @property
    def breaking(self) -> int:
        """How many of the changes are breaking."""
        return len(self.gone) + sum(command.breaking for command in self.changed)


def user_changes(*, old: Snapshot, new: Snapshot) -> UserChanges:
    """Compare the commands of two manifests.

    There are no changes if one of the two does not manage commands: nothing is known about its
    commands then. The pins and former names of the new one count.
    """
    before, after = (side.collections.get(Resource.COMMAND) for side in (old, new))
    if before is None or after is None:
        return UserChanges()
    wanted = pinned_by_both(after, before)
    # One without an id could not be matched by its name.
    listed = [replace(entry, id=entry.id or _ANY_ID) for entry in before]
    matching = match(wanted, listed)
    added = [wanted[n] for n in matching.wanted]
    gone = [listed[n] for n in matching.listed]
    texts = ((_command(listed[o]), _command(wanted[w])) for w, o in matching.pairs.items())
    changed = [(was, now) for was, now in texts if was != now]
    return UserChanges(
        gone=tuple(map(_command, gone)),
        changed=tuple(
            _changed(was, now, fields)
            for (was, now), fields in zip(changed, all_field_changes(changed), strict=True)
        ),
        new=tuple(map(_command, added)),
        notices=tuple(_undeclared(added, gone)),
    )


def _changed(
    before: CommandText, after: CommandText, fields: tuple[FieldChange, ...]
) -> ChangedCommand:
    if (before.name, before.syntax) == (after.name, after.syntax):  # it is called as before
        return ChangedCommand(before=before, after=after, fields=fields)
    leads = lead_of(before), lead_of(after)
    needs, fails = _compared(before, after)
    return ChangedCommand(
        before=before,
        after=after,
        fields=fields,
        leads=leads if all(leads) and leads[0] != leads[1] else None,
        needs=needs,
        accepts_less=fails,
    )


def _undeclared(added: Sequence[Entry], gone: Sequence[Entry]) -> Iterator[Notice]:
    """Yield the new commands that are probably old ones under a new name."""
    texts = [entry.text for entry in added], [entry.text for entry in gone]
    for a, g in most_alike(*texts, usage=Resource.COMMAND.usage):
        message = f"{added[a].name!r} looks like {gone[g].name!r} under a new name"
        line = f"formerly: [{in_quotes(gone[g].name)}]"
        hint = f"if it is a rename, write below its name:  {line}"
        yield Notice(message, hint, added[a].location)


def _command(entry: Entry) -> CommandText:
    return entry.text  # type: ignore[return-value]  # as all of the collection


def call_of(command: CommandText) -> str:
    """Return the call up to the name, such as `/config set`; the name if it is not known.

    It is the beginning of the syntax up to the first place where the name is a word of its own.
    """
    line = command.syntax.partition("\n")[0]
    literal = min(line.partition(bracket)[0] for bracket in _CLOSING)  # up to the first argument
    at = literal.find(command.name)
    while 0 <= at <= _LONGEST_LEAD:
        end = at + len(command.name)
        if not any(map(str.isalnum, literal[:at][-1:] + literal[end : end + 1])):
            return literal[:end]
        at = literal.find(command.name, end)
    return command.name


def lead_of(command: CommandText) -> str:
    """Return the text before the name, such as `/`; empty if the syntax does not show it."""
    return call_of(command).removesuffix(command.name)


def arguments(syntax: str) -> list[Argument]:
    """Return the arguments of a syntax, in their order; brackets that are not closed are text."""
    return [argument for _, argument, _ in _spans(syntax)]


class _Part(NamedTuple):
    """A part of a usage, which users type at one place: a word, or an argument."""

    choices: frozenset[str]  # the words, or the choices; an argument without them has its name
    argument: Argument | None = None  # None for a word

    @property
    def required(self) -> bool:
        """Whether something has to be typed there."""
        return self.argument is None or self.argument.required


def _compared(old: CommandText, new: CommandText) -> tuple[tuple[Argument, ...], bool]:
    """Return the arguments that users have to give now, and whether anything else fails now."""
    before, after = list(_parts(old)), list(_parts(new))
    places = list(_places(before, after))
    gone = {was.choices for was, now in places if was and not now}
    known = frozenset(choice for part in before for choice in part.choices)
    needs = tuple(
        now.argument
        for was, now in places
        if now and now.argument and _is_needed_now(was, now, gone)
    )
    return needs, any(_fails(was, now, known) for was, now in places)


def _is_needed_now(was: _Part | None, now: _Part, gone: Collection[frozenset[str]]) -> bool:
    """Whether a part has to be typed that did not have to be; `gone` are the old parts' choices."""
    return now.required and not (was.required if was else now.choices in gone)


def _places(
    before: Sequence[_Part], after: Sequence[_Part]
) -> Iterator[tuple[_Part | None, _Part | None]]:
    """Yield the old and the new part of each place: equal ones, else those that replace others.

    Where there are more parts than before, optional ones are the new ones.
    """
    old, new = ([part.choices for part in parts] for parts in (before, after))
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        optional = [part for part in after[c:d] if not part.required]
        added = optional[: max(0, (d - c) - (b - a))]
        replacing = [part for part in after[c:d] if part not in added]
        yield from ((None, part) for part in added)
        yield from zip_longest(before[a:b], replacing)


def _fails(was: _Part | None, now: _Part | None, known: frozenset[str]) -> bool:
    """Whether something that users typed at a place fails there, or another word is typed.

    An argument without choices that the old usage does not have (`known`) may be anything.
    """
    if was is None or now is None:
        return was is not None or (now is not None and now.argument is None)
    if now.argument is None:
        return was.argument is not None or not was.choices <= now.choices
    is_new = len(now.choices) == 1 and known.isdisjoint(now.choices)
    return not (is_new or was.choices <= now.choices)


def _parts(command: CommandText) -> Iterator[_Part]:
    """Yield the parts of a usage after the name, by the first line of the syntax."""
    line = command.syntax.partition("\n")[0].removeprefix(call_of(command))
    parts: list[_Part] = []
    end = 0
    for start, argument, after in [*_spans(line), (len(line), None, len(line))]:
        words = filter(_WORD.fullmatch, line[end:start].split())
        parts += [_Part(_choices(word)) for word in words]
        if argument is not None:
            parts.append(_Part(_choices(argument.text), argument))
        end = after
    return islice(parts, _MOST_PARTS)


def _choices(text: str) -> frozenset[str]:
    parts = (part.strip().rstrip(".… ").casefold() for part in re.split("[|/]", text))
    return frozenset(filter(None, parts)) or frozenset({text})


def _spans(syntax: str) -> Iterator[tuple[int, Argument, int]]:
    """Yield the arguments in the outermost brackets, each with its beginning and its end."""
    opened: list[tuple[str, int]] = []  # the closing bracket of each, and where its text begins
    for at, sign in enumerate(syntax):
        if sign in _CLOSING:
            opened.append((_CLOSING[sign], at + 1))
        elif opened and sign == opened[-1][0]:
            _, start = opened.pop()
            if not opened:
                yield start - 1, Argument(syntax[start:at].strip(), sign == ">"), at + 1


class Cell(StrEnum):
    """Whether a place has a command."""

    YES = "yes"
    NO = "no"
    NOT_MEANT = "not meant"  # the place cannot show it, or is not to have it
    NOT_READ = "not read"
    UNREADABLE = "cannot be read"


class Discrepancy(StrEnum):
    """How the places of a command differ."""

    NOT_SERVED = "not served"  # no place that serves commands has it
    NOT_LISTED = "not listed"  # the manifest or a listing does not have it
    GONE = "gone"  # only listings have it


@dataclass(frozen=True, slots=True)
class NamePlace:
    """Where commands are named."""

    name: str
    names: Sequence[str] = ()  # of its commands, as it has them
    not_meant: frozenset[str] = frozenset()  # the keys of names that it is not to have
    others: Cell = Cell.NO  # the cell of all other names
    unread: str = ""  # why it was not read, or not in full
    failed: bool = False  # whether that is a failure


@dataclass(frozen=True, slots=True)
class ParityRow:
    """One command, and the cells of each place."""

    name: str
    cells: tuple[Cell, ...]
    differences: tuple[Discrepancy, ...]


@dataclass(frozen=True, slots=True)
class Parity:
    """The commands of a manifest, by its path, and of the other places."""

    manifest: str
    places: tuple[NamePlace, ...]
    rows: tuple[ParityRow, ...]

    @property
    def differing(self) -> tuple[ParityRow, ...]:
        """The commands that differ."""
        return tuple(row for row in self.rows if row.differences)

    def sentence(self, shown: Callable[[str], str] = str) -> str:
        """Return how many commands differ and the first names, each as it is `shown`."""
        parts = []
        for kind in Discrepancy:
            names = [shown(row.name) for row in self.rows if kind in row.differences]
            if names:
                parts.append(f"{len(names):,} {kind} ({named(names, most=MOST_NAMED)})")
        differing = f"{len(self.differing):,} of {len(self.rows):,} commands differ"
        return f"{differing}: {', '.join(parts)}" if parts else f"{differing} in what was read"


def key_of(name: str) -> str:
    """Return the key that the names of one command share; a leading `/` is not part of it."""
    return folded(name.removeprefix("/")) or folded(name)


def parity(
    manifest: str, own: NamePlace, *, served: Sequence[NamePlace], listed: Sequence[NamePlace] = ()
) -> Parity:
    """Compare the served names, the `own` ones of a manifest, and the listed ones."""
    names: dict[str, str] = {}
    own_keys = _keys(own, names)
    places = [
        *((place, _keys(place, names)) for place in served),
        (own, own_keys),
        *((place, _keys(place, names, may_cut=True)) for place in listed),
    ]
    rows = []
    for key, name in names.items():
        cells = tuple(_cell(key, place, keys) for place, keys in places)
        if Cell.YES in cells:
            first, others = cells[: len(served)], cells[len(served) :]
            if Cell.NO in cells and Cell.YES not in (*first, others[0]):  # only listings have it
                differences: tuple[Discrepancy, ...] = (Discrepancy.GONE,)
            else:
                sides = {Discrepancy.NOT_SERVED: first, Discrepancy.NOT_LISTED: others}
                differences = tuple(kind for kind, side in sides.items() if Cell.NO in side)
            rows.append(ParityRow(name, cells, differences))
    return Parity(manifest, tuple(place for place, _ in places), tuple(rows))


def _keys(place: NamePlace, names: dict[str, str], *, may_cut: bool = False) -> Collection[str]:
    """Return the keys of a place's commands, and enter the new names.

    A place that `may_cut` names may list the beginning of a name that is known.
    """
    own = {key_of(name): name for name in place.names}
    cut: dict[str, str] = {}  # the known keys that begin with a listed name, and its key
    if may_cut:
        starts = {folded_start(name): key for key, name in own.items() if key not in names}
        cuts = starts_of(names.keys() - own.keys(), starts)
        cut = {whole: starts[found[0]] for whole, found in cuts if found}
    whole = own.keys() - cut.values()
    new = whole - names.keys()
    names |= {key: name for key, name in own.items() if key in new}
    return whole | cut.keys()


def _cell(key: str, place: NamePlace, own: Collection[str]) -> Cell:
    if key in place.not_meant and place.others is Cell.NO:
        return Cell.NOT_MEANT
    return Cell.YES if key in own else place.others
