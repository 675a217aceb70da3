"""A syntax as people read it, and what a command requires that it did not require before."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.plan.syntax import (
    accepts_as_before,
    arguments,
    call_of,
    lead_of,
    newly_optional,
    newly_required,
)
from commandsync.records.texts import CommandText

SYNTAXES = st.text("<>[]| .…abA-\n", max_size=30)


def of(syntax: str, name: str = "x") -> CommandText:
    return CommandText(name, "Does it.", syntax)


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
def test_the_call_ends_with_the_name_as_a_word_before_the_arguments(
    name: str, syntax: str, call: str
) -> None:
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

    assert [str(each) for each in newly_required(of(old, name), of(new, name))] == needed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x <user>", "/x <user>"),
        ("/x <user>", "/x <member>"),
        ("/x <user>", "/x <User...>"),
        ("/x <on|off>", "/x <on|off|auto>"),
        ("/x <a> <b>", "/x <b> <a>"),
        ("/x <a> <b>", "/x <a>"),
        ("/x <a>", "/x [a] [b]"),
        ("/x [a]", "/x [a] [b]"),
        ("/x [a] <a>", "/x <a>"),
        ("!x <a>", "/x <a>"),
        ("/x user reason", "/x <user> <reason>"),
    ],
)
def test_another_notation_or_order_requires_nothing_new(old: str, new: str) -> None:
    assert newly_required(of(old), of(new)) == ()


@given(SYNTAXES, SYNTAXES)
def test_what_is_required_now_is_required_in_the_new_syntax_only(old: str, new: str) -> None:
    needed = newly_required(of(old), of(new))
    before, after = (
        Counter(argument.key for argument in arguments(syntax) if argument.required)
        for syntax in (old, new)
    )

    assert Counter(each.key for each in needed) <= after - before
    assert newly_required(of(new), of(new)) == ()


def test_optional_arguments_are_told_only_if_nothing_else_differs() -> None:
    added = newly_optional(of("/x <a>"), of("/x [b] <a> [c]"))

    assert [str(argument) for argument in added] == ["[b]", "[c]"]
    assert list(map(str, newly_optional(of("/x [a]"), of("/x [a] [b]")))) == ["[b]"]
    assert newly_optional(of("/x <a>"), of("/x <b> [c]")) == ()
    assert newly_optional(of("/x <a>"), of("/x [a]")) == ()
    assert newly_optional(of("/x <a>"), of("/x:  <a>")) == ()


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
        ("/x add<user>", "/x <user>"),  # a word beside a bracket
        ("/x add<user>", "/x adt<user>"),
        ("/x <user>add", "/x <user>"),
        ("/x <user>add", "/x <user>bdd"),
        ("/x <on|offX>", "/x <on|off>"),
        ("add a", "bdd a"),  # a syntax without the name
    ],
)
def test_something_that_users_typed_fails_now(old: str, new: str) -> None:
    assert not accepts_as_before(of(old), of(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/x <a>", "/x [b] <a> [c]"),
        ("/x <a> <b>", "/x [a] [b]"),
        ("/x <user>", "/x <member>"),
        ("/x <user>", "/x <User...>"),
        ("/x <user>", "/x <user|role>"),
        ("/x <on|off>", "/x <off|On|auto>"),
        ("/x <on|off>", "/x <state>"),
        ("/x set", "/x <action>"),
        ("/x user reason", "/x <user> [reason]"),
        ("/x <a>", "/x: <a> (!)"),
        ("/x <a>\nFor example /x me", "/x <a>\nOr like this"),
        ("!x <a>", "/x <a>"),
        ("/x <on|off...>", "/x <on|off>"),
        (f"/x{' a' * 100} b", f"/x{' a' * 100} c"),  # nobody types more words
    ],
)
def test_all_that_users_typed_still_works(old: str, new: str) -> None:
    assert accepts_as_before(of(old), of(new))


PLACES = {  # what can be typed at a place, by how the place is written
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


def accepted(old: list[str], new: list[str]) -> bool:
    return accepts_as_before(of(" ".join(["/x", *old])), of(" ".join(["/x", *new])))


@settings(max_examples=400)
@given(WRITTEN, WRITTEN)
def test_a_change_is_breaking_if_something_fails_that_the_old_syntax_accepts(
    old: list[str], new: list[str]
) -> None:
    fails = [words for words in typed(old) if not takes(new, words, old)]

    assert not (accepted(old, new) and fails)


@settings(max_examples=400)
@given(WRITTEN, WRITTEN)
def test_a_change_that_takes_all_that_was_typed_is_not_breaking(
    old: list[str], new: list[str]
) -> None:
    new = [place for place in new if not is_new(place, old)]

    assert accepted(old, new) == all(takes(new, words, old) for words in typed(old))


@given(SYNTAXES)
def test_every_syntax_accepts_what_it_accepted(syntax: str) -> None:
    assert accepts_as_before(of(syntax), of(syntax))
