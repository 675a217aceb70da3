"""A command list has the texts of the manifest, escaped no more than they need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.display import readable
from commandsync.records.texts import CommandText, LoadedCommand, by_category
from commandsync.report.commandlist import COLUMNS, Layout, command_list, inline, literal
from tests.support.pages import COMMANDS, blocks, collapsed, formatted


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Shows the help menu.", "Shows the help menu."),
        ("snake_case and 2 * 3 _ 4", "snake_case and 2 * 3 _ 4"),
        ("*a* _b_ __c__", r"\*a\* \_b\_ \_\_c\_\_"),
        ("[a] [b](c) [d]: e", r"[a] \[b\](c) \[d\]: e"),
        ("<b> < c <<d>", r"\<b> < c \<<!-- -->\<d>"),
        ("&amp; & &nope; &#35;", r"\&amp; & &nope; \&#35;"),
        (r"a\b `c` ~5", r"a\\b \`c\` ~5"),
        ("~~a~~ 1~2 ~3 ~", "`~~`a`~~` 1`~`2 ~3 `~`"),
        ("https://a.bc/<id>_", r"https://a.bc/<!-- -->\<id>\_"),
        (
            "https://a.bc/d[e] or https://a.bc/(d)?e=1&f",
            "https://a.bc/d<!-- -->[e] or https://a.bc/(d)?e=1&f",
        ),
        ("(https://a.bc/~d) https://a.bc~", "(https://a.bc/~d) https://a.bc<!-- -->`~`"),
        ("see https://a.bc/_d_/e_ or _f_", r"see https://a.bc/_d_/e<!-- -->\_ or \_f\_"),
        ("http://localhost/_a_", r"http://<!-- -->localhost/\_a\_"),
        ("one\ntwo\n\nthree", "one<br>two<br><br>three"),
        ("two  spaces\tand a tab", "two spaces and a tab"),
        ("not\u00a0broken, \u200bhidden \x1b.", r"not\u00a0broken, \\u200bhidden \\x1b."),
    ],
)
def test_a_text_is_escaped_as_little_as_it_needs(text: str, written: str) -> None:
    assert inline(text) == written.replace(r"\u00a0", "\u00a0")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/ban <user> [reason]", "`/ban <user> [reason]`"),
        ("/a  *b*\n\n/c", "`/a *b*`<br>`/c`"),
        ("say `hi`", r"<code>say \`hi\`</code>"),
        (r"a\|b", r"<code>a\\|b</code>"),
    ],
)
def test_what_users_type_is_shown_as_code(text: str, written: str) -> None:
    assert literal(text) == written


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
        LoadedCommand.of([*each[:3], "Fun"], each.mention, each.option_list) for each in commands
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
