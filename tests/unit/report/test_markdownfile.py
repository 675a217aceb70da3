"""Markers are found as CommonMark reads a page, and lists are written again with a checksum."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ManifestError
from commandsync.pages.templates import commands_page
from commandsync.records.texts import CommandText
from commandsync.report.commandlist import (
    BEGIN,
    END,
    NEW_FILE,
    Layout,
    ListState,
    lines_of,
    read_regions,
    same_page,
    sealed,
    state_of,
    with_lists,
)
from tests.support.pages import COMMANDS, formatted

FENCED = f"""\
# Bot

```md
{BEGIN}
```

- ~~~
  {BEGIN}
  ~~~

As code:

    {BEGIN}

Write `{BEGIN}` or {BEGIN} where the list goes.

<!-- commandsync is a program -->
"""


def problems(text: str) -> list[str]:
    """Return the problems of a file, each as `line:column: message | hint`."""
    with pytest.raises(ManifestError) as caught:
        read_regions(text, "README.md")
    assert caught.value.message.startswith("README.md has ")
    return [
        str(problem).removeprefix("README.md:") + (f" | {problem.hint}" if problem.hint else "")
        for problem in caught.value.problems
    ]


def test_markers_in_code_and_in_sentences_are_text() -> None:
    assert read_regions(FENCED, "README.md") == ()
    assert read_regions("no marker", "README.md") == ()
    assert read_regions("", "README.md") == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_lists_are_found_with_their_headings_and_options(start: str, end: str) -> None:
    text = end.join(
        [
            f"{start}{BEGIN}",
            END,
            "# Bot",
            *FENCED.splitlines(),
            "Commands",
            "--------",
            "  <!--  commandsync:commands category='Fun & C' format=list columns=name -->  ",
            "- a",
            "<!-- /commandsync:commands sha256:0123 -->",
            '<details><!-- commandsync:commands category="" -->',
            '<!-- commandsync:commands category="a\'b" -->',
            END,
        ]
    )

    first, second, third = read_regions(text, "README.md")

    assert (first.begin, first.end, first.level, first.checksum) == (0, 1, 2, "")
    assert first.layout == Layout()
    lines = lines_of(text)
    assert "".join(lines) == text
    assert lines[second.end].startswith("<!-- /commandsync:commands sha256:0123 -->")
    assert (second.level, second.checksum) == (3, "sha256:0123")
    assert second.layout == Layout("Fun & C", "list", ("name",))
    assert second.location.line == second.begin + 1
    assert (third.layout.category, third.level) == ("a'b", 3)


ALONE_NESTED_OR_DOUBLED = (
    *(BEGIN, END, f"{END}\n\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"{BEGIN}\n{END}\n{END}"),
    *(f"{BEGIN}\n\n{BEGIN}\n\n{END}\n\n{END}", f"> {BEGIN}\n> {END}", f"- {BEGIN}\n  {END}"),
)
NOT_VALID = (
    "<!-- commandsync:command -->",
    "<!--commandsync:commands-->",
    f"{BEGIN} and more",
    "<!-- commandsync:commands\ncategory=a -->",
    '<!-- commandsync:commands category="a --> b" -->',
    "<!-- commandsync:commands format=csv -->",
    "<!-- commandsync:commands format=tables -->",
    "<!-- commandsync:commands format=list columns=name,name -->",
    "<!-- commandsync:commands columns= -->",
    "<!-- commandsync:commands format=list list -->",
    "<!-- commandsync:commands format=list format=list -->",
    "<!-- commandsync:commands catgory=Fun -->",
    "<!-- commandsync:commands group=name -->",
)


def test_each_wrong_marker_is_reported_word_for_word(golden: Callable[[str, str], None]) -> None:
    texts = [*ALONE_NESTED_OR_DOUBLED, *(f"{marker}\n{END}\n" for marker in NOT_VALID)]

    reports = ("\n".join([text, "-->", *problems(text), "====\n"]) for text in texts)

    golden("".join(reports), "markers.txt")


def test_all_problems_are_shown_in_their_order_with_their_lines() -> None:
    text = f"<!-- commandsync:commands a=1 b=2 -->\n\n{BEGIN}\n"

    with pytest.raises(ManifestError) as caught:
        read_regions(text, "README.md")

    places = [(each.location.line, each.location.column) for each in caught.value.problems]
    assert places == [(1, 1), (1, 27), (1, 31), (3, 1)]
    assert [each.excerpt.text for each in caught.value.problems if each.excerpt][-1] == BEGIN


def test_a_page_is_the_same_however_a_formatter_spells_it() -> None:
    assert same_page("| a | b |\n| - | - |\n| c | *\\* |", "|a|b|\n|---|---|\n| c    | \\*\\* |\n")
    assert same_page("- a b", "-   a\n    b")
    assert not same_page("- ab", "- a b")


HELP = CommandText("help", "Shows *help*.", "/help", "General")
PING = CommandText("ping", "Says pong.", "/ping", "Fun")
NEW = with_lists(NEW_FILE, [HELP], path="COMMANDS.md").text
AROUND = st.text("ab*# |>\n\u2028\x0b\t", max_size=12).map(lambda text: f"x{text}")


def state(text: str, *commands: CommandText) -> ListState:
    """Return what the one list of a file is."""
    ((_, found),) = with_lists(text, commands, path="COMMANDS.md").lists
    return found


def problem(text: str, *commands: CommandText) -> str:
    """Return the one problem of a file."""
    with pytest.raises(ManifestError) as caught:
        with_lists(text, commands, path="COMMANDS.md")
    (found,) = caught.value.problems
    return f"{found} | {found.hint}"


def test_a_new_file_has_the_list_between_its_markers() -> None:
    start, _, end = NEW.partition("sha256:")

    assert start == (
        f"# Commands\n\n{BEGIN}\n\n"
        "| Syntax  | Description     |\n| ------- | --------------- |\n"
        "| `/help` | Shows \\*help\\*. |\n\n<!-- /commandsync:commands "
    )
    assert len(end) == len("0123456789abcdef -->\n")


def test_a_list_that_was_written_is_up_to_date() -> None:
    written = with_lists(NEW, [HELP], path="COMMANDS.md")

    assert state(NEW, HELP) is ListState.CURRENT
    assert written.text == NEW
    assert written.lists[0][0].line == 3


def test_a_list_is_out_of_date_when_the_manifest_or_the_marker_changes() -> None:
    assert state(NEW, PING) is ListState.STALE
    assert (
        state(NEW.replace("commands -->", "commands format=list -->", 1), HELP) is ListState.STALE
    )
    assert state(NEW_FILE, HELP) is ListState.STALE
    assert state(NEW_FILE.replace(END, f"\n \n{END}"), HELP) is ListState.STALE


def test_what_somebody_wrote_is_told_from_what_was_written() -> None:
    edited = NEW.replace("Shows", "Displays")

    assert state(edited, HELP) is ListState.EDITED
    assert state(edited, PING) is ListState.EDITED
    assert state(NEW_FILE.replace(END, f"- my own list\n{END}"), HELP) is ListState.EDITED
    assert with_lists(edited, [HELP], path="COMMANDS.md").text == NEW


def test_what_a_formatter_changes_is_neither_an_edit_nor_out_of_date() -> None:
    lines = NEW.splitlines()
    compact = "\n".join(
        [*lines[:4], *(line.replace(" ", "") for line in lines[4:7]), *lines[7:], ""]
    )
    other_escapes = NEW.replace("\\*.", "*.").replace(". |\n", ".    |\n")

    for text in (compact.replace("Shows", "Shows "), other_escapes):
        assert text != NEW
        assert state(text, HELP) is ListState.CURRENT
        assert with_lists(text, [HELP], path="COMMANDS.md").text == text
    for text in (compact, NEW.replace("\\*", "*")):  # not the same page any more
        assert state(text, HELP) is ListState.STALE


def test_a_checksum_of_the_right_list_is_mended() -> None:
    without = NEW[: NEW.index(" sha256:")] + " -->\n"

    assert state(without, HELP) is ListState.STALE
    assert with_lists(without, [HELP], path="COMMANDS.md").text == NEW


def test_headings_are_one_level_below_the_one_above() -> None:
    text = f"# Bot\n\n### Commands\n\n{BEGIN}\n{END}\n\n{BEGIN}\n{END}\n"
    written = with_lists(text * 2, [HELP, PING], path="COMMANDS.md").text

    assert (written.count("\n#### Fun\n"), written.count("#####")) == (4, 0)
    assert with_lists(written, [HELP, PING], path="COMMANDS.md").text == written


def test_an_empty_list_leaves_only_the_markers() -> None:
    empty = with_lists(NEW, [], path="COMMANDS.md").text
    of_category = NEW_FILE.replace("commands -->", "commands category=Fun -->", 1)

    assert empty.startswith(f"# Commands\n\n{BEGIN}\n\n{END[:-4]} sha256:")
    assert formatted(empty) == empty
    assert state(of_category) is ListState.STALE


def test_a_file_without_markers_is_an_error() -> None:
    message, hint = problem("# Bot\n", HELP).split(" | ")

    assert message == "COMMANDS.md:1:1: this file has no markers"
    assert hint.endswith(": <!-- commandsync:commands --> and <!-- /commandsync:commands -->")


@pytest.mark.parametrize(
    ("category", "hint"),
    [("Genral", "did you mean General?"), ("Music", 'the categories are "", General, Fun')],
)
def test_a_category_that_no_command_has_is_an_error(category: str, hint: str) -> None:
    text = NEW_FILE.replace("commands -->", f"commands category={category} -->", 1)
    commands = [HELP, PING, HELP._replace(category="")]

    message = f'COMMANDS.md:3:1: no command has the category "{category}"'
    assert problem(text, *commands) == f"{message} | {hint}"


def test_of_many_categories_the_first_are_named() -> None:
    text = NEW_FILE.replace("commands -->", "commands category=Other -->", 1)
    commands = [HELP._replace(category=f"c{number}") for number in range(30)]

    assert problem(text, *commands).endswith("c8, c9, …")


@given(
    commands=COMMANDS,
    around=st.lists(AROUND, min_size=3, max_size=3),
    line_end=st.sampled_from(["\n", "\r\n"]),
    start=st.sampled_from(["", "\ufeff"]),
    last=st.booleans(),
)
def test_every_byte_outside_of_the_lists_stays(
    *, commands: list[CommandText], around: list[str], line_end: str, start: str, last: bool
) -> None:
    before, between, after = (text.replace("\n", line_end) for text in around)
    wanted = f"<!-- commandsync:commands format=list columns=name -->{line_end}"
    text = line_end.join(
        [f"{start}{before}", "", f"{BEGIN}", f"{END}{line_end}{between}", f"{wanted}{END}"]
    ) + (f"{line_end}{after}" if last else "")

    written = with_lists(text, commands, path="README.md").text

    first, second = written.index(END[:-4]), written.rindex(END[:-4])
    assert written.startswith(f"{start}{before}{line_end}{line_end}{BEGIN}{line_end}")
    assert f" -->{line_end}{between}{line_end}{wanted}" in written[first:second]
    assert written[second:].partition(" -->")[2] == (f"{line_end}{after}" if last else "")
    assert written.count("\r") == (written.count("\n") if line_end == "\r\n" else 0)
    again = with_lists(written, commands, path="README.md")
    assert again.text == written
    assert {found for _, found in again.lists} == {ListState.CURRENT}


OLD = sealed(commands_page([CommandText("ban", "Bans.", "/ban")]))
NEW_PAGE = sealed(commands_page([CommandText("ban", "Bans a member.", "/ban")]))


@pytest.mark.parametrize(
    ("old", "state"),
    [
        (None, ListState.STALE),
        (NEW_PAGE, ListState.CURRENT),
        (NEW_PAGE.replace("\n", "\r\n"), ListState.CURRENT),
        (OLD, ListState.STALE),
        (OLD.replace("\n", "\r\n"), ListState.STALE),
        (OLD.replace("Bans.", "Bans!"), ListState.EDITED),
        (NEW_PAGE.replace("<title>", "<title>My "), ListState.EDITED),
        ("<!doctype html>\n<title>Mine</title>\n", ListState.FOREIGN),
        ("", ListState.FOREIGN),
    ],
)
def test_only_what_docs_wrote_is_replaced(old: str | None, state: ListState) -> None:
    assert state_of(old, NEW_PAGE) is state


def test_the_checksum_is_in_the_head_and_the_file_ends_with_a_line_end() -> None:
    assert ' content="commandsync docs sha256:' in NEW_PAGE
    assert NEW_PAGE.endswith("</html>\n")
