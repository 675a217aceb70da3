"""The changes that users notice between two manifests, with the matching of a plan."""

from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.plan.differences import (
    ChangedCommand,
    UserChanges,
    arguments,
    call_of,
    lead_of,
    user_changes,
)
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from tests.support.plans import announcement, command, plan_of

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


@given(ENTRIES, ENTRIES)
def test_the_changes_lead_from_old_to_new_commands(old: list[Entry], new: list[Entry]) -> None:
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


@given(ENTRIES)
def test_a_manifest_has_no_change_to_itself(entries: list[Entry]) -> None:
    assert between(entries, entries[::-1]).count == 0


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


def test_a_rename_that_nobody_declared_is_a_warning() -> None:
    old = [command("h", "Shows commands.", syntax="/h")]
    new = [command("help", "Shows commands.", syntax="/help", line=4)]

    changes = between(old, new)

    (notice,) = changes.notices
    assert notice.location == Location("commands.yaml", 4, 5)
    assert "'help' looks like 'h' under a new name" in notice.message
    assert str(notice.hint).endswith('formerly: ["h"]')
    assert (changes.breaking, changes.count) == (1, 2)


@pytest.mark.parametrize("managed", [True, False])
def test_commands_that_one_manifest_does_not_manage_are_not_new_or_gone(*, managed: bool) -> None:
    one, other = managing([command("ban")]), Snapshot({Resource.ANNOUNCEMENT: ()})
    old, new = (one, other) if managed else (other, one)

    assert user_changes(old=old, new=new) == UserChanges()


def of(syntax: str, name: str = "x") -> CommandText:
    return CommandText(name, "Does it.", syntax)


def change(old: str, new: str, name: str = "x") -> ChangedCommand:
    """Return the change of a command with these two syntaxes."""
    (changed,) = between([Entry(of(old, name))], [Entry(of(new, name))]).changed
    return changed


@pytest.mark.parametrize(
    ("name", "syntax", "call"),
    [
        ("ban", "/ban <user>", "/ban"),
        ("ban", "p!ban", "p!ban"),
        ("ban", "ban <user>", "ban"),
        ("config set", "/config set <key>", "/config set"),
        ("rainbow", "/image rainbow [user]", "/image rainbow"),
        ("ban", "?ban user reason", "?ban"),
        ("an", "/ban an <x>", "/ban an"),
        ("ban", "/ban ban <x>", "/ban"),
        ("ban", "bans ban ban", "bans ban"),
        ("c++", "!c++<code>", "!c++"),
        ("größe", "?größe", "?größe"),
        (".afk", ".afk [reason]", ".afk"),
        ("Ban", "/ban <user>", "Ban"),
        ("ban", "/banish <user>", "ban"),
        ("user", "/ban <user>", "user"),
        ("late", f"{'a ' * 20}late", f"{'a ' * 20}late"),
        ("late", f"{'a ' * 20}-late", "late"),
        ("x", "/y\n/x", "x"),
    ],
)
def test_the_call_ends_with_the_name_as_a_word(name: str, syntax: str, call: str) -> None:
    assert call_of(of(syntax, name)) == call
    assert lead_of(of(syntax, name)) + name == call


@pytest.mark.parametrize(
    ("syntax", "expected"),
    [
        ("/x", []),
        ("/x <user> [reason...]", ["<user>", "[reason...]"]),
        ("/purge <1-500> [bots|links|<user>]", ["<1-500>", "[bots|links|<user>]"]),
        ("/x [a [b]] <c>", ["[a [b]]", "<c>"]),
        ("/x < a >", ["<a>"]),
        ("/x a < b [c]", []),
        ("/x > ] <a>", ["<a>"]),
        ("/x <a]>", ["<a]>"]),
    ],
)
def test_arguments_are_in_the_outermost_brackets(syntax: str, expected: list[str]) -> None:
    assert [str(argument) for argument in arguments(syntax)] == expected


@pytest.mark.parametrize(
    ("old", "new", "needed"),
    [
        ("/x <user>", "/x <user> <reason>", ["<reason>"]),
        ("/x <user> [reason]", "/x <user> <reason>", ["<reason>"]),
        ("/x", "/x <a> <b>", ["<a>", "<b>"]),
        ("/x <user>", "/x <member> <reason>", ["<reason>"]),
        ("/x <a> [b]", "/x [a] <b>", ["<b>"]),
        ("/x <a>", "/x [a] <b>", ["<b>"]),
        ("/x <user>", "/x <user> <user>", ["<user>"]),
        ("/x <a> [a]", "/x <a> <a>", ["<a>"]),
        ("/x <a> <a>", "/x <a> <a> <a>", ["<a>"]),
        ("/x set", "/x set <x>", ["<x>"]),
        ("x set", "x <x> <set>", ["<x>"]),
        ("/set prefix", "/set prefix <prefix>", ["<prefix>"]),
    ],
)
def test_an_argument_is_required_now(old: str, new: str, needed: list[str]) -> None:
    name = "set prefix" if "prefix" in old else "x"

    assert [str(each) for each in change(old, new, name).needs] == needed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x <user>", "/x <member>"),
        ("/x <user>", "/x <User...>"),
        ("/x <on|off>", "/x <on|off|auto>"),
        ("/x <a> <b>", "/x <b> <a>"),
        ("/x <a> <b>", "/x <a>"),
        ("/x <a>", "/x [a] [b]"),
        ("/x [a]", "/x [a] [b]"),
        ("!x <a>", "/x <a>"),
        ("/x user reason", "/x <user> <reason>"),
    ],
)
def test_another_notation_or_order_requires_nothing_new(old: str, new: str) -> None:
    assert change(old, new).needs == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x <a> [b]", "/x <a>"),  # an argument is gone
        ("/x <a> <b>", "/x <b>"),
        ("/x [a]", "/x"),
        ("/x <on|off>", "/x <on>"),  # a choice is gone
        ("/x [on|off|auto]", "/x [on|auto]"),
        ("/x <on/off>", "/x <on/auto>"),
        ("/x <bots|<user>>", "/x <<user>>"),
        ("/x on|off", "/x on"),
        ("/x <a> <b>", "/x <b> <a>"),  # another order
        ("/x [a] [b]", "/x [b] [a]"),
        ("/x <a> <b>", "/x <b> <c>"),
        ("/x set <a>", "/x put <a>"),  # another word of a sub-command
        ("/x set <a>", "/x <a>"),
        ("/x <a>", "/x set <a>"),
        ("/x set all", "/x all set"),
        ("/x --loud", "/x --silent"),
        ("/x <a>", "/x <a> <b>"),  # a required argument
        ("/x [a]", "/x <a>"),
        ("/x <a>", "/x <on|off>"),
        ("/x <set>", "/x set"),
        ("/x add<user>", "/x <user>"),  # a word beside a bracket
        ("/x add<user>", "/x adt<user>"),
        ("/x <user>add", "/x <user>"),
        ("/x <user>add", "/x <user>bdd"),
        ("/x <on|offX>", "/x <on|off>"),
        ("add a", "bdd a"),  # a syntax without the name
    ],
)
def test_something_that_users_typed_fails_now(old: str, new: str) -> None:
    assert change(old, new).breaking


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x <a>", "/x [b] <a> [c]"),
        ("/x <a> <b>", "/x [a] [b]"),
        ("/x <user>", "/x <member>"),
        ("/x <user>", "/x [silent] <member>"),
        ("/x <user>", "/x <User...>"),
        ("/x <user>", "/x <user|role>"),
        ("/x <on|off>", "/x <off|On|auto>"),
        ("/x <on|off>", "/x <state>"),
        ("/x set", "/x <action>"),
        ("/x user reason", "/x <user> [reason]"),
        ("/x <a>", "/x: <a> (!)"),
        ("/x <a>\nFor example /x me", "/x <a>\nOr like this"),
        ("/x <on|off...>", "/x <on|off>"),
        (f"/x{' a' * 100} b", f"/x{' a' * 100} c"),  # nobody types more words
    ],
)
def test_all_that_users_typed_still_works(old: str, new: str) -> None:
    assert not change(old, new).accepts_less


PLACES = {  # the words that fit a place, by its spelling
    **{word: (word,) for word in ("set", "put")},
    **{f"{opens}{name}{closes}": (name,) for name in "abc" for opens, closes in ("<>", "[]")},
    **{
        f"{opens}{'|'.join(choices)}{closes}": choices
        for choices in (("on", "off"), ("on", "auto"), ("on", "off", "auto"))
        for opens, closes in ("<>", "[]")
    },
}
WRITTEN = st.lists(
    st.sampled_from(sorted(PLACES)), max_size=5, unique_by=lambda place: PLACES[place][0]
)


def typed(places: list[str]) -> list[tuple[str, ...]]:
    """Return all that users can type at these places."""
    ways = [(*PLACES[place], *([""] if place[0] == "[" else [])) for place in places]
    return [tuple(filter(None, words)) for words in product(*ways)]


def is_new(place: str, old: list[str]) -> bool:
    """Whether an argument has a name that the old syntax does not have: it may be anything."""
    known = {word for each in old for word in PLACES[each]}
    return place[0] in "<[" and len(PLACES[place]) == 1 and PLACES[place][0] not in known


def takes(new: list[str], words: tuple[str, ...], old: list[str]) -> bool:
    """Whether a syntax takes these words, each at one of its places, in their order."""
    if not new:
        return not words
    place, *rest = new
    taken = words and (words[0] in PLACES[place] or is_new(place, old))
    left_out = place[0] == "[" and takes(rest, words, old)
    return left_out or bool(taken and takes(rest, words[1:], old))


@given(WRITTEN, WRITTEN)
def test_what_fails_now_is_a_breaking_change(old: list[str], new: list[str]) -> None:
    fails = [words for words in typed(old) if not takes(new, words, old)]

    if fails:
        assert change(" ".join(["/x", *old]), " ".join(["/x", *new])).breaking


@given(st.text("<>[]| .…abA-\n", max_size=30))
def test_a_usage_with_the_same_parts_is_not_breaking(syntax: str) -> None:
    assert not change(f"/x {syntax}", f"/x  {syntax}").breaking
