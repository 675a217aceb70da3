from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.hints import finished_renames
from commandsync.plan.matching import GROUP_LIMIT, Matching, count_same_name, match, shared
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText


def entry(
    name: str,
    description: str = "Does it.",
    syntax: str = "/x",
    *,
    id: str = "",  # noqa: A002 - what it is called
    formerly: tuple[str, ...] = (),
) -> Entry:
    return Entry(CommandText(name, description, syntax), id=id, formerly=formerly)


def listed(*entries: Entry) -> list[Entry]:
    """Give entries ids where they have none."""
    return [Entry(one.text, id=one.id or f"r{n}") for n, one in enumerate(entries)]


NAMES = st.sampled_from(["afk", "Afk", " afk", "ban", "b&n", "b&amp;n", "a" * 120, "a" * 130])
WORDS = st.sampled_from(["Does it.", "Does it well.", "Nothing", ""])
WANTED = st.builds(
    entry,
    NAMES,
    WORDS,
    WORDS,
    id=st.sampled_from(["", "", "r0", "r3", "gone"]),
    formerly=st.lists(NAMES, max_size=2).map(tuple),
)
LISTED = st.lists(st.builds(entry, NAMES, WORDS, WORDS), max_size=9).map(lambda some: listed(*some))


def assert_bijection(matching: Matching, wanted: Sequence[Entry], here: Sequence[Entry]) -> None:
    assert sorted([*matching.pairs, *matching.wanted]) == list(range(len(wanted)))
    assert sorted([*matching.pairs.values(), *matching.listed]) == list(range(len(here)))


@pytest.mark.promise("repeated-names")
@given(wanted=st.lists(WANTED, max_size=9), here=LISTED)
def test_every_entry_is_in_one_pair_or_left_over(wanted: list[Entry], here: list[Entry]) -> None:
    matching = match(wanted, here)

    assert_bijection(matching, wanted, here)
    assert list(matching.pairs) == sorted(matching.pairs)
    assert match(list(wanted), list(here)) == matching


@given(wanted=st.lists(WANTED.map(lambda one: Entry(one.text)), max_size=9), here=LISTED)
def test_as_many_are_matched_by_equality_as_can_be(wanted: list[Entry], here: list[Entry]) -> None:
    matching = match(wanted, here)

    equal = Counter(
        wanted[w].text for w, n in matching.pairs.items() if wanted[w].text == here[n].text
    )
    assert equal == Counter(one.text for one in wanted) & Counter(one.text for one in here)


@given(wanted=st.lists(WANTED, max_size=9), here=LISTED)
def test_finished_former_names_change_no_pair(wanted: list[Entry], here: list[Entry]) -> None:
    matching = match(wanted, here)
    pairs = {w: here[n] for w, n in matching.pairs.items()}
    finished = finished_renames(wanted, pairs, here)

    assert all(wanted[w].formerly for w in finished)
    left = [replace(one, formerly=()) if w in finished else one for w, one in enumerate(wanted)]
    assert match(left, here) == matching


@pytest.mark.parametrize(
    ("name", "old", "names", "finished"),
    [
        ("new", "old", ["new"], [0]),
        ("new", "old", ["old"], []),
        ("new", "old", ["new", "Old"], []),
        ("new", "old", ["other"], []),
        ("New", "new", ["New"], [0]),
        ("New", "new", ["new"], []),
    ],
)
def test_a_former_name_is_finished_when_nothing_is_listed_under_it(
    name: str, old: str, names: list[str], finished: list[int]
) -> None:
    wanted, here = [entry(name, formerly=(old,))], listed(*map(entry, names))
    pairs = {w: here[n] for w, n in match(wanted, here).pairs.items()}

    assert finished_renames(wanted, pairs, here) == finished


@given(here=LISTED, order=st.randoms(use_true_random=False))
def test_equal_multisets_match_whole_in_any_order(here: list[Entry], order: object) -> None:
    wanted = [Entry(one.text) for one in here]
    order.shuffle(wanted)  # type: ignore[attr-defined]

    matching = match(wanted, here)

    assert matching.wanted == matching.listed == ()
    assert all(wanted[w].text == here[n].text for w, n in matching.pairs.items())


def test_a_pin_comes_before_equality() -> None:
    here = listed(entry("a"), entry("b"))

    matching = match([entry("a", id="r1"), entry("b", id="r0")], here)

    assert matching.pairs == {0: 1, 1: 0}


def test_a_pin_that_is_not_listed_falls_through_and_is_told() -> None:
    matching = match([entry("a", id="gone")], listed(entry("a")))

    assert matching.pairs == {0: 0}
    assert matching.lost_pins == (0,)


def test_the_second_of_two_equal_pins_falls_through() -> None:
    matching = match([entry("a", id="r0"), entry("b", id="r0")], listed(entry("a"), entry("b")))

    assert matching.pairs == {0: 0, 1: 1}
    assert matching.lost_pins == (1,)


def test_equality_comes_before_a_name() -> None:
    here = listed(entry("afk", syntax=".afk"), entry("afk", syntax="/afk"))

    matching = match([entry("afk", syntax="/afk"), entry("afk", syntax="!afk")], here)

    assert matching.pairs == {0: 1, 1: 0}


def test_a_name_comes_before_a_former_name() -> None:
    here = listed(entry("old"), entry("new", "Another."))

    matching = match([entry("new", "Mine.", formerly=("old",))], here)

    assert matching.pairs == {0: 1}


@given(st.text("abcXYZ", min_size=1, max_size=8), st.text("abcXYZ", min_size=1, max_size=8))
def test_a_name_that_a_service_rewrote_comes_before_a_former_name(name: str, old: str) -> None:
    here = listed(entry(old.lower(), "Another one."), entry(name.lower()))

    matching = match([entry(name, formerly=(old, old.lower()))], here)

    same = old.lower() == name.lower() != name
    assert matching.pairs in ([{0: 0}, {0: 1}] if same else [{0: 1}])


def test_a_former_name_serves_where_the_name_itself_went_to_another() -> None:
    wanted = [entry("Afk", syntax=".afk", formerly=("away",)), entry("Afk", syntax="/afk")]

    matching = match(wanted, listed(entry("afk", syntax="/afk"), entry("away", syntax=".away")))

    assert matching.pairs == {0: 1, 1: 0}


def test_a_former_name_may_be_listed_as_the_service_rewrote_it() -> None:
    assert match([entry("new", formerly=("Old One",))], listed(entry("old one"))).pairs == {0: 0}


def test_a_cut_name_is_another_record_where_the_descriptions_differ() -> None:
    name = "An announcement of a release in words"

    assert match([entry(f"{name} 2", "Two.")], listed(entry(name, "One."))).pairs == {}


def test_records_of_a_name_are_counted_exactly_folded_or_cut() -> None:
    long = "One of the longest names that were ever seen on a page"
    sent = [entry("Twin", "one").text, entry(long, "two").text, entry("x").text]
    here = [*(entry("twin", word).text for word in ("a", "b")), sent[0], entry(long[:40]).text]

    assert count_same_name(sent, here) == {sent[0]: (1, 2), sent[1]: (0, 1), sent[2]: (0, 0)}


def test_two_that_share_a_former_name_do_not_share_a_record() -> None:
    wanted = [entry("a", formerly=("x",)), entry("b", formerly=("x", "y"))]

    matching = match(wanted, listed(entry("x"), entry("y")))

    assert matching.pairs == {0: 0, 1: 1}


def test_within_a_name_the_most_similar_are_paired_first() -> None:
    here = listed(
        entry("afk", "Says that you are away.", ".afk"), entry("afk", "Something else.", "/afk")
    )

    matching = match(
        [
            entry("afk", "Something quite else.", "!away"),
            entry("afk", "Says that you are far away.", "?afk"),
        ],
        here,
    )

    assert matching.pairs == {0: 1, 1: 0}


def test_the_most_similar_of_several_entries_gets_the_only_record() -> None:
    wanted = [entry("afk", "Something else."), entry("afk", "Says that you are far away.")]

    matching = match(wanted, listed(entry("afk", "Says that you are away.")))

    assert matching.pairs == {1: 0}


@pytest.mark.parametrize("uses", [(None, 1), (0, 1), (1, None)])
def test_of_similar_records_the_most_used_is_matched(uses: tuple[int | None, int | None]) -> None:
    here = [
        Entry(entry("afk", f"Away {n}.").text, id=f"r{n}", uses=count)
        for n, count in enumerate(uses)
    ]

    matching = match([entry("afk", "Home.")], here)

    assert matching.pairs == {0: uses.index(1)}


def test_equal_fields_count_more_than_equal_words() -> None:
    here = listed(entry("a", "one two three four", "/p"), entry("a", "five", "/q"))

    matching = match([entry("a", "one two three four", "/q"), entry("a", "zero", "/q")], here)

    assert matching.pairs == {0: 0, 1: 1}


@pytest.mark.parametrize("name", ["server info", "Server Info", "server  info", "SERVER\ninfo"])
def test_names_that_a_service_folded_are_matched_last(name: str) -> None:
    matching = match([entry("Server info")], listed(entry(name, "Another.")))

    assert matching.pairs == {0: 0}


def test_names_that_a_service_escaped_are_matched() -> None:
    matching = match([entry("rock & <roll>")], listed(entry("rock &amp; &lt;roll&gt;")))

    assert matching.pairs == {0: 0}


def test_a_name_that_was_rewritten_into_another_wanted_one_keeps_its_record() -> None:
    here = listed(entry("a &amp; b", "One."), entry("a &amp;amp; b", "Two."))
    ours = [entry("a &amp; b", "Two."), entry("a & b", "One.")]

    assert match(ours, here).pairs == {0: 1, 1: 0}
    assert match([entry("a &amp; b", "Two."), entry("a & b", "New.")], here).pairs == {0: 1, 1: 0}


def test_names_that_are_all_listed_decide_before_the_texts() -> None:
    here = listed(entry("afk", "One."), entry("AFK", "Two."))

    assert match([entry("afk", "Two."), entry("AFK", "One.")], here).pairs == {0: 0, 1: 1}


@pytest.mark.parametrize(
    ("length", "pairs"), [(SHORTEST_CUT - 1, {}), (SHORTEST_CUT, {0: 0}), (150, {0: 0})]
)
def test_a_long_name_that_a_service_cut_is_matched(length: int, pairs: dict[int, int]) -> None:
    name = "".join(chr(97 + n % 26) for n in range(300))

    matching = match([entry(name)], listed(entry(name[:length])))

    assert matching.pairs == pairs


@pytest.mark.parametrize("wanted", ["n" * 40, "N" * 40, "n" * 60], ids=["equal", "folded", "cut"])
@pytest.mark.parametrize(
    "uses", [(0, 7, 3), (None, 7, 0), (7, 7, 0), (None, None, None), (None, 1, 0), (0, 1, 1)]
)
def test_of_equal_records_the_most_used_counts(wanted: str, uses: tuple[int | None, ...]) -> None:
    text = entry("n" * 40).text
    here = [Entry(text, id=f"r{n}", uses=count) for n, count in enumerate(uses)]

    counts = [count or 0 for count in uses]
    assert match([entry(wanted)], here).pairs == {0: counts.index(max(counts))}


def test_cut_names_are_matched_the_longest_first_and_each_once() -> None:
    name = "x" * 200
    here = listed(entry("x" * 100), entry("x" * 150), entry("y" * 150))

    matching = match([entry(name + "1"), entry(name + "2"), entry(name + "3")], here)

    assert matching.pairs == {0: 1, 1: 0}


@pytest.mark.parametrize("identifier", ["", ".", ".."])
def test_a_record_without_a_usable_id_is_matched_by_equality_only(identifier: str) -> None:
    here = [Entry(CommandText("a", "d", "s"), id=identifier)]

    equal = match([entry("a", "d", "s")], here)
    named = match([entry("a", "other", id=identifier)], here)

    assert equal.pairs == {0: 0}
    assert named.pairs == {}
    assert named.wanted == named.listed == ()
    assert named.unwritable == {0: 0}


def test_the_name_itself_comes_before_a_former_name() -> None:
    wanted = [entry("b", formerly=("a",)), entry("a", "New.")]

    assert match(wanted, listed(entry("a", "Old."))).pairs == {1: 0}


def test_a_former_name_may_mean_a_record_without_an_id() -> None:
    wanted, here = [entry("b", formerly=("a",))], [entry("a", "Old.")]

    assert match(wanted, here).unwritable == {0: 0}
    assert match(wanted, here, not_renamed={0}).unwritable == {}


def test_an_exact_former_name_comes_before_a_folded_one() -> None:
    wanted = [entry("a", formerly=("Old",)), entry("b", formerly=("old",))]

    assert match(wanted, listed(entry("old", "x"), entry("Old", "x"))).pairs == {0: 1, 1: 0}


@pytest.mark.parametrize(("length", "paired"), [(31, True), (30, False)])
def test_the_twenty_longest_beginnings_are_tried(length: int, *, paired: bool) -> None:
    here = listed(*(entry("x" * n, "Does it." if n == length else "Other.") for n in range(30, 51)))

    assert bool(match([entry("x" * 60)], here).pairs) == paired


def test_groups_above_the_limit_are_paired_in_their_order() -> None:
    for count in (GROUP_LIMIT, GROUP_LIMIT + 1):
        here = listed(*(entry("a", f"old {n}") for n in range(count)))
        wanted = [entry("a", f"new {count - 1 - n}") for n in range(count)]

        matching = match(wanted, here)

        in_order = [(n, n) for n in range(count)]
        assert (list(matching.pairs.items()) == in_order) == (count > GROUP_LIMIT)


@pytest.mark.parametrize(("w", "n"), [(2, 60), (60, 2)])
def test_a_large_group_on_one_side_is_paired_as_far_as_it_goes(w: int, n: int) -> None:
    here = listed(*(entry("a", f"old {i}") for i in range(n)))

    matching = match([entry("a", f"new {i}") for i in range(w)], here)

    assert matching.pairs == {0: 0, 1: 1}
    assert_bijection(matching, [entry("a")] * w, here)


def test_words_in_common_are_a_share_of_all_words() -> None:
    assert shared(frozenset(), frozenset()) == 1.0
    assert shared(frozenset("abcd"), frozenset("abxde")) == 2 * 3 / 9


@dataclass
class Counted:
    """How often strings were looked at."""

    times: int = 0


def names(kind: str, count: int) -> tuple[list[str], list[str]]:
    match kind:
        case "all different":
            return [f"w{n}" for n in range(count)], [f"l{n}" for n in range(count)]
        case "groups of fifty":
            same = [f"g{n // 50}" for n in range(count)]
            return same, same
        case "one group":
            return ["same"] * count, ["same"] * count
        case "folded":
            return [f"N {n // 40}" for n in range(count)], [f"n  {n // 40}" for n in range(count)]
        case _:  # cut, at as many lengths as there are names
            long = "x" * 2500
            return (
                [f"{long}{n}" for n in range(count)],
                [f"{'y' * (100 + n)}" for n in range(count)],
            )


def work(kind: str, count: int) -> int:
    counted = Counted()

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            counted.times += 1
            return str.__eq__(self, other)

        def __hash__(self) -> int:
            counted.times += 1
            return str.__hash__(self)

        def split(self, *_: object) -> list[str]:
            counted.times += 1
            return str.split(self)

        def __getitem__(self, key: object) -> str:
            counted.times += 1
            return str.__getitem__(self, key)  # type: ignore[index]

    ours, theirs = names(kind, count)
    wanted = [
        Entry(CommandText(Name(one), Name(f"new {n}"), Name("/s"))) for n, one in enumerate(ours)
    ]
    here = [
        Entry(CommandText(Name(one), Name(f"old {n}"), Name("/s")), id=f"r{n}")
        for n, one in enumerate(theirs)
    ]
    match(wanted, here)
    return counted.times


@pytest.mark.parametrize("kind", ["all different", "groups of fifty", "one group", "folded", "cut"])
def test_the_work_grows_with_the_length_and_not_with_its_square(kind: str) -> None:
    small, large = work(kind, 500), work(kind, 2000)

    assert large <= 4.5 * small
