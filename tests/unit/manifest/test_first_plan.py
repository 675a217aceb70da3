"""What is registered at Discord comes back as it is: from a pull, an import, and an ejected import.

The first plan of a running bot has no changes, however its commands became a manifest.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import assume, given

from commandsync.diagnostics import Location
from commandsync.manifest import Manifest, load_head, load_manifests
from commandsync.manifest.dump import dump_manifest, ejected
from commandsync.manifest.reader import DiscordListing
from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import Entry, ImportedFile, Snapshot
from commandsync.records.texts import Resource, Text
from commandsync.services.discord import Application
from commandsync.services.discordobjects import entries_of
from commandsync.services.registration import compose
from commandsync.sources.reading import read_answer
from commandsync.sync.importsource import NamedSource, read_sources
from tests.support.discordcommands import trees

APPLICATION = Application("1", "2", "Lantern", (0, 1))
HEAD = "version: 1\nimport: {from: discord}\nlistings: [{service: discord}]\n"
Nodes = list[dict[str, Any]]


def listed(nodes: Nodes) -> tuple[Entry, ...]:
    return entries_of(nodes, installs=APPLICATION.integration_types)


def registered(manifest: Manifest, known: Sequence[Entry]) -> list[Text]:
    """Return what a manifest registers, of which nothing is lost or wrong."""
    found = compose(
        manifest.registrables,
        listed=known,
        application=APPLICATION,
        ignored=manifest.is_untouched,
    )
    assert (found.losses, found.problems, found.untouched) == ((), (), ())
    return sorted(entry.text for entry in found.entries)


def with_ids(tree: Nodes) -> Nodes:
    return [{**node, "id": str(number)} for number, node in enumerate(tree, start=100)]


def groups(nodes: Nodes) -> Iterator[dict[str, Any]]:
    for node in nodes:
        options = node.get("options") or []
        yield from (option for option in options if option["type"] == 2)
        yield from groups(options)


@given(trees())
def test_a_pulled_manifest_registers_what_is_registered(tree: Nodes) -> None:
    entries = listed(with_ids(tree))
    discord = DiscordListing(location=Location("x"))
    snapshot = Snapshot({Resource.APPLICATION_COMMAND: entries})
    dump = dump_manifest(snapshot, bot="", base_url="", pin=True, discord=discord)
    (manifest,) = load_manifests(["-"], stdin=dump.text.encode)

    assert registered(manifest, entries) == sorted(entry.text for entry in entries)
    assert [each.id for each in manifest.registrables] == [entry.id for entry in entries]


@given(trees())
def test_an_imported_manifest_registers_what_is_registered_ejected_or_not(tree: Nodes) -> None:
    # A group without sub-commands has nothing that can be called, and so nothing to import.
    assume(tree and all(group.get("options") for group in groups(tree)))
    nodes, head = with_ids(tree), HEAD.encode()
    imports = load_head("commands.yaml", head).imports
    reading = read_sources(
        Manifest("commands.yaml", imports=imports),
        [NamedSource("discord", None)],
        registered=lambda _: read_answer(json.dumps(nodes).encode()),
    )
    content = ImportedFile(tuple(each.command for each in reading.found.values()))
    contents = {"commands.yaml": head, "commands.imported.yaml": imported_text(content).encode()}
    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes, contents=contents)

    entries = listed(nodes)
    texts = sorted(entry.text for entry in entries)
    assert registered(manifest, entries) == texts
    if not any(each.reason for each in manifest.registrables):
        (alone,) = load_manifests(["-"], stdin=ejected(manifest, HEAD).encode)
        assert registered(alone, entries) == texts
