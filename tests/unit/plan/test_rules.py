from fnmatch import fnmatchcase
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.rules import MOST_COMPARED, DeleteLimit, SyncRules, parse_delete_limit

PIECES = st.sampled_from([*"abAB*?![]-é", "İ", "ß"])
PATTERNS = st.text(PIECES, max_size=6)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("12", DeleteLimit(count=12)),
        ("0", DeleteLimit(count=0)),
        ("30%", DeleteLimit(percent=30.0)),
        ("12.5%", DeleteLimit(percent=12.5)),
        ("100%", DeleteLimit(percent=100.0)),
        ("0%", DeleteLimit(percent=0.0)),
        ("all", DeleteLimit()),
    ],
)
def test_a_limit_is_a_number_a_percentage_or_all(text: str, limit: DeleteLimit) -> None:
    parsed = parse_delete_limit(text)

    assert parsed == limit
    assert str(parsed) == text


def test_only_all_is_unlimited() -> None:
    limits = [parse_delete_limit(text) for text in ("all", "0", "0%", "100%")]

    assert [limit.unlimited for limit in limits] == [True, False, False, False]


@pytest.mark.parametrize("text", ["ALL", " 30 % ", "030%", "007"])
def test_a_limit_may_be_spelled_loosely(text: str) -> None:
    again = str(parse_delete_limit(text))

    assert again in {"all", "30%", "7"}


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "100.1%", "%", "half", "١٢", "1e3"])
def test_anything_else_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit"):
        parse_delete_limit(text)


def test_patterns_match_whole_names_in_upper_or_lower_case() -> None:
    rules = SyncRules(ignore=("beta-*", "[x]?", "Exact"))

    names = ("beta-1", "beta-\nsecond line", "xy", "Beta-1", "exACT", "a beta-1", "xyz", "exact-1")

    assert [rules.ignores(name) for name in names] == [*[True] * 5, *[False] * 3]


@given(st.lists(PATTERNS, min_size=1, max_size=3), st.text(PIECES, max_size=6))
def test_what_a_pattern_matches_to_the_letter_it_matches(patterns: list[str], name: str) -> None:
    rules = SyncRules(ignore=tuple(patterns))

    if any(fnmatchcase(name, pattern) for pattern in patterns):
        assert rules.ignores(name)


def test_patterns_of_many_stars_match_side_by_side() -> None:
    rules = SyncRules(ignore=("a*b*c", "x*y*z"))

    assert [rules.ignores(name) for name in ("a-b-c", "x-y-z", "a-y-c")] == [True, True, False]


def test_without_patterns_nothing_is_ignored() -> None:
    assert not SyncRules().ignores("help")


def test_a_name_of_a_megabyte_is_compared_at_both_ends_in_no_time() -> None:
    rules = SyncRules(ignore=(f"*{'a' * 1_900}b", "beta-*", "*-beta"))
    long = "a" * 1_000_000
    begun = process_time()

    names = (long, f"beta-{long}", f"{long}-beta", f"a{'b' * MOST_COMPARED}")

    assert [rules.ignores(name) for name in names] == [False, True, True, False]
    assert process_time() - begun < 1


def test_a_name_that_is_not_too_long_is_compared_as_a_whole() -> None:
    half = MOST_COMPARED // 2
    rules = SyncRules(ignore=("*x*",))

    names = (f"{'a' * half}x{'a' * (half - 1)}", f"{'a' * half}x{'a' * half}")

    assert [rules.ignores(name) for name in names] == [True, False]


def test_half_of_what_is_compared_of_a_long_name_is_its_beginning_and_half_its_end() -> None:
    half = MOST_COMPARED // 2
    rules = SyncRules(ignore=(f"{'a' * half}{'b' * half}*",))

    assert rules.ignores("a" * half + "middle" + "b" * half)
    assert not rules.ignores("a" * (half - 1) + "middle" + "b" * (half + 1))
    assert not rules.ignores("a" * (half + 1) + "middle" + "b" * (half - 1))
