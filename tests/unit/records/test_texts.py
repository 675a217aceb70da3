"""Texts are compared as they are sent; patterns match names in any case."""

from fnmatch import fnmatchcase
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.texts import (
    MOST_COMPARED,
    CommandOption,
    CommandText,
    LoadedCommand,
    Patterns,
    Resource,
    by_category,
    canonical,
    counted,
    named,
    pattern,
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


def test_a_noun_is_singular_for_one() -> None:
    assert [counted(n, "use") for n in (0, 1, 1234)] == ["0 uses", "1 use", "1,234 uses"]


def test_no_category_is_the_empty_one() -> None:
    assert CommandText("a", "b", "c") == CommandText("a", "b", "c", "")


def test_a_collection_is_called_by_its_kind() -> None:
    assert [kind.with_article for kind in Resource] == [
        "a command",
        "an announcement",
        "an application command",
    ]
    assert [one.collection for one in Resource] == [
        "commands",
        "announcements",
        "application commands",
    ]


def test_commands_are_grouped_by_category_those_without_one_first() -> None:
    a, b, c, d = (CommandText("x", "Text.", f"/{n}", kind) for n, kind in enumerate("FG.F"))
    c = c._replace(category="")

    assert list(by_category([a, b, c, d]).items()) == [("", (c,)), ("F", (a, d)), ("G", (b,))]
    assert by_category([a]) == {"F": (a,)}


def test_a_command_is_loaded_with_what_mentions_it() -> None:
    text = CommandText("ban", "Bans.", "/ban", "Mod")
    options = [
        CommandOption("user", "Whom", required=True),
        CommandOption("for", "How long", choices=("1h", "1d")),
    ]
    command = LoadedCommand.of(text, "</ban:1>", options)

    assert (command, command.mention, command.menu) == (text, "</ban:1>", "")
    assert command.options == "user: Whom; for: How long (1h, 1d)"


def test_at_most_twenty_names_are_listed() -> None:
    names = [str(n) for n in range(21)]

    assert named(names[:20]) == ", ".join(names[:20])
    assert named(names) == f"{', '.join(names[:20])} and 1 more"
    assert named(names, most=3) == "0, 1, 2 and 18 more"


PIECES = st.sampled_from([*"abAB*?![]-é", "İ", "ß"])
PATTERNS = st.text(PIECES, max_size=6)


def test_patterns_match_whole_names_in_upper_or_lower_case() -> None:
    patterns = Patterns(("beta-*", "[x]?", "Exact"))

    names = ("beta-1", "beta-\nsecond line", "xy", "Beta-1", "exACT", "a beta-1", "xyz", "exact-1")

    assert [patterns.match(name) for name in names] == [*[True] * 5, *[False] * 3]


@given(st.lists(PATTERNS, min_size=1, max_size=3), st.text(PIECES, max_size=6))
def test_what_a_pattern_matches_to_the_letter_it_matches(texts: list[str], name: str) -> None:
    patterns = Patterns(tuple(texts))

    if any(fnmatchcase(name, pattern) for pattern in texts):
        assert patterns.match(name)


def test_patterns_of_many_stars_match_side_by_side() -> None:
    patterns = Patterns(("a*b*c", "x*y*z"))

    assert [patterns.match(name) for name in ("a-b-c", "x-y-z", "a-y-c")] == [True, True, False]


def test_a_name_of_a_megabyte_is_compared_at_both_ends_in_no_time() -> None:
    patterns = Patterns((f"*{'a' * 1_900}b", "beta-*", "*-beta"))
    long = "a" * 1_000_000
    begun = process_time()

    names = (long, f"beta-{long}", f"{long}-beta", f"a{'b' * MOST_COMPARED}")

    assert [patterns.match(name) for name in names] == [False, True, True, False]
    assert process_time() - begun < 1


def test_a_name_that_is_not_too_long_is_compared_as_a_whole() -> None:
    half = MOST_COMPARED // 2
    patterns = Patterns(("*x*",))

    names = (f"{'a' * half}x{'a' * (half - 1)}", f"{'a' * half}x{'a' * half}")

    assert [patterns.match(name) for name in names] == [True, False]


def test_half_of_what_is_compared_of_a_long_name_is_its_beginning_and_half_its_end() -> None:
    half = MOST_COMPARED // 2
    patterns = Patterns((f"{'a' * half}{'b' * half}*",))

    assert patterns.match("a" * half + "middle" + "b" * half)
    assert not patterns.match("a" * (half - 1) + "middle" + "b" * (half + 1))
    assert not patterns.match("a" * (half + 1) + "middle" + "b" * (half - 1))


@given(st.text("ab*?[]A", max_size=6), st.text("abA", max_size=6))
def test_one_pattern_matches_as_it_does_among_others(text: str, name: str) -> None:
    assert pattern(text).match(name) == Patterns((text, "another")).match(name)
