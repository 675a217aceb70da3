"""A baseline is the other side of a whole list, with the lists that may be shown."""

from dataclasses import replace

import pytest

from commandsync.diagnostics import Notice
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    OfVersion,
    PossibleList,
    Unknown,
    Unread,
    name_of,
)
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from tests.support.plans import CHANGED, SAME, whole
from tests.support.runs import command, wanted
from tests.unit.plan.test_plan import listed, plan_of

LISTS = (SAME, CHANGED)


@pytest.mark.parametrize(
    ("baseline", "name"),
    [
        (AsRead(LISTS), "list"),
        (OfVersion(LISTS, name="v1.2.0"), "v1.2.0"),
        (LastSent(LISTS, name="the list sent on a day"), "the list sent on a day"),
    ],
)
def test_changes_are_those_to_the_first_list(baseline: Baseline, name: str) -> None:
    assert name_of(baseline) == name
    assert baseline.first is SAME
    assert replace(baseline, lists=()).first is None


@pytest.mark.parametrize("baseline", [Unread(), Unknown(), Unknown(LISTS)])
def test_without_a_known_list_nothing_is_compared(baseline: Baseline) -> None:
    assert name_of(baseline) == ""
    assert baseline.first is None


@pytest.mark.parametrize("count", [0, 1, 40])
def test_a_list_is_as_long_as_its_commands(count: int) -> None:
    commands = tuple(Entry(command(f"c{number}")) for number in range(count))

    assert PossibleList(Snapshot({Resource.COMMAND: commands}), "digest").size == count


def test_a_list_that_is_too_large_is_refused_with_that_reason() -> None:
    compared = plan_of(wanted([command("a")]), listed([]))
    excess = Notice("101 commands, and the service takes 100", "leave one out")
    plan = replace(whole(compared, AsRead(LISTS)), excess=excess)

    assert plan.unsendable == plan.refusal == excess
    assert not plan.is_asked
