import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Do
from commandsync.document.plan import LARGEST_PLAN, digest_of, load_plan
from commandsync.errors import FileError, RefusedError
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    OfVersion,
    RecordPlan,
    Target,
    Unknown,
    Unread,
    make_plan,
)
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand, Resource
from commandsync.report import render_plans
from commandsync.services.abilities import DISCORD_ABILITIES
from tests.support import registered
from tests.support.plans import (
    CHANGED,
    SAME,
    command,
    day,
    edits,
    plan_of,
    plans,
    post,
    posted,
    varied_plan,
    whole,
)
from tests.support.registered import choices, menu, option, slash
from tests.support.runs import EVERYTHING, TARGET, wanted


def _saved(plan: RecordPlan) -> str:
    return render_plans([plan], format="json")


def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_saved(varied_plan()))
    return data


def test_records_that_are_not_read_are_compared_with_a_version_or_with_nothing() -> None:
    plan = replace(plan_of([command("a")], []), label="discord")
    of_version = replace(plan, baseline=OfVersion(name="v1.2.0"))
    unread = replace(plan, baseline=Unread())

    known, unknown = (json.loads(_saved(each)) for each in (of_version, unread))

    assert (known["known"], known["compared_with"]) == (True, "v1.2.0")
    assert (unknown["known"], unknown["compared_with"]) == (False, "")
    assert of_version.pending
    assert not unread.pending
    text = render_plans([unread], format="text")
    assert "discord returns its list only with the token: apply reads and compares it first" in text
    assert text.endswith("Plan: 1 command to send.\n")


PING = Entry(ApplicationCommand("ping", "1", '{"name":"ping","type":1}'))
THERE = Target(bot="42", base_url="https://discord.com", abilities=DISCORD_ABILITIES, guild="6")


def _at_discord(target: Target = THERE) -> RecordPlan:
    desired, nothing = (
        Snapshot({Resource.APPLICATION_COMMAND: entries}) for entries in ((PING,), ())
    )
    plan = make_plan(desired=desired, listed=nothing, target=target, rules=EVERYTHING)
    return replace(plan, label="discord (server 6)")


def test_a_saved_plan_is_for_the_server_that_it_was_made_for() -> None:
    plan = _at_discord()

    assert "guild" not in json.loads(_saved(_at_discord(replace(THERE, guild=""))))
    assert json.loads(_saved(plan))["guild"] == "6"
    assert load_plan(_saved(plan), "plan.json") == plan


def test_a_plan_for_which_nothing_was_read_is_not_a_saved_plan() -> None:
    plan = replace(_at_discord(), baseline=OfVersion(name="v1.2.0"))

    with pytest.raises(FileError, match="the listing was not read for it"):
        load_plan(_saved(plan), "plan.json")


@pytest.mark.parametrize(
    ("baseline", "known", "compared_with", "in_words"),
    [
        (AsRead((SAME,)), True, "list", "compared with its list"),
        (OfVersion((SAME,), name="v1.2.0"), True, "v1.2.0", "compared with v1.2.0"),
        (LastSent((CHANGED,), name="abc1234"), True, "abc1234", "compared with abc1234"),
        (Unread(), False, "", "not compared"),
        (Unknown(), False, "", "not compared"),
    ],
)
def test_a_list_names_what_it_is_compared_with(
    baseline: Baseline, compared_with: str, in_words: str, *, known: bool
) -> None:
    plan = whole(plan_of([command("a")], []), baseline)
    document = json.loads(render_plans([plan], format="json"))
    page = json.loads(render_plans([replace(plan_of([]), label="listing.example")], format="json"))

    assert document["listing"] == "top.gg"
    assert (document["known"], document["compared_with"]) == (known, compared_with)
    assert in_words in render_plans([plan], format="text")
    assert (page["listing"], page["known"], page["compared_with"], page["losses"]) == (
        "listing.example",
        True,
        "list",
        [],
    )
    assert "known" not in json.loads(render_plans([plan_of([])], format="json"))


@given(st.one_of(plans(), registered.plans()))
def test_a_saved_plan_reads_back_as_it_was(plan: RecordPlan) -> None:
    text = _saved(plan)
    loaded = load_plan(text, "plan.json")

    assert loaded == plan
    assert _saved(loaded) == text


def _scheduled() -> dict[str, Any]:
    """Return a saved plan with a schedule: an announcement waits, one is due, one ends."""
    plan = make_plan(
        desired=wanted(None, [post("v1", until=2), post("v2", publish=3), post("v3", publish=1)]),
        listed=wanted(None, [posted("v1", id="1")]),
        target=TARGET,
        rules=EVERYTHING,
        now=day(2),
    )
    data: dict[str, Any] = json.loads(_saved(plan))
    return data


def test_a_plan_with_a_schedule_has_its_time_and_every_other_plan_has_none() -> None:
    data = _scheduled()

    assert data["planned_at"] == "2026-12-02T18:00:00Z"
    assert [(entry["name"], entry["phase"], entry["listed"]) for entry in data["scheduled"]] == [
        ("v3", "due", False),
        ("v1", "ended", True),
        ("v2", "waiting", False),
    ]
    assert data["scheduled"][1]["until"] == data["changes"][1]["until"] == "2026-12-02T18:00:00Z"
    assert "until" not in data["changes"][0]
    assert _data().keys() & {"planned_at", "scheduled"} == set()
    assert any("until" in change for change in _data()["changes"]) is False


def _sealed(data: dict[str, Any]) -> str:
    """Return an edited plan as who knows how the digest is made would save it."""
    return json.dumps(data | {"digest": digest_of(data)})


def _put(*steps: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def edit(data: dict[str, Any]) -> None:
        place: Any = data
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = value

    edit.__name__ = f"{steps} = {value!r}"
    return edit


NOT_BOTH = "it has a time without scheduled entries, or they have no time"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("planned_at"), NOT_BOTH),
        (_put("scheduled", value=[]), NOT_BOTH),
        (_put("changes", 1, "until", value="2026-12-01T18:00:00Z"), "that has not ended"),
        (_put("planned_at", value="2026-12-03T18:00:00Z"), "its scheduled does not follow"),
        (_put("planned_at", value="2026-12-02T18:00:00"), "should have timezone info"),
    ],
)
def test_contradicting_times_fail(change: Callable[[dict[str, Any]], None], message: str) -> None:
    data = _scheduled()
    change(data)

    with pytest.raises((FileError, RefusedError)) as caught:
        load_plan(_sealed(data), "plan.json")

    assert message in caught.value.message


def test_a_byte_order_mark_is_forgiven() -> None:
    assert load_plan("\ufeff" + _saved(varied_plan()), "plan.json") == varied_plan()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not valid JSON"),
        ("not json", "it is not valid JSON"),
        ("[]", "it is not a JSON object"),
        ("{}", "it has no digest"),
        ('{"version": 1}', "it has no digest"),
        ('{"version": 1, "results": []}', "holds several plans"),
        ('{"version": 1, "error": {}}', "holds the report of a failure"),
        ('{"version": 1, "verified": true}', "holds the result of an apply"),
        ('{"version": 1, "version": 1}', "duplicate key 'version'"),
        ('{"version": NaN}', "NaN is not a JSON number"),
        ('{"version": ' + "1" * 5000 + "}", "it is not valid JSON"),
        ("[" * 200_000, "it is nested too deeply"),
        pytest.param(" " * (LARGEST_PLAN + 1), "it is too large", id="large"),
        pytest.param(f"[{'0,' * 1_000_001}0]", "more than 1,000,000 values", id="many"),
    ],
)
def test_what_is_no_saved_plan_is_told_as_such(text: str, message: str) -> None:
    with pytest.raises(FileError, match=r"plan\.json") as caught:
        load_plan(text, "plan.json")

    assert message in caught.value.message
    assert caught.value.hint == Do.MAKE_PLAN(then="")


@pytest.mark.parametrize("version", [0, 2, -1, 10**4000])
def test_another_version_is_refused(version: int) -> None:
    with pytest.raises(RefusedError, match="has another version than 1"):
        load_plan(json.dumps({"version": version}), "plan.json")


@pytest.mark.parametrize("version", ["1", True, None, 1.0])
def test_a_version_that_is_not_a_number_is_not_a_plan(version: object) -> None:
    with pytest.raises(FileError, match=r"plan\.json is not a saved plan: it has no version"):
        load_plan(_sealed(_data() | {"version": version}), "plan.json")


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"x": ', "}")])
@pytest.mark.parametrize("depth", [100, 900, 960, 980, 1000, 5000, 100_000])
def test_no_depth_is_more_than_a_damaged_file(left: str, right: str, depth: int) -> None:
    nested = left * depth + "1" + right * depth

    with pytest.raises((FileError, RefusedError), match=r"plan\.json"):
        load_plan('{"version": 1, "digest": "", "x": ' + nested + "}", "plan.json")


@pytest.mark.parametrize("half", ['"\\ud800"', '"\ud800"'])
def test_half_a_character_is_not_a_plan(half: str) -> None:
    text = _sealed(_data() | {"bot": "\ud800"}).replace('"\\ud800"', half)

    with pytest.raises(FileError, match=r"plan\.json is not a saved plan: bot: "):
        load_plan(text, "plan.json")


def test_a_plan_without_its_digest_was_edited() -> None:
    data = _data()
    del data["digest"]

    with pytest.raises(RefusedError, match="its digest does not match"):
        load_plan(json.dumps(data), "plan.json")


@pytest.mark.promise("plan-files", "plan-digest")
@given(st.data())
def test_any_edit_is_told_by_the_digest(data: st.DataObject) -> None:
    plan = data.draw(plans())
    edited = data.draw(edits(json.loads(_saved(plan))))

    with pytest.raises(RefusedError, match=r"plan\.json"):
        load_plan(json.dumps(edited), "plan.json")


KEPT = {"resource": "command", "id": "1", "name": "x"}


def _edit_of_an_announcement(data: dict[str, Any]) -> None:
    old, new = ({"title": title, "description": "Out."} for title in ("v1", "v2"))
    data["changes"][0].update(resource="announcement", before=old, after=new)


@pytest.mark.parametrize(
    "edit",
    [
        _put("unknown", value=1),
        _put("changes", 0, "unknown", value=1),
        _put("changes", 0, "outcome", value="done"),
        _put("bot", value=""),
        _put("bot", value=779),
        _put("base_url", value=""),
        _put("base_url", value="ftp://listing.example"),
        _put("base_url", value="https://listing.example/"),
        _put("base_url", value="https://user:pass@listing.example"),
        _put("scope", value=["announcements", "commands"]),
        _put("scope", value=["commands"]),
        _put("scope", value=["commands", "commands"]),
        _put("scope", value=[]),
        _put("listed", value={"commands": 3}),
        lambda data: data.update(scope=["commands"], listed={"commands": 3}),
        _put("listed", "commands", value=-1),
        _put("limits", "max_deletes", value="130%"),
        _put("limits", "ignore", value=[1]),
        _put("limits", "prune", value="yes"),
        _put("changes", 0, "id", value=""),
        _put("changes", 0, "id", value="."),
        _put("changes", 4, "id", value=".."),
        _put("changes", 4, "id", value="1"),
        _put("changes", 0, "action", value="destroy"),
        _put("changes", 0, "resource", value="announcement"),
        _put("changes", 3, "resource", value="command"),
        _put("changes", 2, "resource", value="announcement"),
        _put("changes", 4, "resource", value="announcement"),
        _edit_of_an_announcement,
        _put("changes", 2, "name", value=" "),
        _put("changes", 2, "after", "category", value=None),
        _put("changes", 0, "location", "line", value=0),
        _put("changes", 0, "location", "line", value=1.0),
        _put("fingerprint", value="sha256:0"),
        _put("kept", value=[KEPT | {"resource": "bot", "text": {}}]),
        _put("kept", value=[KEPT | {"text": {"title": "x", "description": "y"}}]),
    ],
)
def test_what_no_plan_holds_is_no_plan(edit: Callable[[dict[str, Any]], None]) -> None:
    data = _data()
    edit(data)

    with pytest.raises(FileError, match=r"plan\.json is not a saved plan: "):
        load_plan(_sealed(data), "plan.json")


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (_put("fingerprint", value="sha256:" + "0" * 64), "fingerprint"),
        (_put("bot", value="1"), "fingerprint"),
        (_put("base_url", value="https://evil.example"), "fingerprint"),
        (_put("changes", value=[]), "fingerprint"),
        (_put("changes", 0, "id", value="9"), "fingerprint"),
        (_put("changes", 2, "after", "syntax", value="/x"), "fingerprint"),
        (_put("changes", 2, "listed", value=1), "fingerprint"),
        (_put("changes", 0, "fields", value={}), "changes"),
        (_put("changes", 0, "name", value="other"), "changes"),
        (_put("changes", 1, "renamed_from", value=None), "changes"),
        (_put("summary", "delete", value=0), "summary"),
    ],
)
def test_an_edited_plan_is_recognized(edit: Callable[[dict[str, Any]], None], what: str) -> None:
    data = _data()
    edit(data)

    with pytest.raises(RefusedError, match=f"was edited or damaged: its {what} does not"):
        load_plan(_sealed(data), "plan.json")


def test_a_refusal_in_other_words_is_the_same_plan() -> None:
    data = _data()
    data["refused"] = None

    assert load_plan(_sealed(data), "plan.json") == varied_plan()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.data(),
)
def test_no_damage_gives_another_error(value: object, data: st.DataObject) -> None:
    document = _data()
    place: Any = document
    while isinstance(place, dict | list) and place:
        key: Any = data.draw(
            st.sampled_from(list(place) if isinstance(place, dict) else range(len(place)))
        )
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = value
            break
        place = place[key]
    try:
        loaded = load_plan(_sealed(document), "plan.json")
    except (FileError, RefusedError):
        return

    assert loaded.fingerprint == varied_plan().fingerprint


def _registered() -> dict[str, Any]:
    """Return a saved plan of Discord with an edit, an add and a delete."""
    before = slash("play", options=[option("region", choices=choices("eu", "us"), min_length=0)])
    after = slash("play", options=[option("region", choices=choices("eu", "a/b"))])
    wanted = tuple(map(registered.entry, (after, slash("new"))))
    plan = registered.plan_of(wanted, registered.listed(before, menu("Ban")))
    data: dict[str, Any] = json.loads(_saved(replace(plan, label="discord (server 7)")))
    return data


def test_a_plan_of_objects_has_them_as_objects_and_their_parts_by_path() -> None:
    data = _registered()

    assert (data["listing"], data["scope"]) == ("discord (server 7)", ["application commands"])
    edit, add, delete = data["changes"]
    assert edit["resource"] == "application command"
    assert edit["before"]["object"]["options"][0]["choices"][1] == {"name": "us", "value": "us"}
    assert edit["fields"] == {
        "options/region/choices/a~1b": {"old": None, "new": {"name": "a/b", "value": "a/b"}},
        "options/region/choices/us": {"old": {"name": "us", "value": "us"}, "new": None},
        "options/region/min_length": {"old": 0, "new": None},
    }
    assert add["after"] == {
        "name": "new",
        "type": "1",
        "object": {"type": 1, "name": "new", "description": "Does it."},
    }
    assert (delete["before"]["type"], delete["id"]) == ("2", "r1")
    assert load_plan(_sealed(data), "plan.json").label == "discord (server 7)"


_LOST = {"field": "commands", "count": 1, "names": ["say"], "instead": "not shown"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_put("changes", 0, "after", "object", "options", value=[]), "its fingerprint does not"),
        (_put("changes", 0, "after", "type", value="2"), "its fingerprint does not"),
        (
            _put("changes", 0, "after", "object", value="{}"),
            "its fields are not the fields of a record",
        ),
        (
            _put("changes", 0, "after", "name", value={}),
            "its fields are not the fields of a record",
        ),
        (
            _put("changes", 0, "after", "object", value=1),
            "its fields are not the fields of a record",
        ),
        (
            _put("changes", 0, "after", "extra", value=""),
            "its fields are not the fields of a record",
        ),
        (_put("changes", 0, "after", value=[]), "its fields are not the fields of a record"),
        (
            _put("changes", 0, "resource", value="command"),
            "are not the fields of a record of this kind",
        ),
        (_put("losses", value=[_LOST | {"instead": "gone"}]), "'gone' is not the consequence of a"),
        (_put("losses", value=[_LOST | {"count": 2}]), "its losses does not follow"),
    ],
)
def test_an_object_that_was_edited_is_not_applied(
    change: Callable[[dict[str, Any]], None], message: str
) -> None:
    data = _registered()
    change(data)

    with pytest.raises((FileError, RefusedError)) as caught:
        load_plan(_sealed(data), "plan.json")

    assert message in caught.value.message


def test_a_plan_of_two_services_is_none() -> None:
    data = _data()
    data["scope"].append("application commands")
    data["listed"]["application commands"] = 0

    with pytest.raises(FileError, match="its scope belongs to two services"):
        load_plan(_sealed(data), "plan.json")
