import pytest

from commandsync.manifest.dump import Shared, fields_of, shared_of
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text


def listing(texts: list[Text]) -> Snapshot:
    kinds = {kind: [text for text in texts if isinstance(text, kind.text)] for kind in Resource}
    return Snapshot({kind: tuple(map(Entry, members)) for kind, members in kinds.items()})


def commands(*syntaxes: str) -> list[CommandText]:
    return [CommandText(f"c{n}", "x", syntax) for n, syntax in enumerate(syntaxes)]


def categories(*names: str) -> list[CommandText]:
    return [CommandText(f"c{n}", "x", "y", name) for n, name in enumerate(names)]


@pytest.mark.parametrize(
    ("texts", "prefix"),
    [
        (commands("/c0", "/c1"), "/"),
        (commands("/c0 <x>", "/group c1", "c2"), "/"),
        (commands("m!c0", "m!c1", "m!c2", "/c3"), "m!"),
        (commands(".c0"), ""),
        (commands("/c0", "!c1"), ""),
        (commands("/c0", "/c1", "!c2", "!c3"), ""),
        (commands("c0", "c1"), ""),
        (commands("<c0>", "<c1>", "[c2]"), ""),
        (commands("play c0", "play c1"), ""),
        (commands("a {x}c0", "a {x}c1"), ""),
        ([CommandText("/a", "x", "/a"), CommandText("/b", "x", "/b <y>")], "/"),
        ([], ""),
        ([AnnouncementText("/a", "x"), AnnouncementText("/b", "x")], ""),
    ],
)
def test_the_prefix_of_most_commands_is_shared(texts: list[Text], prefix: str) -> None:
    assert shared_of(listing(texts)).prefix == prefix


@pytest.mark.parametrize(
    ("texts", "category"),
    [
        (categories("Fun", "Fun", "Fun", "Tools", "Tools"), "Fun"),
        (categories("Fun", "Fun"), ""),
        (categories("Fun", "Fun", "Fun", "Fun", ""), "Fun"),
        (categories("Fun", "Fun", "Fun", ""), ""),
        (categories("x" * 101, "x" * 101, "x" * 101), ""),
    ],
)
def test_a_category_is_the_default_where_fewer_lines_are_needed(
    texts: list[Text], category: str
) -> None:
    assert shared_of(listing(texts)).category == category


def test_an_entry_says_what_is_not_shared() -> None:
    shared = Shared("/", "Fun")

    assert fields_of(CommandText("a", "b", "/a {prefix}", "Fun"), shared, Resource.COMMAND) == {
        "name": "a",
        "description": "b",
        "syntax": "{prefix}a {{prefix}}",
    }
    assert fields_of(CommandText("a", "b", "!a"), shared, Resource.COMMAND)["syntax"] == "!a"
    assert fields_of(CommandText("a", "b", "!a"), shared, Resource.COMMAND)["category"] == ""
    assert "category" not in fields_of(CommandText("a", "b", "!a"), Shared(), Resource.COMMAND)
    assert fields_of(AnnouncementText("t", "d"), shared, Resource.ANNOUNCEMENT) == {
        "title": "t",
        "description": "d",
    }
