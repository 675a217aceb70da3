"""The sources of an import, read: what is declared in them, and what of it is left out."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from commandsync.errors import FileError, UsageError
from commandsync.records.texts import canonical
from commandsync.sources import read
from commandsync.sources.category import category_of
from commandsync.sources.entry import NO_DESCRIPTION, Trait
from commandsync.sources.exclusion import Excluded, select
from commandsync.sources.merge import Declared
from commandsync.sync.files import ci_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from commandsync.diagnostics import Notice
    from commandsync.manifest import Manifest
    from commandsync.sources.entry import SourceEntry, SourceReading

LIVE = "discord"
"""The source that stands for what the bot has registered with Discord."""


class NamedSource(NamedTuple):
    """A source: its name, relative to the manifest's folder, and its path; None for Discord."""

    name: str
    path: str | None


@dataclass(frozen=True, slots=True)
class ReadSources:
    """What sources declare.

    Attributes:
        declared: The commands to import, no two equal in name and syntax.
        excluded: What is left out, each with its reason.
        notes: What was tolerated or could not be read.
        complete: The names of the sources that were read in full.
    """

    declared: tuple[Declared, ...]
    excluded: tuple[Excluded, ...]
    notes: tuple[Notice, ...]
    complete: tuple[str, ...]


def sources_of(manifest: Manifest, given: Sequence[str]) -> list[NamedSource]:
    """Return the sources that are given, relative to here, or else those of the manifest.

    Raises:
        UsageError: There is none.
        FileError: In CI, one of the manifest's is out of the workspace.
    """
    folder = posixpath.dirname(manifest.path)
    if given:
        return [_source(path, _relative(path, folder), Path(path).as_posix()) for path in given]
    sources = [
        _source(path, posixpath.normpath(path), posixpath.normpath(posixpath.join(folder, path)))
        for path in manifest.imports.sources
    ]
    if not sources:
        raise UsageError(
            "no source to import from was given",
            hint="name the bot's code, Discord's commands as JSON or a list of commands, or write "
            f"import: with from: in {manifest.path}",
        )
    workspace = ci_workspace(os.environ)
    for _, path in sources if workspace else ():
        if workspace and path and not Path(path).resolve().is_relative_to(workspace.resolve()):
            raise FileError(
                f"{path} is not in the workspace, and is not read",
                hint="in CI a manifest names only sources in the checkout",
            )
    return sources


def read_sources(
    manifest: Manifest,
    sources: Iterable[NamedSource],
    *,
    locale: str,
    registered: Callable[[str], SourceReading],
) -> ReadSources:
    """Read sources, without what the manifest's rules leave out.

    Args:
        manifest: The manifest, whose rules count.
        sources: The sources; of equal commands the first one counts.
        locale: The language of Discord's texts; empty for the default texts.
        registered: Reads Discord's own list, in a language.

    Raises:
        FileError: A source cannot be read, or has no commands.
    """
    rules = manifest.imports
    wanted = {Trait(trait) for trait in rules.traits}
    declared: dict[tuple[str, str], Declared] = {}
    excluded: list[Excluded] = []
    notes: list[Notice] = []
    complete: list[str] = []
    for name, path in sources:
        reading = read(path, columns=rules.columns, locale=locale) if path else registered(locale)
        if reading.complete:
            complete.append(name)
        if not reading.entries:
            raise FileError(f"{path or name} has no commands", hint=_reason(reading))
        notes += reading.notes
        selection = select(reading.entries, patterns=rules.exclude, wanted=wanted)
        excluded += selection.excluded
        for entry in selection.kept:
            command = Declared(name, _canonical(entry, rules.categories))
            key = command.entry.name, command.entry.syntax
            if manifest.rules.ignores(command.entry.name):
                excluded.append(Excluded(entry, "sync.ignore matches its name"))
            elif first := declared.get(key):
                where = first.entry.place or first.source
                excluded.append(Excluded(entry, f"{where} has it already"))
            else:
                declared[key] = command
    return ReadSources(tuple(declared.values()), tuple(excluded), tuple(notes), tuple(complete))


def _canonical(entry: SourceEntry, categories: Mapping[str, str]) -> SourceEntry:
    """Return a command as the manifest would have it, with the category of the rules."""
    category = category_of(entry, written=None, patterns=categories, default="")
    return replace(
        entry,
        name=_text(entry.name),
        description=_text(entry.description) or NO_DESCRIPTION,
        syntax=_text(entry.syntax),
        category=_text(category) or None,
    )


def _text(text: str) -> str:
    """Return a text as a file can contain it: half of a surrogate pair becomes U+FFFD."""
    return canonical(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _reason(reading: SourceReading) -> str:
    for note in reading.notes:
        return f"{note.location}: {note.message}"
    return "is it the right file or folder?"


def _source(given: str, name: str, path: str) -> NamedSource:
    return NamedSource(LIVE, None) if given == LIVE else NamedSource(_text(name), path)


def _relative(path: str, folder: str) -> str:
    try:
        return Path(os.path.relpath(path, folder or ".")).as_posix()
    except ValueError:  # pragma: no cover - on another drive of Windows
        return Path(path).absolute().as_posix()
