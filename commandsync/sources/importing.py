"""The next imported file: a function of the readings of the sources, and of the file before.

The commands come from the sources, in their order. The file before adds three facts that the
sources cannot say. If a name is gone and an equal command is new, it was renamed (`formerly`). A
command stays (`kept`) where its file was not read completely, or may have moved: only a proof
removes it. A recorded object stays where no run is recorded now.

A part that is read may add to a command, and takes nothing from it. The result of an import is a
fixed point: with it as the file before, the next import returns it again.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from commandsync.diagnostics import Location, Notice
from commandsync.plan.matching import near_texts
from commandsync.records.snapshot import ImportedCommand, ImportedFile, ImportedPlace
from commandsync.records.texts import CommandText, Resource
from commandsync.sources.entry import NO_DESCRIPTION, PartlyRead, UnreadPart
from commandsync.sources.telegrammenu import NOT_IN_MENU

UNREGISTERED = "not registered by the recorded program"
"""Why a command of the code is left out that a whole recorded run did not register."""

_OPTION = re.compile(r"[<\[]([^<>\[\]=]+)")  # in a syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEvidence:
    """The evidence for commands that are not read; names of files are as in `from`."""

    partly: Sequence[tuple[str, PartlyRead]] = ()  # the marks, with the names of their files
    unread: Sequence[tuple[str, UnreadPart]] = ()
    sources: Collection[str] = ()  # the sources that were read, and are no files
    files: Collection[str] = ()  # the files that were searched
    content: Callable[[str], bytes] = lambda _file: b""  # reads one of them
    is_recorded: bool = False  # whether a run of the bot was recorded now
    digests: Callable[[str], str] = lambda _file: ""  # of a file; empty for none
    is_excluded: Callable[[ImportedCommand], bool] = lambda _command: False
    forgotten: Collection[str] = ()  # names that the user forgets


class Kept(NamedTuple):
    """A command, or a part of one, that the file before had, and the reason why it stays."""

    name: str
    reason: str
    place: Location | None = None


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The outcome of an import."""

    content: ImportedFile
    kept: tuple[Kept, ...] = ()
    notes: tuple[Notice, ...] = ()  # on renames that are not clear, and on recorded objects
    forgotten: frozenset[str] = frozenset()  # the names of commands that went, or would have stayed


def next_import(
    found: Iterable[ImportedCommand], before: ImportedFile, evidence: SourceEvidence
) -> ImportOutcome:
    """Return the imported file that follows one.

    Args:
        found: The commands of the sources, in their order, those that are left out included.
        before: The file before; an empty one for the first import.
        evidence: The evidence for commands that are not read.
    """
    now, old = [*found], before.commands
    past = _Past(before, evidence, full={command.source for command in now})
    pairs = _pairs(now, old)
    for index, number in pairs.items():
        now[index] = past.added_to(now[index], old[number])
    gone = sorted({*range(len(old))}.difference(pairs.values()))
    staying = {number: past.stayed(old[number]) for number in gone if past.keeps(old[number])}
    turned = _turned(now, pairs, [*staying.values()])
    new = [index for index in range(len(now)) if index not in pairs and index not in turned]
    fits = _fitting(new, [number for number in gone if number not in staying], now, old)
    past.notes += _rename(now, pairs, fits, old)
    commands = _in_order(now, pairs, turned, range(len(old)), staying)
    content = _file(commands, before, evidence)
    return ImportOutcome(content, tuple(past.kept), tuple(past.notes), frozenset(past.forgotten))


def _file(
    commands: Sequence[ImportedCommand], before: ImportedFile, evidence: SourceEvidence
) -> ImportedFile:
    """Return the file with commands; the name of one of them is neither former nor gone."""
    live = {command.name for command in commands}
    names = (*before.gone, *(command.name for command in before.commands))
    return ImportedFile(
        tuple(
            replace(command, formerly=tuple(name for name in command.formerly if name not in live))
            for command in commands
        ),
        tuple(
            dict.fromkeys(
                ImportedPlace(file, part.reason, part.name) for file, part in evidence.unread
            )
        ),
        tuple(name for name in dict.fromkeys(names) if name not in live),
    )


def _pairs(found: Sequence[ImportedCommand], old: Sequence[ImportedCommand]) -> dict[int, int]:
    """Pair the commands of both sides: by id, by name and syntax, by name and kind."""
    pairs: dict[int, int] = {}
    left = dict(enumerate(old))
    for key in (
        _identifier,
        lambda each: (*each.key, each.syntax),
        lambda each: each.key,
        lambda each: each.key[:2],  # of a menu whose type is not known on one side
    ):
        numbers = defaultdict(list)
        for number, command in reversed(left.items()):
            numbers[key(command)].append(number)
        for index, command in enumerate(found):
            if index not in pairs and key(command) and numbers.get(key(command)):
                pairs[index] = number = numbers[key(command)].pop()
                del left[number]
    return pairs


def _identifier(command: ImportedCommand) -> object:
    """Return Discord's id of a command, with the names below it; None without one."""
    identifier = (command.discord or {}).get("id")
    return (identifier, *command.name.split(" ")[1:]) if identifier else None


def _fitting(
    new: Sequence[int],
    gone: Sequence[int],
    found: Sequence[ImportedCommand],
    old: Sequence[ImportedCommand],
) -> list[tuple[int, int]]:
    """Return which new and old commands have equal texts, or near ones in the same file."""
    of_file: dict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    of_text: dict[object, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, indices, commands in ((0, new, found), (1, gone, old)):
        for index in indices:
            each = commands[index]
            of_file[each.source, each.kind, bool(each.left_out)][side].append(index)
            if each.description != NO_DESCRIPTION:
                kept = each.description, _syntax_with(each, "\0")  # by a rename
                of_text[kept, each.kind, bool(each.left_out)][side].append(index)
    pairs: set[tuple[int, int]] = set()
    for news, olds in of_text.values():
        # Of many equal commands no pair is the only one: two of each say so.
        pairs |= {(n, o) for n in news[:2] for o in olds[:2]}
    for news, olds in of_file.values():
        alike = near_texts(
            [_text(found[n]) for n in news],
            [_text(old[o]) for o in olds],
            usage=Resource.COMMAND.usage,
        )
        pairs |= {(news[n], olds[o]) for n, o, _ in alike}
    return sorted(pairs)


def _rename(
    found: list[ImportedCommand],
    pairs: dict[int, int],
    fits: Sequence[tuple[int, int]],
    old: Sequence[ImportedCommand],
) -> list[Notice]:
    """Rename where an old and a new command fit each other and no third one; note other fits."""
    notes = []
    by_new, by_old = Counter(index for index, _ in fits), Counter(number for _, number in fits)
    for index, number in fits:
        command, former = found[index], old[number]
        if by_new[index] == by_old[number] == 1:
            pairs[index] = number
            found[index] = replace(command, formerly=(*former.formerly, former.name))
        else:
            message = (
                f"{command.name!r} may be {former.name!r} under a new name, or another command"
            )
            hint = f"if it is, write an entry in the manifest: name: {command.name} with formerly:"
            notes.append(Notice(message, hint))
    return notes


def _syntax_with(command: ImportedCommand, name: str) -> str:
    """Return the syntax of a command with another name; a word in `{prefix}` is not the name."""
    sign = "{prefix}" if command.syntax.startswith("{prefix}") else ""
    return sign + command.syntax.removeprefix(sign).replace(command.name, name, 1)


def _text(command: ImportedCommand) -> CommandText:
    return CommandText(command.name, command.description, command.syntax, command.category)


def _turned(
    found: Sequence[ImportedCommand], pairs: Collection[int], staying: Collection[ImportedCommand]
) -> set[int]:
    """Return the commands that stay under their name, and are called in another way in the code."""
    return {
        index
        for index, each in enumerate(found)
        for command in staying
        if index not in pairs and (each.name, each.source) == (command.name, command.source)
        if each.kind != command.kind
    }


def _in_order(
    found: Sequence[ImportedCommand],
    pairs: Mapping[int, int],
    turned: Collection[int],
    numbers: Iterable[int],
    staying: Mapping[int, ImportedCommand],
) -> list[ImportedCommand]:
    """Return the commands in the order of the sources.

    A command that stays comes behind the command that it followed in the file before.
    """
    behind: dict[int, list[ImportedCommand]] = defaultdict(list)
    place_of = {number: index for index, number in pairs.items()}
    last = -1
    for number in numbers:
        if number in staying:
            behind[last].append(staying[number])
        else:
            last = place_of.get(number, last)
    commands = [*behind[-1]]
    for index in range(len(found)):
        commands += [] if index in turned else [found[index]]
        commands += behind.get(index, ())
    return commands


@dataclass(slots=True)
class _Past:
    """The file before: its facts stay unless the sources prove that they are gone."""

    before: ImportedFile
    evidence: SourceEvidence
    full: set[str]  # the files with commands that are read
    kept: list[Kept] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)
    _texts: dict[str, bytes] = field(default_factory=dict)
    _of_name: dict[str, PartlyRead] = field(default_factory=dict)
    _of_file: dict[str, PartlyRead] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for file, mark in self.evidence.partly:
            if mark.name:
                self._of_name.setdefault(mark.name, mark)
            else:
                self._of_file.setdefault(file, mark)
        self._known = {command.source for command in self.before.commands}

    def added_to(self, now: ImportedCommand, before: ImportedCommand) -> ImportedCommand:
        """Return a command with the facts that the file before adds."""
        formerly = before.formerly if now.name == before.name else (*before.formerly, before.name)
        now = replace(now, formerly=formerly)
        if before.left_out == UNREGISTERED and not (now.left_out or self.evidence.is_recorded):
            now = replace(now, left_out=UNREGISTERED)
        if now.recorded or (self.evidence.is_recorded and before.recorded):
            return now
        if before.recorded:
            return self._as_recorded(now, before)
        if mark := self._mark_of(now):
            return self._at_least(now, before, mark)
        if mark := self._of_file.get(before.source):
            whole = self._at_least(now, before, mark)
            # The next import has to see again that this comes from a file that is partly read.
            return replace(whole, source=before.source) if whole.kept else whole
        return now

    def _as_recorded(self, now: ImportedCommand, before: ImportedCommand) -> ImportedCommand:
        """Return a command of the code with the object that was recorded before."""
        if before.digest and before.digest != self.evidence.digests(now.source):
            message = f"{now.source} has changed since {now.name!r} was recorded"
            self.notes.append(Notice(message, "record the bot's program again"))
        return replace(
            now,
            description=before.description,
            syntax=before.syntax,
            recorded=True,
            digest=before.digest,
            discord=before.discord,
        )

    def _at_least(
        self, now: ImportedCommand, before: ImportedCommand, mark: PartlyRead
    ) -> ImportedCommand:
        """Return a command that is partly read with nothing less than it had before."""
        whole = now
        if before.left_out == NOT_IN_MENU and not now.left_out:
            whole = replace(whole, left_out=NOT_IN_MENU)
        if now.description == NO_DESCRIPTION:
            whole = replace(whole, description=before.description)
        if now.category == "":
            whole = replace(whole, category=before.category)
        lost = {*_OPTION.findall(before.syntax)} - {*_OPTION.findall(now.syntax)}
        if lost or (before.discord and not now.discord):
            syntax = _syntax_with(before, now.name)
            whole = replace(whole, syntax=syntax, discord=before.discord)
        if whole == now:
            return now
        if now.name in self.evidence.forgotten:
            self.forgotten.add(now.name)
            return now
        self.kept.append(Kept(now.name, mark.reason, mark.place))
        return replace(whole, kept=True)

    def _mark_of(self, command: ImportedCommand) -> PartlyRead | None:
        """Return why a command is partly read; None if it is not."""
        return self._of_name.get(command.name) or self._of_file.get(command.source)

    def keeps(self, command: ImportedCommand) -> bool:
        """Whether a command that is not found stays: unless something proves that it is gone."""
        if command.name in self.evidence.forgotten:
            self.forgotten.add(command.name)
            return False
        if self.evidence.is_excluded(command):
            return False
        kept = self._kept(command)
        self.kept += [kept] if kept and kept.reason else []
        return kept is not None

    def stayed(self, command: ImportedCommand) -> ImportedCommand:
        """Return a command that stays: marked as kept, unless only a run of the bot can tell."""
        is_known = command.recorded and not self.evidence.is_recorded
        return command if is_known else replace(command, kept=True)

    def _kept(self, command: ImportedCommand) -> Kept | None:
        """Return why a command stays that is not found; None if it is gone.

        The reason is empty if it was recorded, and nothing is recorded now.
        """
        name, source = command.name, command.source
        own = name.rpartition(" ")[2]
        for _, part in self.evidence.unread:
            if part.name in {name, own}:
                return Kept(
                    name, f"the code that may declare it is not read: {part.reason}", part.place
                )
        if mark := self._mark_of(command):
            return Kept(name, mark.reason, mark.place)
        if source in self.evidence.files or source in self.evidence.sources:
            return self._split(command, own) or self._unnamed(command)
        if command.recorded and not self.evidence.is_recorded:
            return Kept(name, "")
        return self._moved(command, own) or self._unnamed(command)

    def _unnamed(self, command: ImportedCommand) -> Kept | None:
        """Return why a command stays that a place may declare whose name is not known.

        A place that was there before, when the command was read, is another one's. A command that a
        whole run of the bot registered before, and does not now, is gone.
        """
        if command.recorded and self.evidence.is_recorded:
            return None
        for file, part in self.evidence.unread:
            is_new = ImportedPlace(file, part.reason, part.name) not in self.before.unread
            if part.is_open and (is_new or command.kept):
                reason = f"the code that may declare it is not read: {part.reason}"
                return Kept(command.name, reason, part.place)
        return None

    def _split(self, command: ImportedCommand, own: str) -> Kept | None:
        """Return why a command may have left its file for another one, which is partly read."""
        unread = dict(reversed(self.evidence.unread))
        for file in self.evidence.files:
            mark = self._of_file.get(file)
            is_new = file not in self._known or command.kept
            part = unread.get(file) or (mark if is_new else None)
            if part and file != command.source and self._contains(file, own):
                reason = f"{file} mentions it, and is not read completely: {part.reason}"
                return Kept(command.name, reason, part.place)
        return None

    def _moved(self, command: ImportedCommand, own: str) -> Kept | None:
        """Return why a command of a file that is gone may be in another one.

        A new file is known at the next import: commands that stayed because of it stay.
        """
        for file in self.evidence.files:
            mark = self._of_file.get(file)
            if (file not in self._known or mark or command.kept) and self._contains(file, own):
                reason = f"{command.source} is gone, and {file} mentions the command"
                return Kept(command.name, reason, mark and mark.place)
            if mark and self._names(file, PurePosixPath(command.source)):
                return Kept(command.name, f"{command.source} is gone: {mark.reason}", mark.place)
        return self._anywhere(command) if command.kept else None

    def _anywhere(self, command: ImportedCommand) -> Kept | None:
        """Return why a command that was kept stays: a file without commands may declare it."""
        marks = (mark for file, mark in self._of_file.items() if file not in self.full)
        mark = next(marks, None)
        return mark and Kept(command.name, f"{command.source} is gone: {mark.reason}", mark.place)

    def _names(self, file: str, gone: PurePosixPath) -> bool:
        """Whether a file that is partly read has the name of a removed file, or imports it."""
        if PurePosixPath(file).name == gone.name:
            return True
        module = gone.parent.name if gone.stem in {"index", "__init__"} else gone.stem
        pattern = rb"\b(import|from|require)\b.*\b" + re.escape(module.encode()) + rb"\b"
        return re.search(pattern, self._content(file)) is not None

    def _contains(self, file: str, name: str) -> bool:
        """Whether a file contains a name as a literal, as a function, or has it itself."""
        if PurePosixPath(file).stem == name:
            return True
        word = re.escape(name.encode())
        pattern = rb"[\"'`]" + word + rb"[\"'`]|\bdef\s+" + word + rb"\b"
        return re.search(pattern, self._content(file)) is not None

    def _content(self, file: str) -> bytes:
        if file not in self._texts:
            self._texts[file] = self.evidence.content(file)
        return self._texts[file]
