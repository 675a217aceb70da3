"""The imported file: what is written is read again as the same value, and refused as a whole."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.manifest.overlay import ImportedPart, read_imported
from commandsync.manifest.source import Origin, Problems, UnreadableError
from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import ImportedCommand, ImportedFile, ImportedPlace
from commandsync.records.texts import canonical

_PATH = "commands.imported.yaml"
_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(canonical).filter(bool)
_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | _texts | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_commands = st.builds(
    ImportedCommand,
    name=_texts,
    description=_texts,
    syntax=_texts,
    category=st.just("") | _texts,
    source=st.just("") | _texts,
    formerly=st.lists(_texts, max_size=2).map(tuple),
    left_out=st.just("") | _texts,
    kept=st.booleans(),
    recorded=st.booleans(),
    digest=st.just("") | _texts,
    discord=st.none() | st.dictionaries(_texts, _values, min_size=1, max_size=3),
)
_files = st.builds(
    ImportedFile,
    st.lists(_commands, max_size=3).map(tuple),
    st.lists(st.builds(ImportedPlace, _texts, _texts, _texts), max_size=2).map(tuple),
    st.lists(_texts, max_size=2).map(tuple),
)
COMMAND = ImportedCommand(name="ping", description="Says pong.", syntax="/ping", source="src/a.js")


def read(text: str) -> ImportedPart:
    """Read the text of an imported file."""
    return read_imported(_PATH, Origin(bytes, None, {_PATH: text.encode()}), Problems())


@given(_files)
def test_what_is_written_is_read_again(content: ImportedFile) -> None:
    part = read(imported_text(content))

    assert part.content == content
    assert not part.is_edited


def test_an_entry_has_its_keys_one_below_the_other() -> None:
    node = {"name": "ping", "type": 1, "default_member_permissions": "8", "nsfw": True}
    content = ImportedFile((ImportedCommand(name="off", description="A\nB", syntax="/off",
        category="12", source="src/a.js", formerly=("on",), discord=node),))  # fmt: skip

    assert imported_text(content).splitlines()[:-1] == [
        "# Written by `commandsync import`. Do not edit: entries of commands.yaml win.",
        "imported: 1",
        "commands:",
        '  - name: "off"',
        "    description: |-",
        "      A",
        "      B",
        '    syntax: "/off"',
        '    category: "12"',
        "    from: src/a.js",
        '    formerly: ["on"]',
        '    discord: {name: ping, type: 1, default_member_permissions: "8", nsfw: true}',
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace('"/ping"', "'/ping'"),
        lambda text: text.replace("  - ", "- ").replace("    ", "  "),
        lambda text: text.replace("Says pong.", "'Says pong.'") + "\n\n# formatted\n",
    ],
    ids=["line-ends", "quotes", "indentation", "comments"],
)
def test_a_formatter_does_not_edit_the_file(change: Callable[[str], str]) -> None:
    assert not read(change(imported_text(ImportedFile((COMMAND,))))).is_edited


@pytest.mark.parametrize("old", ["Says pong.", "src/a.js", '"/ping"', "digest: sha256:"])
def test_another_value_is_an_edit(old: str) -> None:
    text = imported_text(ImportedFile((COMMAND,)))

    assert read(text.replace(old, old.strip('"') + "x")).is_edited


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("imported: 1\n<<<<<<< ours\n", "the imported file has a merge conflict"),
        ("version: 1\ncommands: []\n", "this is not a file that commandsync import writes"),
        ("imported: 2\ncommands: []\n", "it is written by another version of commandsync"),
        ("imported: 1\n", "commands: Field required"),
        ("imported: 1\ncommands:\n- {name: a}\n", "commands.0.description: Field required"),
        ("imported: 1\ncommands: [\n", "this does not fit the line above it"),
        ("imported: 1\ncommands: []\nlater: 1\n", "later: Extra inputs are not permitted"),
        ("", "this is not a file that commandsync import writes"),
        (
            "imported: 1\ncommands:\n- {name: a, description: b, syntax: c, discord: [x]}\n",
            "discord must be keys and values, not a list",
        ),
    ],
)
def test_a_file_that_is_not_valid_is_refused_as_a_whole(text: str, message: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(text)

    assert caught.value.args[1] == message
    assert "commandsync import" in caught.value.args[2]
