"""`preview --html`: the page as files, and what cannot be previewed."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from contextlib import closing
from html import unescape
from random import Random
from socket import create_server

import pytest

from commandsync.testing import serve_simulation
from tests.support.bots import Bot, Service
from tests.support.home import Home, fields
from tests.support.pages import Outline


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    """A bot whose listing differs from the manifest in each way."""
    bot = home.knows(service.bot(["edited", "gone", "kept"], ["v1"]))
    home.forget("COMMANDSYNC_TOKEN")
    home.write(fields(("edited", "Reworded."), ("kept",), ("new", "Is new.")))
    return bot


def test_a_page_as_files_needs_no_token_and_says_what_differs(home: Home, bot: Bot) -> None:
    ran = home.run("preview", "--html", "site")

    assert ran.out == "Plan: 1 to add, 1 to edit, 1 to delete, 1 unchanged.\n"
    assert ran.err.endswith("wrote site/index.html\n")
    page = home.read("site/index.html")
    assert f"Bot {bot.id}" in page
    assert "Is new." in page


def test_without_a_base_url_or_offline_everything_is_new(home: Home, bot: Bot) -> None:
    offline = home.run("preview", "--offline", "--html", "first")
    home.forget("COMMANDSYNC_BASE_URL")
    home.forget("COMMANDSYNC_BOT")
    unknown = home.run("preview", "commands.yaml", "--html", "second")

    every = "Plan: 3 to add, 0 to edit, 0 to delete, 0 unchanged.\n"
    assert (offline.code, offline.out) == (unknown.code, unknown.out) == (0, every)
    assert bot.id in home.read("first/index.html")
    assert "commands.yaml" in home.read("second/index.html")


def test_each_listing_has_a_tab_with_its_losses(home: Home, bot: Bot) -> None:
    commands = home.read("commands.yaml")
    assert home.run("preview", "--html", "alone").code == 0
    home.write(
        f"base_url: {bot.url}\nlistings:\n  - {{service: top.gg}}\n"
        "  - {service: telegram}\n" + commands.replace('"new"', '"new <one>"')
    )
    assert home.run("preview", "--html", "site").code == 0

    _, topgg, telegram = Outline(home.read("site/index.html")).words.split("Not shown there")
    assert 'class="tabs"' not in home.read("alone/index.html")
    assert "only lower-case letters" in topgg
    assert "0-9 and _ (new <one>)" in telegram
    assert all("/edited Reworded." in tab and "/new" not in tab for tab in (topgg, telegram))


def test_the_tab_of_a_list_marks_the_changes_of_its_plan(home: Home) -> None:
    subprocess.run([shutil.which("git") or "git", "init", "-q"], check=True, cwd=home.path)
    sizes = Random(7).choices(range(1, 5), k=4)  # noqa: S311 - the same in every run
    kept, edited, new, gone = (
        [f"{sign}{number}" for number in range(size)]
        for sign, size in zip("kena", sizes, strict=True)
    )

    def write(*records: tuple[str, ...], choice: str) -> None:
        option = {"type": 3, "name": "song", "description": "One."}
        option |= {"choices": [{"name": choice, "value": "1"}]}
        own = {"name": kept[0], "description": "Does it.", "options": [option]}
        imported = {"version": 1, "commands": [], "objects": {"discord": [own]}}
        home.write(json.dumps(imported), "commands.imported.json")
        home.write(head + fields(*((name,) for name in kept), *records))

    with serve_simulation("top.gg") as topgg, serve_simulation("telegram") as telegram:
        head = topgg.manifest + telegram.manifest.removeprefix("listings:\n")
        for each in (topgg, telegram):
            home.variable(each.variable, each.token)
        write(*((name,) for name in (*edited, *gone, "old")), choice="eu")
        assert home.run("apply", "--yes", "--unseen").code == 0
        reworded = [(name, "Reworded.") for name in edited]
        write(*reworded, *((name,) for name in (*new, "now")), choice="asia")
        text = home.read("commands.yaml")
        home.write(text.replace('name: "now"', 'name: "now"\n    formerly: [old]'))
        planned = home.run("plan")
        shown = home.run("preview", "--html", "site")
        offline = home.run("preview", "--offline", "--html", "offline")

    changes = {"new": len(new), "edited": len(edited), "renamed": 1, "gone": len(gone)}
    _, *tabs = home.read("site/index.html").split('aria-labelledby="listing-')
    marks = [Counter(re.findall('class="mark ([a-z]+)"', tab)) for tab in tabs]
    assert marks == [changes | {"edited": len(edited) + 1}, changes]
    assert "song choices" in tabs[0]
    (said,) = {*re.findall(r"^Plan: .*", planned.out, re.MULTILINE)}
    assert shown.out == f"top.gg: {said}\ntelegram: {said}\n"
    assert "the list last sent from this clone" in tabs[0]
    assert "Compared with its list." in tabs[1]
    assert 'class="mark' not in home.read("offline/index.html")
    assert offline.out.count(" commands to send.") == 2


BLOCKED = """
import sys
for library in ("fastapi", "sqlalchemy", "starlette", "uvicorn"):
    sys.modules[library] = None
"""


@pytest.mark.usefixtures("bot")
def test_a_page_as_files_needs_no_web_server_and_a_live_one_names_its_extra(home: Home) -> None:
    home.write(BLOCKED, "hook/sitecustomize.py")
    path = os.pathsep.join([str(home.path / "hook"), home.environment()["PYTHONPATH"]])
    files = home.child("preview", "--html", "site", PYTHONPATH=path)
    lists = home.child("docs", "commands.html", PYTHONPATH=path)
    live = home.child("preview", "--no-open", PYTHONPATH=path)

    assert (files.code, lists.code, live.code) == (0, 0, 2)
    assert "Is new." in home.read("site/index.html")
    assert "the extra [server]: the module " in live.err


UNSAFE = [*map(chr, (*range(9), 11, 12, *range(14, 32), *range(127, 160)))]
UNSAFE += "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.promise("pages-controls")
def test_no_control_character_gets_into_the_page(home: Home, service: Service) -> None:
    text = "".join(f"a{sign}" for sign in UNSAFE) + "&#x202e;&lrm;"
    home.knows(service.bot([{"name": "old", "description": text, "syntax": text}], ["v1"]))
    quoted = json.dumps(text)
    home.write(
        f"version: 1\ncommands:\n  - {{name: {quoted}, description: {quoted}, syntax: /a}}\n"
        f"announcements:\n  - {{title: {quoted}, description: {quoted}}}\n"
    )
    assert home.run("preview", "--html", "site").code == 0
    page = home.read("site/index.html")

    found = [sign for sign in unescape(page.replace("&amp;", "")) if sign in UNSAFE]
    assert found == []
    assert "a\\u202ea" in page
    assert "a\\x1ba" in page


@pytest.mark.usefixtures("bot")
def test_what_cannot_be_previewed_is_said(home: Home) -> None:
    stdin = home.run("preview", "-f", "-", "--offline")
    piped = home.run(
        "preview", "-", "--offline", "--html", "site", stdin=fields(("a", "A.")).encode()
    )
    home.write("version: 1\nfoo: 1\n", "broken.yaml")
    broken = home.run("preview", "broken.yaml", "--html", "site")
    home.write(fields(("a", "A.")), "other.yaml")
    with closing(create_server(("127.0.0.1", 0))) as other:
        taken = home.run("preview", "--offline", "--port", str(other.getsockname()[1]))
    several = home.run("preview", "other.yaml", "-f", "commands.yaml", "--offline")
    home.variable("COMMANDSYNC_BOT", "404")
    live = home.run("preview", "--no-open")
    unlisted = home.run("preview", "--html", "site")
    home.forget("COMMANDSYNC_BOT")
    unnamed = home.run("preview", "--html", "site")

    assert (stdin.code, piped.code, broken.code) == (2, 0, 4)
    assert (several.code, taken.code) == (2, 2)
    assert "another port" in taken.err
    assert "several: commands.yaml and other.yaml" in several.err
    assert "--html FOLDER" in stdin.err
    assert "broken.yaml:2:1: error" in broken.err
    assert (live.code, unlisted.code, unnamed.code) == (1, 1, 2)
    for ran in (live, unlisted, unnamed):
        assert ran.out == ""
        assert "commandsync preview --offline" in ran.err


@pytest.mark.usefixtures("bot")
def test_a_folder_with_a_site_of_somebody_else_is_not_touched(home: Home) -> None:
    home.write("<title>Mine</title>", "site/index.html")
    ran = home.run("preview", "--html", "site")

    assert (ran.code, ran.out) == (1, "")
    assert "site/index.html exists already" in ran.err
    assert home.read("site/index.html") == "<title>Mine</title>"
