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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    content = imported.content
    meant, rest = _meanings(own, content.commands, prefix)
    overrides = [
        _override(entry, content.commands[number], defaults, prefix or "")
        for number, entry in meant.items()
    ]
    strays = [*_strays(rest, content, prefix or "")]
    live = {entry.model.name for entry in own}
    entries = [*_merged(imported, meant, ignored, live, prefix)]
    entries += (entry for entry in rest if not entry.missing)
    places = {name: place for place, name in reversed([*enumerate(order)])}
    entries.sort(key=lambda entry: places.get(entry.model.name, len(places)))
    left_out = (number for number, command in enumerate(content.commands) if command.left_out)
    return Overlay(
        tuple(entries),
        tuple(_whole(imported, number, None, live, {}) for number in left_out),
        tuple(overrides),
        tuple(strays),
        content,
        (imported.report.source.path,),
    )


def _meanings(
    own: Iterable[Own], commands: Sequence[ImportedCommand], prefix: str | None
) -> tuple[dict[int, Own], list[Own]]:
    """Return the entries by the numbers of the commands that they mean, and the other entries.

    An entry that may mean several commands, or one that another entry means, is reported.
    """
    numbers: dict[str, list[int]] = defaultdict(list)  # of the public commands, by their names
    for number, command in enumerate(commands):
        if not command.left_out:
            numbers[command.name].append(number)
    meant: dict[int, Own] = {}
    rest: list[Own] = []
    for entry in own:
        means = _meant(entry, commands, numbers.get(entry.model.name, ()), prefix)
        name, at = quoted(entry.model.name), entry.node.at
        if not means:
            rest.append(entry)
        elif len(means) > 1:
            known = " and ".join(f"{quoted(each.syntax)}{_from(each)}" for _, each in means)
            message = f"{name} may mean each of {len(means)} imported commands: {known}"
            entry.report.error(at, message, "write the syntax of one of them")
        elif (first := meant.setdefault(means[0][0], entry)) is not entry:
            message = f"{name} is written twice (first at {first.place})"
            entry.report.error(at, message, "keep one entry for each imported command")
    return meant, rest


def _meant(
    own: Own, commands: Sequence[ImportedCommand], numbers: Sequence[int], prefix: str | None
) -> list[tuple[int, ImportedCommand]]:
    """Return the imported commands that an entry may mean, of those with its name."""
    if own.model.own or not numbers:
        return []
    shown = _kind(own.model, prefix)
    meant = [(n, commands[n]) for n in numbers if shown in {None, commands[n].kind}]
    if len(meant) > 1:
        syntax = with_prefix(own.model.syntax, prefix or "")
        equal = [each for each in meant if with_prefix(each[1].syntax, prefix or "") == syntax]
        return equal or meant
    return meant


def _kind(model: CommandKeys, prefix: str | None) -> Kind | None:
    """Return how the command of an entry is called, as far as it shows that."""
    if model.object:
        return Kind.SLASH if model.object.get("type", 1) == 1 else Kind.MENU
    sign, syntax = prefix or "{prefix}", model.syntax
    if not syntax or syntax == model.name:
        return None
    if sign.startswith("/") and syntax.startswith(("/", "{prefix}")):
        return None  # it may be each of the two
    if syntax.startswith("/"):
        return Kind.SLASH
    is_prefixed = syntax.startswith(("{prefix}", sign)) or re.match(r"[^\w\s<\[(]", syntax)
    return Kind.PREFIX if is_prefixed else None


def _override(
    own: Own, command: ImportedCommand, defaults: CommandDefaults, prefix: str
) -> Override:
    model, wins, repeated = own.model, {}, []
    for key in _FIELDS:
        if key not in own.node:
            continue
        theirs, ours = getattr(command, key), getattr(model, key) or ""
        if key == "syntax":
            theirs, ours = with_prefix(theirs, prefix), with_prefix(ours, prefix)
        elif key == "category":
            theirs = theirs or defaults.category
        if theirs == ours:
            repeated.append(key)
        else:
            wins[key] = (theirs, ours)
    adds = bool(model.id or model.discord or {*model.formerly} - {*command.formerly})
    return Override(model.name, own.place, wins, tuple(repeated), adds)


def _strays(
    entries: Iterable[Own], content: ImportedFile, prefix: str
) -> Iterator[tuple[str, Location]]:
    """Yield the names and places of entries that meant an imported command once, and mean none now.

    Report them, and the other entries that seem to mean one, or are not complete.
    """
    public = content.public
    by_folded = {folded(command.name): command for command in reversed(public)}
    by_syntax = {with_prefix(each.syntax, prefix): each for each in reversed(public)}
    fates = dict.fromkeys(content.gone, "is not imported any more")
    for command in content.commands:
        fates |= dict.fromkeys(command.formerly, f"is {quoted(command.name)} in the code now")
        if command.left_out:
            fates[command.name] = f"is left out of the import ({command.left_out})"
    for own in entries:
        model, fate = own.model, fates.get(own.model.name, "")
        if own.missing:
            _report_incomplete(own, fate, (command.name for command in public))
        elif model.own:
            continue
        elif other := (
            by_folded.get(folded(model.name)) or by_syntax.get(with_prefix(model.syntax, prefix))
        ):
            name = quoted(model.name)
            here = f"{name} with the syntax {quoted(model.syntax)} is not imported"
            there = f"{quoted(other.name)} with {quoted(other.syntax)}{_from(other)} is"
            hint = "write both as they are imported, or own: true if this is another command"
            own.report.error(own.node.at, f"{here}, but {there}", hint)
        elif fate:
            yield model.name, own.place
            message = f"{quoted(model.name)} {fate}, and this entry keeps it public"
            hint = "remove the entry, or write own: true if the command is to stay"
            own.report.warning(own.node.at, message, hint)


def _report_incomplete(own: Own, fate: str, public: Iterable[str]) -> None:
    """Report an entry that lacks texts: its name is not imported, for which `fate` is a reason."""
    hint = "remove the entry, or complete it: it has no " + " and no ".join(own.missing)
    if not fate and (near := closest(own.model.name, dict.fromkeys(public))):
        hint = f"did you mean {near}?"
    message = f"{quoted(own.model.name)} {fate or 'is not imported'}"
    own.report.error(own.node.at, message, hint)


def _merged(
    imported: ImportedPart,
    meant: Mapping[int, Own],
    ignored: Patterns,
    live: Collection[str],
    prefix: str | None,
) -> Iterator[Own]:
    """Yield the public imported commands, each with the fields of the entry that means it.

    An entry that means an ignored one keeps it.
    """
    for number, command in enumerate(imported.content.commands):
        own = meant.get(number)
        if command.left_out or (own is None and ignored.match(command.name)):
            continue
        if prefix is None and uses_of_prefix(command.syntax):
            message = f"{quoted(command.name)} is called with {{prefix}}, and the manifest has none"
            hint = f"add prefix: to the manifest; or {WRITE_AGAIN}"
            imported.report.error(imported.nodes[number].at, message, hint)
            continue
        values: dict[str, Any] = {}
        if own:
            values = {key: getattr(own.model, key) for key in own.node}
            if own.model.object is None and command.discord:
                values["discord"] = {**command.discord, **(own.model.discord or {})}
        yield _whole(imported, number, own, live, values)


def _whole(
    imported: ImportedPart,
    number: int,
    own: Own | None,
    live: Collection[str],
    values: dict[str, Any],
) -> Own:
    """Return an imported command with the values of the entry that means it, if any.

    Its former names are without the `live` ones, which entries of the manifest have.
    """
    command = imported.content.commands[number]
    whole: dict[str, Any] = {
        "name": command.name,
        "description": command.description,
        "syntax": command.syntax,
        "category": command.category or None,
        "formerly": tuple(name for name in command.formerly if name not in live),
        "discord": command.discord,
    }
    entry = ImportedEntry(imported.report, imported.nodes[number], command, number)
    place = own or entry
    return Own(place.report, place.node, CommandKeys(**whole | values), entry)


def _from(command: ImportedCommand) -> str:
    return f" ({command.source})" if command.source else ""
