"""Versions as headings, tags and titles name them."""

import re

_BEGINS = r"(?<![\w.+])(?<!\d-)"  # neither within a word nor within a longer version
_DOTTED = re.compile(rf"{_BEGINS}v?(\d+(?:\.\d+)+(?:[-+._]?[0-9A-Za-z])*)", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_PRERELEASE = re.compile(
    r"\d[-._]?(?:a|alpha|b|beta|c|canary|dev|next|nightly|pre|preview|rc|snapshot)(?![a-z])",
    re.IGNORECASE,
)
_WITHHELD = re.compile(r"\b(?:yanked|unreleased)\b", re.IGNORECASE)
# What else a heading that is about one version may contain: its word, a date, that it is yanked.
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
