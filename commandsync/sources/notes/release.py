"""GitHub's release event -> the notes of a release.

The form is that of the event's payload, which GitHub Actions writes to the file in
GITHUB_EVENT_PATH ("Webhook events and payloads", release). Whoever can publish a release writes
its texts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.errors import FileError
from commandsync.sources.notes import Notes, check_length
from commandsync.sources.notes.version import bare, is_prerelease, version_in

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_NAME = 200  # characters; a longer one is not a title
_GONE = {"deleted", "unpublished"}
_URL = re.compile(r"https?://[^\s<>\"]+")


class Release(NamedTuple):
    """A release, and what happened to it."""

    action: str
    notes: Notes

    @property
    def is_gone(self) -> bool:
        """Whether the event says that the release is not public any more."""
        return self.action in _GONE


def read_event(content: bytes, *, path: str) -> Release:
    """Read a release event.

    Args:
        content: The payload as JSON.
        path: Its file, for messages.

    Raises:
        FileError: It is not valid JSON, not a release event, or its notes are too long.
    """
    try:
        event = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path} is not valid JSON", hint="--event takes the payload of a release event"
        ) from error
    release = event.get("release") if isinstance(event, dict) else None
    tag = _text(release, "tag_name") if isinstance(release, dict) else ""
    if not (isinstance(release, dict) and tag):
        raise FileError(
            f"{path} is not a release event",
            hint="run this in a workflow with on: {release: {types: [published]}}",
        )
    check_length(body := _text(release, "body"), of=f"the text of the release {tag!r}")
    return Release(_text(event, "action"), _notes(release, tag, body))


def _notes(release: Mapping[str, Any], tag: str, body: str) -> Notes:
    version = version_in(tag) or bare(tag)
    name, link = _text(release, "name"), _text(release, "html_url")
    return Notes(
        text=body,
        version=version,
        title=name if len(name) <= _LONGEST_NAME else "",
        link=link if _URL.fullmatch(link) else "",
        prerelease=release.get("prerelease") is True or is_prerelease(version),
        draft=release.get("draft") is True,
    )


def _text(values: Mapping[str, Any], key: str) -> str:
    """Return a text of an object; null and anything else are empty."""
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""
