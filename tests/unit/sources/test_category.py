from __future__ import annotations

import pytest

from commandsync.sources.category import category_of
from commandsync.sources.entry import SourceEntry

PATTERNS = {"ban*": "Moderation", "*cog": "Games", "config *": "Settings", "*": "Rest"}


def entry(name: str = "play", category: str | None = None) -> SourceEntry:
    return SourceEntry(name=name, description="a", syntax="b", category=category)


@pytest.mark.parametrize("written", ["Mine", ""])
def test_the_category_in_the_manifest_counts_first(written: str) -> None:
    command = entry("ban", "ModCog")

    assert category_of(command, written=written, patterns=PATTERNS, default="D") == written


@pytest.mark.parametrize(
    ("command", "category"),
    [
        (entry("Ban user"), "Moderation"),
        (entry("play", "ChessCog"), "Games"),
        (entry("config set"), "Settings"),
        (entry("play"), "Rest"),
    ],
)
def test_the_first_pattern_that_matches_name_or_cog_comes_next(
    command: SourceEntry, category: str
) -> None:
    assert category_of(command, written=None, patterns=PATTERNS, default="D") == category


def test_then_the_cog_folder_or_group_and_then_the_default() -> None:
    patterns = {"ban*": "Moderation"}

    assert category_of(entry("play", "Fun"), written=None, patterns=patterns, default="D") == "Fun"
    assert category_of(entry("play"), written=None, patterns=patterns, default="D") == "D"
