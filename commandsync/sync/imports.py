"""An import: the manifest, its sources and what was imported last -> new texts of files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest
from commandsync.manifest.defaults import uses_of_prefix, with_prefix
from commandsync.manifest.editing import field_places
from commandsync.manifest.problems import quoted
from commandsync.records.texts import CommandText, Resource
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.files import IMPORTED
from commandsync.sources.imported import imported_text, read_imported
from commandsync.sources.merge import Declared, Edited, FileEdit, Import, Merge
from commandsync.sources.threeway import three_way
from commandsync.sync import default_manifest
from commandsync.sync.declared import read_sources, sources_of
from commandsync.sync.edits import EntryPlaces, check_edited, edited_texts
from commandsync.sync.files import MOST_BYTES, read_file
from commandsync.sync.loading import load_to_edit
from commandsync.sync.settings import Settings

_COMMANDS = Resource.COMMAND
_SUFFIXES = frozenset({".yaml", ".yml"})


def plan_import(
    settings: Settings,
    given: Sequence[str],
    *,
    registered: Callable[[str], SourceReading],
    locale: str = "",
    create: bool = False,
) -> Import:
    """Read a manifest and its sources, and merge them; nothing is written.

    Args:
        settings: The settings of the run, which name the manifest.
        given: The sources; empty for those of the manifest.
        registered: Reads what the bot has registered with Discord, in a language.
        locale: The language of Discord's texts; empty for the manifest's.
        create: Whether to begin a manifest where there is none.

    Raises:
        ManifestError: The manifest, or what was imported last, is not valid; or the result is not,
            or cannot be written in place.
        FileError: A source cannot be read.
        UsageError: There is no source, or more than one manifest.
    """
    new = _new_manifest(settings.files, given, locale) if create else {}
    contents = dict(new)
    manifest = load_to_edit(settings, contents, what="import")
    sources = sources_of(manifest, given)
    reading = read_sources(
        manifest, sources, locale=locale or manifest.imports.locale, registered=registered
    )
    _check_prefix(manifest, reading.declared)
    imported = _read_imported(manifest.path)
    ours = tuple(manifest.snapshot.collections.get(_COMMANDS, ()))
    names = tuple(name for name, _ in sources)
    merge = three_way(
        base=imported.declared,
        theirs=reading.declared,
        ours=ours,
        sources=reading.complete,
        text_of=partial(_text_of, manifest),
    )
    places = EntryPlaces.of(manifest, ours)
    texts = {path: contents[path].decode() for path in manifest.paths}
    edited = edited_texts(manifest, places, texts, merge.changes)
    check_edited(manifest, contents, edited, when="after the import")
    written = {path: text for path, text in texts.items() if path not in new}
    after = FileEdit(imported.path, imported.text, imported_text(merge.imported))
    return Import(
        path=manifest.path,
        sources=names,
        locale=locale,
        repeatable=bool(manifest.imports.sources) and locale in {"", manifest.imports.locale},
        ours=ours,
        merge=merge,
        edits=tuple(FileEdit(path, written.get(path), text) for path, text in edited.items()),
        imported=after if after.after != after.before else None,
        excluded=reading.excluded,
        notes=reading.notes,
        generated=reading.generated,
        places=_places(merge, places, texts),
    )


@dataclass(frozen=True, slots=True)
class _Imported:
    """What was imported last, and its file; its text is None where there is none yet."""

    path: str
    text: str | None
    declared: tuple[Declared, ...]


def _new_manifest(files: Sequence[str], given: Sequence[str], locale: str) -> dict[str, bytes]:
    """Return the text of the manifest by its path, if it does not exist yet and can be begun."""
    path = Path(files[0] if len(files) == 1 else default_manifest()).as_posix()
    if Path(path).suffix not in _SUFFIXES or Path(path).exists() or not given:
        return {}
    names = [name for name, _ in sources_of(Manifest(path), given)]
    sources = "".join(f"    - {json.dumps(name, ensure_ascii=False)}\n" for name in names)
    language = f"  locale: {json.dumps(locale)}\n" if locale else ""
    text = f"version: 1\n\nimport:\n  from:\n{sources}{language}\ncommands: []\n"
    return {path: text.encode()}


def _check_prefix(manifest: Manifest, declared: Sequence[Declared]) -> None:
    """Refuse commands with a prefix where the manifest does not have it; raises `ManifestError`."""
    if manifest.prefix is not None:
        return
    for _, entry in declared:
        if uses_of_prefix(entry.syntax):
            message = f"{quoted(entry.name)} is called with a prefix, and the manifest has none"
            hint = 'add the prefix of the bot at its top, such as prefix: "!"'
            if not Path(manifest.path).exists():
                lines = 'two lines first: version: 1, and prefix: "!" or another'
                hint = f"write {manifest.path} with {lines}"
            raise ManifestError([Problem(Location(manifest.path), message, hint)])


def _text_of(manifest: Manifest, entry: SourceEntry) -> CommandText:
    """Return the text of a source's command as the manifest would have it."""
    return CommandText(
        entry.name,
        entry.description,
        with_prefix(entry.syntax, manifest.prefix or ""),
        entry.category or manifest.category,
    )


def _read_imported(manifest: str) -> _Imported:
    path = Path(manifest).with_suffix(IMPORTED).as_posix()
    if not Path(path).exists():
        return _Imported(path, None, ())
    try:
        text = read_file(path, most=MOST_BYTES).decode()
    except UnicodeDecodeError as error:
        hint = "restore it from version control"
        raise ManifestError([Problem(Location(path), "the file is not UTF-8", hint)]) from error
    return _Imported(path, text, read_imported(text, path=path))


def _places(
    merge: Merge, places: EntryPlaces, texts: Mapping[str, str]
) -> dict[int, dict[str, Location]]:
    """Return the places of the fields of the commands that change or are for review."""
    of_file: dict[str, list[dict[str, Location]]] = {}
    found = {}
    reviewed = (review.index for review in merge.reviews if review.index is not None)
    for index in (*reviewed, *(change.index for change in merge.of(Edited))):
        path = places.paths[index]
        if path not in of_file:
            of_file[path] = field_places(texts[path], _COMMANDS.collection, path=path)
        found[index] = of_file[path][places.numbers[index]]
    return found
