"""The changes of a merge -> edits of the manifest's files, and their new texts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.manifest.editing import AddEntry, RemoveEntry, RemoveField, SetField, edit
from commandsync.records.texts import Resource, canonical
from commandsync.sources.merge import Added, Edited, Removed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from commandsync.manifest import Manifest
    from commandsync.manifest.editing import Edit
    from commandsync.records.snapshot import Entry
    from commandsync.sources.entry import SourceEntry
    from commandsync.sources.merge import EntryChange

_COLLECTION = Resource.COMMAND.collection


@dataclass(frozen=True, slots=True)
class EntryPlaces:
    """Which file has each of the manifest's entries of a kind, and where in its list.

    Attributes:
        paths: The file of each entry.
        numbers: Its index in the list of that file.
    """

    paths: Sequence[str]
    numbers: Sequence[int]

    @classmethod
    def of(cls, manifest: Manifest, entries: Iterable[Entry]) -> EntryPlaces:
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


def edited_texts(
    manifest: Manifest,
    places: EntryPlaces,
    texts: Mapping[str, str],
    changes: Iterable[EntryChange],
) -> dict[str, str]:
    """Return the new texts of the files that a merge changes.

    Raises:
        ManifestError: A file cannot be edited in place.
    """
    edits: defaultdict[str, list[Edit]] = defaultdict(list)
    for change in changes:
        if isinstance(change, Added):
            path, after = places.after(change.after, manifest)
            values = _values(change.entry, category=change.text.category, default=manifest.category)
            edits[path].append(AddEntry(_COLLECTION, values, after))
        else:
            path, number = places.paths[change.index], places.numbers[change.index]
            edits[path] += _edits(change, number, default=manifest.category)
    return {path: edit(texts[path], of_file, path=path) for path, of_file in edits.items()}


def _values(entry: SourceEntry, *, category: str, default: str) -> dict[str, str]:
    """Return the keys of a new command; a category that is the default is left out."""
    values = {field: canonical(getattr(entry, field)) for field in Resource.COMMAND.required}
    return values if category == default else values | {"category": category}


def _edits(change: Edited | Removed, number: int, *, default: str) -> Iterator[Edit]:
    if isinstance(change, Removed):
        yield RemoveEntry(_COLLECTION, number)
        return
    for changed in change.fields:
        if changed.field == "category" and changed.new == default:
            yield RemoveField(_COLLECTION, number, changed.field)
        else:
            # In the syntax the prefix is written as {prefix}; the other fields are as compared.
            source = change.entry if changed.field == "syntax" else None
            text = canonical(source.syntax) if source else changed.new
            yield SetField(_COLLECTION, number, changed.field, text)
    if change.formerly:
        yield SetField(_COLLECTION, number, "formerly", change.formerly)
    elif change.formerly is not None:
        yield RemoveField(_COLLECTION, number, "formerly")
