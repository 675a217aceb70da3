from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.comparison import finished_renames
from commandsync.plan.matching import GROUP_LIMIT, Matching, count_same_name, match, shared
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.records.snapshot import Entry
from commandsync.records.texts import ApplicationCommand, CommandText, type_of
from tests.support import registered
from tests.support.registered import slash


def entry(
    name: str,
    description: str = "Does it.",
    syntax: str = "/x",
    *,
    id: str = "",  # noqa: A002 - its name in `Entry`
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


AWAY, ELSE = "Says that you are away.", "Something else."
FOUR = "one two three four"
ESCAPED = [entry("a &amp; b", "One."), entry("a &amp;amp; b", "Two.")]
OURS = entry("a &amp; b", "Two.")
RELEASE = "An announcement of a release in words"
PAIRS: dict[str, tuple[list[Entry], list[Entry], dict[int, int]]] = {
    "a pin before equality": (
        *([entry("a", id="r1"), entry("b", id="r0")], [entry("a"), entry("b")]),
        {0: 1, 1: 0},
    ),
    "equality before a name": (
        [entry("afk", syntax="/afk"), entry("afk", syntax="!afk")],
        [entry("afk", syntax=".afk"), entry("afk", syntax="/afk")],
        {0: 1, 1: 0},
    ),
    "a former name where the name itself went to another": (
        [entry("Afk", syntax=".afk", formerly=("away",)), entry("Afk", syntax="/afk")],
        [entry("afk", syntax="/afk"), entry("away", syntax=".away")],
        {0: 1, 1: 0},
    ),
    "the name of another before a former name": (
        *([entry("b", formerly=("a",)), entry("a", "New.")], [entry("a", "Old.")], {1: 0}),
    ),
    "an exact former name before a folded one": (
        [entry("a", formerly=("Old",)), entry("b", formerly=("old",))],
        [entry("old", "x"), entry("Old", "x")],
        {0: 1, 1: 0},
    ),
    "a name before a former name": (
        *([entry("new", "Mine.", formerly=("old",))], [entry("old"), entry("new", "Another.")]),
        {0: 1},
    ),
    "a folded former name": ([entry("new", formerly=("Old One",))], [entry("old one")], {0: 0}),
    "one former name of two": (
        [entry("a", formerly=("x",)), entry("b", formerly=("x", "y"))],
        [entry("x"), entry("y")],
        {0: 0, 1: 1},
    ),
    "the most similar first": (
        [entry("afk", "Something quite else.", "!away"), entry("afk", f"{AWAY} Far.", "?afk")],
        [entry("afk", AWAY, ".afk"), entry("afk", ELSE, "/afk")],
        {0: 1, 1: 0},
    ),
    "the most similar of several": (
        *([entry("afk", ELSE), entry("afk", f"{AWAY} Far.")], [entry("afk", AWAY)], {1: 0}),
    ),
    "equal fields before equal words": (
        [entry("a", FOUR, "/q"), entry("a", "zero", "/q")],
        [entry("a", FOUR, "/p"), entry("a", "five", "/q")],
        {0: 0, 1: 1},
    ),
    **{
        f"a folded name: {name!r}": ([entry("Server info")], [entry(name, "Another.")], {0: 0})
        for name in ("server info", "Server Info", "server  info", "SERVER\ninfo")
    },
    "an escaped name": ([entry("rock & <roll>")], [entry("rock &amp; &lt;roll&gt;")], {0: 0}),
    "a name rewritten into another wanted one": (
        *([OURS, entry("a & b", "One.")], ESCAPED, {0: 1, 1: 0}),
    ),
    "that beside a new text": ([OURS, entry("a & b", "New.")], ESCAPED, {0: 1, 1: 0}),
    "names that are all listed before the texts": (
        [entry("afk", "Two."), entry("AFK", "One.")],
        [entry("afk", "One."), entry("AFK", "Two.")],
        {0: 0, 1: 1},
    ),
    "cut names, the longest first and each once": (
        [entry("x" * 200 + end) for end in "123"],
        [entry("x" * 100), entry("x" * 150), entry("y" * 150)],
        {0: 1, 1: 0},
    ),
    "a cut name with another description": (
        *([entry(f"{RELEASE} 2", "Two.")], [entry(RELEASE, "One.")], {}),
    ),
}


@pytest.mark.parametrize(("wanted", "here", "pairs"), PAIRS.values(), ids=PAIRS)
def test_the_surest_tier_comes_first(
    wanted: list[Entry], here: list[Entry], pairs: dict[int, int]
) -> None:
    assert match(wanted, listed(*here)).pairs == pairs


def test_a_pin_that_is_not_listed_or_is_taken_falls_through_and_is_told() -> None:
    gone = match([entry("a", id="gone")], listed(entry("a")))
    twice = match([entry("a", id="r0"), entry("b", id="r0")], listed(entry("a"), entry("b")))

    assert (gone.pairs, gone.lost_pins) == ({0: 0}, (0,))
    assert (twice.pairs, twice.lost_pins) == ({0: 0, 1: 1}, (1,))


@given(st.text("abcXYZ", min_size=1, max_size=8), st.text("abcXYZ", min_size=1, max_size=8))
def test_a_name_that_a_service_rewrote_comes_before_a_former_name(name: str, old: str) -> None:
    here = listed(entry(old.lower(), "Another one."), entry(name.lower()))

    matching = match([entry(name, formerly=(old, old.lower()))], here)

    same = old.lower() == name.lower() != name
    assert matching.pairs in ([{0: 0}, {0: 1}] if same else [{0: 1}])


def test_records_of_a_name_are_counted_exactly_folded_or_cut() -> None:
    long = "One of the longest names that were ever seen on a page"
    sent = [entry("Twin", "one").text, entry(long, "two").text, entry("x").text]
    here = [*(entry("twin", word).text for word in ("a", "b")), sent[0], entry(long[:40]).text]

    assert count_same_name(sent, here) == {sent[0]: (1, 2), sent[1]: (0, 1), sent[2]: (0, 0)}


@pytest.mark.parametrize("uses", [(None, 1), (0, 1), (1, None)])
def test_of_similar_records_the_most_used_is_matched(uses: tuple[int | None, int | None]) -> None:
    here = [
        Entry(entry("afk", f"Away {n}.").text, id=f"r{n}", uses=count)
        for n, count in enumerate(uses)
    ]

    matching = match([entry("afk", "Home.")], here)

    assert matching.pairs == {0: uses.index(1)}


@pytest.mark.parametrize(
    ("length", "pairs"), [(SHORTEST_CUT - 1, {}), (SHORTEST_CUT, {0: 0}), (150, {0: 0})]
)
def test_a_long_name_that_a_service_cut_is_matched(length: int, pairs: dict[int, int]) -> None:
    name = "".join(chr(97 + n % 26) for n in range(300))

    matching = match([entry(name)], listed(entry(name[:length])))

    assert matching.pairs == pairs


@pytest.mark.parametrize("identifier", ["", ".", ".."])
def test_a_record_without_a_usable_id_is_matched_by_equality_only(identifier: str) -> None:
    here = [Entry(CommandText("a", "d", "s"), id=identifier)]

    equal = match([entry("a", "d", "s")], here)
    named = match([entry("a", "other", id=identifier)], here)

    assert equal.pairs == {0: 0}
    assert named.pairs == {}
    assert named.wanted == named.listed == ()
    assert named.unwritable == {0: 0}


def test_a_former_name_may_mean_a_record_without_an_id() -> None:
    wanted, here = [entry("b", formerly=("a",))], [entry("a", "Old.")]

    assert match(wanted, here).unwritable == {0: 0}
    assert match(wanted, here, not_renamed={0}).unwritable == {}


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


@given(registered.sides())
def test_in_an_exact_kind_every_entry_is_in_one_pair_or_left_over(
    sides: tuple[tuple[Entry, ...], tuple[ApplicationCommand, ...]],
) -> None:
    wanted, here = sides[0], registered.listed(*sides[1])
    matching = match(wanted, here, exact=True)

    assert_bijection(matching, wanted, here)
    assert list(matching.pairs) == sorted(matching.pairs)
    assert matching.unwritable == {}


@given(registered.sides())
def test_in_an_exact_kind_a_pair_has_one_type_and_a_reason_and_no_reason_is_left_over(
    sides: tuple[tuple[Entry, ...], tuple[ApplicationCommand, ...]],
) -> None:
    wanted, here = sides[0], registered.listed(*sides[1])
    matching = match(wanted, here, exact=True)

    for w, n in matching.pairs.items():
        one, other = wanted[w], here[n]
        names = {one.name, *one.formerly}
        assert type_of(one.text) == type_of(other.text)
        assert one.id == other.id or other.name in names
    for w in matching.wanted:
        keys = {(type_of(wanted[w].text), name) for name in (wanted[w].name, *wanted[w].formerly)}
        assert keys.isdisjoint((type_of(here[n].text), here[n].name) for n in matching.listed)


def pairs_of(wanted: Sequence[Entry], here: Sequence[Entry]) -> dict[str, str]:
    """Return the names that are matched in an exact kind."""
    matching = match(wanted, here, exact=True)
    return {wanted[w].name: here[n].name for w, n in matching.pairs.items()}


def test_in_an_exact_kind_names_are_compared_as_they_are() -> None:
    here = registered.listed(slash("Ban"), slash("a" * 31))

    assert pairs_of([registered.entry(slash("ban")), registered.entry(slash("a" * 32))], here) == {}


def test_in_an_exact_kind_a_pin_comes_before_a_name_and_a_name_before_a_former_one() -> None:
    here = registered.listed(slash("play"), slash("queue"), slash("p"))
    wanted = [
        registered.entry(slash("song"), "", "play", "p"),
        registered.entry(slash("play"), "r1"),
        registered.entry(slash("list"), "", "play"),
    ]

    assert pairs_of(wanted, here) == {"play": "queue", "song": "play"}
    assert pairs_of([wanted[0], registered.entry(slash("play"))], here) == {
        "play": "play",
        "song": "p",
    }


def test_in_an_exact_kind_a_pin_to_another_type_is_lost() -> None:
    here = registered.listed(registered.menu("Ban"), slash("ban"))

    matching = match([registered.entry(slash("ban"), "r0")], here, exact=True)

    assert matching.pairs == {0: 1}
    assert matching.lost_pins == (0,)


def test_in_an_exact_kind_no_former_name_means_an_ignored_record() -> None:
    here = registered.listed(slash("old"), slash("older"))

    matching = match(
        [registered.entry(slash("new"), "", "old", "older")], here, not_renamed={0}, exact=True
    )

    assert matching.pairs == {0: 1}


def test_in_an_exact_kind_a_record_without_an_id_is_matched_only_if_it_is_equal() -> None:
    here = [Entry(slash("ban")), Entry(slash("play"))]
    wanted = [registered.entry(slash("ban")), registered.entry(slash("play", "Plays."))]

    matching = match(wanted, here, exact=True)

    assert (matching.pairs, matching.unwritable, matching.listed) == ({0: 0}, {1: 1}, (1,))


def test_in_an_exact_kind_a_name_is_counted_for_its_type_and_as_it_is() -> None:
    ban = slash("ban")
    others = [slash("ban", "Bans."), slash("Ban"), registered.menu("ban")]

    assert count_same_name([ban], others) == {ban: (0, 1)}
    assert count_same_name([ban, slash("a" * 32)], [ban, slash("a" * 31)])[ban] == (1, 0)
    assert count_same_name([slash("a" * 32)], [slash("a" * 31)]) == {slash("a" * 32): (0, 0)}


@pytest.mark.parametrize("wanted", ["n" * 40, "N" * 40, "n" * 60], ids=["equal", "folded", "cut"])
@pytest.mark.parametrize(
    "uses", [(0, 7, 3), (None, 7, 0), (7, 7, 0), (None, None, None), (None, 1, 0), (0, 1, 1)]
)
def test_of_equal_records_the_most_used_counts(wanted: str, uses: tuple[int | None, ...]) -> None:
    text = entry("n" * 40).text
    here = [Entry(text, id=f"r{n}", uses=count) for n, count in enumerate(uses)]

    counts = [count or 0 for count in uses]
    assert match([entry(wanted)], here).pairs == {0: counts.index(max(counts))}
