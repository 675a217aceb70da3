"""A list on each kind of service: planned, guarded, sent in one request, and read back."""

from __future__ import annotations

import pytest

from tests.support.bots import Instead
from tests.support.destination import (
    SENT,
    Destination,
    destination,
    outcomes,
    result_of,
)
from tests.support.home import Home, checked
from tests.support.terminal import POSIX, Terminal

OTHER_SCOPES = 3  # lists that are read beside Telegram's default one
ALL = "sync: {max_deletes: all}\n"


@pytest.mark.promise("unseen-lists")
def test_a_list_of_which_nothing_is_known_is_not_replaced(unread: Destination) -> None:
    unread.write("ping")

    planned = unread.home.run("plan", "--detailed-exitcode", "--format", "json")
    ran = unread.apply(form="text")

    plan = checked(planned, "plan")
    assert (planned.code, ran.code) == (0, 5)
    assert plan["known"] is False
    assert plan["refused"]["message"] in ran.said
    assert "--unseen" in ran.said
    assert unread.proxy.requests == []


def test_a_list_without_changes_is_sent_only_if_it_cannot_be_read(place: Destination) -> None:
    place.sent("ping", "ban")

    ran = place.apply(*place.known, exits=0)

    result = checked(ran, "result")
    reads = {"telegram": OTHER_SCOPES + 1, "max": 1}.get(place.listing.service, 0)
    assert len(place.proxy.writes) == (0 if place.is_read else 1)
    assert len(place.proxy.requests) == (reads or 1)
    assert (result["changes"], result["known"]) == ([], True)
    assert result["compared_with"] == ("list" if place.is_read else SENT)
    assert result["verified"] is (True if place.is_read else None)


@pytest.mark.promise("whole-lists")
def test_one_change_sends_the_whole_list_once(place: Destination) -> None:
    place.sent("ping", "ban")
    place.write(("ping", "Says pong."), "ban", "kick")

    plan = place.home.run("plan", "--detailed-exitcode", *place.known)
    ran = place.apply(*place.known)

    assert (plan.code, ran.code) == (3, 0)
    assert len(place.proxy.writes) == 1
    assert place.names == ["ping", "ban", "kick"]
    assert place.listing.commands[0]["description"] == "Says pong."
    assert result_of(ran)["summary"] == {
        "add": 1,
        "edit": 1,
        "delete": 0,
        "replace": 0,
        "unchanged": 1,
    }
    assert outcomes(ran) == ({"done": 2} if place.is_read else {"sent": 2})


def test_a_revision_without_the_listing_knows_nothing(unread: Destination) -> None:
    unread.write("ping")
    text = unread.home.read("commands.yaml")
    unread.home.write(text.partition("listings:")[0], SENT)

    unread.apply("--since", SENT, exits=5)

    assert unread.proxy.requests == []


def test_a_loss_is_shown_and_refused_by_a_strict_run(place: Destination) -> None:
    place.write(("ping", "Does it.", "/ping", "Fun"))

    plan = place.home.run("plan")
    place.apply("--strict", "--unseen", exits=4)
    ran = place.apply("--unseen")

    loss = {"field": "category", "count": 1, "names": ["ping"], "instead": "not shown"}
    assert f"{place.listing.service}: the category of 1 command is not shown (ping)" in plan.said
    assert len(place.proxy.writes) == 1
    assert result_of(ran)["losses"] == [loss]


def test_a_loss_that_is_allowed_is_no_warning(place: Destination) -> None:
    place.write(("ping", "Does it.", "/ping", "Fun"), more="    lossy: [category]\n")

    ran = place.apply("--strict", "--unseen", exits=0)

    assert result_of(ran)["warnings"] == []
    assert [loss["field"] for loss in result_of(ran)["losses"]] == ["category"]


@pytest.mark.parametrize("more", ["", ALL])
def test_a_list_of_which_nothing_fits_is_not_sent(place: Destination, more: str) -> None:
    place.sent("ping", "ban")
    place.write("Not a name!", more=more)

    ran = place.apply("--unseen", "--max-deletes", "all", *place.known, form="text", exits=5)

    assert "an empty list" in ran.said
    assert place.proxy.writes == []
    assert place.names == ["ping", "ban"]


@pytest.mark.promise("whole-lists")
def test_an_empty_manifest_clears_a_list_only_where_that_is_allowed(place: Destination) -> None:
    place.sent("ping", "ban")
    place.write()
    refused = place.apply("--unseen", *place.known, form="text")
    writes = place.proxy.writes
    place.write(more=ALL)
    ran = place.apply(*place.known)

    assert (refused.code, writes) == (5, [])
    assert len(place.proxy.writes) == 1
    if place.listing.service == "disq.ink":  # it refuses an empty list
        assert ran.code == 1
        assert place.names == ["ping", "ban"]
    else:
        assert ran.code == 0
        assert place.names == []


@pytest.mark.promise("unseen-lists")
@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
def test_on_a_terminal_no_list_is_cleared_without_a_question(unread: Destination) -> None:
    unread.sent("ping", "ban")
    unread.write(more=ALL)

    with Terminal.running(unread.home, "apply") as terminal:
        shown = terminal.until("Make these changes? [y/N]: ")
        terminal.type("n\n")
        code, _, _ = terminal.ended()

    assert "2 to delete" in shown
    assert code == 1
    assert unread.proxy.requests == []


def test_a_selection_needs_a_list_that_can_be_read(unread: Destination) -> None:
    unread.sent("ping")
    unread.write("ping", "ban")

    ran = unread.apply("--only", "ban", *unread.known, form="text", exits=2)

    assert f"{unread.listing.service} does not return" in ran.err
    assert unread.proxy.requests == []


def test_what_is_ignored_stays_on_a_list_that_is_read(telegram: Destination) -> None:
    telegram.sent("ping", "beta_one", "ban", "kick")
    telegram.write("ping", "ban", "help", more="sync: {ignore: [beta_*]}\n")

    telegram.apply(exits=0)

    assert set(telegram.names) == {"ping", "ban", "help", "beta_one"}


def test_without_a_token_a_list_is_compared_with_what_was_sent(telegram: Destination) -> None:
    telegram.sent("ping")
    telegram.write("ping", "ban", name=SENT)
    telegram.home.forget(telegram.listing.variable)

    plan = telegram.home.run("plan", "--since", SENT, "--format", "json")
    ran = telegram.apply("--since", SENT, form="text", exits=2)

    assert checked(plan, "plan")["compared_with"] == SENT
    assert f"set {telegram.listing.variable}" in ran.err
    assert telegram.proxy.requests == []


def test_without_a_token_apply_is_said_to_read_a_list(telegram: Destination) -> None:
    telegram.write("ping")
    telegram.home.forget(telegram.listing.variable)

    ran = telegram.home.run("plan", "--detailed-exitcode", exits=0)

    assert "with the token" in ran.out
    assert "refused" not in ran.out


SECRET = {"command": "command0", "description": "Shows a secret.", "is_ephemeral": True}


@pytest.mark.promise("foreign-keys")
@pytest.mark.parametrize("formerly", ["", "formerly: [command0]"])
@pytest.mark.parametrize("options", [(), ("--only", "command1"), ("--no-prune",)])
def test_keys_that_are_not_ours_survive(
    telegram: Destination, formerly: str, options: tuple[str, ...]
) -> None:
    other = {"command": "command1", "description": "Says hello.", "later": {"key": [1]}}
    telegram.call("setMyCommands", commands=[SECRET, other])
    name = "renamed" if formerly else "command0"
    telegram.write((name, "Shows a secret."), ("command1", "Says goodbye."))
    if formerly:
        text = telegram.home.read("commands.yaml")
        telegram.home.write(text.replace('- name: "renamed"', f'- name: "renamed"\n    {formerly}'))

    ran = telegram.apply(*options)

    assert (ran.code, result_of(ran)["verified"]) == (0, True)
    kept = SECRET if "--only" in options else {**SECRET, "command": name}
    assert telegram.listing.commands == [kept, {**other, "description": "Says goodbye."}]


@pytest.mark.promise("foreign-keys")
def test_a_service_that_drops_a_key_does_not_show_what_was_sent(telegram: Destination) -> None:
    telegram.call("setMyCommands", commands=[SECRET])
    telegram.write(("command0", "Shows another secret."))
    lost = {"ok": True, "result": [{"command": "command0", "description": "Shows another secret."}]}
    telegram.proxy.rule = lambda request: (
        Instead(200, lost) if telegram.proxy.writes and "getMyCommands" in request.target else None
    )

    ran = telegram.apply()

    assert (ran.code, result_of(ran)["verified"]) == (6, False)


def test_a_rename_keeps_no_id_where_there_is_none(telegram: Destination) -> None:
    telegram.sent("command0")
    telegram.write("command1")
    text = telegram.home.read("commands.yaml")
    telegram.home.write(text.replace('"command1"', '"command1"\n    formerly: [command0]', 1))

    ran = telegram.home.run("plan")

    assert "» command0 → command1" in ran.out
    assert "the id and the uses" not in ran.out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{url: http://127.0.0.1", "{url: http://127.0.0.2", "has another host"),
        ("      fields: {name: name, description: description}\n", "", "replace.read needs fields"),
        ("commands: 32", "names: 20", "the limit names must be characters"),
        ("name: 64", "name: a-z", "the limit name must be a number"),
        ("commands: 32", "names: z-a", "limit must be"),
    ],
)
def test_a_declared_read_is_checked(home: Home, old: str, new: str, message: str) -> None:
    with destination(home, "max") as place:
        place.write("command0")
        text = home.read("commands.yaml")
        assert old in text
        home.write(text.replace(old, new))

        ran = home.run("validate", exits=4)

        assert message in ran.said
