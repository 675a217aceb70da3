"""Lists of commands as spreadsheets and scripts write them: CSV."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry
from commandsync.sources.reading import read

ROWS = "name,description,syntax,category\nban,Bans,/ban <user>,Mod\nping,,/ping,\n"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def entries(
    content: str | bytes, columns: Mapping[str, str] | None = None
) -> tuple[SourceEntry, ...]:
    data = content.encode() if isinstance(content, str) else content
    Path("list.csv").write_bytes(data)
    return read("list.csv", columns=columns).entries


def complaint(content: str | bytes, columns: Mapping[str, str] | None = None) -> str:
    with pytest.raises(FileError) as caught:
        entries(content, columns)
    return caught.value.message


def texts(content: str | bytes) -> list[tuple[str, str, str, str | None]]:
    return [
        (entry.name, entry.description, entry.syntax, entry.category) for entry in entries(content)
    ]


def test_the_first_row_names_the_columns() -> None:
    assert texts(ROWS) == [("ban", "Bans", "/ban <user>", "Mod"), ("ping", "…", "/ping", None)]


@pytest.mark.parametrize(
    "content",
    [
        ROWS.replace(",", ";"),
        ROWS.replace(",", "\t"),
        ROWS.replace("\n", "\r\n"),
        ROWS.replace("name,d", "Name , D", 1),
        "\ufeff" + ROWS,
        ROWS.encode("utf-16"),
        ROWS.replace("\n", "\n\n,,,\n"),
    ],
)
def test_what_spreadsheets_write_is_the_same_list(content: str | bytes) -> None:
    assert texts(content) == texts(ROWS)


def test_columns_are_mapped_and_others_are_ignored() -> None:
    content = "Command,Usage,Cooldown\nban,/ban,5\n"

    (entry,) = entries(content, {"name": "Command", "syntax": "usage"})

    assert (entry.name, entry.syntax, entry.description) == ("ban", "/ban", "…")


def test_an_entry_has_the_line_on_which_its_row_begins() -> None:
    content = 'name,syntax,description\na,/a,"one\n\ntwo, ""three"""\n\nb,/b,four\n'

    first, second = entries(content)

    assert first.description == 'one\n\ntwo, "three"'
    assert [str(entry.place) for entry in (first, second)] == ["list.csv:2:1", "list.csv:6:1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "list.csv:1:1: no column is named 'name'"),
        ("title,usage\n", "list.csv:1:1: no column is named 'name'"),
        ("name,syntax,Name\n", "list.csv:1:1: two columns are named 'name'"),
        ("name,syntax\na,/a\n,/b\n", "list.csv:3:1: the command has no 'name'"),
        ("name,syntax\na,/a, b\n", "list.csv:2:1: the row has 3 fields, and the header 2"),
        ('name,syntax\na,/a\nb,"/b', "list.csv:3:1: not valid CSV: unexpected end of data"),
        (b"name,syntax\n\xff,/a\n", "list.csv is not UTF-8"),
        (b"\xff\xfea", "list.csv is not UTF-8"),
    ],
)
def test_another_list_is_an_error_with_its_line(content: str | bytes, message: str) -> None:
    assert complaint(content) == message


def test_a_mapped_column_has_to_exist() -> None:
    assert complaint(ROWS, {"category": "Group"}).endswith(" named 'Group'")
