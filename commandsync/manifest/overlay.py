"""The imported file, and the entries of a manifest that are laid over its commands.

`read_imported` reads `NAME.imported.yaml` with the parser and the limits of a manifest. It is one
value: the first problem refuses it as a whole, since a part of it would look like deleted commands.

With `import:` the commands are the imported ones, each with the fields of the entry that means it,
then the other entries. An entry means the imported command of its name, and of its kind as far as
it shows one. Every rule here prevents one thing: that a command which left the code, or an entry
with a misspelt name, stays public unnoticed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from commandsync.diagnostics import Location
from commandsync.manifest.checks import (
    CommandDefaults,
    ValidationContext,
    uses_of_prefix,
    with_prefix,
)
from commandsync.manifest.keys import WRITE_AGAIN, CommandKeys, imported_values
from commandsync.manifest.nodes import Mapping as Table
from commandsync.manifest.nodes import Sequence as NodeList
from commandsync.manifest.nodes import parse
from commandsync.manifest.source import (
    Allowance,
    FileProblems,
    Origin,
    Problems,
    UnreadableError,
    closest,
    quoted,
    read_source,
)
from commandsync.records.rewrites import folded
from commandsync.records.snapshot import ImportedCommand, ImportedFile, Kind, Override
from commandsync.records.texts import Patterns

_FIELDS = ("description", "syntax", "category")
_NEEDED = _FIELDS[:2]
_CONFLICT = re.compile(r"^(<{7}|>{7})( |$)", re.MULTILINE)


class ImportedPart(NamedTuple):
    """An imported file that was read: its content, and the places of its entries."""

    report: FileProblems
    nodes: tuple[Table, ...]  # of its commands
    content: ImportedFile
    is_edited: bool  # whether somebody edited it by hand


def read_imported(path: str, origin: Origin, later: Problems) -> ImportedPart:
    """Read an imported file; raises `UnreadableError` with its first problem.

    What is wrong with its commands beside the manifest's is reported `later`.
    """
    problems = Problems()
    report = FileProblems(read_source(path, origin=origin, allowance=Allowance()), problems)
    if marks := _CONFLICT.search(report.source.text):
        at = report.source.location(marks.start())
        hint = "commandsync import solves it: it reads the code again, with both sides"
        raise UnreadableError(at, "the imported file has a merge conflict", hint)
    file = parse(report, Allowance())
    if problem := next(iter(problems.errors), None):
        raise UnreadableError(problem.location, problem.message, WRITE_AGAIN)
    root = file.root
    if not isinstance(root, Table) or "imported" not in root:
        message = "this is not a file that commandsync import writes"
        raise UnreadableError(Location(path), message, "move it away, and run commandsync import")
    context = ValidationContext(report.source.text, has_prefix=True, cut=[])
    values = imported_values(root, context)
    if values is None:
        from commandsync.manifest.validation import validated_import  # noqa: PLC0415 - loads pydantic

        values = validated_import(root, report, context)
    content = ImportedFile(values.commands, values.unread, values.gone)
    nodes = cast("tuple[Table, ...]", tuple(cast("NodeList", root["commands"])))
    later_report = FileProblems(report.source, later)
    return ImportedPart(later_report, nodes, content, values.digest != content.digest)


class ImportedEntry(NamedTuple):
    """An imported command, with its place in the imported file."""

    report: FileProblems
    node: Table
    command: ImportedCommand
    number: int  # of it in that file


class Own(NamedTuple):
    """An entry of a manifest, or of a file that it includes; or an imported command."""

    report: FileProblems
    node: Table
    model: CommandKeys
    imported: ImportedEntry | None = None  # that it means, or is

    @property
    def missing(self) -> list[str]:
        """The texts that it needs and does not have."""
        return [key for key in _NEEDED if not getattr(self.model, key, key)]

    def at(self, key: str) -> int:
        """Return where the value of a key is; where the entry is, if it does not have the key."""
        return self.node.get(key, self.node).at

    @property
    def place(self) -> Location:
        """Where it is."""
        return self.report.source.location(self.node.at)

    @property
    def pin(self) -> str:
        """The id at Discord that its entry has; the id of an imported object pins nothing."""
        is_entry = self.imported is None or self.node is not self.imported.node
        return self.model.pin if is_entry and "discord" in self.node else ""

    @property
    def object_node(self) -> tuple[FileProblems, Table] | None:
        """Where its object is: in the entry, or in the imported file; None without one."""
        for part in (self, self.imported):
            node = part.node.get("discord") if part else None
            if part and isinstance(node, Table) and {*node} - {"id"}:
                return part.report, node
        return None


@dataclass(frozen=True, slots=True)
class Overlay:
    """The commands of a manifest with `import:`, and how they came about."""

    entries: tuple[Own, ...]
    left_out: tuple[Own, ...] = ()  # imported commands that no public list shows
    overrides: tuple[Override, ...] = ()
    strays: tuple[tuple[str, Location], ...] = ()  # that meant an imported command once
    content: ImportedFile | None = None  # of the imported file
    paths: tuple[str, ...] = ()  # the imported file


def laid_over(
    own: Sequence[Own],
    imported: ImportedPart,
    defaults: CommandDefaults,
    *,
    prefix: str | None,
    order: Sequence[str],
    ignored: Patterns,
) -> Overlay:
    """Lay the entries of a manifest over the imported commands; report those that do not fit."""
    laying = _Laying(imported, defaults, prefix, {entry.model.name for entry in own})
    rest = [entry for entry in own if not laying.lay(entry)]
    for entry in rest:
        laying.check(entry)
    entries = [*laying.merged(ignored), *(entry for entry in rest if not entry.missing)]
    places = {name: place for place, name in reversed([*enumerate(order)])}
    entries.sort(key=lambda entry: places.get(entry.model.name, len(places)))
    commands = imported.content.commands
    return Overlay(
        tuple(entries),
        tuple(laying.own(n, None, {}) for n, command in enumerate(commands) if command.left_out),
        tuple(laying.overrides),
        tuple(laying.strays),
        imported.content,
        (imported.report.source.path,),
    )


@dataclass(slots=True)
class _Laying:
    imported: ImportedPart
    defaults: CommandDefaults
    prefix: str | None
    live: Collection[str]  # the names of the entries of the manifest
    meant: dict[int, Own] = field(default_factory=dict)  # by the numbers of imported commands
    overrides: list[Override] = field(default_factory=list)
    strays: list[tuple[str, Location]] = field(default_factory=list)
    by_name: dict[str, list[int]] = field(init=False)
    by_folded: dict[str, ImportedCommand] = field(init=False)
    by_syntax: dict[str, ImportedCommand] = field(init=False)
    lost: dict[str, str] = field(init=False)  # for messages: why a name is not imported

    def __post_init__(self) -> None:
        content = self.imported.content
        self.by_name = defaultdict(list)
        for index, command in enumerate(content.commands):
            if not command.left_out:
                self.by_name[command.name].append(index)
        self.by_folded = {folded(command.name): command for command in reversed(content.public)}
        self.by_syntax = {self._filled(each.syntax): each for each in reversed(content.public)}
        self.lost = dict.fromkeys(content.gone, "is not imported any more")
        for command in content.commands:
            for name in command.formerly:
                self.lost[name] = f"is {quoted(command.name)} in the code now"
            if command.left_out:
                self.lost[command.name] = f"is left out of the import ({command.left_out})"

    def _filled(self, syntax: str) -> str:
        return with_prefix(syntax, self.prefix or "")

    def lay(self, own: Own) -> bool:
        """Find the imported command that an entry means; False if it means none."""
        model = own.model
        shown, syntax = self._kind(model), self._filled(model.syntax)
        commands = self.imported.content.commands
        meant = [] if model.own else self.by_name.get(model.name, [])
        meant = [index for index in meant if shown in {None, commands[index].kind}]
        if len(meant) > 1:
            equal = [index for index in meant if self._filled(commands[index].syntax) == syntax]
            meant = equal or meant
        if not meant:
            return False
        name, (index, *more) = quoted(model.name), meant
        if more:
            known = " and ".join(f"{quoted(commands[n].syntax)}{_from(commands[n])}" for n in meant)
            message = f"{name} may mean each of {len(meant)} imported commands: {known}"
            own.report.error(own.node.at, message, "write the syntax of one of them")
        elif (first := self.meant.setdefault(index, own)) is not own:
            message = f"{name} is written twice (first at {first.place})"
            own.report.error(own.node.at, message, "keep one entry for each imported command")
        else:
            self.overrides.append(self._override(own, commands[index]))
        return True

    def _kind(self, model: CommandKeys) -> Kind | None:
        """Return how the command of an entry is called, as far as it shows that."""
        if model.object:
            return Kind.SLASH if model.object.get("type", 1) == 1 else Kind.MENU
        prefix, syntax = self.prefix or "{prefix}", model.syntax
        if not syntax or syntax == model.name:
            return None
        if prefix.startswith("/") and syntax.startswith(("/", "{prefix}")):
            return None  # it may be each of the two
        if syntax.startswith("/"):
            return Kind.SLASH
        is_prefixed = syntax.startswith(("{prefix}", prefix)) or re.match(r"[^\w\s<\[(]", syntax)
        return Kind.PREFIX if is_prefixed else None

    def _override(self, own: Own, command: ImportedCommand) -> Override:
        model, wins, repeated = own.model, {}, []
        for key in _FIELDS:
            if key not in own.node:
                continue
            theirs, ours = getattr(command, key), getattr(model, key) or ""
            if key == "syntax":
                theirs, ours = self._filled(theirs), self._filled(ours)
            elif key == "category":
                theirs = theirs or self.defaults.category
            if theirs == ours:
                repeated.append(key)
            else:
                wins[key] = (theirs, ours)
        adds = bool(model.id or model.discord or {*model.formerly} - {*command.formerly})
        return Override(model.name, own.place, wins, tuple(repeated), adds)

    def check(self, own: Own) -> None:
        """Report an entry of its own that is not complete, or that seems to mean another one."""
        model, at = own.model, own.node.at
        lost = self.lost.get(model.name, "")
        if missing := own.missing:
            near = closest(model.name, self.by_name)
            hint = "remove the entry, or complete it: it has no " + " and no ".join(missing)
            if not lost and near:
                hint = f"did you mean {near}?"
            own.report.error(at, f"{quoted(model.name)} {lost or 'is not imported'}", hint)
            return
        other = self.by_folded.get(folded(model.name)) or self.by_syntax.get(
            self._filled(model.syntax)
        )
        if other and not model.own:
            here = f"{quoted(model.name)} with the syntax {quoted(model.syntax)} is not imported"
            there = f"{quoted(other.name)} with {quoted(other.syntax)}{_from(other)} is"
            hint = "write both as they are imported, or own: true if this is another command"
            own.report.error(at, f"{here}, but {there}", hint)
        elif lost and not model.own:
            self.strays.append((model.name, own.place))
            message = f"{quoted(model.name)} {lost}, and this entry keeps it public"
            hint = "remove the entry, or write own: true if the command is to stay"
            own.report.warning(at, message, hint)

    def merged(self, ignored: Patterns) -> Iterator[Own]:
        """Yield the public imported commands, each with the fields of the entry that means it.

        An entry that means an ignored one keeps it.
        """
        for index, command in enumerate(self.imported.content.commands):
            own = self.meant.get(index)
            if command.left_out or (own is None and ignored.match(command.name)):
                continue
            if self.prefix is None and uses_of_prefix(command.syntax):
                name, at = quoted(command.name), self.imported.nodes[index].at
                message = f"{name} is called with {{prefix}}, and the manifest has none"
                hint = f"add prefix: to the manifest; or {WRITE_AGAIN}"
                self.imported.report.error(at, message, hint)
                continue
            values: dict[str, Any] = {}
            if own:
                values = {key: getattr(own.model, key) for key in own.node}
                if own.model.object is None and command.discord:
                    values["discord"] = {**command.discord, **(own.model.discord or {})}
            yield self.own(index, own, values)

    def own(self, index: int, entry: Own | None, values: dict[str, Any]) -> Own:
        """Return an imported command with the values of the entry that means it, if any."""
        content, nodes, report = self.imported.content, self.imported.nodes, self.imported.report
        command = content.commands[index]
        imported = ImportedEntry(report, nodes[index], command, index)
        whole: dict[str, Any] = {
            "name": command.name,
            "description": command.description,
            "syntax": command.syntax,
            "category": command.category or None,
            "formerly": tuple(name for name in command.formerly if name not in self.live),
            "discord": command.discord,
        }
        place = entry or imported
        return Own(place.report, place.node, CommandKeys(**whole | values), imported)


def _from(command: ImportedCommand) -> str:
    return f" ({command.source})" if command.source else ""
