"""What is announced gets a title that names its version, by which it is known again."""

import json
from pathlib import Path

import pytest

from commandsync.diagnostics import Notice
from commandsync.sync.announcement import Announcement, Announcing, announcement_of


def announced(path: Path, **options: str) -> tuple[str, str]:
    """Return the title of an announcement, and the version that it is known by."""
    announcement = announcement_of(
        Announcing(**{"notes_file": str(path), **options}),  # type: ignore[arg-type]  # no other options here
        changes=lambda _: Notice("not read"),
    )
    assert isinstance(announcement, Announcement)
    return announcement.text.title, announcement.version


@pytest.mark.parametrize(
    ("tag", "name", "title"),
    [
        ("v1.2.0", "v1.2.0", "v1.2.0"),
        ("v1.2.0", "The big one", "The big one (1.2.0)"),
        ("1.2.0", "Lantern 1.2.0: the big one", "Lantern 1.2.0: the big one"),
        ("v1.2.0", "Lantern 1.2.0.1", "Lantern 1.2.0.1 (1.2.0)"),
        ("v1.2.0", "Lantern 11.2.0", "Lantern 11.2.0 (1.2.0)"),
        ("v1.2.0", None, "Version 1.2.0"),
        ("nightly", "", "Version nightly"),
        ("nightly", "Every night", "Every night"),
        ("v2", "Two", "Two"),
        ("v1.2.0", "two\r\nlines\u202e", "two lines (1.2.0)"),
    ],
)
def test_a_release_has_its_version(tmp_path: Path, tag: str, name: str | None, title: str) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"release": {"tag_name": tag, "name": name, "body": "x"}}))

    assert announced(path, notes_file="", event=str(path))[0] == title


@pytest.mark.parametrize(
    ("text", "options", "known"),
    [
        ("# *Reminders*\n\nx", {}, ("Reminders", "")),
        ("\ufeff\nReminders\n---\n\nx", {"version": "v2.0"}, ("Reminders (2.0)", "2.0")),
        ("x\n\n# Later", {"version": "2.0"}, ("Version 2.0", "2.0")),
        ("# Reminders\n\nx", {"version": "2.0", "title": "News of it"}, ("News of it", "")),
        ("x", {"title": " News\n of  it "}, ("News of it", "")),
    ],
)
def test_the_title_of_a_file_is_given_or_its_first_line(
    tmp_path: Path, text: str, options: dict[str, str], known: tuple[str, str]
) -> None:
    path = tmp_path / "news.md"
    path.write_text(text, encoding="utf-8")

    assert announced(path, **options) == known


def test_a_heading_stays_in_a_text_that_has_a_title(tmp_path: Path) -> None:
    path = tmp_path / "news.md"
    path.write_text("# Reminders\r\n\r\nx\r\n", encoding="utf-8")

    texts = [
        announcement_of(Announcing(notes_file=str(path), title=title), changes=lambda _: Notice(""))
        for title in ("", "News")
    ]

    assert [each.text.description for each in texts if isinstance(each, Announcement)] == [
        "x",
        "# Reminders\n\nx",
    ]
