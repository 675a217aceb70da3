"""An import: the manifest, its sources and what was imported last -> new texts of files."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from commandsync.diagnostics import Do, Hint, Location, Notice
from commandsync.errors import UsageError
from commandsync.manifest import Manifest
from commandsync.manifest.fields import uses_of_prefix, with_prefix
from commandsync.manifest.fileedits import field_places, with_key
from commandsync.plan.rules import removals_refused
from commandsync.records.snapshot import Node
from commandsync.records.texts import CommandText, Patterns, Resource, named
from commandsync.sources.changeset import Declared, Edited, FileEdit, Import, Merge, Removed
from commandsync.sources.entry import Excluded, SourceEntry, SourceReading, literal
from commandsync.sources.imported import LARGEST, Imported, Removals, by_name, imported_text
from commandsync.sources.merge import three_way
from commandsync.sources.telegrammenu import localized, offers
from commandsync.sync.companions import ImportedFile, read_beside
from commandsync.sync.edits import EntryPlaces, checked_edits, edited_texts, writable
from commandsync.sync.importsource import (
    PROGRAM,
    NamedSource,
    ReadSources,
    Recorded,
    read_sources,
    sources_of,
)
from commandsync.sync.settings import Settings, default_manifest, load_to_edit, rules_of

_COMMANDS = Resource.COMMAND
_NO_PREFIX = "it is called with a prefix, and the manifest has none"
_MOST_NAMED = 3
EXAMPLES = {
    "help": "Shows what the bot can do.",
    "ping": "Says how quickly the bot answers.",
}
"""The commands of a starter, with which `init` begins a manifest."""
_SUFFIXES = frozenset({".yaml", ".yml"})


def plan_import(  # noqa: PLR0913 - the options of one command
    settings: Settings,
    given: Sequence[str],
    *,
    registered: Callable[[str], SourceReading],
    recorded: Recorded | None = None,
    locale: str = "",
    create: bool = False,
    prefix: str | None = None,
    begun: Mapping[str, bytes] | None = None,
) -> Import:
    """Read a manifest and its sources, and merge them; nothing is written.

    Args:
        settings: The settings of the run, which name the manifest.
        given: The sources; empty for those of the manifest.
        registered: Reads what the bot has registered with Discord, in a language.
        recorded: What a program registered while it was recorded.
        locale: The language of Discord's texts; empty for the manifest's.
        create: Whether to begin a manifest if it does not exist.
        prefix: The prefix of the bot's commands, for a new manifest.
        begun: The manifest by its path, if it is begun already, and not written yet.

    Raises:
        ManifestError: The manifest, or what was imported last, is not valid; or the result is not.
        FileError: A source cannot be read.
        UsageError: No source is known, or more than one manifest is given; or a prefix is given for
            one that exists.
    """
    program = recorded.program if recorded else ""
    new = begun or {}
    if create:
        new = _new_manifest(settings.files, given, locale, prefix, program)
    contents = dict(new)
    manifest = load_to_edit(settings, contents, what="import")
    sources = sources_of(manifest, given, recorded)
    reading = read_sources(
        manifest,
        sources,
        locale=locale or manifest.imports.locale,
        registered=registered,
        recorded=recorded,
    )
    _leave_out_prefixed(manifest, reading, is_new=bool(new) and not begun)
    imported = read_beside(manifest.path)
    if new:  # what was imported into another manifest
        imported = replace(imported, content=Imported())
    ours = tuple(manifest.snapshot.collections.get(_COMMANDS, ()))
    names = tuple(name for name, _ in sources)
    places = EntryPlaces.of(manifest, ours)
    texts = {path: contents[path].decode() for path in manifest.paths}
    examples = _examples(manifest, imported, names[0])
    merge = three_way(
        base=(*imported.content.declared, *examples),
        theirs=reading.declared,
        ours=ours,
        sources=names,
        text_of=partial(_text_of, manifest),
        writable=partial(writable, manifest, places, texts),
        is_kept=Patterns(tuple(manifest.imports.exclude)).match,
        held_back=partial(_held_back, examples, _removals(imported, reading, sources)),
    )
    edited = edited_texts(manifest, places, texts, merge.changes)
    edits = checked_edits(manifest, contents, edited, when="after the import")
    after, objects, notes = _after(imported, merge, reading)
    return Import(
        path=manifest.path,
        sources=names,
        locale=locale,
        repeatable=bool(manifest.imports.sources) and locale in {"", manifest.imports.locale},
        ours=ours,
        merge=merge,
        edits=_with_new(edits, new),
        imported=after if after.after != after.before else None,
        objects=objects,
        excluded=tuple(reading.excluded),
        notes=(*reading.notes, *notes, *_offers(manifest, reading)),
        unread=tuple(reading.unread),
        acknowledged=tuple(reading.acknowledged),
        refusal=removals_refused(
            len(merge.of(Removed)) - len(examples),
            of=len(ours) - len(examples),
            rules=rules_of(settings, manifest),
        ),
        generated=tuple(reading.generated),
        places=_places(merge, places, texts),
    )


def _examples(manifest: Manifest, imported: ImportedFile, source: str) -> tuple[Declared, ...]:
    """Return the commands of a starter that nobody edited, as if a source had had them before."""
    commands = manifest.snapshot.commands
    is_starter = {each.name: each.description for each in commands} == EXAMPLES
    if imported.content.declared or not is_starter or len(commands) > len(EXAMPLES):
        return ()
    return tuple(
        Declared(
            source,
            SourceEntry(
                name=each.name,
                description=each.description,
                syntax=literal(each.syntax),
                category=each.category or None,
            ),
        )
        for each in commands
    )


def _held_back(examples: Sequence[Declared], proof: Removals, command: Declared) -> str:
    """Return why nothing proves that a command is gone; an example needs no proof."""
    return "" if command in examples else proof.held_back(command)


def _offers(manifest: Manifest, reading: ReadSources) -> Iterator[Notice]:
    """Yield what the manifest can have of Telegram's menus, and of the languages at Discord."""
    listings = [listing for listing in manifest.listings if listing.service == "telegram"]
    objects = chain.from_iterable(reading.objects.values()) if listings else ()
    yield from offers(
        [*reading.menus, *localized(objects)],
        {listing.audience for listing in listings if listing.audience},
        {command.entry.name for command in reading.declared},
    )


def _with_new(edits: Iterable[FileEdit], new: Collection[str]) -> tuple[FileEdit, ...]:
    """Return edits of which those of new files have nothing before."""
    return tuple(edit._replace(before=None) if edit.path in new else edit for edit in edits)


def _removals(
    imported: ImportedFile, reading: ReadSources, sources: Sequence[NamedSource]
) -> Removals:
    """Return the proof of removals; Discord's own list is always complete, a recording is not."""
    known = {file for _, _, file in imported.content.declared}
    files = dict(reading.files)
    files |= {source.name: "" for source in sources if source.path is None}
    return Removals(files, reading.partial, known, (*reading.unread, *reading.acknowledged))


def _new_manifest(
    files: Sequence[str], given: Sequence[str], locale: str, prefix: str | None, program: str
) -> dict[str, bytes]:
    """Return the text of the manifest by its path, if it does not exist yet and can be begun."""
    path = Path(files[0] if len(files) == 1 else default_manifest()).as_posix()
    if Path(path).suffix not in _SUFFIXES or Path(path).exists() or not (given or program):
        if prefix is not None:
            message = "a prefix is given for a new manifest, and this one exists"
            raise UsageError(message, hint="write prefix: in the manifest")
        return {}
    names = [name for name, _ in sources_of(Manifest(path), given)] if given else []
    head = "" if prefix is None else f"prefix: {json.dumps(prefix, ensure_ascii=False)}\n"
    text = f"version: 1\n{head}\n{import_key(names, locale, program)}\ncommands: []\n"
    return {path: text.encode()}


def import_key(names: Iterable[str], locale: str, program: str = "") -> str:
    """Return `import:` of a manifest: sources, the language of Discord's texts, and a program."""
    sources = "".join(f"    - {json.dumps(name, ensure_ascii=False)}\n" for name in names)
    listed = f"  from:\n{sources}" if sources else ""
    language = f"  locale: {json.dumps(locale)}\n" if locale else ""
    recorded = f"  program: {json.dumps(program, ensure_ascii=False)}\n" if program else ""
    return f"import:\n{listed}{language}{recorded}"


def saved_sources(settings: Settings, result: Import) -> FileEdit:
    """Return the edit that names the sources of an import in the manifest, for the next one.

    Raises:
        ManifestError: The manifest is not valid, or cannot be edited in place.
        UsageError: It has `import:` already.
    """
    contents: dict[str, bytes] = {}
    manifest = load_to_edit(settings, contents, what="import")
    if manifest.imports.sources:
        hint = "edit from: there"
        raise UsageError(f"{manifest.path} has import: already", hint=hint)
    names = [name for name in result.sources if name != PROGRAM]
    path, key = manifest.path, import_key(names, result.locale)
    edited = {path: with_key(contents[path].decode(), key, path=path)}
    return checked_edits(manifest, contents, edited, when="with import:")[0]


def _leave_out_prefixed(manifest: Manifest, reading: ReadSources, *, is_new: bool) -> None:
    """Leave out the commands with a prefix where the manifest does not have it, and say so."""
    if manifest.prefix is not None:
        return
    prefixed = [each for each in reading.declared if uses_of_prefix(each.entry.syntax)]
    if not prefixed:
        return
    reading.declared = [each for each in reading.declared if not uses_of_prefix(each.entry.syntax)]
    reading.excluded += [Excluded(each.entry, _NO_PREFIX) for each in prefixed]
    names = named([each.entry.name for each in prefixed], most=_MOST_NAMED)
    what = "1 command is" if len(prefixed) == 1 else f"{len(prefixed):,} commands are"
    message = f"{what} left out: called with a prefix, which the manifest does not have ({names})"
    hint: str | Hint = 'write the bot\'s prefix into the manifest, such as prefix: "!"'
    reading.notes.append(Notice(message, Do.GIVE_PREFIX() if is_new else hint))


def _text_of(manifest: Manifest, entry: SourceEntry) -> CommandText:
    """Return the text of a source's command as the manifest would have it."""
    return CommandText(
        entry.name,
        entry.description,
        with_prefix(entry.syntax, manifest.prefix or ""),
        entry.category or manifest.category,
    )


def _after(
    file: ImportedFile, merge: Merge, reading: ReadSources
) -> tuple[FileEdit, int, tuple[Notice, ...]]:
    """Return the file of what is imported, and how many of the platform's objects it has.

    They are left out where the file would be too large, which a notice says.
    """
    names, before = {entry.name for _, entry, _ in merge.imported}, file.content.objects
    held = {held.name for held in merge.held_back} - names
    objects = {
        source: kept
        for source, each in {**before, **reading.objects}.items()
        if (kept := [*_named(each, names), *_named(before.get(source, ()), held)])
    }
    gone = (each if each.file else each._replace(file=each.source) for each in merge.gone)
    imported = (*merge.imported, *gone)
    text = imported_text(imported, objects)
    notes: tuple[Notice, ...] = ()
    if objects and (size := len(text.encode())) > LARGEST:
        message = f"Discord's objects of the commands are not kept: {size:,} bytes"
        notes = (Notice(message, f"{file.path} has at most {LARGEST:,}"),)
        objects, text = {}, imported_text(imported)
    return FileEdit(file.path, file.text, text), sum(map(len, objects.values())), notes


def _named(objects: Iterable[Node], names: Collection[str]) -> Iterator[Node]:
    """Yield the objects that have one of the names, or a part with it."""
    return (node for node in objects if not by_name([node]).keys().isdisjoint(names))


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
