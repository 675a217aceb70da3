"""Which deletes an earlier version of the manifest explains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.ownership import unexplained
from commandsync.plan.plan import make_plan
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
    plan = make_plan(desired=side(), listed=side(listed), target=TARGET, rules=EVERYTHING)
    return not unexplained(plan, versions=map(side, versions))


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
