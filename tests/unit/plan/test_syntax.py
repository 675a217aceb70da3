"""A syntax as people read it, and what a command requires that it did not require before."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.syntax import (
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
