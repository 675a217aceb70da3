"""A command list has the texts of the manifest, escaped no more than they need."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.records.display import readable
from commandsync.records.texts import CommandText, LoadedCommand, by_category
from commandsync.report.commandlist import COLUMNS, Layout, command_list, inline, literal
from tests.support.pages import COMMANDS, blocks, collapsed, formatted, linked


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Shows the help menu.", "Shows the help menu."),
        ("snake_case and 2 * 3 _ 4", "snake_case and 2 * 3 _ 4"),
        ("*a* _b_ __c__", r"\*a\* \_b\_ \_\_c\_\_"),
        ("[a] [b](c) [d]: e", r"[a] \[b\](c) \[d\]: e"),
        ("<b> < c <<d>", r"\<b> < c \<<!-- -->\<d>"),
        ("&amp; & &nope; &#x23;", r"\&amp; & &nope; \&#x23;"),
        (r"a\b `c` ~5", r"a\\b \`c\` ~5"),
        ("~~a~~ 1~2 ~3 ~", "`~~`a`~~` 1`~`2 ~3 `~`"),
        ("https://a.bc/<id>_", r"https<!-- -->://a.bc/\<id>\_"),
        ("HTTP://a.bc www.a.bc", "HTTP<!-- -->://a.bc www<!-- -->.a.bc"),
        ("@everyone, a_b@c.de", "@<!-- -->everyone, a_b@<!-- -->c.de"),
        ("#123 a/b#4 GH-5 # 1 C#", "#<!-- -->123 a/b#<!-- -->4 GH-<!-- -->5 # 1 C#"),
        ("since 0123abc, not 0123ab", "since 0123ab<!-- -->c, not 0123ab"),
        ("@_a_ &#35; &#123;", r"@<!-- -->\_a\_ &#<!-- -->35; &#<!-- -->123;"),
        ("one\ntwo\n\nthree", "one<br>two<br><br>three"),
        ("two  spaces\tand a tab", "two spaces and a tab"),
        ("not\u00a0broken, \u200bhidden \x1b.", r"not\u00a0broken, \\u200bhidden \\x1b."),
    ],
)
def test_a_text_is_escaped_as_little_as_it_needs(text: str, written: str) -> None:
    assert inline(text) == written.replace(r"\u00a0", "\u00a0")


LINKED = (
    *("@everyone", "@here", "@user", "@org/team", "user@example.com", "mailto:a.b+c@example.com"),
    *("#123", "org/repo#4", "GH-56", "gh-7", "xmpp:a@b.cd/e"),
    *("0123abc", "0123456789abcdef0123456789abcdef01234567", "1234567", "user@0123abcd"),
    *(
        "0123abc...89abcde",
        "http://a.bc",
        "https://a.bc/d_e_?f=1&g#12",
        "HTTPS://A.BC",
        "ftp://a.bc",
    ),
    *("www.a.bc", "www.a.bc/d", "http://localhost:80/@user", "https://github.com/a/b/issues/12"),
)
BESIDE = st.sampled_from(
    ("", " ", "(", ")", ".", ",", "*", "_", "~", "/", ":", "\n", "a", "1", "é")
)


@pytest.mark.promise("inert-lists")
@given(st.lists(st.tuples(BESIDE, st.sampled_from(LINKED), BESIDE), min_size=1, max_size=4))
@example([("", "WWW.a.bc", "")])
def test_nothing_in_a_list_is_a_link_or_a_mention(texts: list[tuple[str, str, str]]) -> None:
    text = "".join("".join(each) for each in texts)
    command = CommandText(text, text, f"`{text}", "#1 @here www.a.bc")
    layouts = (
        Layout(columns=("name", "syntax", "description", "category")),
        Layout(format="list", columns=("description", "syntax")),
    )
    for layout in layouts:
        other = command._replace(category="")
        page = f"{command_list([command, other], layout, level=2)}\n"

        assert linked(page) == []
        assert formatted(page) == page


@pytest.mark.parametrize("text", LINKED)
def test_what_github_links_is_kept_as_text(text: str) -> None:
    page = f"{inline(text)}\n"

    assert linked(f"{text}\n") != []
    assert linked(page) == []
    assert blocks(f"- {page}") == [("li", text)]
    assert formatted(page) == page


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
