"""Text that steers terminals, hides or turns writing round: shown escaped, kept to the letter."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

from tests.support.hostile import FORMATS, harmless
from tests.support.proxy import Instead

if TYPE_CHECKING:
    from tests.support.bots import Bot, Service
    from tests.support.home import Home
    from tests.support.proxy import Proxy, Seen

ODD = [
    character
    for character in map(chr, range(0x110000))
    if unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp", "Zs"}
    or ord(character) & 0xFFFE == 0xFFFE
]
"""Every control, format, separating and never-assigned character; blanks are ones of those."""

TEXTS = {
    "ANSI": "\x1b[31mred\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\link\x9b2J",
    "overrides": "safe\u202egpj.exe\u2066isolated\u2069\u061c\u200f",
    "nothing to see": "a\u200b\u2060\ufeff\u00ad\u180eb",
    "runner": "x\n::set-output name=a::b\n  ::error::x\n##[group]y\n##vso[task.x]z",
    "markdown": "``` \n</details><!-- x --> | `a` | @everyone <img src=x onerror=y> [k](http://x)",
    "yaml": "- ? : # & * ! | > ' \" % @ ` {} [] , ~ null\n---\n...\n\t\\x\u2028\u2029\x85.",
    "carriage": "a\rb\r\rc\x0bd\x0ce",
    "long": "Is long. " * 2_200 + "\x00",
}


def records() -> list[dict[str, str]]:
    every = [ODD[start : start + 40] for start in range(0, len(ODD), 40)]
    texts = [("odd", "-".join(["|", *some, "|"])) for some in every]
    named = [*texts, *TEXTS.items()]
    plain = [
        {"name": f"n{number}", "description": f"{what} {text}", "syntax": "/x"}
        for number, (what, text) in enumerate(named)
    ]
    return [
        *plain,
        {
            "name": f"x{TEXTS['ANSI']}",
            "description": "d",
            "syntax": "s",
            "category": "a\x00\u202eb",
        },
        {"name": "x", "description": "d", "syntax": f"s{TEXTS['runner']}", "category": "##[x]"},
    ]


def said(bot: Bot) -> list[tuple[str, ...]]:
    names = ("name", "description", "syntax", "category")
    return [
        tuple((one.get(name) or "").replace("\r\n", "\n") for name in names)
        for one in bot.commands()
    ]


def half_a_pair(seen: Seen) -> Instead:
    half = {"id": "1", "name": "a", "description": "b\ud800", "syntax": "c"}
    return Instead(200, {"data": [half] if seen.short == "GET commands" else []})


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    bot = service.bot(records())
    home.knows(bot)
    return bot


def test_what_is_pulled_and_applied_elsewhere_is_equal_to_the_letter(
    home: Home, bot: Bot, service: Service
) -> None:
    assert home.run("pull", "--out", "commands.yaml").code == 0
    harmless(home.read("commands.yaml").replace("\t", " "), "text")
    assert home.run("plan", "--detailed-exitcode").code == 0
    home.write(home.read("commands.yaml").replace(f'bot: "{bot.id}"\n', ""))
    empty = service.bot()
    home.knows(empty)

    applied = home.run("apply", "--yes", "--format", "json").document

    assert applied["verified"] is True
    assert said(empty) == said(bot)
    assert home.run("plan", "--detailed-exitcode").code == 0


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_shows_it_raw(home: Home, bot: Bot, service: Service, form: str) -> None:
    home.run("pull", "--out", "commands.yaml")
    home.write(home.read("commands.yaml").replace(f'bot: "{bot.id}"\n', ""))
    home.knows(service.bot(["x", "y"]))

    for ran in (
        home.run("plan", "--format", form),
        home.run("validate", "--format", form),
        home.run("apply", "--yes", "-vv", "--format", form),
        home.run("apply", "--yes", "--max-deletes", "all", "-v", "--format", form),
    ):
        harmless(ran.out, form)  # type: ignore[arg-type]  # one of FORMATS
        harmless(ran.err, "github" if form == "github" else "text")


@pytest.mark.parametrize("form", FORMATS)
def test_the_words_of_a_failing_service_are_shown_escaped(
    home: Home,
    bot: Bot,
    proxy: Proxy,
    form: str,
) -> None:
    words = "".join(TEXTS[what] for what in ("ANSI", "overrides", "nothing to see", "runner"))
    proxy.rule = lambda _: Instead(400, {"error": words})
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    home.write("version: 1\ncommands: []\n")

    before = bot.everything()

    ran = home.run("plan", "--format", form)

    assert ran.code == 1
    assert "red" in ran.said
    assert bot.everything() == before
    harmless(ran.out, form)  # type: ignore[arg-type]  # one of FORMATS
    harmless(ran.err, "text")


@pytest.mark.parametrize("command", ["pull", "apply --yes --max-deletes all --backup b.yaml"])
def test_half_of_a_surrogate_pair_cannot_be_pulled_and_nothing_is_written(
    home: Home, bot: Bot, proxy: Proxy, command: str
) -> None:
    proxy.rule = half_a_pair
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    home.write("version: 1\ncommands: []\n")
    before = bot.everything()

    ran = home.run(*command.split())

    assert ran.code == 1
    assert 'description "b\\ud800" holds half of a surrogate pair' in ran.err
    assert proxy.writes == []
    assert bot.everything() == before
    assert not (home.path / "b.yaml").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_half_of_a_surrogate_pair_is_shown_escaped(home: Home, proxy: Proxy, form: str) -> None:
    proxy.rule = half_a_pair
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    home.write("version: 1\nbot: '42'\ncommands:\n- {name: a, description: b, syntax: c}\n")

    ran = home.run("plan", "--format", form)

    assert ran.code == 0
    assert r"\ud800" in ran.out
    harmless(ran.out, form)  # type: ignore[arg-type]  # one of FORMATS


def test_half_of_a_surrogate_pair_in_a_manifest_is_a_problem_at_its_place(home: Home) -> None:
    home.write('version: 1\ncommands:\n- {name: a, description: "\\ud800", syntax: c}\n')

    ran = home.run("validate")

    assert ran.code == 4
    assert ran.err.startswith("commands.yaml:3:")
