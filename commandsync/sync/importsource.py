"""The sources of an import, read: the commands that are declared in them, and those left out.

A source is a file, a folder with code, or `discord`: the commands that the bot has registered. The
arguments name them, else `import:` of the manifest does. `read_sources` reads each, keeps the first
of equal commands, and leaves out those that the manifest's rules exclude. `read_registered` reads
Discord. Its settings come from the environment alone: a manifest may be part of an untrusted pull
request, which could name another host or another secret.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from commandsync.api.credentials import Token, keep_secret
from commandsync.diagnostics import Location, Notice, Problem
from commandsync.errors import FileError, UsageError
from commandsync.manifest import Manifest
from commandsync.manifest.fields import uses_of_prefix
from commandsync.records.snapshot import Node
from commandsync.records.texts import canonical, pattern
from commandsync.sources.changeset import Declared
from commandsync.sources.entry import (
    NO_DESCRIPTION,
    Excluded,
    Menu,
    SourceEntry,
    SourceReading,
    Trait,
    Unread,
)
from commandsync.sources.reading import LIBRARIES, libraries_of, program_in, read, read_answer
from commandsync.sources.sourcefile import (
    IMPORTED,
    PYTHON,
    SCRIPTS,
    files_of,
    folder_traits,
    path_pattern,
)
from commandsync.sync.companions import texts_notice, texts_of
from commandsync.sync.files import check_in_workspace, relative
from commandsync.sync.settings import Settings, Site

_CODE = {*PYTHON, *SCRIPTS}
_LIST = re.compile(r"[\w-]*commands?[\w-]*\.json", re.IGNORECASE)
LIVE = "discord"
"""The source that stands for what the bot has registered with Discord."""


PROGRAM = "program"
"""The source that stands for what a program registered while it was recorded."""


class Recorded(NamedTuple):
    """What a program registered while it was recorded."""

    program: str
    read: Callable[[str], SourceReading]  # in a language
    is_whole: bool  # whether a command that is missing here is gone


class NamedSource(NamedTuple):
    """A source: its name, relative to the manifest's folder, and its path; None without files."""

    name: str
    path: str | None


@dataclass(slots=True)
class ReadSources:
    """What sources declare: `declared` has no two commands equal in name and syntax.

    Names of files are relative to the manifest's folder. `generated` are the files that are not
    read, since a program wrote them.
    """

    declared: list[Declared] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)  # what is left out, with its reason
    notes: list[Notice] = field(default_factory=list)  # what was tolerated or could not be read
    unread: list[Unread] = field(default_factory=list)
    acknowledged: list[Unread] = field(default_factory=list)  # that `import.unread` names
    files: dict[str, str] = field(default_factory=dict)  # that were searched: paths by their names
    partial: set[str] = field(default_factory=set)  # the names of those not read completely
    generated: list[str] = field(default_factory=list)
    objects: dict[str, Sequence[Node]] = field(default_factory=dict)  # the platform's, by source
    menus: list[Menu] = field(default_factory=list)  # of Telegram, that are not imported

    def take(
        self, reading: SourceReading, name: str, near: str, *, acknowledged: Sequence[str]
    ) -> None:
        """Add the parts of a source that are not commands; `near` is the manifest's folder."""
        self.excluded += reading.excluded
        for part in reading.unread:
            is_known = _is_acknowledged(part, acknowledged)
            (self.acknowledged if is_known else self.unread).append(part)
        self.files |= {relative(file, near): file for file in reading.files if file}
        self.partial |= {relative(file, near) for file in reading.partial}
        self.notes += reading.notes
        self.generated += reading.generated
        self.objects[name] = reading.objects
        self.menus += reading.menus


def sources_of(
    manifest: Manifest, given: Sequence[str], recorded: Recorded | None = None
) -> list[NamedSource]:
    """Return the sources that are given, relative to here, or else those of the manifest.

    What was `recorded` is the first one.

    Raises:
        UsageError: None is given, and the manifest has none.
        FileError: In CI, one of the manifest's is out of the workspace.
    """
    folder = posixpath.dirname(manifest.path)
    first = [NamedSource(PROGRAM, None)] if recorded else []
    if given:
        near = folder or "."
        return first + [
            _source(path, relative(path, near), Path(path).as_posix()) for path in given
        ]
    sources = [
        _source(path, posixpath.normpath(path), posixpath.normpath(posixpath.join(folder, path)))
        for path in manifest.imports.sources
    ]
    if not (sources or first):
        raise UsageError(
            "no source to import from was given",
            hint=f"record its program again: commandsync import -- {manifest.imports.program}"
            if manifest.imports.program
            else "name the bot's code, Discord's commands as JSON or a list of commands, or write "
            f"import: with from: in {manifest.path}",
        )
    for path in filter(None, (path for _, path in sources)):
        check_in_workspace(path)
    return first + sources


def read_sources(
    manifest: Manifest,
    sources: Iterable[NamedSource],
    *,
    locale: str,
    registered: Callable[[str], SourceReading],
    recorded: Recorded | None = None,
) -> ReadSources:
    """Read sources, without what the manifest's rules leave out.

    Of equal commands the first one counts. `locale` is the language of Discord's texts, empty for
    the default texts, in which `registered` reads Discord's own list. What was `recorded` counts
    before the code: of a command in both, the code gives the category. Raises `FileError` if a
    source cannot be read, or has no commands.
    """
    rules, found, keys = manifest.imports, ReadSources(), set[str]()
    known: dict[tuple[str, str], Declared] = {}
    read_files = partial(
        read,
        columns=dict(rules.columns.items()),
        locale=locale,
        exclude=rules.exclude,
        texts=texts_of(manifest),
    )
    live = {LIVE: registered}
    if recorded:
        live[PROGRAM] = recorded.read
        found.partial |= set() if recorded.is_whole else {PROGRAM}
    near = posixpath.dirname(manifest.path) or "."
    for source in sources:
        reading = read_files(source.path) if source.path else live[source.name](locale)
        _check_entries(reading, source.path or source.name)
        keys |= {*reading.text_keys}
        found.take(reading, source.name, near, acknowledged=rules.unread)
        for entry in reading.entries:
            file = relative(entry.place.path, near) if entry.place else source.name
            command = Declared(source.name, _canonical(entry, rules.categories), file)
            if reason := _reason(command.entry, source.path or "", manifest):
                found.excluded.append(Excluded(entry, reason))
            else:
                found.excluded += _keep(command, entry, known, recorded)
    found.declared += known.values()
    found.notes += _one_sided(found.excluded, known)
    found.notes += filter(None, [texts_notice(manifest, keys)])
    return found


def _keep(
    command: Declared,
    entry: SourceEntry,
    known: dict[tuple[str, str], Declared],
    recorded: Recorded | None,
) -> Iterator[Excluded]:
    """Keep a command in `known`, and yield it if an equal one or the recorded one counts."""
    if recorded and command.source != PROGRAM and not uses_of_prefix(entry.syntax):
        yield from _beside(command, known, is_whole=recorded.is_whole)
        return
    first = known.setdefault((command.entry.name, command.entry.syntax), command)
    if first is not command:
        yield Excluded(entry, f"{first.entry.place or first.source} has it already")


def _one_sided(
    excluded: Iterable[Excluded], known: Mapping[tuple[str, str], Declared]
) -> Iterator[Notice]:
    """Yield a notice for each command that one source leaves out, and another one does not."""
    imported = {(name, syntax[:1]): command for (name, syntax), command in known.items()}
    for entry, reason in excluded:
        other = imported.get((entry.name, entry.syntax[:1]))
        if other and entry.traits and entry.place != other.entry.place:
            where = other.entry.place or other.source
            message = f"{entry.name!r} is left out here, since {reason}, but imported from {where}"
            hint = f"{where} does not say so: leave it out with exclude: of import:"
            yield Notice(message, hint, entry.place)


def _beside(
    command: Declared, known: dict[tuple[str, str], Declared], *, is_whole: bool
) -> Iterator[Excluded]:
    """Put a command of the code beside the recorded ones, and yield it if it is left out."""
    for key, recorded in known.items():
        if recorded.source == PROGRAM and recorded.entry.name == command.entry.name:
            category = recorded.entry.category or command.entry.category
            entry = replace(recorded.entry, category=category)
            known[key] = recorded._replace(entry=entry)
            return
    if is_whole:
        yield Excluded(command.entry, "the recorded program did not register it")
    else:
        known.setdefault((command.entry.name, command.entry.syntax), command)


def _is_acknowledged(part: Unread, patterns: Sequence[str]) -> bool:
    """Whether the manifest names a part that is not read: its name, its file or its path."""
    names = {part.name, posixpath.basename(part.place.path)} - {""}
    return bool(path_pattern(part.place.path, patterns)) or any(
        pattern(text).match(name) for text in patterns for name in names
    )


def _reason(entry: SourceEntry, source: str, manifest: Manifest) -> str:
    """Return why a command is left out; empty if it is not."""
    rules, file = manifest.imports, entry.place.path if entry.place else ""
    if fits := next((text for text in rules.exclude if pattern(text).match(entry.name)), None):
        return f"its name matches {fits!r}"
    unwanted = (entry.traits | folder_traits(file, source)) - {*rules.traits}
    if unwanted:
        return f"it is {' and '.join(trait for trait in Trait if trait in unwanted)}"
    if fits := path_pattern(file, rules.exclude):
        return f"its file matches {fits!r}"
    return "sync.ignore matches its name" if manifest.rules.ignores(entry.name) else ""


def _canonical(entry: SourceEntry, categories: Mapping[str, str]) -> SourceEntry:
    """Return a command as the manifest would have it, with the first category that fits."""
    names = (entry.name, entry.category or "")
    given = (given for text, given in categories.items() if any(map(pattern(text).match, names)))
    category = next(given, entry.category or "")
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


def _check_entries(reading: SourceReading, source: str) -> None:
    if reading.entries:
        return
    problems = list(_unread_problems(reading, source))
    has_code = any(posixpath.splitext(file)[1].casefold() in _CODE for file in reading.files)
    hint = "is it the right file or folder?"
    if problems or has_code:
        hint = "; ".join(_next_steps(reading, source))
    message = f"{source} has no commands that can be read"
    raise FileError(message, hint=hint, problems=problems)


def _next_steps(reading: SourceReading, source: str) -> Iterator[str]:
    """Yield what the code uses, and the other ways to its commands."""
    libraries = libraries_of(Path(), reading)
    if libraries:
        yield f"it uses {', '.join(libraries)}"
    program = program_in(Path()) or "PROGRAM"
    yield f"record the bot's program: commandsync import -- {program}"
    if not libraries or "discord" in map(LIBRARIES.get, libraries):
        yield "or import what the bot has registered: commandsync import discord"
    if found := _list_in(source):
        yield f"or import its list of commands: commandsync import {found}"
    else:
        yield "or import a list of commands, such as commands.json"


def _unread_problems(reading: SourceReading, source: str) -> Iterator[Problem]:
    """Yield why parts of a source are not read: one problem for each reason, with all places."""
    places: dict[str, list[Location]] = {}
    for part in reading.unread:
        places.setdefault(part.reason, []).append(part.place)
    for reason, (first, *more) in places.items():
        also = f" (also at {', '.join(map(str, more))})" if more else ""
        yield Problem(first, reason + also)
    for note in reading.notes:
        yield Problem(note.location or Location(source), note.message, note.hint)


def _list_in(source: str) -> str:
    """Return a list of commands that can be read, in a source or beside it; empty if none is."""
    folders = filter(Path.is_dir, dict.fromkeys((Path(source), Path())))
    files = (file for folder in folders for file in files_of(folder))
    for file in filter(lambda file: _LIST.fullmatch(file.name), files):
        with suppress(FileError, UsageError):
            if not file.name.endswith(IMPORTED) and read(file.as_posix()).entries:
                return file.as_posix()
    return ""


def _source(given: str, name: str, path: str) -> NamedSource:
    return NamedSource(LIVE, None) if given == LIVE else NamedSource(_text(name), path)


TOKEN_VARIABLE = "DISCORD_TOKEN"  # noqa: S105 - the variable's name
"""The variable that contains the bot's token for Discord."""

_PORTAL = "copy the bot's token from the page Bot of Discord's developer portal"


def read_registered(settings: Settings, locale: str = "") -> SourceReading:
    """Read the commands that a bot has registered with Discord.

    The environment has the token, and may have the application's id and another address. Of the
    settings, the time-out, the retries and the progress are used; `locale` is the language of the
    texts, such as `de`, empty for the default texts.

    Raises:
        UsageError: The token is missing or is one of a listing service, or a variable is invalid.
        PlainHttpError: The address is plain http to another machine.
        ListingError: Discord refused, or did not answer.
        FileError: The answer contains something other than application commands.
    """
    from commandsync.client.discordapi import (  # noqa: PLC0415 - loads requests
        BASE_URL,
        discord_address,
        registered_commands,
    )
    from commandsync.sync.job import calls_of  # noqa: PLC0415 - as above

    token = _token()
    address = discord_address(os.environ.get("DISCORD_BASE_URL", "") or BASE_URL)
    site = Site(address, bot="", token=token, token_from=TOKEN_VARIABLE)
    answer = registered_commands(
        address,
        token,
        application=os.environ.get("DISCORD_APPLICATION_ID", ""),
        timeout=settings.timeout,
        retries=settings.retries,
        on_wait=calls_of(settings, site),
    )
    return read_answer(answer, locale=locale)


def _token() -> Token:
    """Return the token for Discord, which must not be the one for a listing service."""
    secret = os.environ.get(TOKEN_VARIABLE, "")
    if not secret.strip():
        raise UsageError(f"the variable {TOKEN_VARIABLE} is not set", hint=_PORTAL)
    try:
        keep_secret(token := Token(secret))
    except UsageError as error:
        raise UsageError(f"{TOKEN_VARIABLE}: {error.message}", hint=_PORTAL) from None
    if token.bot:
        raise UsageError(f"{TOKEN_VARIABLE} contains the token of a listing service", hint=_PORTAL)
    return token
