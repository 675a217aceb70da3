"""A list that is sent whole is planned as records are, by the names and texts that were fitted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.changes import Add, Delete, Edit
from commandsync.plan.plan import Plan, Target, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import LISTS
from commandsync.services.fit import as_listed, fit
from commandsync.services.service import ListService
from commandsync.services.telegram import TELEGRAM

NAMES = st.sampled_from(["ban", "kick", "/afk", ".afk", "config", "config prefix", "config set a"])
TEXTS = st.lists(
    st.builds(CommandText, NAMES, st.sampled_from(["One.", "Two."]), st.just("/x"), st.just("Fun")),
    max_size=8,
)


def snapshot_of(texts: list[CommandText]) -> Snapshot:
    return Snapshot({Resource.COMMAND: tuple(map(Entry, texts))})


def planned(service: ListService, *, wanted: Snapshot, before: Snapshot) -> Plan:
    """Plan a manifest against what an earlier version of it left on a service."""
    return make_plan(
        desired=fit(service, wanted).snapshot,
        listed=as_listed(fit(service, before).snapshot),
        target=Target(bot="42", base_url=service.origin, abilities=service.abilities),
        rules=SyncRules(),
    )


@pytest.mark.parametrize("service", LISTS.values(), ids=lambda service: service.name)
@given(texts=TEXTS)
def test_what_was_sent_needs_no_change(service: ListService, texts: list[CommandText]) -> None:
    wanted = snapshot_of(texts)

    assert planned(service, wanted=wanted, before=wanted).changes == ()


@pytest.mark.parametrize("service", LISTS.values(), ids=lambda service: service.name)
@given(old=TEXTS, new=TEXTS)
def test_every_difference_of_two_versions_is_a_change(
    service: ListService, old: list[CommandText], new: list[CommandText]
) -> None:
    plan = planned(service, wanted=snapshot_of(new), before=snapshot_of(old))

    versions = [fit(service, snapshot_of(texts)).snapshot.commands for texts in (old, new)]
    assert bool(plan.changes) == (sorted(versions[0]) != sorted(versions[1]))
    assert plan.unwritable == ()


def test_changes_name_the_commands() -> None:
    before = snapshot_of([CommandText("ban", "Bans.", "/ban"), CommandText("kick", "Kicks.", "/k")])
    after = snapshot_of([CommandText("ban", "Bans you.", "/ban"), CommandText("warn", "W.", "/w")])

    edit, add, delete = planned(TELEGRAM, wanted=after, before=before).changes
    assert isinstance(edit, Edit)
    assert isinstance(add, Add)
    assert isinstance(delete, Delete)
    assert (edit.id, edit.after[1]) == ("ban", "Bans you.")
    assert add.after == CommandText("warn", "W.", "")
    assert delete.id == "kick"
