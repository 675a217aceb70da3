"""What users notice between two manifests: exactly what differs, with the matching of a plan."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.plan.userchanges import UserChanges, user_changes
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from tests.support.plans import announcement, command, plan_of
from tests.support.wording import Wording

NAMES = st.sampled_from(["afk", "Afk", "ban", "help", "h", "a" * 40, "a" * 45])
TEXTS = st.sampled_from(["Does it.", "Does it well.", ""])
SYNTAXES = st.sampled_from(["/afk", ".afk", "/afk <a>", "/afk [a]", "/ban <a> <b>", "/h"])
ENTRIES = st.lists(
    st.builds(
        Entry,
        st.builds(CommandText, NAMES, TEXTS, SYNTAXES, TEXTS),
        id=st.sampled_from(["", "", "1", "2"]),
        location=st.just(Location("commands.yaml")),
        formerly=st.lists(NAMES, max_size=2).map(tuple),
    ),
    max_size=7,
)


def between(old: Sequence[Entry], new: Sequence[Entry]) -> UserChanges:
    return user_changes(old=managing(old), new=managing(new))


def managing(entries: Sequence[Entry]) -> Snapshot:
    return Snapshot({Resource.COMMAND: tuple(entries)})


@settings(max_examples=60)
@given(ENTRIES, ENTRIES)
def test_the_new_commands_follow_from_the_changes_and_the_old_ones(
    old: list[Entry], new: list[Entry]
) -> None:
    changes = between(old, new)

    texts = Counter(entry.text for entry in old)
    texts.subtract(changes.gone)
    texts.subtract(command.before for command in changes.changed)
    assert min(texts.values(), default=0) >= 0
    texts.update(changes.new)
    texts.update(command.after for command in changes.changed)
    assert +texts == Counter(entry.text for entry in new)
    for changed in changes.changed:
        fields = {each.field: (each.old, each.new) for each in changed.fields}
        both = zip(changed.before._fields, changed.before, changed.after, strict=True)
        assert fields == {field: (was, now) for field, was, now in both if was != now} != {}


@settings(max_examples=30)
@given(ENTRIES)
def test_a_manifest_has_no_change_to_itself(entries: list[Entry]) -> None:
    assert between(entries, entries[::-1]).count == 0


@settings(max_examples=50)
@given(ENTRIES, ENTRIES)
def test_commands_are_matched_as_for_a_plan(old: list[Entry], new: list[Entry]) -> None:
    old = [Entry(entry.text, id=f"r{n}") for n, entry in enumerate(old)]
    new = [Entry(entry.text, formerly=entry.formerly) for entry in new]

    changes = between(old, new)

    plan = plan_of(new or [announcement("t", "d")], old)
    if new:
        assert Counter(change.action for change in plan.changes) == Counter(
            {"add": len(changes.new), "edit": len(changes.changed), "delete": len(changes.gone)}
        )
        assert [
            (change.before, change.after) for change in plan.changes if change.action == "edit"
        ] == [(changed.before, changed.after) for changed in changes.changed]


def test_a_former_name_and_a_pin_are_renames() -> None:
    old = [command("h"), command("stats", id="7")]
    new = [command("help", formerly=("h",)), command("about", id="7")]

    changes = between(old, new)

    assert [(each.before.name, each.after.name) for each in changes.changed] == [
        ("h", "help"),
        ("stats", "about"),
    ]
    assert all(each.renamed and each.breaking for each in changes.changed)
    assert (changes.gone, changes.new, changes.breaking, changes.notices) == ((), (), 2, ())


def test_an_id_that_was_pinned_in_between_says_nothing() -> None:
    changes = between([command("ban")], [command("ban", "Bans.", id="7")])

    (changed,) = changes.changed
    assert (changed.renamed, changed.breaking, changes.breaking) == (False, False, 0)


def test_another_prefix_is_another_name_for_users() -> None:
    old = [command("ban", syntax="!ban"), command("kick", syntax="kick")]
    new = [command("ban", syntax="/ban"), command("kick", syntax="/kick")]

    ban, kick = between(old, new).changed

    assert (ban.leads, ban.breaking) == (("!", "/"), True)
    assert (kick.leads, kick.breaking) == (None, False)


def test_a_new_required_argument_is_breaking_and_an_optional_one_is_not() -> None:
    old = [command("ban", syntax="/ban <user>"), command("kick", syntax="/kick <user>")]
    new = [command("ban", syntax="/ban <user> <why>"), command("kick", syntax="/kick <user> [why]")]

    ban, kick = between(old, new).changed

    assert [str(argument) for argument in ban.needs] == ["<why>"]
    assert (ban.breaking, kick.breaking) == (True, False)


def test_a_choice_that_is_gone_is_breaking() -> None:
    old = [command("loop", syntax="/loop <on|off>"), command("skip", syntax="/skip <a>")]
    new = [command("loop", syntax="/loop <on>"), command("skip", syntax="/skip <b>")]

    assert [each.accepts_less for each in between(old, new).changed] == [True, False]


def test_a_rename_that_nobody_declared_is_a_warning(wording: Wording) -> None:
    old = [command("h", "Shows commands.", syntax="/h")]
    new = [command("help", "Shows commands.", syntax="/help", line=4)]

    changes = between(old, new)

    (notice,) = changes.notices
    assert notice.location == Location("commands.yaml", 4, 5)
    wording(notice.message, notice.hint)
    assert (changes.breaking, changes.count) == (1, 2)


@pytest.mark.parametrize("managed", [True, False])
def test_commands_that_one_manifest_does_not_manage_are_not_new_or_gone(*, managed: bool) -> None:
    one, other = managing([command("ban")]), Snapshot({Resource.ANNOUNCEMENT: ()})
    old, new = (one, other) if managed else (other, one)

    assert user_changes(old=old, new=new) == UserChanges()
