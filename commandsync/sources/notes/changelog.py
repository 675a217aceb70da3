"""A changelog -> the section of one version, byte for byte as a person would cut it out."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

from commandsync.errors import FileError
from commandsync.sources.notes import Notes, check_length
from commandsync.sources.notes.markdown import Heading, Page, page_of
from commandsync.sources.notes.version import (
    bare,
    is_only,
    is_prerelease,
    is_withheld,
    names,
    version_in,
)

_LEVEL_OF_PARTS = 3  # of sections on the second level
_MOST_NAMED = 5  # versions that an error names
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*(?:\r\n|\r|\n))+")
# Between two sections: empty lines, and the anchor of the next one.
_BETWEEN = re.compile(r"\s*(?:<a\s+(?:name|id)=[^<>]*>\s*</a>\s*)*", re.IGNORECASE)


def section_of(text: str, version: str = "", *, path: str, prereleases: bool = False) -> Notes:
    """Find the section of a version.

    It begins after the version's heading and ends before the next heading of the same or a higher
    level, or of another version. Link reference definitions at the end of the file are of all
    sections: those that the section uses are added to it.

    Args:
        text: The changelog: Markdown, its byte order mark and line ends included.
        version: The version, with or without a leading `v`; empty for the first released one.
        path: The file, for messages.
        prereleases: Whether the first released one may be a prerelease.

    Raises:
        FileError: The changelog has no such section or several, or nothing is in it.
    """
    page = page_of(text)
    headings = _of_versions(page.headings)
    if version:
        heading = _named(page.headings, headings, bare(version), path)
    else:
        heading = _newest(headings, path, prereleases=prereleases)
    versions = [other for other in headings if other.level <= heading.level or is_only(other.text)]
    body = _body(page, heading, versions)
    name = bare(version) or version_in(heading.text)
    if not body:
        hint = "write what changed below its heading"
        raise FileError(f"{path} has no text for the version {name}", hint=hint)
    return Notes(text=body, version=name, prerelease=is_prerelease(name))


def _of_versions(headings: Sequence[Heading]) -> list[Heading]:
    # Not a `Requires Python 3.12` that is deeper than the usual `Lantern 1.2.0, the big one`.
    naming = [heading for heading in headings if version_in(heading.text)]
    levels = Counter(heading.level for heading in naming)
    usual = max(sorted(levels), key=levels.__getitem__, default=0)
    return [heading for heading in naming if heading.level == usual or is_only(heading.text)]


def _named(
    headings: Sequence[Heading], of_versions: Sequence[Heading], version: str, path: str
) -> Heading:
    naming = [heading for heading in of_versions if names(heading.text, version)]
    exact = filter(lambda heading: is_only(heading.text), naming)
    word = version.casefold()  # a version without a dot, such as Unreleased or v2
    alone = (each for each in headings if bare(each.text.strip("[] ")).casefold() == word)
    match [*exact] or naming or [*alone]:
        case [heading]:
            return heading
        case []:
            message = f"{path} has no heading for the version {version}"
            raise FileError(message, hint=_hint(of_versions, meant=version))
        case several:
            lines = " and ".join(str(heading.begin + 1) for heading in several)
            message = f"{path} has {len(several)} headings for the version {version}"
            raise FileError(f"{message}, on lines {lines}", hint="give each version one heading")


def _newest(headings: Sequence[Heading], path: str, *, prereleases: bool) -> Heading:
    """Return the first heading of a version that is released; a prerelease only on request."""
    for heading in headings:
        final = prereleases or not is_prerelease(version_in(heading.text))
        if final and not is_withheld(heading.text):
            return heading
    hint = "name a version" if headings else _hint(headings)
    raise FileError(f"{path} has no heading for a released version", hint=hint)


def _hint(headings: Sequence[Heading], *, meant: str = "") -> str:
    versions = list(dict.fromkeys(version_in(heading.text) for heading in headings))
    if not versions:
        return "a section begins with a heading such as ## 1.2.0"
    near = "".join(f"did you mean {v}? " for v in get_close_matches(meant, versions, n=1))
    shown = versions if len(versions) <= _MOST_NAMED else [*versions[:_MOST_NAMED], "..."]
    return f"{near}it has {', '.join(shown)}"


def _body(page: Page, heading: Heading, versions: Sequence[Heading]) -> str:
    """Return the text below a heading, with those definitions of the file that it uses."""
    end = _end(page, heading, versions)
    apart = page.rules | (page.defining if end == len(page.lines) else set())
    while end - 1 in apart or _BETWEEN.fullmatch(page.lines[end - 1]):  # ends at a heading
        end -= 1
    text = _EMPTY_LINES.sub("", "".join(page.lines[heading.end : end]))
    check_length(text, of=f"the section {heading.text!r}")
    definitions = page.used_definitions(text, without=range(heading.end, end))
    return f"{text.rstrip()}\n\n{definitions}" if definitions else text


def _end(page: Page, heading: Heading, versions: Sequence[Heading]) -> int:
    later = [other for other in page.headings if other.begin >= heading.end]
    below = next(iter(later), heading)
    # A heading of the version's own level is a part of it: `### Bug Fixes` of `### [1.2.1]`.
    is_part = below not in versions and below.level == heading.level >= _LEVEL_OF_PARTS
    between = "".join(page.lines[heading.end : below.begin])
    level = heading.level - (is_part and not between.strip())
    ends = (other.begin for other in later if other.level <= level or other in versions)
    return next(ends, len(page.lines))
