"""Whatever the input, the answer is a manifest or problems with places: never another error."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commandsync.diagnostics import Problem
from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests
from commandsync.manifest.listings import ListingModel, ReplaceModel
from commandsync.manifest.model import CommandModel, ManifestModel

MODELS = (ManifestModel, CommandModel, ListingModel, ReplaceModel)
PIECES = st.sampled_from(
    [
        *[f"{key}:" for model in MODELS for key in model.model_fields],
        *["\n", "\n  ", "\n- ", "\n  - ", " ", "\t", "\r\n", "\r", "\u2028", "\x85", "\ufeff"],
        *['"', "'", "[", "]", "{", "}", ",", ": ", " #", "#", "|", ">", "-", "---", "...", "?"],
        *["&a ", "*a", "!x ", "!!str ", "%", "@", "`", "<<", "\\", "\0", "~", "1", "true", "é😀"],
        *["{prefix}", "*.yaml", "30%", "https://x", "version: 1\n", "commands:\n- "],
        *["listings:\n- service: top.gg\n", "listings:\n- service: x\n  replace:\n    "],
    ]
)
LINES = st.sampled_from(
    [
        *["version: 1\n", "commands:\n", "announcements:\n", "comands:\n", "prefix: /\n"],
        *["- name: a\n", "  - name: b\n", "    syntax: d\n", "  syntax: [p]x\n", "category: ~\n"],
        *["<<<<<<< HEAD\n", "=======\n", ">>>>>>> x\n", "| a | b |\n", "---\n", "...\n", "? "],
        *["  - ", "- ", "\n", "[", "]", "{", "}", '"', "'", ": ", " #", "&a ", "*a", "!x ", "| "],
    ]
)


def problems_of(data: bytes) -> Sequence[Problem]:
    try:
        load_manifests(["-"], stdin=lambda: data)
    except ManifestError as error:
        return error.problems
    return ()


def attempt(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in problems_of(data):
        where = problem.location

        assert 1 <= where.line <= len(lines)
        assert 1 <= where.column <= len(lines[where.line - 1]) + 2
        assert "\n" not in problem.message


@settings(max_examples=500)
@given((st.lists(PIECES, max_size=25) | st.lists(LINES, max_size=30)).map("".join))
@example("? - ...\n| a | b |\n  - name: b\nannouncements:\n  - name: b\n")
def test_any_text_gives_a_manifest_or_problems_with_places(text: str) -> None:
    attempt(text.encode())


@given(st.lists(PIECES, max_size=10).map(lambda pieces: "version: 1\n" + "".join(pieces)))
# An unknown key that nobody meant, and an empty one:
@example("version: 1\nversion:version:version:\n?")
def test_so_does_what_begins_well(text: str) -> None:
    attempt(text.encode())


@given(st.binary(max_size=60))
def test_so_do_any_bytes(data: bytes) -> None:
    attempt(data)


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nbot: " + " " * 2_000_000 + "x y: z\n",
        "version: 1\nbot: [" + "x " * 1_000_000 + "] y\n",
        "version: 1\n" + "k" * 5_000_000 + ": 1\n",
        "version: 1\nbot: *" + "a" * 5_000_000 + "\n",
        "version: 1\nbot: " + "- " * 100_000 + "\n",
        "version: 1\n? " + "'" * 1_000_001 + "\n",
    ],
    ids=["spaces", "list", "key", "alias", "dashes", "quotes"],
)
def test_long_lines_are_told_shortly(
    complaints: Callable[[str | bytes], list[str]], text: str
) -> None:
    assert all(len(complaint) < 1000 for complaint in complaints(text))
