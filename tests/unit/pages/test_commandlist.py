"""One page of commands: it loads nothing, runs its own script alone, and shows any text as text."""

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.pages.botpage import Mark, Row, commands_page, difference, groups_of, listed_rows
from commandsync.records.display import readable
from commandsync.records.texts import CommandText, Resource
from tests.support.pages import Outline, texts

COMMAND = Resource.COMMAND


def command(name: str, category: str = "", **fields: str) -> dict[str, Any]:
    category_field = {"category": category} if category else {}
    return {"id": name, "name": name, "description": "d", "syntax": "s", **category_field, **fields}


def names(rows: list[Row]) -> list[str]:
    return [row.title for row in rows]


def test_an_edited_record_has_the_pieces_of_each_changed_field() -> None:
    before = {"description": "old text", "category": "Fun"}
    row = Row(COMMAND, command("a", description="new text"), "a", Mark.EDITED, before)

    assert [*row.changes] == [
        ("description", [("old", "old "), ("new", "new "), ("same", "text")]),
        ("category", [("old", "Fun")]),
    ]
    assert row.old_name == ""


@pytest.mark.parametrize("kind", Resource)
def test_a_renamed_record_has_its_old_name(kind: Resource) -> None:
    fields = dict(zip(kind.fields, "abcdefgh", strict=False))
    row = Row(kind, fields, "x", Mark.RENAMED, {kind.fields[0]: "h"})

    assert (row.title, row.old_name) == ("a", "h")
    assert {row.title, row.group, row.usage, *row.texts} - {""} == {*fields.values()}


LISTED = (("a", "Fun"), ("b", "Music"), ("c", "fun"), ("d", "Fun"))


def test_groups_are_in_the_order_of_their_first_command_and_count_none_that_is_gone() -> None:
    rows = [
        *listed_rows(COMMAND, [command(*each) for each in LISTED]),
        Row(COMMAND, command("old", "Fun"), "gone-1", Mark.GONE),
        Row(COMMAND, command("older"), "gone-2", Mark.GONE),
    ]

    assert [(group.name, names(group.rows), group.number) for group in groups_of(rows)] == [
        ("Fun", ["a", "d", "old"], 2),
        ("Music", ["b"], 1),
        ("fun", ["c"], 1),
        ("", ["older"], 0),
    ]


WORDS = st.lists(st.sampled_from(["a", "b", "one", " ", "\n", ".", "é"]), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        ("same", "same", [("same", "same")]),
        ("", "all new", [("new", "all new")]),
        ("all gone", "", [("old", "all gone")]),
        (
            "Shows the help menu.",
            "Shows a help page.",
            [
                ("same", "Shows "),
                *(("old", "the "), ("new", "a ")),
                ("same", "help "),
                *(("old", "menu"), ("new", "page")),
                ("same", "."),
            ],
        ),
        ("one two three", "a b three", [("old", "one two "), ("new", "a b "), ("same", "three")]),
    ],
)
def test_differing_words_are_distinct(old: str, new: str, pieces: list[tuple[str, str]]) -> None:
    assert difference(old, new) == pieces


@given(old=WORDS, new=WORDS)
def test_the_pieces_are_both_texts(old: str, new: str) -> None:
    pieces = difference(old, new)

    assert "".join(text for kind, text in pieces if kind != "new") == old
    assert "".join(text for kind, text in pieces if kind != "old") == new


def test_long_texts_are_one_difference_though_they_have_words_in_common() -> None:
    old, new = "a same b " * 200, "c same d " * 200

    assert difference(old, new) == [("old", old), ("new", new)]


COMMANDS = (
    CommandText("ban", "Bans.", "/ban <user>", "Staff"),
    CommandText("afk", "Is away.", ".afk"),
    CommandText("Afk!", "Is away, too.", "/afk"),
    CommandText("😀", "Smiles.", "/😀", "Fun"),
    CommandText("tic tac_toe", "Plays.", "/ttt", "Fun"),
)
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


def digests_of(html: str, tag: str) -> list[str]:
    """Return the digests of the contents of a tag, as a policy names them."""
    contents = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
    return [f"'sha256-{b64encode(sha256(c.encode()).digest()).decode()}'" for c in contents]


def test_the_content_of_the_page(golden: Callable[[str, str], None]) -> None:
    html = commands_page((*COMMANDS, CommandText("<b>", "Says \"<b>\" & 'a'.", "/<b>", "<i>")))

    golden(html[html.index("<main") : html.index("</main>")], "commandlist.html")


def test_the_anchor_of_a_command_follows_its_name_and_is_there_once() -> None:
    html = commands_page(COMMANDS)
    anchors = re.findall(r'<li class="command" id="([^"]*)">', html)

    assert anchors == [
        *("command-ban", "command-afk", "command-afk--2", "command", "command-tic-tac-toe")
    ]
    ids = re.findall(r'id="([^"]*)"', html)
    links = [link["href"] for link in Outline(html).links]
    assert len(set(ids)) == len(ids)
    assert {str(link).removeprefix("#") for link in links} <= set(ids)


@pytest.mark.promise("pages-escape")
def test_the_policy_allows_the_style_and_the_script_of_the_page_alone() -> None:
    html = commands_page(COMMANDS)
    (policy,) = POLICY.findall(html)
    (style,), (script,) = (digests_of(html, tag) for tag in ("style", "script"))

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {style}",
        f"script-src {script}",
        *("img-src data:", "form-action 'none'", "base-uri 'none'"),
    ]
    assert html.index(policy) < html.index("<style>")


def test_nothing_is_loaded_and_nothing_is_inline() -> None:
    html = commands_page(COMMANDS)
    outline = Outline(html)

    assert not re.search(r"https?:|url\(|@import|</script>.*</script>", html, re.DOTALL)
    assert [value for value in outline.values if ":" in value.partition(" ")[0]] == ["data:,"]
    assert outline.attributes.isdisjoint({"style", "src", "action", "onclick", "onload"})


def test_the_name_of_the_bot_is_the_title_and_the_heading() -> None:
    html = commands_page(COMMANDS, bot="<Lantern>")

    assert "<title>&lt;Lantern&gt; · Commands</title>" in html
    assert "<h1><bdi>&lt;Lantern&gt;</bdi></h1>" in html


def test_a_page_without_commands_says_so() -> None:
    assert "Commands 0 No commands are listed yet." in Outline(commands_page(())).words


@cache
def harmless() -> Outline:
    return Outline(commands_page([CommandText(*"abcd")]))


@pytest.mark.promise("pages-escape")
@given(some=st.tuples(texts, texts, texts, texts))
def test_no_text_changes_the_structure_of_the_page(some: tuple[str, str, str, str]) -> None:
    name, _, syntax, category = some
    outline = Outline(commands_page([CommandText(name, "b", syntax, category)]))

    assert outline.tags == harmless().tags
    assert all(readable(text) in outline.text for text in (name, syntax, category))
    assert not [value for value in outline.values if re.search(r"[<>'\s]alert", value)]
