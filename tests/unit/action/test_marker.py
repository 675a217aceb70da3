from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.action.marker import (
    Marker,
    changes_of,
    digest_of,
    key_digest,
    parse,
    removals_of,
    render,
)
from commandsync.plan.changes import Edit
from tests.support.plans import varied_plan

KEY = key_digest("lantern")
MARKER = Marker(key=KEY, fingerprint="sha256:ab", removals=frozenset({"command:1", "command:2"}))
markers = st.builds(
    Marker,
    key=st.just(KEY),
    fingerprint=st.text(st.characters(exclude_categories=()), max_size=80),
    removals=st.frozensets(st.text(st.characters(exclude_categories=()), max_size=30), max_size=9),
    applied=st.booleans(),
    changes=st.none() | st.frozensets(st.text("0123456789abcdef", min_size=8, max_size=8)),
)


@given(markers)
def test_a_marker_is_read_as_it_was_written_whatever_an_id_is(marker: Marker) -> None:
    line = render(marker)

    assert parse(line) == parse(f"{line}\r") == marker
    assert "--" not in line.removeprefix("<!--").removesuffix("-->")
    assert len(line.splitlines()) == 1


def test_a_plan_has_shown_its_removals_and_no_others() -> None:
    assert MARKER.has_shown(frozenset())
    assert MARKER.has_shown(frozenset({"command:2"}))
    assert not MARKER.has_shown(frozenset({"command:2", "announcement:2"}))


def test_of_too_many_removals_only_all_of_them_count_as_shown() -> None:
    removals = frozenset(f"command:{n:024}" for n in range(2_000))
    line = render(Marker(key=KEY, fingerprint="", removals=removals))
    read = parse(line)

    assert len(line) < 500
    assert read is not None
    assert read.has_shown(removals)
    assert not read.has_shown(removals - {f"command:{0:024}"})
    assert not read.has_shown(removals | {"command:x"})


def test_the_removals_of_a_usual_plan_are_known_each() -> None:
    removals = frozenset(f"command:{n:024}" for n in range(300))
    marker = Marker(key=KEY, fingerprint="sha256:" + "a" * 64, removals=removals)

    assert parse(render(marker)) == marker


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"7",
        b"{",
        b"[" * 9_000,
        b"\xff",
        b"{}",
        b'{"fingerprint": "", "removals": 7, "applied": true}',
        b'{"fingerprint": "", "removals": [' + b'"",' * 9_000 + b'""], "applied": true}',
    ],
)
def test_what_is_not_a_marker_is_nobodys(content: bytes) -> None:
    line = f"<!-- commandsync:{KEY}:{base64.b64encode(content).decode()} -->"

    assert parse(line) is None


@pytest.mark.parametrize("line", ["", "Hello", render(MARKER)[:-5], f"> {render(MARKER)}"])
def test_another_first_line_is_not_a_marker(line: str) -> None:
    assert parse(line) is None


def test_only_true_says_that_a_plan_was_applied() -> None:
    content = b'{"fingerprint": "", "removals": [], "applied": "no"}'
    read = parse(f"<!-- commandsync:{KEY}:{base64.b64encode(content).decode()} -->")

    assert read is not None
    assert not read.applied


def test_a_plan_removes_what_it_deletes_and_what_it_replaces() -> None:
    assert removals_of([varied_plan()]) == {"command:3", "announcement:a"}
    assert removals_of([]) == frozenset()


def test_a_line_that_is_too_long_leaves_out_the_other_changes_before_the_removals() -> None:
    removals = frozenset(f"command:{n:024}" for n in range(200))
    changes = frozenset(f"{n:08x}" for n in range(2_000))
    marker = Marker(key=KEY, fingerprint="", removals=removals, changes=changes)

    assert parse(render(marker)) == replace(marker, changes=None)
    few = replace(marker, changes=frozenset(["0a0a0a0a"]))
    assert parse(render(few)) == few


def test_the_digest_of_a_change_tells_what_it_does_and_not_where_it_is_written() -> None:
    change, *_ = (each for each in varied_plan().changes if isinstance(each, Edit))
    others = [
        replace(change, id="another"),
        replace(change, after=change.before),
        replace(change, before=change.after),
    ]

    assert digest_of(replace(change, location=None)) == digest_of(change)
    assert digest_of(change) not in map(digest_of, others)
    assert len(changes_of([varied_plan()])) == len(varied_plan().changes) - 1
