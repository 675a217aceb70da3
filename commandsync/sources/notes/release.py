"""GitHub's release event -> the notes of a release.

The form is that of the event's payload, which GitHub Actions writes to the file in
GITHUB_EVENT_PATH ("Webhook events and payloads", release). Whoever can publish a release writes
its texts.
"""

import json
import re
from typing import NamedTuple

from commandsync.errors import FileError
from commandsync.sources.jsonfile import text_of
from commandsync.sources.notes import Notes, check_length
from commandsync.sources.notes.version import bare, is_prerelease, version_in

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
    """Read a release event, whose payload is JSON; `FileError` if it is not one, or too long."""
    try:
        event = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileError(
            f"{path} is not valid JSON", hint="it must be the payload of a release event"
        ) from error
    release = event.get("release") if isinstance(event, dict) else None
    tag = text_of(release, "tag_name") if isinstance(release, dict) else ""
    if not (isinstance(release, dict) and tag):
        raise FileError(
            f"{path} is not a release event",
            hint="run this in a workflow with on: {release: {types: [published]}}",
        )
    check_length(body := text_of(release, "body"), of=f"the text of the release {tag!r}")
    version = version_in(tag) or bare(tag)
    name, link = text_of(release, "name"), text_of(release, "html_url")
    notes = Notes(
        text=body,
        version=version,
        title=name if len(name) <= _LONGEST_NAME else "",
        link=link if _URL.fullmatch(link) else "",
        prerelease=release.get("prerelease") is True or is_prerelease(version),
        draft=release.get("draft") is True,
    )
    return Release(text_of(event, "action"), notes)
