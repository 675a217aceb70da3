import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.texts import (
    CommandText,
    LoadedCommand,
    Resource,
    by_category,
    canonical,
    named,
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", ""),
        (" \t a  b \u00a0\n", "a  b"),
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("one\r\r\ntwo", "one\ntwo"),
        ("one\rtwo", "one\rtwo"),
        ("one \n two", "one \n two"),
        ("A\u0301", "A\u0301"),
    ],
)
def test_only_line_ends_and_surrounding_blanks_are_folded(text: str, form: str) -> None:
    assert canonical(text) == form


@given(st.text(alphabet=st.sampled_from("a \r\n\t\u2028\x85\ud800")))
def test_what_is_canonical_stays_as_it_is(text: str) -> None:
    once = canonical(text)

    assert canonical(once) == once


def test_no_category_is_the_empty_one() -> None:
    assert CommandText("a", "b", "c") == CommandText("a", "b", "c", "")


def test_a_collection_is_called_by_its_kind() -> None:
    assert [kind.with_article for kind in Resource] == ["a command", "an announcement"]
    assert [one.collection for one in Resource] == ["commands", "announcements"]


def test_commands_are_grouped_by_category_those_without_one_first() -> None:
    a, b, c, d = (CommandText("x", "Text.", f"/{n}", kind) for n, kind in enumerate("FG.F"))
    c = c._replace(category="")

    assert list(by_category([a, b, c, d]).items()) == [("", (c,)), ("F", (a, d)), ("G", (b,))]
    assert by_category([a]) == {"F": (a,)}


def test_a_command_is_loaded_with_what_mentions_it() -> None:
    text = CommandText("ban", "Bans.", "/ban", "Mod")
    command = LoadedCommand.of(text, "</ban:1>", "user: whom")

    assert (command, command.mention, command.options) == (text, "</ban:1>", "user: whom")


def test_at_most_twenty_names_are_listed() -> None:
    names = [str(n) for n in range(21)]

    assert named(names[:20]) == ", ".join(names[:20])
    assert named(names) == f"{', '.join(names[:20])} and 1 more"
    assert named(names, most=3) == "0, 1, 2 and 18 more"
