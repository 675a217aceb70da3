import ast
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.plan.changes import Add, Change, Delete
from commandsync.plan.comparison import (
    finished_renames,
    likely_renames,
    lost_pins,
    lost_renames,
    rename_hints,
)
from commandsync.plan.matching import near_texts, pinned_by_both
from commandsync.plan.plan import make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, ApplicationCommand, CommandText, Resource
from tests.support import registered
from tests.support.runs import EVERYTHING, TARGET

PLACE = Location("commands.yaml", 3, 5)
WORDS = st.text(min_size=1, max_size=12)


def add(name: str, description: str = "Shows the menu of it.", syntax: str = "") -> Add:
    return Add(
        resource=Resource.COMMAND,
        after=CommandText(name, description, syntax or f"/{name} [command]"),
        location=PLACE,
    )


def delete(name: str, description: str = "Shows the menu of it.", syntax: str = "") -> Delete:
    return Delete(
        resource=Resource.COMMAND,
        id="1",
        before=CommandText(name, description, syntax or f"/{name} [command]"),
    )


def test_an_add_and_a_delete_that_say_the_same_print_the_line_to_write() -> None:
    (hint,) = rename_hints([add("help"), delete("h")])

    assert hint.location == PLACE
    assert "'help' looks like 'h' under a new name" in hint.message
    assert "the old one is deleted with its uses" in hint.message
    assert str(hint.hint) == 'if it is a rename, write below its name:  formerly: ["h"]'


def test_the_uses_that_go_with_an_old_name_are_named() -> None:
    (hint,) = rename_hints([add("help"), replace(delete("h"), uses=1840)])

    assert hint.renaming
    assert list(map(str, [hint.message, *hint.renaming])) == [
        (
            "'help' looks like 'h' under a new name: as planned, the old one is deleted with its "
            "1,840 uses"
        ),
        "help",
        "h",
        "1,840 uses",
        (
            "{count} added commands look like deleted ones under new names: as planned, the old "
            "ones are deleted with their uses"
        ),
        ('if they are renames, write the old name below each new one, such as  formerly: ["h"]'),
    ]


def test_a_name_is_quoted_so_that_it_can_be_pasted() -> None:
    (hint,) = rename_hints([add("help"), delete('säy "hi"\n', syntax="/help [command]")])

    assert str(hint.hint).endswith(r'formerly: ["säy \"hi\"\n"]')


def test_a_name_that_others_keep_cannot_be_a_former_one_so_the_pin_is_printed() -> None:
    away, afk = add("away"), delete("afk")

    (hint,) = rename_hints(
        [away, afk], wanted=[Entry(away.after, location=PLACE), Entry(afk.before)]
    )

    assert str(hint.hint).endswith('name:  id: "1"')
    assert hint.renaming is None  # a table could not say that


def test_a_former_name_is_printed_with_those_that_stand_there_already() -> None:
    away = add("away")
    wanted = [Entry(away.after, location=PLACE, formerly=("akf", "gone"))]

    (hint,) = rename_hints([away, delete("afk")], wanted=wanted)

    assert str(hint.hint).endswith('its formerly:  formerly: ["akf", "gone", "afk"]')
    assert hint.renaming is None  # a table could not say that


def test_texts_that_differ_give_no_hint() -> None:
    assert rename_hints([add("help"), delete("ban", "Throws somebody out for ever.")]) == []


def test_each_is_named_once_with_the_likest() -> None:
    changes: list[Change] = [
        add("a", "one two three four five six"),
        add("b", "one two three four five six seven"),
        delete("x", "one two three four five six seven"),
        delete("y", "one two three four five six"),
        delete("z", "one two three four five six"),
    ]

    found = [hint.message for hint in rename_hints(changes)]

    assert len(found) == 2
    assert "'a' looks like 'y'" in found[0]
    assert "'b' looks like 'x'" in found[1]


@given(old=WORDS, new=WORDS, description=WORDS, syntax=WORDS)
def test_a_new_name_alone_is_found(old: str, new: str, description: str, syntax: str) -> None:
    gone, come = delete(old, description, syntax), add(new, description, syntax)

    assert likely_renames([come, gone]) == [(come, gone)]


@given(old=WORDS, new=WORDS, description=WORDS, before=st.text("/!.$ "), after=st.text("<>[]. "))
def test_so_is_one_whose_syntax_says_the_new_name(
    old: str, new: str, description: str, before: str, after: str
) -> None:
    assume(old not in before and new not in before)  # else which of both is the name is a guess
    gone = delete(old, description, f"{before}{old}{after}")
    come = add(new, description, f"{before}{new}{after}")

    assert likely_renames([come, gone]) == [(come, gone)]


@pytest.mark.parametrize(
    ("name", "syntax"), [("b", "/b [channel]"), ("a", "b [channel]"), ("help", "help me")]
)
def test_a_name_is_left_out_of_the_syntax_once(name: str, syntax: str) -> None:
    came, gone = add(name, "", syntax), delete("xx", "", syntax.replace(name, "", 1))

    assert likely_renames([came, gone]) == [(came, gone)]


def test_another_letter_of_the_syntax_is_not_the_name() -> None:
    came, gone = add("n", "", "/n [channel]"), delete("a", "", "/a [channel]")

    assert likely_renames([came, gone]) == [(came, gone)]


@given(same=WORDS, old=WORDS, new=WORDS)
def test_only_the_beginnings_of_long_texts_are_compared(same: str, old: str, new: str) -> None:
    gone, come = (
        side("name", (same * 2_000)[:2_000] + rest * 2_000, same)
        for side, rest in ((delete, old), (add, new))
    )

    assert likely_renames([come, gone]) == [(come, gone)]


def test_announcements_have_no_former_names() -> None:
    listed = Snapshot({Resource.ANNOUNCEMENT: (Entry(AnnouncementText("a", "b c d"), "1"),)})
    desired = Snapshot({Resource.ANNOUNCEMENT: (Entry(AnnouncementText("z", "b c d")),)})

    plan = make_plan(
        desired=desired, listed=listed, target=TARGET, rules=SyncRules(announcements="mirror")
    )

    assert [change.action for change in plan.changes] == ["add", "delete"]
    assert plan.notices == ()


def test_another_listing_altogether_is_not_compared() -> None:
    assert rename_hints([*[add("a")] * 101, *[delete("b")] * 100]) == []


def entry(name: str, *formerly: str) -> Entry:
    return Entry(CommandText(name, "d", "s"), id=name, location=PLACE, formerly=formerly)


def test_a_declared_rename_that_finds_nothing_is_told_while_something_is_deleted() -> None:
    wanted = [entry("ping"), entry("latency", "C7", "c_7")]

    (notice,) = lost_renames(wanted, {0: entry("ping")}, [entry("c7")])

    assert notice.location == PLACE
    assert notice.message == (
        "'latency' was formerly 'C7', 'c_7', but no such command is listed: it is added, with no "
        "uses"
    )
    assert (
        str(notice.hint)
        == "check the spelling of formerly against commandsync pull, upper and lower case too"
    )


def test_a_former_name_that_is_deleted_all_the_same_is_told() -> None:
    wanted = [entry("latency", "c6", "c7")]

    (notice,) = lost_renames(wanted, {0: entry("c6")}, [entry("c7")])

    assert notice.location == PLACE
    assert (
        notice.message == "'c7' is deleted with its uses, though it is a former name of 'latency'"
    )
    assert str(notice.hint) == (
        "only one listed command can be renamed; pin its id to choose: commandsync pull --pin "
        "shows the ids"
    )


def test_a_former_name_long_gone_is_no_matter_while_nothing_is_deleted() -> None:
    assert lost_renames([entry("latency", "c7")], {}, []) == []


def test_commands_with_one_description_and_different_syntaxes_are_different_commands() -> None:
    came = add("play", "Plays music.", "/play <song> [--loop] [--shuffle]")
    gone = delete("stop", "Plays music.", "/stop now, or after so many seconds")

    assert likely_renames([came, gone]) == []


@pytest.mark.parametrize(("added", "named"), [(100, 100), (101, 0)])
def test_ten_thousand_comparisons_are_made_at_most(added: int, named: int) -> None:
    came = [add(f"new{n}", f"Does number {n}.", f"/{n}") for n in range(added)]
    gone = [delete(f"old{n}", f"Does number {n}.", f"/{n}") for n in range(100)]

    assert len(likely_renames([*came, *gone])) == named


def test_four_of_five_words_in_common_are_enough() -> None:
    came, gone = add("a", "one two three", "/x four"), delete("b", "one two three", "/x five")

    assert likely_renames([came, gone]) == [(came, gone)]


def test_texts_without_a_field_for_their_use_are_compared_by_their_other_fields() -> None:
    new, old = AnnouncementText("v2", "Slash commands."), AnnouncementText("v1", "Slash commands.")

    assert near_texts([new], [old], usage="") == [(0, 0, 1.0)]


def test_only_a_delete_ends_a_record() -> None:
    assert not add("help").ends_record


TEXT = CommandText("play", "Plays.", "/play")
BACKUP_PLACE = Location("my backup.yaml", 9, 5)


def told(listed: Entry | None, *, uses: int | None = 1840, path: str = BACKUP_PLACE.path) -> str:
    place = Location(path, 9, 5)
    (notice,) = lost_pins([(Entry(TEXT, id="old", location=place, uses=uses), listed)])
    assert notice.location == place
    assert notice.runs == str(notice.hint).startswith("client.set_uses(")
    return f"{notice.message} | {notice.hint}"


def test_what_is_added_again_has_lost_its_uses_for_now() -> None:
    assert list(map(str, [told(None), told(None, uses=0), told(None, uses=None)])) == [
        (
            "'play' is no longer listed, and added with a new id and without 1,840 uses | after "
            "the adds, apply prints the calls of the library that set these uses again"
        ),
        "'play' is no longer listed, and added with a new id | ",
        (
            "'play' is pinned to the id 'old', which is not listed: it is added with a new id | "
            "commandsync pull --pin shows the ids"
        ),
    ]


def test_several_that_are_added_again_are_counted() -> None:
    entries = [Entry(TEXT, id=str(n), location=BACKUP_PLACE, uses=n) for n in range(1000)]
    here = Entry(TEXT, id="new", uses=1)

    first, last = lost_pins([(entries[5], here), *((entry, None) for entry in entries)])

    assert first.runs
    assert (
        last.message
        == "1,000 entries are no longer listed, and added with a new id and without 499,500 uses"
    )


@pytest.mark.parametrize("uses", [None, 0, 3, 1839])
def test_what_has_a_new_id_gets_its_uses_by_a_command(uses: int | None) -> None:
    left = f"{uses or 0:,} of its 1,840 uses"

    assert told(Entry(TEXT, id="new", uses=uses)) == (
        f"'play' has the new id 'new', and {left} | client.set_uses(\"new\", 1840)"
    )


def test_uses_that_have_come_back_need_no_command() -> None:
    by_text = told(Entry(TEXT, id="new", uses=1840))

    assert told(Entry(TEXT, id="new", uses=1), uses=None) == by_text
    assert told(Entry(TEXT, id="", uses=1)) == by_text
    assert str(by_text) == (
        "'play' is pinned to the id 'old', which is not listed; it is matched by its text "
        "instead | commandsync pull --pin shows the ids"
    )


@pytest.mark.parametrize("identifier", ["new", "; rm -rf ~", '"quoted"\\', "two\nlines"])
def test_the_call_that_sets_uses_is_python_whatever_the_id_is(identifier: str) -> None:
    _, _, call = told(Entry(TEXT, id=identifier)).partition(" | ")

    arguments = ast.literal_eval(call.removeprefix("client.set_uses"))
    assert arguments == (identifier, 1840)


def test_a_pin_that_another_manifest_does_not_have_is_left_out() -> None:
    wanted = [Entry(TEXT, id=name) for name in ("both", "", "here", "new", "newer")]
    others = [Entry(TEXT, id=name) for name in ("both", "there")]

    kept = pinned_by_both(wanted, others)

    assert [entry.id for entry in kept] == ["both", "", "", "", ""]


def test_a_plan_tells_which_record_has_the_text_of_a_lost_pin() -> None:
    wanted = Entry(TEXT, id="old", location=BACKUP_PLACE, uses=9)
    listed = Entry(TEXT, id="new", uses=2)

    plan = make_plan(
        desired=Snapshot({Resource.COMMAND: (wanted,)}),
        listed=Snapshot({Resource.COMMAND: (listed,)}),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert plan.notices == tuple(lost_pins([(wanted, listed)]))


def renamed(
    *, new: ApplicationCommand, old: ApplicationCommand, pin: str = "", former: str = ""
) -> list[str]:
    """Return the notices of a plan that adds one command and deletes another."""
    wanted = registered.entry(new, pin, *([former] if former else []))
    plan = registered.plan_of((wanted,), registered.listed(old))
    return [notice.message for notice in plan.notices]


def test_a_command_with_the_same_object_under_a_new_name_is_a_likely_rename() -> None:
    options = [registered.option("song", required=True)]
    old = registered.slash("play", "Plays a song.", options=options)
    new = registered.slash("music", "Plays a song.", options=options)
    (message,) = renamed(new=new, old=old)

    assert "'music' looks like 'play' under a new name" in message
    assert "is deleted with its id and permissions" in message
    assert renamed(new=new, old=registered.slash("play", "Mutes everybody.")) == []


def test_menus_have_no_texts_that_could_be_alike() -> None:
    assert renamed(new=registered.menu("Ban"), old=registered.menu("Kick")) == []
    assert renamed(new=registered.menu("Ban"), old=registered.menu("Kick", 3)) == []


def test_a_former_name_of_another_type_is_not_listed() -> None:
    (message,) = renamed(new=registered.slash("b"), old=registered.menu("Ban"), former="Ban")

    assert message == (
        "'b' was formerly 'Ban', but no such command is listed: it is added, with a new id"
    )


def test_a_pin_to_a_record_of_another_type_says_so() -> None:
    (message,) = renamed(new=registered.slash("b"), old=registered.menu("Ban"), pin="r0")

    assert message == (
        "'b' is pinned to the id 'r0', which is not listed for its type: it is added with a new id"
    )
    two = registered.listed(registered.menu("Ban"), registered.slash("b", "Before."))
    notices = registered.plan_of((registered.entry(registered.slash("b"), "r0"),), two).notices
    assert "it is matched by its name instead" in notices[0].message


def test_a_former_name_that_only_another_type_has_is_finished() -> None:
    wanted = [registered.entry(registered.slash("b"), "", "Ban")]
    here = registered.listed(registered.menu("Ban"), registered.slash("b"))

    assert finished_renames(wanted, {0: here[1]}, here) == [0]
    assert finished_renames(wanted, {0: here[1]}, [*here, Entry(registered.slash("Ban"))]) == []


def test_an_entry_whose_id_is_that_of_a_command_that_is_left_alone_says_so() -> None:
    old = registered.slash("old")
    wanted = registered.entry(registered.slash("new"), "r0")
    plan = registered.plan_of((wanted,), registered.listed(old), untouched={"r0"})

    (notice,) = plan.notices
    assert plan.changes == ()
    assert notice.message == "'new' is listed as 'old', which is left alone: it stays as it is"
    assert notice.hint == "remove the id from the entry, or the entry"
