"""Which deletes an earlier version of the manifest explains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.check import unexplained
from commandsync.plan.matching import GROUP_LIMIT
from commandsync.plan.plan import Plan, make_plan
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource, Text
from tests.support.runs import EVERYTHING, TARGET

LONG = st.text("abcdefgh", min_size=SHORTEST_CUT + 1, max_size=SHORTEST_CUT + 20)


def side(*texts: Text) -> Snapshot:
    return Snapshot(
        {Resource.COMMAND: tuple(Entry(text, id=str(n)) for n, text in enumerate(texts))}
    )


def is_explained(listed: CommandText, *versions: CommandText) -> bool:
    """Whether versions with one command each explain that a listed record is deleted."""
    return not unexplained(plan_without(listed), versions=map(side, versions))


def plan_without(listed: CommandText) -> Plan:
    return make_plan(desired=side(), listed=side(listed), target=TARGET, rules=EVERYTHING)


@given(LONG, st.integers(SHORTEST_CUT))
def test_a_record_whose_name_the_service_cut_is_explained(name: str, length: int) -> None:
    length = min(length, len(name) - 1)
    whole = CommandText(name, "Text.", "/x")
    cut = whole._replace(name=name[:length])

    assert is_explained(cut, whole)
    assert not is_explained(cut._replace(description="Another."), whole)
    assert not is_explained(cut._replace(name=f"{name[: length - 1]}z"), whole)


@pytest.mark.parametrize("name", ["HELP", "h e l p", "help"])
def test_a_record_that_the_service_rewrote_is_explained(name: str) -> None:
    wanted = CommandText("help", "Helps & more.", "/help")

    assert is_explained(CommandText(name, "Helps &amp; more.", "/HELP"), wanted)
    assert is_explained(wanted, CommandText("other", "Text.", "/o"), wanted)
    assert not is_explained(CommandText(name, "Something else.", "/help"), wanted)
    assert not is_explained(wanted)


def test_versions_are_read_until_all_is_explained() -> None:
    gone, kept = CommandText("a", "Text.", "/a"), CommandText("b", "Text.", "/b")
    adds = make_plan(desired=side(kept), listed=side(), target=TARGET, rules=EVERYTHING)
    versions = iter([side(gone), side(kept)])

    assert unexplained(adds, versions=versions) == []
    assert unexplained(plan_without(gone), versions=versions) == []
    assert [*versions] == [side(kept)]


def test_only_what_is_taken_away_needs_an_explanation() -> None:
    gone, copied, added = (CommandText(name, f"Text {name}.", f"/{name}") for name in "gca")
    plan = make_plan(
        desired=Snapshot({Resource.COMMAND: (Entry(added), Entry(copied))}),
        listed=side(gone, copied, copied),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert [change.name for change in unexplained(plan, versions=[])] == ["g"]
    assert unexplained(plan, versions=[side(gone)]) == []


def test_each_of_many_names_with_the_same_beginning_explains() -> None:
    names = [f"{'a' * SHORTEST_CUT}{end}" for end in "bcd"]
    whole = [CommandText(name, f"Text of {name}.", "/x") for name in names]
    cuts = [each._replace(name=each.name[:SHORTEST_CUT]) for each in whole]

    assert all(is_explained(cut, *whole) for cut in cuts)
    assert all(not unexplained(plan_without(cut), versions=[side(*whole)]) for cut in cuts)


def test_of_very_many_names_that_are_equal_when_folded_the_first_ones_explain() -> None:
    *first, last = (CommandText("help", f"Text {n}.", "/x") for n in range(GROUP_LIMIT + 1))

    for text, is_named in ((first[-1], False), (last, True)):
        plan = plan_without(text._replace(name="Help"))

        assert bool(unexplained(plan, versions=[side(*first, last)])) is is_named
