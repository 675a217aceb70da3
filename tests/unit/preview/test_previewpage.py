"""The page of a preview: what an apply leaves, with the changes marked."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.run import apply
from commandsync.client.connection import Connection
from commandsync.client.driver import drive, start_reading
from commandsync.diagnostics import Do, Location, Notice, Problem
from commandsync.errors import FileError
from commandsync.manifest import Manifest
from commandsync.pages.botpage import BotPage, Mark, Preview, page_files, render_bot
from commandsync.pages.templates import PREVIEWED
from commandsync.plan.rules import DeleteLimit, SyncRules, parse_delete_limit
from commandsync.preview.previewpage import Baseline, PreviewState, bot_named, page_with, state_of
from commandsync.preview.views import check_folder, write_folder
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.report.summary import plan_line
from commandsync.services.service import PAGE
from commandsync.sync.settings import Settings
from tests.support.bots import Service, service
from tests.support.pages import bot
from tests.support.plans import announcement, command, day, post, set_clock

__all__ = ["service"]

COMMAND, ANNOUNCEMENT = Resource
BOT = "779641401482805289"
UNREAD = "no listing was read: everything is shown as new"

NAMES = st.sampled_from(["afk", "Afk", "ban", "help", "off"])
WORDS = st.sampled_from(["Does it.", "Does it well.", "Nothing."])
CATEGORIES = st.sampled_from(["", "Fun", "Staff"])
COMMANDS = st.builds(command, NAMES, WORDS, syntax=WORDS, category=CATEGORIES)
POSTS = st.builds(announcement, NAMES, WORDS)
RULES = st.builds(
    SyncRules,
    prune=st.booleans(),
    ignore=st.sampled_from([(), ("a*",)]),
    max_deletes=st.just(DeleteLimit()),
    announcements=st.sampled_from(["append", "mirror"]),
)


def manifest(
    *entries: Entry, rules: SyncRules | None = None, warnings: Sequence[Problem] = ()
) -> Manifest:
    """Return a manifest of both collections, with a schedule for what has one."""
    by_kind = {
        kind: tuple(entry for entry in entries if isinstance(entry.text, kind.text))
        for kind in Resource
    }
    mirror = SyncRules(announcements="mirror")
    return Manifest(
        "commands.yaml", snapshot=Snapshot(by_kind), rules=rules or mirror, warnings=tuple(warnings)
    )


def baseline(*listed: Entry) -> Baseline:
    """Return a listing that was read before."""
    return Baseline(("", ""), bot_named("Lantern"), listed=manifest(*listed).snapshot)


def state(wanted: Manifest, here: Baseline) -> PreviewState:
    return state_of(Settings(now=day(1), bot=BOT), wanted, here)


def shown(html: str) -> list[tuple[str, ...]]:
    """Return what a page shows of every record that is not gone, in the order of the page."""
    record = re.compile(
        r'<article class="announcement(?! gone)[^"]*" id="[^"]*" dir="auto">\s*<h3>([^<]*)'
        r'.*?<div class="prose" dir="auto">(.*?)</div>|'
        r'<div class="group" id="[^"]*" dir="auto">\s*<h3[^>]*>(.*?)</h3>|'
        r'<li class="command(?! gone)[^"]*" id="[^"]*">.*?<a href="[^"]*">(.*?)</a>'
        r'.*?(<code.*?</code>(?:<span class="uses">.*?</span>)?)</div>'
        r'<div class="prose"[^>]*>(.*?)</div>',
        re.DOTALL,
    )
    found: list[tuple[str, ...]] = []
    category = ""
    for title, prose, heading, *parts in record.findall(html):
        category = heading or category
        if title:
            found.append((title.strip(), prose))
        elif not heading:
            found.append((category if category in {"Fun", "Staff"} else "", *parts))
    return found


@settings(max_examples=12)
@given(
    listed=st.tuples(st.lists(COMMANDS, max_size=6), st.lists(POSTS, max_size=5)),
    wanted=st.tuples(
        st.lists(COMMANDS, max_size=6, unique_by=lambda entry: entry.text),
        st.lists(POSTS, max_size=3),
    ),
    pins=st.dictionaries(st.integers(0, 5), st.integers(0, 5), max_size=2),
    rules=RULES,
    only=st.sampled_from(["", "a*", "*n*"]),
)
def test_the_page_of_a_preview_shows_what_the_page_of_the_service_shows_after_an_apply(
    service: Service,
    listed: tuple[list[Entry], list[Entry]],
    wanted: tuple[list[Entry], list[Entry]],
    pins: dict[int, int],
    rules: SyncRules,
    only: str,
) -> None:
    bot = service.bot([{**e.text._asdict(), "uses": 10 * n} for n, e in enumerate(listed[0])])
    for entry in listed[1]:
        bot.post("announcements", **entry.text._asdict())
    with Connection(parse_address(service.url), Token(bot.token)) as connection:
        here = start_reading(connection, bot.id, tuple(Resource))()
        ids = [entry.id for entry in here.collections[COMMAND]]
        pinned = {n: ids[of] for n, of in pins.items() if of < len(ids)}
        if len({*pinned.values()}) < len(pinned):  # which is not a valid manifest
            pinned = {}
        commands = [replace(entry, id=pinned.get(n, "")) for n, entry in enumerate(wanted[0])]
        preview = state_of(
            Settings(now=day(1), bot=bot.id, only=only),
            manifest(*commands, *wanted[1], rules=rules),
            Baseline(("", ""), bot_named("Lantern"), listed=here),
        )
        health = Health()
        drive(
            apply(preview.plan, service=PAGE, listed=here, health=health),
            connection,
            health=health,
            events=SimpleQueue(),
            on_step=lambda _: None,
        )
    with closing(HTTPConnection(urlsplit(service.url).netloc, timeout=30)) as browser:
        browser.request("GET", f"/bot/{bot.id}")
        after = browser.getresponse().read().decode()

    html = render_bot(preview.page, assets=PREVIEWED)
    assert shown(html) == shown(after)
    assert len(shown(html)) == sum(
        row.mark is not Mark.GONE for rows in preview.page.rows.values() for row in rows
    )
    marked = [row.mark for rows in preview.page.rows.values() for row in rows if row.mark]
    assert len(marked) == len(preview.plan.changes)


def test_each_change_is_marked_with_the_old_text_of_what_differs() -> None:
    wanted = manifest(
        command("help", "Shows the help menu.", line=9),
        command("clear", line=12, formerly=("purge",)),
        command("facts", line=15),
        announcement("v2", "Out.", line=20),
        rules=SyncRules(max_deletes=parse_delete_limit("10%"), announcements="mirror"),
        warnings=[Problem(Location("commands.yaml", 2, 3), "odd", "fix it")],
    )
    here = baseline(
        command("help", "Shows help.", id="1", uses=4),
        command("purge", id="a/b"),
        command("old", "Was here.", id="3"),
        command("old", "Was here.", id=""),
        announcement("v2", "Soon.", id="a"),
    )
    found = state(wanted, here)

    commands, posts = found.page.rows.values()
    assert [(row.title, row.anchor, row.mark, dict(row.before)) for row in (*commands, *posts)] == [
        ("help", "command-1", Mark.EDITED, {"description": "Shows help."}),
        ("clear", "command-2", Mark.RENAMED, {"name": "purge", "syntax": "/purge"}),
        ("old", "command-4", None, {}),
        ("facts", "new-command-4", Mark.NEW, {}),
        ("old", "gone-command-1", Mark.GONE, {}),
        ("v2", "new-announcement-1", Mark.EDITED, {"description": "Soon."}),
    ]
    assert [row.record.get("uses") for row in commands] == [4, None, None, None, None]
    assert found.page.preview is not None
    refused = found.page.preview.refusal
    assert found.plan.refusal
    assert refused.startswith("apply would refuse ")
    assert refused.partition(": it ")[2].startswith(found.plan.refusal.message)
    assert found.page.preview.notices[0] == "commands.yaml:2:3: odd (fix it)"
    assert found.page.preview.summary == plan_line(found.plan)


def test_another_bot_in_the_manifest_is_told_until_it_is_the_first_one_again() -> None:
    one, here = manifest(command("a")), baseline()
    changed = [one, replace(one, bot="4"), one, replace(one, base_url="https://other.example")]
    notices = [state(wanted, here).notices for wanted in changed]

    assert [len(found) for found in notices] == [1, 2, 1, 2]
    assert "previous listing" in notices[1][1].message
    assert notices[0] == (Notice(UNREAD),)


def test_each_save_shows_what_is_due_and_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = manifest(post("v1", until=2), post("v2", publish=2))
    pages: list[list[str]] = []
    notices: list[list[str]] = []
    for number, here in ((1, baseline()), (2, baseline()), (2, baseline(post("v1", id="a")))):
        set_clock(monkeypatch, number)
        page = state(wanted, here).page
        assert page.preview is not None
        pages.append([row.title for row in page.rows[ANNOUNCEMENT] if row.mark is not Mark.GONE])
        notices.append([notice for notice in page.preview.notices if notice != UNREAD])

    assert pages == [["v1"], ["v2"], ["v2"]]
    assert [len(found) for found in notices] == [2, 1, 2]
    assert "v2" in notices[0][0]
    assert "waits" in notices[0][0]
    assert 'The announcement "v1" is deleted' in notices[2][1]


@pytest.mark.parametrize("before", [None, manifest(command("a"))])
def test_problems_are_shown_with_the_last_valid_state(before: Manifest | None) -> None:
    problem = Problem(Location("commands.yaml", 3, 5), "no such key", "remove it")
    last = state(before, baseline()) if before else None
    page = page_with([problem], last, path="commands.yaml")

    assert page.preview is not None
    assert page.preview.problems == (problem,)
    assert page.rows == (last.page.rows if last else {})
    assert page.bot.profile.username == ("Lantern" if last else "commands.yaml")


def page(summary: str) -> dict[str, bytes]:
    return page_files(BotPage(bot=bot(), rows={}, preview=Preview(summary=summary)))


def test_a_page_is_written_into_a_new_folder_and_replaced_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "preview"
    write_folder(str(folder), page("Plan: first."), force=False)

    path = write_folder(str(folder), page("Plan: second."), force=False)

    assert path == str(folder / "index.html")
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "Plan: second." in text
    assert {file.name for file in folder.iterdir()} == page("").keys()


@pytest.mark.parametrize("name", ["index.html", "style.css"])
def test_a_file_of_somebody_else_is_replaced_only_by_force(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("<title>My site</title>", encoding="utf-8")

    with pytest.raises(FileError, match=f"{name} exists already") as caught:
        write_folder(str(tmp_path), page("Plan."), force=False)
    assert caught.value.hint == Do.REPLACE_FILE()
    assert (tmp_path / name).read_text(encoding="utf-8") == "<title>My site</title>"
    assert [file.name for file in tmp_path.iterdir()] == [name]

    write_folder(str(tmp_path), page("Plan."), force=True)
    assert "My site" not in (tmp_path / name).read_text(encoding="utf-8")


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "site"
    path.write_text("", encoding="utf-8")

    with pytest.raises(FileError, match="cannot"):
        check_folder(str(path), force=False)
