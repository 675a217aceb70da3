"""The lists of a file are written again, and every other byte stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ManifestError
from commandsync.records.texts import CommandText
from commandsync.report.markdownfile import NEW_FILE, State, with_lists
from commandsync.report.markers import BEGIN, END
from tests.support.pages import COMMANDS, formatted
from tests.support.wording import Wording

HELP = CommandText("help", "Shows *help*.", "/help", "General")
PING = CommandText("ping", "Says pong.", "/ping", "Fun")
NEW = with_lists(NEW_FILE, [HELP], path="COMMANDS.md").text
AROUND = st.text("ab*# |>\n\u2028\x0b\t", max_size=12).map(lambda text: f"x{text}")


def state(text: str, *commands: CommandText) -> State:
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

    assert state(NEW, HELP) is State.CURRENT
    assert written.text == NEW
    assert written.lists[0][0].line == 3


def test_a_list_is_out_of_date_when_the_manifest_or_the_marker_changes() -> None:
    assert state(NEW, PING) is State.STALE
    assert state(NEW.replace("commands -->", "commands format=list -->", 1), HELP) is State.STALE
    assert state(NEW_FILE, HELP) is State.STALE
    assert state(NEW_FILE.replace(END, f"\n \n{END}"), HELP) is State.STALE


def test_what_somebody_wrote_is_told_from_what_was_written() -> None:
    edited = NEW.replace("Shows", "Displays")

    assert state(edited, HELP) is State.EDITED
    assert state(edited, PING) is State.EDITED
    assert state(NEW_FILE.replace(END, f"- my own list\n{END}"), HELP) is State.EDITED
    assert with_lists(edited, [HELP], path="COMMANDS.md").text == NEW


def test_what_a_formatter_changes_is_neither_an_edit_nor_out_of_date() -> None:
    lines = NEW.splitlines()
    compact = "\n".join(
        [*lines[:4], *(line.replace(" ", "") for line in lines[4:7]), *lines[7:], ""]
    )
    other_escapes = NEW.replace("\\*.", "*.").replace(". |\n", ".    |\n")

    for text in (compact.replace("Shows", "Shows "), other_escapes):
        assert text != NEW
        assert state(text, HELP) is State.CURRENT
        assert with_lists(text, [HELP], path="COMMANDS.md").text == text
    for text in (compact, NEW.replace("\\*", "*")):  # not the same page any more
        assert state(text, HELP) is State.STALE


def test_a_checksum_of_the_right_list_is_mended() -> None:
    without = NEW[: NEW.index(" sha256:")] + " -->\n"

    assert state(without, HELP) is State.STALE
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
    assert state(of_category) is State.STALE


def test_a_file_without_markers_is_an_error(wording: Wording) -> None:
    wording(problem("# Bot\n", HELP))


@pytest.mark.parametrize("category", ["Genral", "Music"])
def test_a_category_that_no_command_has_is_an_error(wording: Wording, category: str) -> None:
    text = NEW_FILE.replace("commands -->", f"commands category={category} -->", 1)
    commands = [HELP, PING, HELP._replace(category="")]

    wording(problem(text, *commands))


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
    assert {found for _, found in again.lists} == {State.CURRENT}
