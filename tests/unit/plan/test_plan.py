"""A plan makes the listing match; a whole list is sent when that is necessary and allowed."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Do, Location, Notice
from commandsync.plan.changes import Add, Delete, Edit, FieldChange, Replace
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    OfVersion,
    RecordPlan,
    Unknown,
    Unread,
    expected_listing,
    make_plan,
)
from commandsync.plan.rules import DeleteLimit, SyncRules, parse_delete_limit
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource, Text
from tests.support.plans import CHANGED, SAME, whole
from tests.support.runs import EVERYTHING, TARGET, announcement, command, wanted

APPEND = SyncRules(max_deletes=DeleteLimit())

NAMES = st.sampled_from(["afk", "Afk", "ban", "help", "off", "247"])
WORDS = st.sampled_from(["Does it.", "Does it well.", "Nothing.", "x"])
COMMANDS = st.lists(st.builds(command, NAMES, WORDS, WORDS), max_size=10)
POSTS = st.lists(st.builds(announcement, NAMES, WORDS), max_size=8)
SCRIPT = """
from tests.support.runs import command, announcement, wanted, TARGET, EVERYTHING
from tests.unit.plan.test_plan import listed, plan_of
have = [command(n, d, s) for n in ("a", "b", "c") for d in ("x y", "y z") for s in ("/1", "/2")]
want = [command(n, d, s) for n in ("b", "C", "d") for d in ("x z", "y z") for s in ("/1", "/3")]
posts = [announcement(t) for t in "abcab"]
plan = plan_of(wanted(want, posts[1:]), listed(have, posts[:-1]))
print(plan.fingerprint, plan.changes, plan.notices)
"""


def listed(commands: list[Text], announcements: list[Text] | None = None) -> Snapshot:
    return Snapshot(
        {
            resource: tuple(Entry(one, id=f"{resource[0]}{n}") for n, one in enumerate(some))
            for resource, some in (
                (Resource.COMMAND, commands),
                (Resource.ANNOUNCEMENT, announcements or []),
            )
        }
    )


def plan_of(desired: Snapshot, here: Snapshot, rules: SyncRules = EVERYTHING) -> RecordPlan:
    return make_plan(desired=desired, listed=here, target=TARGET, rules=rules)


def turned(side: Snapshot) -> Snapshot:
    return Snapshot(dict(reversed(list(side.collections.items()))))


@given(want=COMMANDS, posts=POSTS)
def test_the_size_of_a_plan_of_an_unread_listing_is_that_of_the_manifest(
    want: list[Text], posts: list[Text]
) -> None:
    assert plan_of(wanted(want, posts), listed([])).size == len(want) + len(posts)


@given(want=COMMANDS, posts=POSTS, have=COMMANDS, old=POSTS)
def test_appending_takes_nothing_away_and_posts_no_title_twice(
    want: list[Text], posts: list[Text], have: list[Text], old: list[Text]
) -> None:
    desired, here = wanted(want, posts), listed(have, old)

    plan = plan_of(desired, here, APPEND)

    about = [change for change in plan.changes if change.resource is Resource.ANNOUNCEMENT]
    assert all(change.action == "add" for change in about)
    titles, there = (Counter(one[0].casefold() for one in some) for some in (posts, old))
    assert Counter(change.name.casefold() for change in about) == titles - there


@given(want=COMMANDS, posts=POSTS, have=COMMANDS, old=POSTS)
def test_equal_sides_give_equal_plans_whatever_the_order_of_the_collections(
    want: list[Text], posts: list[Text], have: list[Text], old: list[Text]
) -> None:
    desired, here = wanted(want, posts), listed(have, old)

    one, other = plan_of(desired, here), plan_of(turned(desired), turned(here))

    assert one == other
    assert one.fingerprint == other.fingerprint


def test_a_plan_does_not_depend_on_the_seed_of_hashes() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            cwd=Path(__file__).parents[3],
        ).stdout
        for seed in ("0", "1", "77")
    }

    assert len(said) == 1


def test_changes_stand_as_the_manifest_says_them_and_deletes_last_as_listed() -> None:
    here = listed([command(name, name[:1]) for name in ("z", "old", "b", "a", "y")])

    plan = plan_of(wanted([command(name, "a") for name in ("new", "b", "newer", "a")]), here)

    assert [(one.action, one.name) for one in plan.changes] == [
        ("add", "new"),
        ("edit", "b"),
        ("add", "newer"),
        ("delete", "z"),
        ("delete", "old"),
        ("delete", "y"),
    ]
    assert [plan.count(action) for action in ("add", "edit", "delete", "replace")] == [2, 1, 3, 0]
    assert plan.unchanged == 1


@pytest.mark.promise("shown-changes")
def test_every_change_says_what_it_does_and_where_the_manifest_wants_it() -> None:
    here = listed([command("b", "Old."), command("z")], [announcement("v1", "Then.")])
    at = {name: Location("commands.yaml", line) for line, name in enumerate(["a", "b", "v1"], 2)}
    desired = wanted(
        [Entry(command("a"), location=at["a"]), Entry(command("b", "New."), location=at["b"])],
        [Entry(announcement("v1", "Now."), location=at["v1"])],
    )

    plan = plan_of(desired, here)

    assert plan.changes == (
        Add(resource=Resource.COMMAND, after=command("a"), location=at["a"]),
        Edit(
            resource=Resource.COMMAND,
            id="c0",
            before=command("b", "Old."),
            after=command("b", "New."),
            fields=(FieldChange("description", "Old.", "New."),),
            location=at["b"],
        ),
        Replace(
            resource=Resource.ANNOUNCEMENT,
            id="a0",
            before=announcement("v1", "Then."),
            after=announcement("v1", "Now."),
            fields=(FieldChange("description", "Then.", "Now."),),
            location=at["v1"],
        ),
        Delete(resource=Resource.COMMAND, id="c1", before=command("z")),
    )


def test_a_collection_that_the_manifest_leaves_out_is_not_touched() -> None:
    plan = plan_of(wanted(commands=[]), listed([command("a")], [announcement("v1")]))

    assert plan.scope == (Resource.COMMAND,)
    assert [one.resource for one in plan.changes] == [Resource.COMMAND]
    assert plan.sizes == {Resource.COMMAND: 1}


def test_ignored_names_are_not_touched_and_not_counted_as_too_much() -> None:
    here = listed([command("beta-x"), command("b")])

    plan = plan_of(wanted([command("b")]), here, SyncRules(ignore=("beta-*",)))

    assert plan.changes == ()
    assert plan.unmanaged == ()
    assert plan.sizes[Resource.COMMAND] == 1


@pytest.mark.parametrize("identifier", ["", ".", ".."])
def test_a_record_without_a_usable_id_is_never_written_to(identifier: str) -> None:
    old = tuple(Entry(command(name, "Old."), id=identifier) for name in "az")

    plan = plan_of(wanted([command("a", "New."), command("b")]), Snapshot({Resource.COMMAND: old}))

    assert [(change.action, change.name) for change in plan.changes] == [("add", "b")]
    assert plan.unwritable == tuple((Resource.COMMAND, entry) for entry in old)
    for notice, entry in zip(plan.notices, old, strict=True):
        assert f"the listed command {entry.name!r} has no usable id" in notice.message
        assert notice.hint == "edit or remove it on the service's page"


def test_an_appended_announcement_is_not_posted_beside_one_without_an_id() -> None:
    here = Snapshot({Resource.ANNOUNCEMENT: (Entry(announcement("v1", "Old.")),)})

    plan = plan_of(wanted(None, [announcement("v1", "New.")]), here, SyncRules())

    assert plan.changes == ()
    assert plan.unwritable == ()
    assert [f"{notice.message} | {notice.hint}" for notice in plan.notices] == [
        (
            "an announcement titled 'v1' is listed with another text and is not posted | write "
            "it as it is listed, or give it a new title; announcements: mirror replaces it"
        ),
    ]


def test_a_pin_that_is_not_listed_is_told() -> None:
    place = Location("commands.yaml", 2)

    plan = plan_of(wanted([Entry(command("a"), id="gone", location=place)]), listed([command("a")]))

    assert plan.changes == ()
    assert plan.notices[0].location == place
    assert [f"{notice.message} | {notice.hint}" for notice in plan.notices] == [
        (
            "'a' is pinned to the id 'gone', which is not listed; it is matched by its text "
            "instead | commandsync pull --pin shows the ids"
        ),
    ]


def test_the_rename_of_one_of_several_is_hinted_at_with_its_pin() -> None:
    here = listed([command("afk", "Shows the menu."), command("afk", "Leaves.")])
    renamed = command("away", "Shows the menu.")

    plan = plan_of(wanted([renamed, command("afk", "Leaves.")]), here)
    as_hinted = plan_of(wanted([Entry(renamed, id="c0"), command("afk", "Leaves.")]), here)

    assert str(plan.notices[0].hint).endswith('id: "c0"')
    assert [(one.action, one.name) for one in as_hinted.changes] == [("edit", "away")]


def test_notices_of_the_manifest_are_carried_along() -> None:
    notice = Notice("a warning")

    plan = make_plan(
        desired=Snapshot(),
        listed=Snapshot(),
        target=TARGET,
        rules=SyncRules(),
        manifest=["commands.yaml"],
        notices=[notice],
    )

    assert plan.manifest == ("commands.yaml",)
    assert plan.notices == (notice,)


def test_an_add_carries_how_many_equals_stay() -> None:
    (add,) = plan_of(wanted([command("a")] * 3), listed([command("a")] * 2)).changes

    assert isinstance(add, Add)
    assert add.same_text == 2


def test_an_add_carries_how_many_others_of_its_name_stay() -> None:
    here = listed([command("twin", "the first")])

    (add,) = plan_of(
        wanted([command("twin", "the first"), command("Twin", "The first")]), here
    ).changes

    assert isinstance(add, Add)
    assert (add.name, add.same_text, add.same_name) == ("Twin", 0, 1)


def test_a_replace_carries_how_many_equals_and_others_of_its_title_stay() -> None:
    now, made_of_it = announcement("v1", "It is out."), announcement("v1", "it is out.")
    here = listed([], [now, made_of_it, made_of_it, announcement("v1", "Then.")])

    (replace,) = plan_of(wanted(None, [now, made_of_it, made_of_it, now]), here).changes

    assert isinstance(replace, Replace)
    assert (replace.same_text, replace.same_name) == (1, 2)


def test_the_fingerprint_covers_the_target_and_the_changes_and_nothing_else() -> None:
    desired = wanted([Entry(command("a", "New."), location=Location("a.yaml", 3))], [])
    here = listed([command("a"), command("b")])
    elsewhere = wanted([Entry(command("a", "New."), location=Location("b.yaml", 9))])

    one = plan_of(desired, here)
    moved = make_plan(
        desired=elsewhere, listed=here, target=TARGET, rules=EVERYTHING, manifest=["b.yaml"]
    )
    other = plan_of(wanted([command("a", "Newer.")]), here)

    assert one.fingerprint.startswith("sha256:")
    assert one.fingerprint == moved.fingerprint
    assert one.fingerprint != other.fingerprint


def test_the_fingerprint_covers_the_server_of_registered_commands() -> None:
    everywhere = plan_of(wanted([command("a")]), listed([]))
    there = replace(everywhere, target=replace(everywhere.target, guild="6", name="Lantern"))
    elsewhere = replace(there, target=replace(there.target, guild="7"))
    renamed = replace(there, target=replace(there.target, name="Lamp"))

    plans = (everywhere, there, elsewhere)
    assert len({plan.fingerprint for plan in plans}) == len(plans)
    assert renamed.fingerprint == there.fingerprint


def test_every_kind_of_change_has_its_own_fingerprint() -> None:
    plans = [
        plan_of(wanted([command("a")]), listed([])),
        plan_of(wanted([]), listed([command("a")])),
        plan_of(wanted([command("a")]), listed([command("a", "Old.")])),
        plan_of(wanted(None, [announcement("a")]), listed([], [announcement("a", "Old.")])),
        plan_of(wanted([]), listed([])),
    ]

    assert len({plan.fingerprint for plan in plans}) == len(plans)


def test_a_fingerprint_is_the_same_for_ever() -> None:
    here = Snapshot(
        {
            Resource.COMMAND: (Entry(command("a"), id="1"), Entry(command("b"), id="2")),
            Resource.ANNOUNCEMENT: (Entry(announcement("v1", "Old."), id="3"),),
        }
    )
    plan = plan_of(wanted([command("a", "New."), command("c")], [announcement("v1", "New.")]), here)

    assert [change.action for change in plan.changes] == ["edit", "add", "replace", "delete"]
    assert (
        plan.fingerprint
        == "sha256:7999b3e4b5f83af0c78c838e5fa8b01d5ce79e29b9f8e8e1f4d0b97a258e168c"
    )


def test_what_is_told_of_a_record_says_what_to_do() -> None:
    place = Location("commands.yaml", 2)
    here = Snapshot(
        {
            Resource.COMMAND: (Entry(command("a")),),
            Resource.ANNOUNCEMENT: (Entry(announcement("v1", "Old."), id="3"),),
        }
    )
    desired = Snapshot(
        {
            Resource.COMMAND: (Entry(command("b"), id="9", location=place),),
            Resource.ANNOUNCEMENT: (Entry(announcement("v1", "New."), location=place),),
        }
    )

    notices = plan_of(desired, here, SyncRules(max_deletes=DeleteLimit())).notices

    assert [notice.location for notice in notices] == [place, None, place]
    assert [f"{notice.message} | {notice.hint}" for notice in notices] == [
        (
            "'b' is pinned to the id '9', which is not listed: it is added with a new id | "
            "commandsync pull --pin shows the ids"
        ),
        (
            "the listed command 'a' has no usable id: it cannot be changed or deleted | edit or "
            "remove it on the service's page"
        ),
        (
            "an announcement titled 'v1' is listed with another text and is not posted | write "
            "it as it is listed, or give it a new title; announcements: mirror replaces it"
        ),
    ]


PLACE = Location("commands.yaml", 2)
CASED = st.text("abAB-", min_size=1, max_size=8)


@given(name=CASED, how=st.sampled_from([str.lower, str.upper, str.swapcase]), pinned=st.booleans())
def test_an_ignored_record_stays(*, name: str, how: Callable[[str], str], pinned: bool) -> None:
    here = listed([command(how(name), "Does it.", "old"), command("other", "x", "y")])
    text = command("renamed" if pinned else name)
    entry = Entry(text, id="c0" if pinned else "", location=PLACE)
    rules = SyncRules(ignore=(how(name),), max_deletes=DeleteLimit())
    plan = plan_of(Snapshot({Resource.COMMAND: (entry,)}), here, rules)

    assert [(change.action, change.before) for change in plan.changes] == [  # type: ignore[union-attr]
        ("delete", command("other", "x", "y"))
    ]
    (notice,) = plan.notices
    assert notice.location == PLACE
    assert notice.message.startswith(f"{entry.name!r} is listed as {how(name)!r}, ")
    assert "sync.ignore" in notice.message
    assert "pattern" in str(notice.hint)


@given(name=st.text("abAB-", min_size=2, max_size=8), twin=st.booleans())
def test_no_former_name_means_an_ignored_record(*, name: str, twin: bool) -> None:
    spaced = [command(" ".join(name), "Does it.", "old")] if twin else []
    here = listed([command(name, "Does it.", "old"), *spaced, command("other", "x", "y")])
    entry = Entry(command("renamed"), formerly=(name,))
    rules = SyncRules(prune=False, ignore=(name,))

    plan = plan_of(Snapshot({Resource.COMMAND: (entry,)}), here, rules)

    (change,) = plan.changes
    assert (change.action, getattr(change, "id", "")) == (("edit", "c1") if twin else ("add", ""))


def test_only_what_matches_by_its_old_or_new_name_is_planned() -> None:
    here = listed([command("mod-kick"), command("old")])
    desired = wanted([entry_of("kick", "mod-kick"), command("MOD-ban"), command("help")])
    plan = plan_of(desired, here)

    mine, fewer = plan.only("mod-*"), plan.only("[!o]*")

    assert [change.name for change in mine.changes] == ["kick", "MOD-ban"]
    assert (mine.left_out, mine.sizes, mine.unchanged) == (2, plan.sizes, 0)
    assert mine.notices == (
        *plan.notices,
        Notice("only what matches 'mod-*' is planned: 2 more changes are left out"),
    )
    assert plan.only("*") == plan
    assert fewer.notices[-1] == Notice(
        "only what matches '[!o]*' is planned: 1 more change is left out"
    )


def entry_of(name: str, *formerly: str) -> Entry:
    return Entry(command(name), formerly=formerly)


def test_a_pin_of_what_cannot_be_edited_does_not_come_before_equality() -> None:
    old, new = announcement("v", "Then."), announcement("v", "Now.")
    desired = Snapshot({Resource.ANNOUNCEMENT: (Entry(new, id="1"),)})
    here = Snapshot({Resource.ANNOUNCEMENT: (Entry(old, id="1"), Entry(new, id="2"))})

    plan = plan_of(desired, here)

    assert [(change.action, *change.texts) for change in plan.changes] == [("delete", old)]


def test_without_pruning_what_is_too_much_stays_and_is_told_of_all_collections() -> None:
    here = listed([command("a")], [announcement("v")])

    plan = plan_of(wanted([], []), here, SyncRules(prune=False))

    assert [(resource, entry.name) for resource, entry in plan.unmanaged] == [
        (Resource.COMMAND, "a"),
        (Resource.ANNOUNCEMENT, "v"),
    ]
    assert plan.changes == ()
    assert plan.refusal is None


A, B, C = command("a"), command("b"), command("c")


def listing(*, commands: str = "", posts: str = "") -> Snapshot:
    return Snapshot(
        {
            Resource.COMMAND: tuple(Entry(command(name), id=f"c{name}") for name in commands),
            Resource.ANNOUNCEMENT: tuple(Entry(announcement(n), id=f"a{n}") for n in posts),
        }
    )


def after(desired: Snapshot, here: Snapshot) -> dict[Resource, list[str]]:
    """Return the name and the description of each expected record."""
    plan = make_plan(desired=desired, listed=here, target=TARGET, rules=EVERYTHING)
    return {
        resource: [" ".join(text[:2]) for text in texts]
        for resource, texts in expected_listing(plan, here).items()
    }


def test_an_edited_command_keeps_its_place_and_new_ones_follow() -> None:
    desired = wanted([command("new"), C, command("b", "Better."), command("newer")])

    assert after(desired, listing(commands="abc"))[Resource.COMMAND] == [
        *("b Better.", "c Does it.", "new Does it.", "newer Does it."),
    ]


def test_an_announcement_that_is_replaced_comes_last() -> None:
    desired = wanted([], [announcement("a", "Again."), announcement("b")])

    assert after(desired, listing(posts="ab"))[Resource.ANNOUNCEMENT] == [
        *("b It is out.", "a Again."),
    ]


def test_a_collection_that_is_not_managed_stays() -> None:
    assert after(wanted([A, B]), listing(commands="a", posts="x")) == {
        Resource.COMMAND: ["a Does it.", "b Does it."],
        Resource.ANNOUNCEMENT: ["x It is out."],
    }


@given(st.lists(st.booleans(), max_size=5))
def test_former_names_that_are_no_longer_needed_are_counted(finished: list[bool]) -> None:
    names = [(f"new{n}", f"new{n}" if done else f"old{n}") for n, done in enumerate(finished)]
    entries = [Entry(command(new), formerly=(f"old{n}",)) for n, (new, _) in enumerate(names)]
    desired = Snapshot({Resource.COMMAND: tuple(entries), Resource.ANNOUNCEMENT: ()})

    plan = make_plan(
        desired=desired,
        listed=listed([command(now) for _, now in names], []),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert plan.finished == sum(finished)


LIMITS = [SyncRules(), *(SyncRules(max_deletes=parse_delete_limit(n)) for n in ("9", "all"))]
EMPTY = Notice("would send an empty list", Do.ALLOW_DELETES(limit="all"))
ALL_LOST = Notice("would send an empty list: the service shows none of the manifest's commands", "")
UNSEEN = Notice(
    "would replace the whole list of top.gg, whose content is not known", Do.REPLACE_UNSEEN()
)


SENT = ((SAME,), (CHANGED,), (SAME, CHANGED), (SAME, CHANGED._replace(is_elsewhere=True)))
ERROR = Notice("the file is damaged", "remove it")
BASELINES: list[Baseline] = [
    *(AsRead(lists) for lists in SENT[:2]),
    *(OfVersion(lists, name="v1.2.0") for lists in SENT[:2]),
    *(LastSent(lists, name="the list sent on a day") for lists in SENT),
    Unread(),
    *(Unknown(lists, accepted=on) for lists in ((), (CHANGED,)) for on in (False, True)),
    Unknown(error=ERROR),
]


def test_an_empty_and_an_unknown_list_are_refused() -> None:
    for baseline, size, wants_none, rules in product(BASELINES, (0, 1, 113), (False, True), LIMITS):
        compared = plan_of(listed([]), listed([]), rules)
        plan = whole(compared, baseline, commands=size, wants_none=wants_none)

        assert plan.is_asked is (plan.unsendable == UNSEEN)
        if plan.writes and not size and not (wants_none and rules is LIMITS[-1]):
            assert plan.unsendable == (EMPTY if wants_none else ALL_LOST)
        elif isinstance(baseline, Unknown) and baseline.error:
            assert plan.unsendable
            assert "the file is damaged" in plan.unsendable.message
            assert plan.unsendable.hint == "remove it"
        else:
            is_unseen = isinstance(baseline, Unknown) and not baseline.accepted
            assert plan.unsendable == (UNSEEN if is_unseen else None)
        assert plan.refusal == (plan.unsendable or plan.guarded((), {}))


def test_the_reason_why_a_list_is_not_known_is_said() -> None:
    baseline = Unknown(why="the token is another one")
    plan = whole(plan_of(listed([]), listed([])), baseline)

    assert plan.unsendable
    assert plan.unsendable.hint == Do.REPLACE_UNMATCHED(why="the token is another one")


@pytest.mark.parametrize("kind", [LastSent, Unknown])
def test_the_deletes_of_each_list_that_may_be_shown_count(kind: type) -> None:
    names = [command(f"c{number}") for number in range(40)]
    rules = SyncRules(max_deletes=DeleteLimit(count=9))
    compared = plan_of(wanted(names[:30]), listed(names[:30]), rules)
    other = plan_of(wanted(names[:30]), listed(names), rules)
    lists = (SAME, CHANGED._replace(name="the list of June"))
    more = {"name": "the list sent on a day"} if kind is LastSent else {"accepted": True}
    plan = whole(compared, kind(lists, **more), commands=30, beside=[(lists[1].name, other)])

    assert plan.refusal
    assert "would delete 10 of 40 listed commands" in plan.refusal.message
    assert plan.refusal.message.endswith(", if the service shows the list of June")
    assert plan.refusal.hint == Do.ALLOW_DELETES(limit=10)
    assert replace(plan, rules=EVERYTHING).refusal is None


def test_a_whole_list_is_pending_and_sent_by_its_request_and_a_page_by_its_changes() -> None:
    changed = plan_of(wanted([command("a")]), listed([]))
    idle = plan_of(wanted([command("a")]), listed([command("a")]))
    for page, baseline in product((changed, idle), BASELINES):
        assert page.known
        assert page.pending is page.writes is bool(page.changes)
        plan = whole(page, baseline)

        assert plan.known is not isinstance(baseline, Unread | Unknown)
        assert plan.is_read is isinstance(baseline, AsRead)
        assert plan.pending is (plan.known and CHANGED in baseline.lists)
        assert plan.writes is (plan.pending or not plan.is_read)


def test_an_edit_renames_where_the_name_differs() -> None:
    here = listed([command("h"), command("a", "Old.")])
    old = [Entry(command("help"), formerly=("h",)), Entry(command("a"))]
    edits = [change for change in plan_of(wanted(old), here).changes if isinstance(change, Edit)]

    assert [(edit.name, edit.renames) for edit in edits] == [("help", True), ("a", False)]
