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

from commandsync.pages.templates import RecordRow, commands_page, groups_of, listed_rows
from commandsync.records.display import readable
from commandsync.records.texts import CommandOption, CommandText, LoadedCommand, Resource
from tests.support.pages import Outline, texts

COMMAND = Resource.COMMAND


def command(name: str, category: str = "", **fields: str) -> dict[str, Any]:
    category_field = {"category": category} if category else {}
    return {"id": name, "name": name, "description": "d", "syntax": "s", **category_field, **fields}


def names(rows: list[RecordRow]) -> list[str]:
    return [row.title for row in rows]


LISTED = (("a", "Fun"), ("b", "Music"), ("c", "fun"), ("d", "Fun"))


def test_groups_are_in_the_order_of_their_first_command() -> None:
    rows = listed_rows(COMMAND, [command(*each) for each in (*LISTED, ("e", ""))])

    assert [(group.name, names(group.rows)) for group in groups_of(rows)] == [
        ("Fun", ["a", "d"]),
        ("Music", ["b"]),
        ("fun", ["c"]),
        ("", ["e"]),
    ]


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
    options = [
        CommandOption("member", "Who leaves.", required=True),
        CommandOption("<time>", "For how long & why.", choices=("1 hour", "<1 day>")),
    ]
    commands = (
        *COMMANDS,
        CommandText("<b>", "Says \"<b>\" & 'a'.", "/<b>", "<i>"),
        LoadedCommand.of(("mute", "Mutes.", "/mute <member> [time]", "Staff"), options=options),
        LoadedCommand.of(("/Report", "Tells staff.", "/Report", "Staff"), menu="message"),
    )
    html = commands_page(commands)

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


def test_a_command_in_a_menu_has_no_slash_and_no_usage() -> None:
    in_menu = LoadedCommand.of(("/Report", "Tells.", "/Report"), menu="user")
    typed = LoadedCommand.of(("/Report", "Tells.", "/Report"))

    assert "Report User menu Tells." in Outline(commands_page([in_menu])).words
    assert "/Report" not in Outline(commands_page([in_menu])).text
    assert "/Report /Report Tells." in Outline(commands_page([typed])).words


def test_each_option_says_whether_it_is_required_and_what_it_takes() -> None:
    options = [
        CommandOption("member", "Who leaves.", required=True),
        CommandOption("time", "For how long.", choices=("1 hour", "1 day")),
    ]
    html = commands_page([LoadedCommand.of(("ban", "Bans.", "/ban"), options=options)])

    assert (
        "member required Who leaves. time optional For how long. One of 1 hour , 1 day"
        in Outline(html).words
    )


def test_a_page_without_commands_says_so() -> None:
    assert "Commands 0 No commands are listed yet." in Outline(commands_page(())).words


@cache
def harmless() -> Outline:
    return Outline(commands_page([with_option("a", "b", "c", "d", option="e", choice="f")]))


def with_option(*fields: str, option: str, choice: str) -> LoadedCommand:
    return LoadedCommand.of(fields, options=[CommandOption(option, option, choices=(choice,))])


@pytest.mark.promise("pages-escape")
@given(some=st.tuples(texts, texts, texts, texts, texts))
def test_no_text_changes_the_structure_of_the_page(some: tuple[str, ...]) -> None:
    name, option, syntax, category, choice = some
    shown = with_option(name, "b", syntax, category, option=option, choice=choice)
    outline = Outline(commands_page([shown]))

    assert outline.tags == harmless().tags
    assert all(readable(text) in outline.text for text in some)
    assert not [value for value in outline.values if re.search(r"[<>'\s]alert", value)]
