"""The next imported file: a function of the readings of the sources, and of the file before.

The commands come from the sources, in their order. The file before adds three facts that the
sources cannot say. If a name is gone and an equal command is new, it was renamed (`formerly`). A
command stays (`kept`) where its file was not read completely, or may have moved: only a proof
removes it. A recorded object stays where no run is recorded now.

A part that is read may add to a command, and takes nothing from it. The
result of an import is a fixed point: with it as the file before, the next import returns it again.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from commandsync.diagnostics import Location, Notice
from commandsync.plan.matching import near_texts
from commandsync.records.imported import ImportedCommand, ImportedFile, ImportedPlace
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
    now = [*found]
    proof = _Proof(before, evidence, full={command.source for command in now})
    step = _Step(now, before, evidence, proof)
    step.pair()
    for number in step.gone:
        step.keep(number)
    step.find_renames()
    commands = step.in_order()
    live = {command.name for command in commands}
    commands = [
        replace(command, formerly=tuple(name for name in command.formerly if name not in live))
        for command in commands
    ]
    names = (*before.gone, *(command.name for command in before.commands))
    gone = tuple(name for name in dict.fromkeys(names) if name not in live)
    places = dict.fromkeys(
        ImportedPlace(file, part.reason, part.name) for file, part in evidence.unread
    )
    content = ImportedFile(tuple(commands), tuple(places), gone)
    return ImportOutcome(content, tuple(step.kept), tuple(step.notes), frozenset(step.forgotten))


@dataclass(slots=True)
class _Step:
    found: list[ImportedCommand]
    before: ImportedFile
    evidence: SourceEvidence
    proof: "_Proof"
    pairs: dict[int, int] = field(default_factory=dict)  # the one before of each that is found
    gone: list[int] = field(default_factory=list)  # of before, that are not found
    staying: set[int] = field(default_factory=set)  # of those, the ones that stay
    kept: list[Kept] = field(default_factory=list)
    notes: list[Notice] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)

    def pair(self) -> None:
        """Pair the commands of both sides: by id, by name and syntax, by name and kind."""
        left = dict(enumerate(self.before.commands))
        for key in (
            _identifier,
            lambda each: (*each.key, each.syntax),
            lambda each: each.key,
            lambda each: each.key[:2],  # of a menu whose type is not known on one side
        ):
            numbers = defaultdict(list)
            for number, command in reversed(left.items()):
                numbers[key(command)].append(number)
            for index, command in enumerate(self.found):
                if index not in self.pairs and key(command) and numbers.get(key(command)):
                    self.pairs[index] = number = numbers[key(command)].pop()
                    del left[number]
        self.gone = list(left)
        for index, number in self.pairs.items():
            self.found[index] = self._with_before(self.found[index], self.before.commands[number])

    def _with_before(self, now: ImportedCommand, before: ImportedCommand) -> ImportedCommand:
        """Return a command with the facts that the file before adds."""
        formerly = before.formerly
        if now.name != before.name:
            formerly = (*formerly, before.name)
        now = replace(now, formerly=formerly)
        if before.left_out == UNREGISTERED and not (now.left_out or self.evidence.is_recorded):
            now = replace(now, left_out=UNREGISTERED)
        if now.recorded or (self.evidence.is_recorded and before.recorded):
            return now
        if before.recorded:
            return self._as_recorded(now, before)
        mark = self.proof.mark_of(now) or self.proof.mark_of(before)
        return self._at_least(now, before, mark) if mark else now

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
        if not _options(before) <= _options(now) or (before.discord and not now.discord):
            whole = replace(whole, syntax=before.syntax, discord=before.discord)
        if whole == now:
            return now
        if now.name in self.evidence.forgotten:
            self.forgotten.add(now.name)
            return now
        self.kept.append(Kept(now.name, mark.reason, mark.place))
        return replace(whole, kept=True)

    def keep(self, number: int) -> None:
        """Keep a command that is not found, unless something proves that it is gone."""
        command = self.before.commands[number]
        if command.name in self.evidence.forgotten:
            self.forgotten.add(command.name)
            return
        if self.evidence.is_excluded(command):
            return
        kept = self.proof.kept(command)
        if kept is None:
            return
        self.staying.add(number)
        self.kept += [kept] if kept.reason else []
        same = (n for n, each in enumerate(self.found) if n not in self.pairs)
        for index in [n for n in same if self._is_turned(self.found[n], command)]:
            self.pairs[index] = -1  # it is the same command, which is called in another way now

    def _is_turned(self, now: ImportedCommand, before: ImportedCommand) -> bool:
        return (now.name, now.source) == (before.name, before.source) and now.kind != before.kind

    def find_renames(self) -> None:
        """Find the renames: where an old and a new command fit each other and no third one."""
        new = [index for index in range(len(self.found)) if index not in self.pairs]
        old = [number for number in self.gone if number not in self.staying]
        fits = list(self._fitting(new, old))
        by_new, by_old = Counter(n for n, _ in fits), Counter(o for _, o in fits)
        for index, number in fits:
            now, before = self.found[index], self.before.commands[number]
            if by_new[index] == by_old[number] == 1:
                self.pairs[index] = number
                self.found[index] = replace(now, formerly=(*before.formerly, before.name))
            else:
                message = (
                    f"{now.name!r} may be {before.name!r} under a new name, or another command"
                )
                hint = f"if it is, write an entry in the manifest: name: {now.name} with formerly:"
                self.notes.append(Notice(message, hint))

    def _fitting(self, new: Sequence[int], old: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield which new and old commands have equal texts, or near ones in the same file."""
        of_file: dict[object, tuple[list[int], list[int]]] = {}
        of_text: dict[object, tuple[list[int], list[int]]] = {}
        for side, indices, commands in ((0, new, self.found), (1, old, self.before.commands)):
            for index in indices:
                each = commands[index]
                near = (each.source, each.kind, bool(each.left_out))
                of_file.setdefault(near, ([], []))[side].append(index)
                if each.description != NO_DESCRIPTION:
                    equal = (_nameless(each), each.kind, bool(each.left_out))
                    of_text.setdefault(equal, ([], []))[side].append(index)
        pairs: set[tuple[int, int]] = set()
        for news, olds in of_text.values():
            # Of many equal commands no pair is the only one: two of each say so.
            pairs |= {(n, o) for n in news[:2] for o in olds[:2]}
        for news, olds in of_file.values():
            texts = [_text(self.found[n]) for n in news]
            others = [_text(self.before.commands[o]) for o in olds]
            alike = near_texts(texts, others, usage=Resource.COMMAND.usage)
            pairs |= {(news[n], olds[o]) for n, o, _ in alike}
        yield from sorted(pairs)

    def in_order(self) -> list[ImportedCommand]:
        """Return the commands in the order of the sources.

        A command that stays comes behind the command that it followed in the file before.
        """
        order = [n for n in range(len(self.found)) if self.pairs.get(n) != -1]
        behind: dict[int, list[ImportedCommand]] = {}
        place_of = {number: index for index, number in self.pairs.items()}
        last = -1
        for number, command in enumerate(self.before.commands):
            if number in self.staying:
                behind.setdefault(last, []).append(self._staying(command))
            else:
                last = place_of.get(number, last)
        commands = behind.get(-1, [])
        for index in order:
            commands += [self.found[index], *behind.get(index, ())]
        return commands

    def _staying(self, command: ImportedCommand) -> ImportedCommand:
        is_known = command.recorded and not self.evidence.is_recorded
        return command if is_known else replace(command, kept=True)


@dataclass(slots=True)
class _Proof:
    """The evidence of the sources for commands that are not in them."""

    before: ImportedFile
    evidence: SourceEvidence
    texts: dict[str, bytes] = field(default_factory=dict)
    of_name: dict[str, PartlyRead] = field(default_factory=dict)
    of_file: dict[str, PartlyRead] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    full: set[str] = field(default_factory=set)  # the files with commands that are read

    def __post_init__(self) -> None:
        for file, mark in self.evidence.partly:
            if mark.name:
                self.of_name.setdefault(mark.name, mark)
            else:
                self.of_file.setdefault(file, mark)
        self.known = {command.source for command in self.before.commands}

    def mark_of(self, command: ImportedCommand) -> PartlyRead | None:
        """Return why a command is partly read; None if it is not."""
        return self.of_name.get(command.name) or self.of_file.get(command.source)

    def kept(self, command: ImportedCommand) -> Kept | None:
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
        if mark := self.mark_of(command):
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
            mark = self.of_file.get(file)
            is_new = file not in self.known or command.kept
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
            mark = self.of_file.get(file)
            if (file not in self.known or mark or command.kept) and self._contains(file, own):
                reason = f"{command.source} is gone, and {file} mentions the command"
                return Kept(command.name, reason, mark and mark.place)
            if mark and self._names(file, PurePosixPath(command.source)):
                return Kept(command.name, f"{command.source} is gone: {mark.reason}", mark.place)
        return self._anywhere(command) if command.kept else None

    def _anywhere(self, command: ImportedCommand) -> Kept | None:
        """Return why a command that was kept stays: a file without commands may declare it."""
        marks = (mark for file, mark in self.of_file.items() if file not in self.full)
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
        if file not in self.texts:
            self.texts[file] = self.evidence.content(file)
        return self.texts[file]


def _identifier(command: ImportedCommand) -> object:
    """Return Discord's id of a command, with the names below it; None without one."""
    identifier = (command.discord or {}).get("id")
    return (identifier, *command.name.split(" ")[1:]) if identifier else None


def _options(command: ImportedCommand) -> frozenset[str]:
    return frozenset(_OPTION.findall(command.syntax))


def _text(command: ImportedCommand) -> CommandText:
    return CommandText(command.name, command.description, command.syntax, command.category)


def _nameless(command: ImportedCommand) -> tuple[str, str]:
    """Return the texts that a renamed command keeps."""
    return command.description, command.syntax.replace(command.name, "\0", 1)


class ImportDifference(NamedTuple):
    """A difference between two imported files: None for the side that does not have the command."""

    before: ImportedCommand | None
    after: ImportedCommand | None

    @property
    def is_shown(self) -> bool:
        """Whether more differs than the marks of how the command was imported."""
        if not (self.before and self.after):
            return True
        old, new = (replace(each, kept=False, recorded=False, digest="") for each in self if each)
        return old != new


def differences(before: ImportedFile, after: ImportedFile) -> list[ImportDifference]:
    """Return the differences of two imported files, in the order of the second, removals last."""
    left = dict.fromkeys(before.commands)  # in their order
    pairs: dict[int, ImportedCommand] = {}
    keys: tuple[tuple[_Keys, _Keys], ...] = (
        (_by_syntax, _by_syntax),
        (_by_key, _by_key),
        (lambda each: [each.name], lambda each: each.formerly),
    )
    for old_keys, new_keys in keys:
        known = {key: command for command in reversed(left) for key in old_keys(command)}
        for index, command in enumerate(after.commands):
            found = (known.pop(key, None) for key in new_keys(command) if index not in pairs)
            if old := next(filter(None, found), None):
                pairs[index] = old
                del left[old]
    changed = (ImportDifference(pairs.get(n), command) for n, command in enumerate(after.commands))
    return [
        *(each for each in changed if each.before != each.after),
        *(ImportDifference(command, None) for command in left),
    ]


_Keys: TypeAlias = Callable[[ImportedCommand], Iterable[object]]


def _by_syntax(command: ImportedCommand) -> Iterable[object]:
    return [(*command.key, command.syntax)]


def _by_key(command: ImportedCommand) -> Iterable[object]:
    return [command.key]
