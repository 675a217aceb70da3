"""The sources of an import, read: the commands that are declared in them, and those left out.

A source is a file, a folder with code, or `discord`: the commands that the bot has registered.
`import:` of the manifest names them. `read_sources` reads each, keeps the first of equal commands,
and says why others are left out.

Code may name its texts by keys, as in `t("ping.about")`. It is read with the texts of the locale
file that `import.texts` names, or of the files of that folder. The path of a file below the folder
may begin a key: `commands` in `commands.ping.about` and `commands:ping.about`. Without the setting,
the locale files of the project are searched for the keys that the code names. A notice names the
file of a folder such as `locales` that has most of them, English first. The file is never read as a
source: another one may be meant.
"""

import hashlib
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.diagnostics import Location, Notice, Problem
from commandsync.errors import CommandsyncError, FileError, UsageError
from commandsync.manifest import Manifest, load_texts
from commandsync.manifest.checks import uses_of_prefix
from commandsync.records.snapshot import (
    ImportedCommand,
    Kind,
    is_imported,
    names_place,
    path_pattern,
)
from commandsync.records.texts import canonical, named, pattern
from commandsync.sources import sourcefile
from commandsync.sources.changeset import CommandInFile, LeftOut
from commandsync.sources.entry import (
    AGAIN,
    NO_DESCRIPTION,
    Menu,
    PartlyRead,
    SourceEntry,
    SourceReading,
    Trait,
    UnreadPart,
)
from commandsync.sources.importing import UNREGISTERED
from commandsync.sources.reading import (
    LIBRARIES,
    libraries_of,
    program_in,
    read,
    registers,
)
from commandsync.sync.files import check_in_workspace, read_text, relative

_LARGEST_TEXTS = 4 * 1024 * 1024  # bytes of a locale file
_LOCALE_FILE = re.compile(
    r"(.*/)?(locales?|lang(uage)?s?|i18n|translations?)/(?=(.+/)?[^/]+\.(json|ya?ml)$)",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"(^|/)en([-_][a-z]{2})?([./]|$)", re.IGNORECASE)
_TEXT_SUFFIXES = (".json", ".yaml", ".yml")
_MOST_CATALOGUES = 20  # that are searched
_CODE = {*sourcefile.PYTHON, *sourcefile.SCRIPTS}
_LIST = re.compile(r"[\w-]*commands?[\w-]*\.json", re.IGNORECASE)
LIVE = "discord"
"""The source that stands for the commands that the bot has registered with Discord."""

PROGRAM = "program"
"""The source that stands for the commands that a program registered while recorded."""

NO_PREFIX = "called with a prefix, and the manifest has none"
_MOST_NAMED = 3


class RecordedCommands(NamedTuple):
    """The commands that a program registered while it was recorded."""

    program: str
    read: Callable[[str], SourceReading]  # in a language
    doubt: str = ""  # why the run is not known to be whole

    @property
    def is_whole(self) -> bool:
        """Whether a command that is missing here is gone."""
        return not self.doubt

    def as_whole(self) -> "RecordedCommands":
        """Return the same commands of a run that is taken to be whole."""
        return self._replace(doubt="")


class NamedSource(NamedTuple):
    """A source: its name, relative to the manifest's folder, and its path; None without files."""

    name: str
    path: str | None


@dataclass(slots=True)
class ReadSources:
    """The commands that sources declare: each once, including commands that are left out.

    Names of files are relative to the manifest's folder. `generated` are the files that are not
    read, since a program wrote them.
    """

    found: dict[object, CommandInFile] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[Notice] = field(
        default_factory=list
    )  # on parts that were tolerated or could not be read
    unread: list[UnreadPart] = field(default_factory=list)
    acknowledged: list[UnreadPart] = field(default_factory=list)  # that `import.unread` names
    partly: list[tuple[str, PartlyRead]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)  # that were searched: paths by their names
    read: set[str] = field(default_factory=set)  # the names of sources that are no files
    generated: list[str] = field(default_factory=list)
    menus: list[Menu] = field(default_factory=list)  # of Telegram, that are not imported

    @property
    def public(self) -> list[CommandInFile]:
        """The commands that are not left out."""
        return [each for each in self.found.values() if not each.command.left_out]

    def take(self, reading: SourceReading, near: str, *, acknowledged: Sequence[str]) -> None:
        """Add the parts of a source that are not commands; `near` is the manifest's folder."""
        for part in reading.unread:
            is_known = names_place(acknowledged, part.place.path, part.name)
            (self.acknowledged if is_known else self.unread).append(part)
        self.files |= {relative(file, near): file for file in reading.files if file}
        self.partly += [(relative(part.place.path, near), part) for part in reading.partly]
        self.notes += reading.notes
        self.generated += reading.generated
        self.menus += reading.menus

    @property
    def places(self) -> dict[tuple[str, str], Location]:
        """The place of each command in the code, by its name and syntax."""
        return {
            (each.command.name, each.command.syntax): each.entry.place
            for each in self.found.values()
            if each.entry.place
        }

    def found_in_source(self, new: CommandInFile, reason: str, *, is_recorded: bool) -> None:
        """Add a command of a source, which its reader leaves out if it has a reason."""
        command = new.command
        if reason.startswith(AGAIN) or (reason and command.key in self.found):
            self._leave_out(new, reason)
        elif is_recorded and not reason:
            self.record(new)
        else:
            left_out = command.left_out or reason
            self.add(new._replace(command=replace(command, left_out=left_out)))

    def add(self, new: CommandInFile) -> None:
        """Add a command of a source.

        Of equal ones the first counts; a public one before one in a folder of disabled commands.
        That a command is not public is a fact of the code: it also counts for a command of Discord
        or of a list.
        """
        command = new.command
        key = command.key if command.kind is not Kind.PREFIX else (command.name, command.syntax)
        first = self.found.setdefault(key, new)
        if first is new:
            return
        where = first.entry.place or first.command.source
        if first.source == new.source and first.command.left_out and not command.left_out:
            self.found[key] = new
            self._leave_out(first, first.command.left_out)
            return
        self._leave_out(new, f"{where} has it already")
        if command.left_out and not first.command.left_out and first.source != new.source:
            self.found[key] = first._replace(
                command=replace(first.command, left_out=command.left_out)
            )

    def record(self, new: CommandInFile) -> None:
        """Add a command that a program registered: its object, beside the facts of the code."""
        command = replace(new.command, recorded=True)
        keys = (command.key, (*command.key[:2], None))  # of a menu, code may not say the type
        key = next((key for key in keys if key in self.found), None)
        code = self.found[key] if key else None
        if key is None or code is None:
            self.add(new._replace(command=command))
            return
        self.found[key] = code._replace(
            command=replace(
                code.command,
                description=command.description,
                syntax=command.syntax,
                category=code.command.category or command.category,
                recorded=True,
                digest=digest_of(self.files.get(code.command.source)),
                discord=command.discord,
            )
        )

    def leave_out_unregistered(self) -> None:
        """Leave out the commands that a whole run did not register, except prefix commands."""
        for key, each in self.found.items():
            command = each.command
            if not (command.recorded or command.left_out or command.kind is Kind.PREFIX):
                self.found[key] = each._replace(command=replace(command, left_out=UNREGISTERED))

    def name_left_out(self) -> None:
        """Name all commands that are left out; the ones that need a prefix share a line."""
        left_out = [each for each in self.found.values() if each.command.left_out]
        for each in left_out:
            self._leave_out(each, each.command.left_out)
        names = [each.command.name for each in left_out if each.command.left_out == NO_PREFIX]
        if names:
            what = "1 command is" if len(names) == 1 else f"{len(names):,} commands are"
            reason = "called with a prefix, which the manifest does not have"
            message = f"{what} left out: {reason} ({named(names, most=_MOST_NAMED)})"
            hint = 'write the bot\'s prefix into the manifest, such as prefix: "!"'
            self.notes.append(Notice(message, hint))
        if left_out and not self.public:
            self.notes += filter(None, [_without_traits(left_out)])

    def _leave_out(self, each: CommandInFile, reason: str) -> None:
        self.left_out.append(LeftOut(each.command.name, reason, each.entry.place))


def sources_of(manifest: Manifest, recorded: RecordedCommands | None = None) -> list[NamedSource]:
    """Return the sources of a manifest; the `recorded` program is the last one.

    Raises:
        UsageError: It has none.
        FileError: In CI, one of them is out of the workspace.
    """
    folder, sources = posixpath.dirname(manifest.path), []
    for given in manifest.imports.sources:
        if given == LIVE:
            sources.append(NamedSource(LIVE, None))
            continue
        path = posixpath.normpath(posixpath.join(folder, given))
        check_in_workspace(path)
        sources.append(NamedSource(_text(posixpath.normpath(given)), path))
    if recorded:
        sources.append(NamedSource(PROGRAM, None))
    if not sources:
        raise UsageError(
            "no source to import from was given",
            hint=f"record its program again: commandsync import -- {manifest.imports.program}"
            if manifest.imports.program
            else "name the bot's code, Discord's commands as JSON or a list of commands, or write "
            f"import: with from: in {manifest.path}",
        )
    return sources


def read_sources(
    manifest: Manifest,
    sources: Sequence[NamedSource],
    *,
    registered: Callable[[str], SourceReading],
    recorded: RecordedCommands | None = None,
) -> ReadSources:
    """Read sources; a command that the manifest's rules leave out has the reason.

    Of equal commands the first one counts. `registered` reads Discord's own list in a language. Of
    a command that was `recorded` and is in the code, too, the object is the recorded one, and the
    rest is the code's. Raises `FileError` if a source cannot be read, or has no commands.
    """
    found, keys = ReadSources(), set[str]()
    live = {LIVE: registered} | ({PROGRAM: recorded.read} if recorded else {})
    near, texts = posixpath.dirname(manifest.path) or ".", _texts_of(manifest)
    for source in sources:
        if source.path:
            reading = read(
                source.path,
                columns=dict(manifest.imports.columns.items()),
                locale=manifest.imports.locale,
                exclude=manifest.imports.exclude,
                form=manifest.imports.form or "",
                texts=texts,
            )
        else:
            reading = live[source.name](manifest.imports.locale)
            found.read.add(source.name)
        if not recorded:  # an unreadable part costs no recording
            _check_entries(reading, source.path or source.name)
        keys |= {*reading.text_keys}
        found.take(reading, near, acknowledged=manifest.imports.unread)
        for entry, reason in (*((entry, "") for entry in reading.entries), *reading.excluded):
            new = CommandInFile(entry, _command(entry, source, manifest), source.name)
            found.found_in_source(new, reason, is_recorded=source.name == PROGRAM)
    if recorded and recorded.is_whole:
        found.leave_out_unregistered()
    found.notes += filter(None, [_texts_notice(manifest, keys)])
    found.name_left_out()
    return found


def digest_of(path: str | None) -> str:
    """Return the digest of a file; empty if there is none, or it cannot be read."""
    with suppress(FileError):
        return f"sha256:{hashlib.sha256(sourcefile.read_bytes(path)).hexdigest()}" if path else ""
    return ""


def _without_traits(everything: Sequence[CommandInFile]) -> Notice | None:
    """Return the notice that traits leave out all commands of the sources; None if they do not."""
    reasons = [{*each.command.left_out.split(" and ")} for each in everything]
    if not all(each <= {*Trait} for each in reasons):
        return None
    traits = ", ".join(trait for trait in Trait if any(trait in each for each in reasons))
    message = f"all commands that were read are left out: {traits}"
    return Notice(message, f"to import them, write below import:  traits: [{traits}]")


def _command(entry: SourceEntry, source: NamedSource, manifest: Manifest) -> ImportedCommand:
    """Return a command as the imported file has it, with the first category that fits."""
    rules, near = manifest.imports, posixpath.dirname(manifest.path) or "."
    names = (entry.name, entry.category or "")
    categories = rules.categories.items()
    given = (given for text, given in categories if any(map(pattern(text).match, names)))
    return ImportedCommand(
        name=_text(entry.name),
        description=_text(entry.description) or NO_DESCRIPTION,
        syntax=_text(entry.syntax),
        category=_text(next(given, entry.category or "")),
        source=_text(relative(entry.place.path, near)) if entry.place else source.name,
        left_out=_reason(entry, source.path or "", manifest),
        discord=_sound(entry.discord),
    )


def _reason(entry: SourceEntry, source: str, manifest: Manifest) -> str:
    """Return why a command is left out; empty if it is not."""
    rules, file = manifest.imports, entry.place.path if entry.place else ""
    if fits := next((text for text in rules.exclude if pattern(text).match(entry.name)), None):
        return f"excluded by {fits!r}"
    unwanted = (entry.traits | sourcefile.folder_traits(file, source)) - {*rules.traits}
    if unwanted:
        return " and ".join(trait for trait in Trait if trait in unwanted)
    if fits := path_pattern(file, rules.exclude):
        return f"excluded by {fits!r}"
    return NO_PREFIX if manifest.prefix is None and uses_of_prefix(entry.syntax) else ""


def _sound(content: Any) -> Any:  # noqa: ANN401 - of JSON
    """Return an object whose texts a file can contain."""
    match content:
        case str():
            return content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case Mapping():
            return {_sound(key): _sound(part) for key, part in content.items()}
        case list() | tuple():
            return [_sound(part) for part in content]
        case _:
            return content


def _text(text: str) -> str:
    """Return a text as a file can contain it: half of a surrogate pair becomes U+FFFD."""
    return canonical(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _check_entries(reading: SourceReading, source: str) -> None:
    """Refuse a source without commands: the error says why parts of it are not read."""
    if reading.entries:
        return
    places: dict[str, list[Location]] = {}
    for part in reading.unread:
        places.setdefault(part.reason, []).append(part.place)
    problems = []  # one for each reason, with all places
    for reason, (first, *more) in places.items():
        also = f" (also at {', '.join(map(str, more))})" if more else ""
        problems.append(Problem(first, reason + also))
    problems += (
        Problem(note.location or Location(source), note.message, note.hint)
        for note in reading.notes
    )
    has_code = any(posixpath.splitext(file)[1].casefold() in _CODE for file in reading.files)
    hint = "is it the right file or folder?"
    if problems or has_code:
        hint = "; ".join(_next_steps(reading, source))
    message = f"{source} has no commands that can be read"
    raise FileError(message, hint=hint, problems=problems)


def _next_steps(reading: SourceReading, source: str) -> Iterator[str]:
    """Yield the frameworks of the code, and the other ways to its commands, the surest first."""
    libraries = libraries_of(Path(), reading)
    if libraries:
        yield f"it uses {', '.join(libraries)}"
    folder, count = _better_folder(source, {part.place for part in reading.unread})
    if folder:
        commands = "1 command is" if count == 1 else f"{count:,} commands are"
        yield f"{commands} read in {folder}: commandsync import {folder}"
    # A bot of prefix commands registers nothing, so neither a run nor Discord has its commands.
    if reading.unread or registers(Path(), reading):
        program = program_in(Path()) or "PROGRAM"
        yield f"record the bot's program: commandsync import -- {program}"
        if not libraries or "discord" in map(LIBRARIES.get, libraries):
            yield "or import the registered commands: commandsync import discord"
    if found := _list_in(source):
        yield f"or import its list of commands: commandsync import {found}"
    else:
        yield "or import a list of commands, such as commands.json"


def _better_folder(source: str, unread: Collection[Location]) -> tuple[str, int]:
    """Return the folder in or around a source that has the most commands, and their number.

    It looks no further than the current folder. A command that is `unread` in the source does not
    count in a narrower folder: only the rest of the code shows that it is not what it seems.
    """
    given, best = Path(source), ("", 0)
    inside = sorted(path for path in given.iterdir() if path.is_dir()) if given.is_dir() else []
    is_here = not given.is_absolute() and ".." not in given.parts
    around = [given.parent, Path()] if is_here else []
    for folder in dict.fromkeys((*around, *inside)):
        with suppress(FileError, UsageError):
            entries = read(folder.as_posix()).entries if folder != given else ()
            is_narrower = folder in inside
            count = sum(not (is_narrower and each.place in unread) for each in entries)
            best = (folder.as_posix(), count) if count > best[1] else best
    return best


def _list_in(source: str) -> str:
    """Return a list of commands that can be read, in a source or beside it; empty if none is."""
    folders = filter(Path.is_dir, dict.fromkeys((Path(source), Path())))
    files = (file for folder in folders for file in sourcefile.files_of(folder))
    for file in filter(lambda file: _LIST.fullmatch(file.name), files):
        with suppress(FileError, UsageError):
            if not is_imported(file.name) and read(file.as_posix()).entries:
                return file.as_posix()
    return ""


def _texts_of(manifest: Manifest) -> dict[str, str] | None:
    """Return the bot's texts by their keys; None if the manifest names no file with them."""
    if not manifest.imports.texts:
        return None
    path = posixpath.join(posixpath.dirname(manifest.path), manifest.imports.texts)
    check_in_workspace(path)
    return _load_texts(path)


def _texts_notice(manifest: Manifest, keys: Collection[str]) -> Notice | None:
    """Return a notice that names the locale file with some of the keys; None without one."""
    folder = posixpath.dirname(manifest.path) or "."
    found = ("", 0)
    with suppress(FileError):
        for path in _catalogues(folder) if keys else ():
            with suppress(CommandsyncError):
                number = len(_load_texts(path).keys() & {*keys})
                found = (relative(path, folder), number) if number > found[1] else found
    name, number = found
    message = f"{name} has the texts of {number} of the computed descriptions"
    hint = f"name it under import: in the manifest: texts: {name}"
    return Notice(message, hint) if number else None


def _catalogues(folder: str) -> list[str]:
    """Return the locale files, and the folders with the files of one language, English first."""
    found: dict[str, None] = {}
    for file in map(Path.as_posix, sourcefile.files_of(Path(folder))):
        if match := _LOCALE_FILE.match(relative(file, folder)):
            language, slash, _ = relative(file, folder)[match.end() :].partition("/")
            around = [posixpath.join(folder, match[0] + language)] if slash else []
            found |= dict.fromkeys([file, *around])
    return sorted(found, key=lambda path: not _ENGLISH.search(path))[:_MOST_CATALOGUES]


def _load_texts(path: str) -> dict[str, str]:
    """Return the texts of a file or a folder; a key that files of a folder share is ambiguous."""
    if not Path(path).is_dir():
        return _texts_in(path, Path(path).stem)
    texts: dict[str, str] = {}
    ambiguous: set[str] = set()
    for file in (file for file in sourcefile.files_of(Path(path)) if file.suffix in _TEXT_SUFFIXES):
        inside = file.relative_to(path).with_suffix("").as_posix()
        for key, text in _texts_in(file.as_posix(), inside).items():
            ambiguous |= {key} if texts.setdefault(key, text) != text else set()
    return {key: text for key, text in texts.items() if key not in ambiguous}


def _texts_in(path: str, name: str) -> dict[str, str]:
    texts = load_texts(path, read_text(path, most=_LARGEST_TEXTS))
    starts = ("", f"{name.replace('/', '.')}.", f"{name}:")
    return {f"{start}{key}": text for start in starts for key, text in texts.items()}
