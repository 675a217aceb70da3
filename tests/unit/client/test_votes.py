from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from commandsync.client.subscription import Tally
from commandsync.records.models import Voter


def voters(ids: Sequence[str]) -> list[Voter]:
    return [Voter(id=identifier) for identifier in ids]


def new(tally: Tally, ids: Sequence[str], *, caught_up: bool = False) -> str:
    return "".join(voter.id for voter in tally.read(voters(ids), caught_up=caught_up))


@given(
    st.lists(st.sampled_from("abcdef"), min_size=3, unique=True),
    st.lists(st.sampled_from("uvwxyz"), min_size=1),
    st.booleans(),
)
def test_new_voters_are_found_at_either_end_of_a_list(
    first: list[str],
    more: list[str],
    newest_last: bool,  # noqa: FBT001 - drawn
) -> None:
    tally = Tally(lambda: 0.0)
    listed = [first, first + more]

    found = [new(tally, ids if newest_last else ids[::-1]) for ids in listed]

    assert found == ["", "".join(more[::-1] if newest_last else more)]


def test_a_list_that_drops_its_oldest_entries_is_read() -> None:
    tally = Tally(lambda: 0.0)

    found = [new(tally, ids[::-1]) for ids in ("abcd", "bcde", "cdefd")]

    assert found == ["", "e", "fd"]


def test_the_event_of_a_vote_that_was_caught_up_just_before_is_not_told_again() -> None:
    now = [0.0]
    tally = Tally(lambda: now[0])
    new(tally, "ab", caught_up=True)

    caught_up = new(tally, "abc", caught_up=True)
    told = [tally.count("c"), tally.count("c"), tally.count("a")]
    now[0] = 11.0
    later = new(tally, "abccad", caught_up=True)
    now[0] = 22.0

    assert (caught_up, told, later) == ("c", [False, True, True], "d")
    assert tally.count("d") is True
