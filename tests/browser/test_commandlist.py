"""The page of `docs --format html`, opened from the disk: no complaint, whatever the texts are."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from commandsync.pages.templates import commands_page
from commandsync.records.texts import CommandOption, CommandText, LoadedCommand
from commandsync.report.commandlist import sealed
from tests.support.browser import Visits, violations_in_both, visiting
from tests.support.pages import FRAGMENTS

COMMANDS = [
    LoadedCommand.of(
        ("ban", "Bans a member.", "/ban <user> [time]", "Staff"),
        options=[
            CommandOption("user", "Who leaves.", required=True),
            CommandOption("time", "For how long.", choices=("1 hour", "1 day")),
        ],
    ),
    LoadedCommand.of(("Report", "Tells staff.", "/Report", "Staff"), menu="message"),
    CommandText("play", "Plays a song.", "/play <song>", "Music"),
    # A name of invisible characters alone would be a heading without a text.
    *(
        CommandText(text, text, text, text)
        for text in FRAGMENTS
        if text.isprintable() and text.strip()
    ),
]


@pytest.fixture
def folder(browser: Browser, tmp_path: Path) -> Iterator[Visits]:
    """Visits of files in a folder with the page."""
    (tmp_path / "commands.html").write_text(sealed(commands_page(COMMANDS)), encoding="utf-8")
    with visiting(browser, tmp_path.as_uri()) as visits:
        yield visits


def test_the_filter_finds_commands_and_anybody_can_use_the_page(folder: Visits) -> None:
    page = folder.open("/commands.html")

    expect(page.locator(".command")).to_have_count(len(COMMANDS))
    assert violations_in_both(page) == []
    page.get_by_label("Filter commands").fill("plays MUSIC")
    expect(page.locator(".command:visible h4")).to_have_text(["play"])
    expect(page.locator(".section-head .count")).to_have_text(f"1 of {len(COMMANDS)}")
    page.get_by_label("Filter commands").fill("long 1 DAY")
    expect(page.locator(".command:visible h4")).to_have_text(["ban"])
    page.get_by_label("Filter commands").fill("message menu")
    expect(page.locator(".command:visible h4")).to_have_text(["Report"])


def test_without_scripts_all_commands_are_there_and_the_filter_is_not(folder: Visits) -> None:
    page = folder.open("/commands.html#command-play", java_script_enabled=False)

    expect(page.locator(".command")).to_have_count(len(COMMANDS))
    expect(page.get_by_label("Filter commands")).to_be_hidden()
    expect(page.locator(":target h4")).to_have_text("play")
