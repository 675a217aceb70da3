"""An import: the manifest, its sources and the file before -> the imported file.

Only the head of the manifest is needed for that: `import:` and `prefix:`. Then the whole manifest
is loaded with the new file in memory, so that the effect of its entries on the imported commands is
known before anything is written. `import SOURCE` appends `import:` to a manifest that has none, the
only edit of a file that is the user's. Nothing is written here.
"""

import json
import os
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from commandsync.diagnostics import Do, Location, Notice, Problem
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.manifest import Manifest, load_head
from commandsync.manifest.keys import ManifestKeys
from commandsync.manifest.overlay import read_imported
from commandsync.manifest.source import (
    MOST_BYTES,
    Origin,
    Problems,
    UnreadableError,
    is_folder,
    yaml_files,
)
from commandsync.manifest.yamltext import imported_text
from commandsync.plan.rules import removals_refused
from commandsync.records.snapshot import ImportedCommand, ImportedFile, imported_path, together
from commandsync.records.texts import Patterns, named
from commandsync.sources.changeset import FileEdit, Import, differences
from commandsync.sources.entry import Menu, SourceReading
from commandsync.sources.importing import ImportOutcome, SourceEvidence, next_import
from commandsync.sources.telegrammenu import localized, offers
from commandsync.sync.earlier import git
from commandsync.sync.files import ci_workspace, read_file, relative
from commandsync.sync.importsource import (
    LIVE,
    PROGRAM,
    ReadSources,
    RecordedCommands,
    digest_of,
    read_sources,
    sources_of,
)
from commandsync.sync.settings import STDIN, Settings, default_manifest, load_files, rules_of

EXAMPLES = {
    "help": "Shows what the bot can do.",
    "ping": "Says how quickly the bot answers.",
}
"""The commands of a starter, with which `init` begins a manifest."""

_TEXTS = ("name", "description", "syntax", "category")
_SUFFIXES = frozenset({".yaml", ".yml"})


def plan_import(  # noqa: PLR0913 - the options of one command
    settings: Settings,
    given: Sequence[str],
    *,
    registered: Callable[[str], SourceReading],
    recorded: RecordedCommands | None = None,
    locale: str = "",
    prefix: str | None = None,
    forget: Sequence[str] = (),
    force: bool = False,
    begun: Mapping[str, bytes] | None = None,
) -> Import:
    """Read the sources of a manifest, and plan its imported file; nothing is written.

    Args:
        settings: The settings of the run, which name the manifest.
        given: Sources for a manifest that has no `import:`, or some of those that it names.
        registered: Reads the commands that the bot has registered with Discord, in a language.
        recorded: The commands that a program registered while it was recorded.
        locale: The language of Discord's texts, for a manifest that has no `import:`.
        prefix: The prefix of the bot's commands, for a new manifest.
        forget: Names of commands that were kept, and go.
        force: Whether to write the file even if it cannot be read.
        begun: The manifest by its path, if it is begun already, and not written yet.

    Raises:
        ManifestError: The manifest is not valid, or is not there and no source is given; or the
            imported file cannot be read.
        FileError: A source cannot be read.
        UsageError: No source is known, or the manifest names others; a prefix is given for one that
            exists; or a command is to be forgotten that is not kept.
    """
    path, new = _manifest_path(settings), begun or {}
    file = imported_path(path)
    edit: FileEdit | None = None
    if path in new:
        head, edit = load_head(path, new[path]), FileEdit(path, None, new[path].decode())
    else:
        head, edit = _with_import(path, given, recorded, locale, prefix)
    manifest = Manifest(path, imports=head.imports, prefix=head.prefix, rules=head.sync)
    sources = sources_of(manifest, recorded)
    before = _before(file, is_new=path in new or not os.path.lexists(path), force=force)
    reading = read_sources(manifest, sources, registered=registered, recorded=recorded)
    result = _next(reading, before.content, manifest, forget=forget, recorded=recorded)
    _check_forgotten(forget, before.content, result, file)
    after, text, notes = _text_of(result.content, path)
    is_edited = before.is_edited and before.content != after
    is_changed = before.text is None or before.is_edited or before.content != after
    planned = Import(
        path=path,
        sources=tuple(source.name for source in sources),
        before=before.content,
        after=after,
        differences=tuple(differences(before.content, after)),
        imported=FileEdit(file, before.text, text) if is_changed else None,
        manifest=edit,
        left_out=tuple(reading.left_out),
        kept=result.kept,
        unread=tuple(reading.unread),
        acknowledged=tuple(reading.acknowledged),
        generated=tuple(reading.generated),
        notes=(*reading.notes, *result.notes, *notes),
        edits=tuple(_edits(before.content, after)) if is_edited else (),
        was_edited=is_edited,
        places=reading.places,
    )
    limits = rules_of(settings, manifest)
    refusal = removals_refused(planned.removed, of=len(before.content.public), rules=limits)
    content = edit.after.encode() if edit else _content(path)
    contents = {path: content, file: text.encode()}
    return _with_manifest(replace(planned, refusal=refusal), contents, reading.menus)


def _manifest_path(settings: Settings) -> str:
    """Return the path of the one manifest of an import, which may not exist yet."""
    files = settings.files or (default_manifest(),)
    if len(files) == 1 and is_folder(files[0]):
        files = tuple(file for file in yaml_files(files[0]) if b"version" in _content(file))
    if len(files) != 1 or STDIN in files:
        message = "import works on one manifest, and writes a file beside it"
        raise UsageError(message, hint=Do.NAME_MANIFEST())
    return Path(files[0]).as_posix()


def _content(path: str) -> bytes:
    return read_file(path, most=MOST_BYTES)


def _check_forgotten(
    names: Sequence[str], before: ImportedFile, result: ImportOutcome, file: str
) -> None:
    """Refuse to forget a command that is not kept, or that is not there."""
    marked = [command.name for command in before.commands if command.kept]
    if not (others := {*names} - {*marked, *result.forgotten}):
        return
    name = min(others)
    is_known = name in {command.name for command in (*before.commands, *result.content.commands)}
    what = "is not kept: the sources declare it" if is_known else f"is not in {file}"
    kept = list(dict.fromkeys([*marked, *(each.name for each in result.kept)]))
    hint = f"kept: {named(kept)}" if kept else "no command is kept"
    if is_known and not kept:
        hint += "; to leave it out, name it in exclude: below import:"
    raise UsageError(f"{name!r} {what}", hint=hint)


def _with_import(
    path: str,
    given: Sequence[str],
    recorded: RecordedCommands | None,
    locale: str,
    prefix: str | None,
) -> tuple[ManifestKeys, FileEdit | None]:
    """Return the head of the manifest, and the edit that gives it `import:`, if it has none."""
    names = [each if each == LIVE else relative(each, _folder(path)) for each in given]
    block = ""
    if given or recorded:
        block = import_key(names, locale, recorded.program if recorded else "")
    if block and Path(path).suffix in _SUFFIXES and not os.path.lexists(path):
        text = f"version: 1\n{prefix_key(prefix)}\n{block}"
        return load_head(path, text.encode()), FileEdit(path, None, text)
    if prefix is not None:
        message = "a prefix is given for a new manifest, and this one exists"
        raise UsageError(message, hint="write prefix: in the manifest")
    content = _manifest(path)
    model = load_head(path, content)
    if model.has_import:
        _check_given(path, model, names, locale)
    elif block:
        return _appended(path, content.decode(), block)
    return model, None


def _manifest(path: str) -> bytes:
    if not os.path.lexists(path):
        at = Location(path, is_unread=True)
        raise ManifestError([Problem(at, "the file does not exist", Do.BEGIN_IMPORT())])
    return _content(path)


def _folder(path: str) -> str:
    return posixpath.dirname(path) or "."


def _appended(path: str, before: str, block: str) -> tuple[ManifestKeys, FileEdit]:
    """Return the head of a manifest with `import:` at its end, and the edit."""
    line_break = "\r\n" if "\r\n" in before else "\n"
    text = before.rstrip() + (2 * "\n" + block).replace("\n", line_break)
    with suppress(ManifestError):
        if (model := load_head(path, text.encode())).has_import:
            return model, FileEdit(path, before, text)
    hint = "write import: with from: into it, as a key of its own"
    raise UsageError(f"import: cannot be appended to {path}", hint=hint)


def _check_given(path: str, model: ManifestKeys, names: Sequence[str], locale: str) -> None:
    """Refuse sources, or a language, that the manifest does not have."""
    known = [each if each == LIVE else posixpath.normpath(each) for each in model.imports.sources]
    others = [name for name in names if name not in known]
    if not others and locale in {"", model.imports.locale}:
        return
    what = f"{', '.join(others)} is not among them" if others else f"the locale is not {locale!r}"
    message = f"{path} has import: with its sources, and {what}"
    key = "locale: " + json.dumps(locale)
    if others:
        sources = [*model.imports.sources, *others]
        key = f"from: {json.dumps(sources, ensure_ascii=False)}"
    raise UsageError(message, hint=f"write below import:  {key}  and run commandsync import")


def prefix_key(prefix: str | None) -> str:
    """Return `prefix:` of a manifest; empty if there is none."""
    return "" if prefix is None else f"prefix: {json.dumps(prefix, ensure_ascii=False)}\n"


def import_key(names: Iterable[str], locale: str, program: str = "") -> str:
    """Return `import:` of a manifest: sources, the language of Discord's texts, and a program."""
    sources = "".join(f"    - {json.dumps(name, ensure_ascii=False)}\n" for name in names)
    listed = f"  from:\n{sources}" if sources else ""
    language = f"  locale: {json.dumps(locale)}\n" if locale else ""
    recorded = f"  program: {json.dumps(program, ensure_ascii=False)}\n" if program else ""
    return f"import:\n{listed}{language}{recorded}"


class _Before(NamedTuple):
    """The imported file before; its text is None where there is none."""

    content: ImportedFile
    text: str | None = None
    is_edited: bool = False


def _before(path: str, *, is_new: bool, force: bool) -> _Before:
    """Read the imported file, and after a merge conflict both sides of it together.

    Raises `ManifestError` if it cannot be read, and git has no version that can.
    """
    if not os.path.lexists(path):
        return _Before(ImportedFile())
    if is_new:  # of another manifest
        return _Before(ImportedFile(), _shown(read_file(path, most=MOST_BYTES)))
    origin = Origin(bytes, ci_workspace(os.environ))
    try:
        part = read_imported(path, origin, Problems())
    except UnreadableError as error:
        place, message, *_ = error.args
        text = _shown(origin.contents.get(path, b""))
        sides = [side for name in ("2", "3") if (side := _in_git(path, f":{name}:"))]
        if not sides and (head := _in_git(path, "HEAD:")):
            sides = [head]
        if sides:
            return _Before(_both(sides), text)
        if force and path in origin.contents:
            return _Before(ImportedFile(), text)
        raise ManifestError([Problem(place, message, Do.WRITE_ANEW())]) from error
    return _Before(part.content, part.report.source.text, part.is_edited)


def _shown(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _in_git(path: str, version: str) -> ImportedFile | None:
    """Return a version of an imported file from git; None if there is none that can be read."""
    folder, name = posixpath.split(path)
    with suppress(CommandsyncError, UnreadableError):
        content = git(folder or ".", "cat-file", "blob", f"{version}./{name}")
        return read_imported(path, Origin(bytes, contents={path: content}), Problems()).content
    return None


def _both(sides: Sequence[ImportedFile]) -> ImportedFile:
    """Return the sides of a conflict together."""
    commands: dict[object, ImportedCommand] = {}
    for command in (command for side in sides for command in side.commands):
        first = commands.setdefault((command.name, command.syntax), command)
        formerly = tuple(dict.fromkeys([*first.formerly, *command.formerly]))
        commands[command.name, command.syntax] = replace(first, formerly=formerly)
    gone = dict.fromkeys(name for side in sides for name in side.gone)
    return ImportedFile(tuple(commands.values()), sides[0].unread, tuple(gone))


def _next(
    reading: ReadSources,
    before: ImportedFile,
    manifest: Manifest,
    *,
    forget: Sequence[str],
    recorded: RecordedCommands | None,
) -> ImportOutcome:
    """Return the next imported file, from the readings."""
    exclude = Patterns(tuple(manifest.imports.exclude))
    partly = list(reading.partly)
    is_whole = recorded is None or recorded.is_whole
    evidence = SourceEvidence(
        partly=partly,
        unread=[
            (relative(part.place.path, _folder(manifest.path)), part)
            for part in (*reading.unread, *reading.acknowledged)
        ],
        sources=reading.read if is_whole else reading.read - {PROGRAM},
        files=reading.files,
        content=lambda file: _text_at(reading.files[file]),
        is_recorded=recorded is not None and is_whole,
        digests=lambda file: digest_of(reading.files.get(file)),
        is_excluded=lambda command: exclude.match(command.name),
        forgotten=forget,
    )
    return next_import([each.command for each in reading.found.values()], before, evidence)


def _text_at(path: str) -> bytes:
    with suppress(CommandsyncError):
        return read_file(path, most=MOST_BYTES)
    return b""


def _text_of(content: ImportedFile, path: str) -> tuple[ImportedFile, str, list[Notice]]:
    """Return the content and the text of the file, without objects where it would be too large."""
    text = imported_text(content, manifest=path)
    if (size := len(text.encode())) <= MOST_BYTES:
        return content, text, []
    commands = tuple(replace(command, discord=None) for command in content.commands)
    content = replace(content, commands=commands)
    message = f"Discord's objects of the commands are not kept: {size:,} bytes"
    notice = Notice(message, f"{imported_path(path)} has at most {MOST_BYTES:,}")
    return content, imported_text(content, manifest=path), [notice]


def _with_manifest(planned: Import, contents: dict[str, bytes], menus: Sequence[Menu]) -> Import:
    """Load the manifest with the new file, and return the import with the effect of its entries."""
    try:
        (manifest,) = load_files([planned.path], contents=contents)
    except ManifestError as error:
        return replace(planned, problems=tuple(error.problems))
    notes = [*planned.notes, *_offers(manifest, menus, planned.after)]
    texts = {each.name: each.description for each in manifest.snapshot.commands}
    if EXAMPLES.items() <= texts.items():
        message = f"{manifest.path} has the examples of commandsync init"
        notes.append(Notice(message, f"remove the entries {' and '.join(EXAMPLES)}"))
    if manifest.discord and LIVE in manifest.imports.sources:
        message = "discord is a source and a listing: a command that leaves the manifest comes back"
        hint = (
            "commandsync import --eject prints the manifest with all commands; then Discord has "
            "them from there alone"
        )
        notes.append(Notice(message, hint, manifest.discord.location))
    overrides, strays = manifest.overrides, manifest.strays
    return replace(planned, notes=tuple(notes), overrides=overrides, strays=strays)


def _offers(manifest: Manifest, menus: Sequence[Menu], after: ImportedFile) -> Iterable[Notice]:
    """Return the lines that a manifest can have for Telegram's menus and Discord's languages."""
    listings = [listing for listing in manifest.listings if listing.service == "telegram"]
    objects = [each.discord for each in after.public if each.discord] if listings else []
    return offers(
        [*menus, *localized(together(objects))],
        {listing.audience for listing in listings if listing.audience},
        {command.name for command in after.public},
    )


def _edits(before: ImportedFile, after: ImportedFile) -> Iterable[Mapping[str, str]]:
    """Yield hand edits, as the keys of entries of the manifest that keep them."""
    names = {command.name for command in after.commands}
    for old, new in differences(before, after):
        if old is None or old.left_out:
            continue
        ours = {key: str(getattr(old, key)) for key in _TEXTS}
        if old.name in names:
            theirs = {key: getattr(new, key, "") for key in _TEXTS}
            ours = dict(ours.items() - theirs.items())
        if values := {key: ours[key] for key in _TEXTS if ours.get(key)}:
            yield {"name": old.name, **values}
