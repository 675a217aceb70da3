"""The edits of a manifest's files: which entry of which file changes, and the new texts.

`EntryPlaces` knows which file has each entry, and where a new one goes. An import turns the changes
of its merge into new texts with `edited_texts`, and finds with `writable` those that can be made in
place. `plan_adoption` reads a listing, and adds to the manifest the listed records that it lacks.
Before any file is written, `checked_edits` loads the manifest with all new texts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

from commandsync.diagnostics import Notice
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest
from commandsync.manifest.dump import Shared, fields_of
from commandsync.manifest.fileedits import ListEdits, edit
from commandsync.manifest.layout import Value
from commandsync.plan.additions import Missing, missing_from
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, canonical
from commandsync.sources.changeset import Added, Edited, EntryChange, FileEdit, Removed
from commandsync.sources.entry import SourceEntry
from commandsync.sync.destinations import site_of
from commandsync.sync.settings import Settings, load_files, load_to_edit

_COLLECTION = Resource.COMMAND.collection


@dataclass(frozen=True, slots=True)
class EntryPlaces:
    """Which file has each of the manifest's entries of a kind, and where in its list."""

    paths: Sequence[str]  # the file of each entry
    numbers: Sequence[int]  # its index in the list of that file

    @classmethod
    def of(cls, manifest: Manifest, entries: Iterable[Entry]) -> Self:
        """Return the places of a manifest's entries, which are in the order of its files."""
        counts: defaultdict[str, int] = defaultdict(int)
        paths, numbers = [], []
        for entry in entries:
            path = entry.location.path if entry.location else manifest.path
            paths.append(path)
            numbers.append(counts[path])
            counts[path] += 1
        return cls(paths, numbers)

    def after(self, entry: int | None, manifest: Manifest) -> tuple[str, int | None]:
        """Return the file for a new entry, and the index there of the one before it.

        After None it goes to the end, which has no index: that of the manifest itself, unless all
        entries are in files that it includes.
        """
        if entry is not None:
            return self.paths[entry], self.numbers[entry]
        if not self.paths or manifest.path in self.paths:
            return manifest.path, None
        return self.paths[-1], None


def checked_edits(
    manifest: Manifest, contents: Mapping[str, bytes], edited: Mapping[str, str], *, when: str
) -> tuple[FileEdit, ...]:
    """Return the edits of a manifest's files, after it was loaded with their new texts.

    Raises `ManifestError` if it would not be valid; each message begins with `when` that is.
    """
    after = {**contents, **{path: text.encode() for path, text in edited.items()}}
    try:
        load_files([manifest.path], contents=after)
    except ManifestError as error:
        problems = (replace(each, message=f"{when}: {each.message}") for each in error.problems)
        raise ManifestError([*problems]) from error
    return tuple(FileEdit(path, contents[path].decode(), text) for path, text in edited.items())


def edited_texts(
    manifest: Manifest,
    places: EntryPlaces,
    texts: Mapping[str, str],
    changes: Iterable[EntryChange],
) -> dict[str, str]:
    """Return the new texts of the files that a merge changes.

    Raises `ManifestError` if a file cannot be edited in place.
    """
    edits: defaultdict[str, ListEdits] = defaultdict(ListEdits)
    for change in changes:
        if isinstance(change, Added):
            path, after = places.after(change.after, manifest)
            values = _values(change.entry, category=change.text.category, default=manifest.category)
            edits[path].added.append((after, values))
        else:
            path, number = places.paths[change.index], places.numbers[change.index]
            if isinstance(change, Removed):
                edits[path].removed.add(number)
            else:
                edits[path].changed[number] = _changed(change, default=manifest.category)
    return {
        path: edit(texts[path], {_COLLECTION: of_file}, path=path)
        for path, of_file in edits.items()
    }


def writable(
    manifest: Manifest,
    places: EntryPlaces,
    texts: Mapping[str, str],
    changes: Sequence[EntryChange],
) -> Sequence[EntryChange]:
    """Return those changes of a merge that can be made in place, together."""
    try:
        edited_texts(manifest, places, texts, changes)
    except ManifestError:
        half = len(changes) // 2
        if not half:
            return ()
        first, second = (
            writable(manifest, places, texts, part) for part in (changes[:half], changes[half:])
        )
        with suppress(ManifestError):
            edited_texts(manifest, places, texts, (*first, *second))
            return (*first, *second)
        return first
    return changes


def _values(entry: SourceEntry, *, category: str, default: str) -> dict[str, str]:
    """Return the keys of a new command; a category that is the default is left out."""
    values = {field: canonical(getattr(entry, field)) for field in Resource.COMMAND.required}
    return values if category == default else values | {"category": category}


def _changed(change: Edited, *, default: str) -> dict[str, Value | None]:
    """Return the new values of a command's fields; None for a key to remove."""
    values: dict[str, Value | None] = {}
    for changed in change.fields:
        # In the syntax the prefix is written as {prefix}; the other fields are as compared.
        source = change.entry if changed.field == "syntax" else None
        text = canonical(source.syntax) if source else changed.new
        is_default = changed.field == "category" and text == default
        values[changed.field] = None if is_default else text
    if change.formerly is not None:
        values["formerly"] = change.formerly or None
    return values


Edits: TypeAlias = defaultdict[str, defaultdict[str, ListEdits]]
"""Those of each file, by the keys of its lists."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """How a manifest gets what is listed."""

    files: tuple[FileEdit, ...]  # the files that change
    added: int  # how many entries are added
    renamed: int  # how many entries get a former name, or the id of the command they were
    finished: int  # how many entries lose their former names
    notices: tuple[Notice, ...]  # what a person should look at


def plan_adoption(
    settings: Settings, *, adds: bool = True, drops: bool = False, pin: bool = False
) -> Adoption:
    """Read a manifest and its listing, and plan what to add; nothing is written.

    With `drops`, former names that are no longer needed are removed, without `adds` nothing else
    changes; with `pin`, new entries get their ids.

    Raises:
        ManifestError: The manifest is invalid, or would be, or cannot be edited in place.
        UsageError: There is not exactly one manifest, or its listing is not known.
        ListingError: The listing cannot be read.
    """
    from commandsync.sync.job import read_listing  # noqa: PLC0415 - loads requests

    contents: dict[str, bytes] = {}
    manifest = load_to_edit(settings, contents, what="a merge")
    site = site_of(settings, manifest)
    scope = manifest.snapshot.scope or tuple(Resource)
    listed = read_listing(settings, site, scope)
    edits: Edits = defaultdict(lambda: defaultdict(ListEdits))
    found = []
    for resource in scope:
        wanted = manifest.snapshot.collections.get(resource, ())
        missing = missing_from(
            wanted,
            listed.collections[resource],
            resource=resource,
            rules=manifest.rules,
            ability=site.service.abilities[resource],
        )
        missing = missing.only(adds=adds, finishes=drops)
        _collect(manifest, resource, missing, edits, pin=pin)
        found.append(missing)
    texts = {
        path: edit(contents[path].decode(), changes, path=path) for path, changes in edits.items()
    }
    return Adoption(
        checked_edits(manifest, contents, texts, when="after the merge"),
        added=sum(len(missing.added) for missing in found),
        renamed=sum(len(missing.renamed) for missing in found),
        finished=sum(len(missing.finished) for missing in found),
        notices=(*site.warnings(), *(notice for missing in found for notice in missing.notices)),
    )


def _collect(
    manifest: Manifest, resource: Resource, missing: Missing, edits: Edits, *, pin: bool
) -> None:
    """Add the edits of one collection to those of the files."""
    wanted = manifest.snapshot.collections.get(resource, ())
    places, names = EntryPlaces.of(manifest, wanted), {entry.name for entry in wanted}
    key = resource.collection
    for index, old in missing.renamed.items():
        path, number = places.paths[index], places.numbers[index]
        edits[path][key].changed[number] = (
            {"id": old.id}
            if old.name in names
            else {"formerly": (*wanted[index].formerly, old.name)}
        )
    for index in missing.finished:
        edits[places.paths[index]][key].changed[places.numbers[index]] = {"formerly": None}
    shared = Shared(manifest.prefix or "", manifest.category)
    # New entries go behind the last one of their category, if their kind has categories.
    ends = {getattr(entry.text, resource.group, ""): n for n, entry in enumerate(wanted)}
    ends.pop("", None)
    for entry in missing.added:
        values = fields_of(entry.text, shared, resource)
        if pin and entry.writable:
            values["id"] = entry.id
        near = ends.get(getattr(entry.text, resource.group, ""))
        path, after = places.after(near, manifest)
        edits[path][key].added.append((after, values))
