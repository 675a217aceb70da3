"""Release notes, read as values for an announcement.

Notes are a section of a changelog (`changelog`), or the text of GitHub's release event, whose
payload GitHub Actions writes to the file in GITHUB_EVENT_PATH ("Webhook events and payloads",
release; anybody who can publish a release writes its texts). Headings, tags and titles name their
version. `excerpt` leaves out the parts that a listing does not show, and shortens the rest. Text is
kept to the character: it is cut out, and never rewritten. Only a first block that is indented moves
to the left as a whole.
"""

import json
import re
from dataclasses import dataclass
from typing import NamedTuple

from commandsync.errors import FileError
from commandsync.sources.entry import text_of

LONGEST = 125_000
"""Characters of one version's notes, as GitHub allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The notes of one version."""

    text: str  # Markdown, as it is written
    version: str = ""  # the version, without a leading `v`; empty if it is not known
    title: str = ""  # a title for them; empty if they have none
    link: str = ""  # the address of the whole notes; empty if there is none
    prerelease: bool = False
    draft: bool = False


def check_length(text: str, *, of: str) -> None:
    """Refuse, with a `FileError`, notes longer than `LONGEST`; `of` is their name."""
    if len(text) > LONGEST:
        message = f"{of} is longer than {LONGEST:,} characters"
        raise FileError(message, hint="is it the right file?")


_BEGINS = r"(?<![\w.+])(?<!\d-)"  # neither within a word nor within a longer version
_DOTTED = re.compile(rf"{_BEGINS}v?(\d+(?:\.\d+)+(?:[-+._]?[0-9A-Za-z])*)", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_PRERELEASE = re.compile(
    r"\d[-._]?(?:a|alpha|b|beta|c|canary|dev|next|nightly|pre|preview|rc|snapshot)(?![a-z])",
    re.IGNORECASE,
)
_WITHHELD = re.compile(r"\b(?:yanked|unreleased)\b", re.IGNORECASE)
# The other parts of a heading of one version: a word for it, a date, that it is yanked.
_AROUND = re.compile(
    r"version|unreleased|released?|yanked|:\w+:|\d+(?:st|nd|rd|th)?|[\W_]"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)(?:uary|ch|il|ust|tember|(?:em|o)?ber)?",
    re.IGNORECASE,
)


def bare(version: str) -> str:
    """Return a version without the `v` before its number."""
    return re.sub(r"\Av(?=\d)", "", version, flags=re.IGNORECASE)


def version_in(text: str) -> str:
    """Return the first number with a dot, else the first date, without a `v`; empty for neither."""
    match = _DOTTED.search(text) or _DATE.search(text)
    return match[1] if match else ""


def names(text: str, version: str) -> bool:
    """Whether a text names a version: 1.2.0-rc.1 names neither 1.2.0 nor 1.2."""
    end = r"(?![\w+]|[.-]\w)"
    return re.search(rf"{_BEGINS}v?{re.escape(version)}{end}", text, re.IGNORECASE) is not None


def is_only(text: str) -> bool:
    """Whether a text is a version with a dot and nothing else, but for a date and signs."""
    rest, count = _DOTTED.subn("", text)
    return count > 0 and not _AROUND.sub("", rest)


def is_prerelease(version: str) -> bool:
    """Whether a version says of itself that it is not final."""
    return _PRERELEASE.search(version) is not None


def is_withheld(heading: str) -> bool:
    """Whether a heading says that its version is withdrawn, or not released yet."""
    return _WITHHELD.search(heading) is not None


_LONGEST_NAME = 200  # characters; a longer one is not a title
_GONE = {"deleted", "unpublished"}
_URL = re.compile(r"https?://[^\s<>\"]+")


class Release(NamedTuple):
    """A release, and the action of its event."""

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
