"""GitHub's release event is read as the notes of a release; nothing in it is trusted."""

import json
from typing import Any

import pytest

from commandsync.errors import FileError
from commandsync.sources.notes import LONGEST, Release, read_event


def read(action: object = "published", **release: object) -> Release:
    """Read an event of a release with some fields."""
    usual: dict[str, Any] = {
        "tag_name": "v1.2.0",
        "name": "v1.2.0",
        "body": "- Reminders",
        "html_url": "https://git.example/lantern/releases/tag/v1.2.0",
        "draft": False,
        "prerelease": False,
    }
    event = {"action": action, "release": usual | release, "repository": {}}
    return read_event(json.dumps(event).encode(), path="event.json")


def test_a_release_has_its_version_from_the_tag() -> None:
    notes = read().notes

    assert (notes.version, notes.title, notes.text) == ("1.2.0", "v1.2.0", "- Reminders")
    assert notes.link == "https://git.example/lantern/releases/tag/v1.2.0"
    assert (notes.draft, notes.prerelease) == (False, False)
    assert read(body=None).notes.text == ""


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("1.2.0", "1.2.0"),
        ("@lantern/bot@1.2.0", "1.2.0"),
        ("bot-v1.2.0", "1.2.0"),
        ("release/2024-03-09", "2024-03-09"),
        ("nightly", "nightly"),
        ("v2", "2"),
        ("vanilla", "vanilla"),
    ],
)
def test_the_version_is_what_a_tag_contains_of_one(tag: str, version: str) -> None:
    assert read(tag_name=tag).notes.version == version


def test_a_name_that_is_not_a_title_is_left_out() -> None:
    assert {read(name=name).notes.title for name in (None, "  ", 7, "x" * 201)} == {""}
    assert read(name="x" * 200).notes.title == "x" * 200


@pytest.mark.parametrize(
    ("tag", "said", "prerelease"),
    [
        ("v1.2.0", True, True),
        ("v1.2.0-rc.1", False, True),
        ("v1.2.0b2", False, True),
        ("v1.2.0", "yes", False),
    ],
)
def test_a_mark_or_version_makes_a_prerelease(tag: str, said: object, *, prerelease: bool) -> None:
    assert read(tag_name=tag, prerelease=said).notes.prerelease is prerelease


def test_a_release_that_is_taken_back_is_gone() -> None:
    gone = {"deleted", "unpublished"}
    actions = ["published", "released", "edited", "created", "prereleased", None, *gone]

    assert {action for action in actions if read(action).is_gone} == gone


def test_a_link_that_is_none_is_left_out() -> None:
    links = ["javascript:alert(1)", "https://x.example/ y", "https://x.example/<b>", None, 7]

    assert {read(html_url=link).notes.link for link in links} == {""}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b"\xff{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "not a release"),
        (b'{"action": "opened", "pull_request": {}}', "not a release"),
        (b'{"release": []}', "not a release"),
        (b'{"release": {"tag_name": ""}}', "not a release"),
    ],
)
def test_another_event_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(FileError) as caught:
        read_event(content, path="event.json")

    assert caught.value.message.startswith(f"event.json is {message}")


@pytest.mark.promise("large-release")
def test_notes_longer_than_github_allows_are_an_error() -> None:
    read(body="x" * LONGEST)

    with pytest.raises(FileError, match=r"'v1\.2\.0' is longer than 125,000 characters"):
        read(body="x" * (LONGEST + 1))
