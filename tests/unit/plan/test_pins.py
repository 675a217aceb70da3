import shlex

import pytest

from commandsync.diagnostics import Location
from commandsync.plan.pins import lost_pins, pinned_by_both
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from tests.support.runs import EVERYTHING, TARGET

TEXT = CommandText("play", "Plays.", "/play")
PLACE = Location("my backup.yaml", 9, 5)
LISTED = "commandsync pull --pin shows the ids"


def told(listed: Entry | None, *, uses: int | None = 1840, path: str = PLACE.path) -> str:
    place = Location(path, 9, 5)
    (notice,) = lost_pins([(Entry(TEXT, id="old", location=place, uses=uses), listed)])
    assert notice.location == place
    assert notice.runs == str(notice.hint).startswith("commandsync commands set-uses ")
    return f"{notice.message} | {notice.hint}"


def test_what_is_added_again_has_lost_its_uses_for_now() -> None:
    added = "no longer listed, and added with a new id"
    hint = "after the adds, apply prints the commands that set these uses again"

    assert told(None) == f"'play' is {added} and without 1,840 uses | {hint}"
    assert told(None, uses=0) == f"'play' is {added} | "
    lost = "'play' is pinned to the id 'old', which is not listed"
    assert told(None, uses=None) == f"{lost}: it is added with a new id | {LISTED}"


def test_several_that_are_added_again_are_counted() -> None:
    entries = [Entry(TEXT, id=str(n), location=PLACE, uses=n) for n in range(1000)]
    here = Entry(TEXT, id="new", uses=1)

    first, last = lost_pins([(entries[5], here), *((entry, None) for entry in entries)])

    assert first.runs
    assert last.message == (
        "1,000 entries are no longer listed, and added with a new id and without 499,500 uses"
    )


@pytest.mark.parametrize(("uses", "left"), [(None, "0"), (0, "0"), (3, "3"), (1839, "1,839")])
def test_what_has_a_new_id_gets_its_uses_by_a_command(uses: int | None, left: str) -> None:
    assert told(Entry(TEXT, id="new", uses=uses)) == (
        f"'play' has the new id 'new', and {left} of its 1,840 uses | "
        "commandsync commands set-uses -f 'my backup.yaml' new 1840"
    )


def test_without_a_place_the_command_is_for_the_default_manifest() -> None:
    (notice,) = lost_pins([(Entry(TEXT, id="old", uses=9), Entry(TEXT, id="new"))])

    assert notice.hint == "commandsync commands set-uses new 9"


def test_uses_that_have_come_back_need_no_command() -> None:
    lost = (
        "'play' is pinned to the id 'old', which is not listed; it is matched by its text instead"
    )

    assert told(Entry(TEXT, id="new", uses=1840)) == f"{lost} | {LISTED}"
    assert told(Entry(TEXT, id="new", uses=1), uses=None) == f"{lost} | {LISTED}"
    assert told(Entry(TEXT, id="", uses=1)) == f"{lost} | {LISTED}"


@pytest.mark.parametrize(
    ("path", "identifier", "words"),
    [
        ("commands.yaml", "new", ["new"]),
        ("-", "new", ["new"]),
        ("a.yaml", "; rm -rf ~", ["-f", "a.yaml", "; rm -rf ~"]),
        ("a.yaml", "-x", ["-f", "a.yaml", "--", "-x"]),
    ],
)
def test_the_command_survives_a_shell(path: str, identifier: str, words: list[str]) -> None:
    _, _, command = told(Entry(TEXT, id=identifier), path=path).partition(" | ")

    assert shlex.split(command) == ["commandsync", "commands", "set-uses", *words, "1840"]


def test_a_pin_that_another_manifest_does_not_have_is_left_out_and_counted() -> None:
    wanted = [Entry(TEXT, id=name) for name in ("both", "", "here", "new", "newer")]
    others = [Entry(TEXT, id=name) for name in ("both", "there")]

    kept, lost = pinned_by_both(wanted, others)

    assert [entry.id for entry in kept] == ["both", "", "", "", ""]
    assert lost == 3


def test_a_plan_tells_which_record_has_the_text_of_a_lost_pin() -> None:
    wanted = Entry(TEXT, id="old", location=PLACE, uses=9)
    listed = Entry(TEXT, id="new", uses=2)

    plan = make_plan(
        desired=Snapshot({Resource.COMMAND: (wanted,)}),
        listed=Snapshot({Resource.COMMAND: (listed,)}),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert plan.notices == tuple(lost_pins([(wanted, listed)]))
