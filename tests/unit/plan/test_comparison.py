"""Scheduled entries: posted from their time on, once, and gone after their end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.changes import Add, Delete, Replace
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.snapshot import Entry, Phase, Snapshot
from commandsync.records.texts import Resource
from tests.support.plans import day, post, posted
from tests.support.runs import TARGET

KIND = Resource.ANNOUNCEMENT
APPEND = SyncRules()
MIRROR = SyncRules(announcements="mirror")


def plan_on(number: int, entries: list[Entry], listed: list[Entry], rules: SyncRules) -> RecordPlan:
    return make_plan(
        desired=Snapshot({KIND: tuple(entries)}),
        listed=Snapshot({KIND: tuple(listed)}),
        target=TARGET,
        rules=rules,
        now=day(number),
    )


def actions(plan: RecordPlan) -> list[str]:
    return [f"{change.action} {change.name}" for change in plan.changes]


def test_what_a_plan_tells_of_a_schedule_is_that_of_its_entry() -> None:
    entries = [post("v1", publish=2), post("v2", until=3)]

    told = plan_on(1, entries, [], APPEND).scheduled

    assert {(each.resource, each.name, each.schedule, each.location) for each in told} == {
        (KIND, entry.name, entry.schedule, entry.location) for entry in entries
    }


def phases(plan: RecordPlan) -> dict[str, tuple[Phase, bool]]:
    return {entry.name: (entry.phase, entry.is_listed) for entry in plan.scheduled}


def applied(plan: RecordPlan, listed: list[Entry], ids: count[int]) -> list[Entry]:
    """Carry out a plan on a list, with nothing else."""
    records = list(listed)
    for change in plan.changes:
        if not isinstance(change, Add):
            records = [record for record in records if record.id != getattr(change, "id", "")]
        if isinstance(change, Add | Replace):
            records.append(Entry(change.after, id=f"n{next(ids)}"))
    return records


def texts(records: list[Entry]) -> Counter[object]:
    return Counter(record.text for record in records)


def test_nothing_is_posted_before_its_time_or_after_its_end_and_each_once_between() -> None:
    ended = [post("both", publish=1, until=2), post("end", until=2)]
    entries = [post("later", publish=3), post("now", publish=2), post("always"), *ended]

    assert actions(plan_on(1, entries[:3], [], APPEND)) == ["add always"]
    assert actions(plan_on(2, entries, [], APPEND)) == ["add now", "add always"]
    assert plan_on(2, entries, [posted("now", id="1")], APPEND).unchanged == 1
    assert phases(plan_on(2, entries, [posted("now", id="1")], APPEND)) == {
        "later": (Phase.WAITING, False),
        "now": (Phase.DUE, True),
        **dict.fromkeys(("both", "end"), (Phase.ENDED, False)),
    }


def test_after_its_end_a_record_is_deleted_where_the_listing_is_mirrored() -> None:
    entries, listed = [post("v1", until=2)], [posted("v1", id="1")]

    (change,) = plan_on(2, entries, listed, MIRROR).changes
    kept = plan_on(2, entries, listed, APPEND)
    unpruned = plan_on(2, entries, listed, SyncRules(announcements="mirror", prune=False))

    assert isinstance(change, Delete)
    assert (change.id, change.until, change.ends_record) == ("1", day(2), True)
    assert kept.changes == unpruned.changes == ()
    assert kept.unmanaged == unpruned.unmanaged == ()
    assert phases(kept) == phases(unpruned) == {"v1": (Phase.ENDED, True)}


@given(uses=st.none() | st.integers(0, 9))
def test_what_is_added_or_replaced_has_its_end_and_the_uses_that_go(uses: int | None) -> None:
    entries = [post("v1", "New.", until=5), post("v2", until=6)]
    listed = [replace(posted("v1", "Old.", id="1"), uses=uses)]

    replaced, added = plan_on(1, entries, listed, MIRROR).changes

    assert isinstance(replaced, Replace)
    assert isinstance(added, Add)
    assert (replaced.until, replaced.uses, added.until) == (day(5), uses, day(6))


def test_what_waits_leaves_what_is_listed_of_it_alone() -> None:
    equal, reworded = post("v1", publish=9), post("v2", "New.", publish=9)
    listed = [posted("v1", id="1"), posted("v2", "Old.", id="2"), posted("v3", id="3")]

    plan = plan_on(1, [equal, reworded], listed, MIRROR)
    later = plan_on(9, [equal, reworded], listed, MIRROR)

    assert actions(plan) == ["delete v3"]
    assert phases(plan) == {"v1": (Phase.WAITING, True), "v2": (Phase.WAITING, True)}
    assert actions(later) == ["replace v2", "delete v3"]
    assert later.unchanged == 1
    assert plan_on(1, [equal, reworded], listed, APPEND).unmanaged == ((KIND, listed[2]),)
    assert (
        plan_on(9, [reworded], listed, APPEND).notices[0].message
        == "an announcement titled 'v2' is listed with another text and is not posted"
    )


def test_of_equal_entries_the_one_that_is_due_comes_first_then_the_one_that_has_ended() -> None:
    first, second = post("Maintenance", until=2), post("Maintenance", publish=4, until=6)
    listed = [posted("Maintenance", id="1")]

    for entries in ([first, second], [second, first]):
        assert plan_on(1, entries, listed, MIRROR).changes == ()
        assert actions(plan_on(3, entries, listed, MIRROR)) == ["delete Maintenance"]
        assert actions(plan_on(4, entries, [], MIRROR)) == ["add Maintenance"]
        assert plan_on(4, entries, listed, MIRROR).changes == ()
        assert plan_on(4, entries, listed, APPEND).changes == ()


def test_an_entry_that_has_ended_does_not_hold_back_a_new_one_of_its_title() -> None:
    entries = [post("News", "Old.", until=2), post("News", "New.", publish=2)]

    plan = plan_on(3, entries, [posted("News", "Old.", id="1")], APPEND)

    assert actions(plan) == ["add News"]
    assert plan.notices == ()


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        (posted("v1", "Out now: <b>", id="1"), True),
        (posted("V1", "out now: &lt;b&gt;", id="1"), True),
        (posted("v1", "Somebody's new one.", id="1"), False),
        (posted("another", "Pinned.", id="pin"), True),
    ],
)
def test_only_an_entrys_own_record_is_deleted_by_its_end(listed: Entry, asked: bool) -> None:  # noqa: FBT001 - a case
    entries = [post("v1", "Out now: <b>", until=2, id="pin"), post("kept")]
    both = [listed, posted("kept", id="2")]

    (change,) = plan_on(3, entries, both, MIRROR).changes
    kept = plan_on(3, entries, both, APPEND)

    assert change.ends_record is asked
    assert [entry.name for _, entry in kept.unmanaged] == ([] if asked else ["v1"])
    assert phases(kept) == {"v1": (Phase.ENDED, asked)}
    assert kept.notices == ()


def test_an_ignored_record_stays_after_its_end() -> None:
    rules = SyncRules(announcements="mirror", ignore=("BETA*",))
    entries, listed = [post("beta 1", until=2, id="1")], [posted("beta 1", id="1")]

    plan = plan_on(3, entries, listed, rules)

    assert plan.changes == ()
    assert [f"{notice.message} | {notice.hint}" for notice in plan.notices] == [
        (
            "'beta 1' is listed as 'beta 1', which sync.ignore matches: it stays as it is | "
            "change the pattern to manage it, or remove the entry"
        ),
    ]


def test_a_record_without_a_usable_id_is_reported_after_its_end() -> None:
    plan = plan_on(3, [post("v1", until=2)], [posted("v1", id="..")], MIRROR)

    assert plan.changes == ()
    assert [entry.name for _, entry in plan.unwritable] == ["v1"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_lost_pin_is_of_interest_only_while_the_entry_is_due(number: int) -> None:
    plan = plan_on(number, [post("v1", publish=2, until=3, id="gone")], [], MIRROR)

    assert len(plan.notices) == (number == 2)


def test_the_only_record_may_end_whatever_the_limit() -> None:
    listed = [posted("v1", id="1")]

    for limit in (None, "0", "1%"):
        rules = SyncRules(
            announcements="mirror", max_deletes=parse_delete_limit(limit) if limit else None
        )

        assert plan_on(3, [post("v1", until=2)], listed, rules).refusal is None


def test_the_guard_counts_without_the_records_that_end() -> None:
    listed = [posted(name, id=name) for name in "abcdef"]
    entries = [*(post(name, until=2) for name in "abcd"), post("e")]

    emptied = plan_on(3, entries[:4], listed, MIRROR).refusal
    halved = plan_on(
        3, entries, listed, SyncRules(announcements="mirror", max_deletes=parse_delete_limit("40%"))
    ).refusal

    assert emptied is not None
    assert halved is not None
    assert (
        emptied.message
        == "would delete 2 of 2 listed announcements that have not ended, which keeps none of them"
    )
    assert (
        halved.message
        == "would delete 1 of 2 listed announcements that have not ended (50 %); the limit is 40 %"
    )


def test_only_a_plan_with_a_schedule_knows_the_time() -> None:
    plans = [plan_on(number, [post("v1")], [], MIRROR) for number in (1, 2)]

    assert plans[0] == plans[1]
    assert plans[0].now is None
    assert plan_on(1, [post("v1", publish=2)], [], MIRROR).now == day(1)


titles = st.sampled_from(["v1", "v2", "V2"])
days = st.none() | st.integers(1, 9)
entries_of = st.builds(
    lambda title, text, publish, until: post(
        title,
        text,
        publish=publish,
        until=until if until is None or publish is None else publish + until,
    ),
    titles,
    st.sampled_from(["Out.", "Soon."]),
    days,
    days,
)


@given(
    entries=st.lists(entries_of, max_size=5, unique_by=lambda entry: entry.name.casefold()),
    runs=st.lists(st.integers(0, 20), min_size=1, max_size=8).map(sorted),
    mirrors=st.booleans(),
)
def test_times_decide_the_listing(entries: list[Entry], runs: list[int], *, mirrors: bool) -> None:
    listed: list[Entry] = []
    ever: set[object] = set()
    ids = count()
    for number in runs:
        due = [entry for entry in entries if entry.phase(day(number)) is Phase.DUE]
        ever.update(entry.text for entry in due)
        plan = plan_on(number, entries, listed, MIRROR if mirrors else APPEND)
        listed = applied(plan, listed, ids)

        expected = texts(due) if mirrors else Counter(dict.fromkeys(ever, 1))
        assert texts(listed) == expected
        assert plan.refusal is None


@given(
    entries=st.lists(entries_of, max_size=5),
    strangers=st.lists(st.builds(post, titles, st.sampled_from(["Out.", "Else."])), max_size=3),
    number=st.integers(0, 20),
    mirrors=st.booleans(),
)
def test_no_run_posts_early_late_or_twice_nor_deletes_what_is_wanted(
    entries: list[Entry], strangers: list[Entry], number: int, *, mirrors: bool
) -> None:
    rules = MIRROR if mirrors else APPEND
    listed = [Entry(entry.text, id=f"s{n}") for n, entry in enumerate(strangers)]
    plan = plan_on(number, entries, listed, rules)
    after = applied(plan, listed, count())
    due = texts([entry for entry in entries if entry.phase(day(number)) is Phase.DUE])

    added = Counter(change.after for change in plan.changes if isinstance(change, Add | Replace))
    removed = Counter(change.before for change in plan.changes if not isinstance(change, Add))
    assert added <= due
    assert mirrors or not removed
    assert not mirrors or due <= texts(after)
    assert all(
        added[text] + texts(listed)[text] - removed[text] <= max(due[text], texts(listed)[text])
        for text in added
    )
    assert plan_on(number, entries, after, rules).changes == ()
