from fnmatch import fnmatchcase
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.patterns import MOST_COMPARED, Patterns

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
