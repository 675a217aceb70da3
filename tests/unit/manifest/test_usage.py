from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from commandsync.manifest.dump import dump_manifest
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource

if TYPE_CHECKING:
    from tests.unit.manifest.conftest import Load

ENTRY = "version: 1\ncommands:\n  - name: a\n    description: b\n    syntax: c\n"


def test_uses_that_are_noted_in_a_dump_are_read_back(load: Load) -> None:
    uses = [0, 1840, None]
    entries = tuple(
        Entry(CommandText(f"c{n}", "x", "y"), id=f"i{n}", uses=count)
        for n, count in enumerate(uses)
    )
    snapshot = Snapshot(MappingProxyType({Resource.COMMAND: entries}))
    dump = dump_manifest(snapshot, bot="", base_url="", pin=True, uses=True)

    assert '    id: "i1" # uses: 1840\n' in dump.text
    assert '    id: "i2"\n' in dump.text
    assert [entry.uses for entry in load(dump.text).snapshot.collections[Resource.COMMAND]] == uses


@pytest.mark.parametrize(
    "line", ["", "    id: x\n    # uses: 7", "    id: x # uses: many", "    id: x # uses: 7 or 8"]
)
def test_other_comments_note_nothing(load: Load, line: str) -> None:
    (entry,) = load(ENTRY + line).snapshot.collections[Resource.COMMAND]

    assert entry.uses is None
