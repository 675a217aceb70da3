"""What is listed and a manifest lacks -> edits of the manifest's files, which are written whole."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.manifest.editing import AddEntry, SetField, edit
from commandsync.manifest.sharing import Shared, fields_of
from commandsync.plan.missing import missing_from
from commandsync.records.texts import Resource
from commandsync.sources.outcome import FileEdit
from commandsync.sync.edits import EntryPlaces
from commandsync.sync.files import write_edits
from commandsync.sync.job import load_files, load_to_edit, read_listing
from commandsync.sync.settings import site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.diagnostics import Notice
    from commandsync.manifest import Manifest
    from commandsync.manifest.editing import Edit
    from commandsync.plan.missing import Missing
    from commandsync.sync.settings import Settings


@dataclass(frozen=True, slots=True)
class Adoption:
    """How a manifest gets what is listed.

    Attributes:
        files: The files that change.
        added: How many entries are added.
        renamed: How many entries get a former name, or the id of the command they were.
        notices: What a person should look at.
    """

    files: tuple[FileEdit, ...]
    added: int
    renamed: int
    notices: tuple[Notice, ...]


def plan_adoption(settings: Settings, *, pin: bool = False) -> Adoption:
    """Read a manifest and its listing, and plan what to add; nothing is written.

    Args:
        settings: The settings of the run, which name the manifest.
        pin: Whether new entries get their ids.

    Raises:
        ManifestError: The manifest is invalid, or would be, or cannot be edited in place.
        UsageError: There is not exactly one manifest, or its listing is not known.
        ListingError: The listing cannot be read.
    """
    contents: dict[str, bytes] = {}
    manifest = load_to_edit(settings, contents, what="--merge")
    site = site_of(settings, manifest)
    scope = manifest.snapshot.scope or tuple(Resource)
    listed = read_listing(settings, site, scope)
    edits: defaultdict[str, list[Edit]] = defaultdict(list)
    found = []
    for resource in scope:
        wanted = manifest.snapshot.collections.get(resource, ())
        missing = missing_from(
            wanted, listed.collections[resource], resource=resource, rules=manifest.rules
        )
        _collect(manifest, resource, missing, edits, pin=pin)
        found.append(missing)
    texts = {
        path: edit(contents[path].decode(), changes, path=path) for path, changes in edits.items()
    }
    load_files([manifest.path], contents=contents | {p: t.encode() for p, t in texts.items()})
    return Adoption(
        tuple(FileEdit(path, contents[path].decode(), text) for path, text in texts.items()),
        added=sum(len(missing.added) for missing in found),
        renamed=sum(len(missing.renamed) for missing in found),
        notices=(*site.warnings(), *(notice for missing in found for notice in missing.notices)),
    )


def write_adoption(adoption: Adoption) -> None:
    """Write the files, each whole or not at all.

    Raises:
        FileError: A file changed since it was read, or cannot be written.
    """
    write_edits(adoption.files, again="merge again")


def _collect(
    manifest: Manifest,
    resource: Resource,
    missing: Missing,
    edits: Mapping[str, list[Edit]],
    *,
    pin: bool,
) -> None:
    """Add the edits of one collection to those of the files."""
    wanted = manifest.snapshot.collections.get(resource, ())
    places, names = EntryPlaces.of(manifest, wanted), {entry.name for entry in wanted}
    for index, old in missing.renamed.items():
        path, number = places.paths[index], places.numbers[index]
        key, value = "formerly", (*wanted[index].formerly, old.name)
        edits[path].append(
            SetField(resource.collection, number, "id", old.id)
            if old.name in names
            else SetField(resource.collection, number, key, value)
        )
    shared = Shared(manifest.prefix or "", manifest.category)
    ends = {getattr(entry.text, "category", ""): n for n, entry in enumerate(wanted)}
    ends.pop("", None)  # new entries go behind the last one of their category
    for entry in missing.added:
        values = fields_of(entry.text, shared)
        if pin and entry.writable:
            values["id"] = entry.id
        near = ends.get(getattr(entry.text, "category", ""))
        path, after = places.after(near, manifest)
        edits[path].append(AddEntry(resource.collection, values, after))
