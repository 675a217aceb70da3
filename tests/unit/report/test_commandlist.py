"""A command list on a page has the texts of the manifest, and formatters leave it as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.characters import readable
from commandsync.records.texts import CommandText, LoadedCommand, by_category
from commandsync.report.commandlist import COLUMNS, Layout, command_list
from tests.support.pages import COMMANDS, blocks, collapsed, formatted

HELP = CommandText("help", "Shows the help menu.", "/help [command]", "General")
FACTS = CommandText("facts", "Says a fact\nabout | <animals>.", "/facts <a|b>", "Fun & C#")
PING = CommandText("ping", "Says pong.", "/ping", "")
BARE = """\
| Syntax  | Description |
| ------- | ----------- |
| `/ping` | Says pong.  |"""
ALL = f"""\
{BARE}

### General

| Syntax            | Description          |
| ----------------- | -------------------- |
| `/help [command]` | Shows the help menu. |

### Fun & C\\#

| Syntax          | Description                         |
| --------------- | ----------------------------------- |
| `/facts <a\\|b>` | Says a fact<br>about \\| \\<animals>. |"""


def test_each_category_has_a_table_below_its_heading() -> None:
    assert command_list([HELP, FACTS, PING], Layout(), level=3) == ALL


def test_one_category_alone_has_no_heading() -> None:
    assert command_list([PING], Layout(), level=3) == BARE
    assert command_list([HELP, PING], Layout(category=""), level=3) == BARE
    assert "#" not in command_list([HELP], Layout(), level=3)
    assert command_list([HELP], Layout(category="Fun"), level=3) == ""
    assert command_list([], Layout(), level=3) == ""


def test_a_column_of_categories_takes_the_place_of_headings() -> None:
    shown = command_list([HELP, PING], Layout(columns=("name", "category")), level=2)

    assert shown.splitlines() == [
        "| Name   | Category |",
        "| ------ | -------- |",
        "| `help` | General  |",
        "| `ping` |          |",
    ]


def test_a_list_has_an_item_for_each_command() -> None:
    by_name = Layout(category="General", format="list", columns=("name", "description", "syntax"))
    by_text = Layout(format="list", columns=("category", "description"))

    assert command_list([HELP, PING], by_name, level=2) == (
        "- `help`: Shows the help menu. `/help [command]`"
    )
    assert command_list([HELP, PING], by_text, level=2) == (
        "- **General**: Shows the help menu.\n- **Says pong.**"
    )


@pytest.mark.parametrize(("level", "mark"), [(1, "# "), (6, "###### "), (9, "###### ")])
def test_no_heading_is_deeper_than_six(level: int, mark: str) -> None:
    shown = command_list([HELP, PING], Layout(), level=level)

    assert shown.splitlines()[4] == f"{mark}General"


def test_one_very_long_text_does_not_pad_every_row() -> None:
    long = HELP._replace(description="x" * 5000)

    shown = command_list([long, *[HELP] * 50], Layout(), level=2)

    assert len(shown) < 9000
    assert shown.splitlines()[1] == "| --- | --- |"


@given(COMMANDS, st.permutations(COLUMNS).map(tuple), st.integers(1, 4))
def test_a_table_on_a_page_has_every_text(
    commands: list[LoadedCommand], columns: tuple[str, ...], count: int
) -> None:
    layout = Layout(columns=columns[:count])
    page = f"{command_list(commands, layout, level=2)}\n"
    groups = {"": commands} if "category" in layout.columns else by_category(commands)

    expected = []
    for category, members in groups.items():
        if len(groups) > 1 and category:
            expected.append(("h2", _shown(category.replace("\n", " "))))
        expected += [("th", column.capitalize()) for column in layout.columns]
        expected += [
            ("td", _cell(column, getattr(command, column)))
            for command in members
            for column in layout.columns
        ]
    assert blocks(page) == expected
    assert formatted(page) == page or "mention" in layout.columns  # which mdformat escapes


@given(COMMANDS, st.permutations(COLUMNS).map(tuple), st.integers(1, 4))
def test_a_list_on_a_page_has_every_text(
    commands: list[LoadedCommand], columns: tuple[str, ...], count: int
) -> None:
    layout = Layout(format="list", columns=columns[:count])
    commands = [
        LoadedCommand.of([*each[:3], "Fun"], each.mention, each.options) for each in commands
    ]
    page = f"{command_list(commands, layout, level=2)}\n"

    expected = []
    for command in commands:
        first, *rest = (_cell(column, getattr(command, column)) for column in layout.columns)
        expected.append(("li", f"{first}: {' '.join(rest)}" if rest else first))
    assert blocks(page) == expected
    assert formatted(page) == page or "mention" in layout.columns  # which mdformat escapes


def _shown(text: str) -> str:
    return collapsed(readable(text))


def _cell(column: str, text: str) -> str:
    lines = _shown(text).split("\n")
    return "\n".join(
        line for line in lines if line or column in {"description", "category", "options"}
    )
