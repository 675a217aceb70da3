"""What is listed and a manifest lacks -> edits of the manifest's files."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias

from commandsync.diagnostics import Notice
from commandsync.manifest import Manifest
from commandsync.manifest.dump import Shared, fields_of
from commandsync.manifest.editing import edit
from commandsync.manifest.entries import ListEdits
from commandsync.plan.additions import Missing, missing_from
from commandsync.records.texts import Resource
from commandsync.sources.changeset import FileEdit
from commandsync.sync.edits import EntryPlaces, checked_edits
from commandsync.sync.job import read_listing
from commandsync.sync.loading import load_to_edit
from commandsync.sync.settings import Settings, site_of

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
