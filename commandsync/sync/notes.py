"""What is announced: a changelog, a release, a file or the changes of commands -> one text."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from commandsync.diagnostics import Do, Notice
from commandsync.errors import UsageError
from commandsync.records.texts import AnnouncementText, canonical
from commandsync.sources.notes import Notes, bare, check_length, names, read_event, version_in
from commandsync.sources.notes.changelog import page_of, section_of
from commandsync.sources.notes.excerpt import excerpt, on_one_line, plain
from commandsync.sync.files import read_file, read_text

Read = Callable[["Announcing"], Notes | Notice]

DEFAULT_LIMIT = 2_000
"""Code points of an announcement: services publish no limit, and nobody reads more on a page."""

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that is read: none that people write is so large."""

_LINK = re.compile(r"https?://[^\s<>]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcing:
    """What to announce; exactly one of the first four is given."""

    changelog: str = ""  # a changelog, whose section of `version` is announced
    event: str = ""  # a file with GitHub's release event
    notes_file: str = ""  # a file with the text
    since: str = ""  # an earlier manifest, since which the changes of the commands are announced
    version: str = ""  # the version; of a changelog by default the first one that is released
    # The title, in which `{version}` stands for the version; by default the notes' own, or
    # `Version` and the version.
    title: str = ""
    link: str = ""  # the address of the whole notes; by default that of the release
    limit: int = DEFAULT_LIMIT  # the most code points of the text
    prerelease: bool = False  # whether prereleases are announced
    draft: bool = False  # whether drafts are announced

    @property
    def source(self) -> str:
        """What is read."""
        return self.changelog or self.event or self.notes_file or self.since


@dataclass(frozen=True, slots=True)
class Announcement:
    """An announcement to make."""

    text: AnnouncementText  # its title and text
    # The version that it is for, if its title was not given: another announcement whose title names
    # this version is the same one.
    version: str


def announcement_of(
    announcing: Announcing, *, changes: Read, mentioned: Callable[[str], str] = str
) -> Announcement | Notice:
    """Read what is announced; a notice says why nothing is.

    Args:
        announcing: What to announce.
        changes: Reads the changes since an earlier manifest, or says that there are none.
        mentioned: Returns the text with the mentions of commands.

    Raises:
        UsageError: Not exactly one source is given, or something that goes with it is missing.
        FileError: The source cannot be read, or has no text, or no section of the version.
    """
    notes = _notes(announcing, changes)
    if isinstance(notes, Notice):
        return notes
    title = on_one_line(_title(announcing, notes))
    if not title:
        hint = "give a title or a version, or begin the file with a heading"
        raise UsageError("the announcement has no title", hint=hint)
    link = announcing.link or notes.link
    if link and not _LINK.fullmatch(link):
        raise UsageError(f"{link!r} is not a valid link", hint="a link begins with https://")
    text = excerpt(plain(mentioned(notes.text)), limit=announcing.limit, link=link)
    version = "" if announcing.title else notes.version
    return Announcement(AnnouncementText(title, canonical(text)), version)


def _notes(announcing: Announcing, changes: Read) -> Notes | Notice:
    readers = (
        (announcing.changelog, _of_changelog),
        (announcing.event, _of_event),
        (announcing.notes_file, _of_file),
        (announcing.since, changes),
    )
    match [read for source, read in readers if source]:
        case [read]:
            return read(announcing)
        case _:
            raise UsageError("announce takes one source", hint=Do.GIVE_SOURCE())


def _of_changelog(announcing: Announcing) -> Notes:
    path = announcing.changelog
    text = read_text(path, most=LARGEST)
    return section_of(text, announcing.version, path=path, prereleases=announcing.prerelease)


def _of_event(announcing: Announcing) -> Notes | Notice:
    """Read a release; drafts and prereleases only on request."""
    if announcing.version:
        raise UsageError("a release event has its own version", hint="leave out the version")
    path = announcing.event
    release = read_event(read_file(path, most=LARGEST), path=path)
    notes = release.notes
    if release.is_gone:
        return Notice(f"the release {notes.version!r} was {release.action}: nothing is announced")
    for kind in ("draft", "prerelease"):
        if getattr(notes, kind) and not getattr(announcing, kind):
            message = f"the release {notes.version!r} is a {kind}: nothing is announced"
            return Notice(message, Do.ANNOUNCE_UNRELEASED(kind=kind))
    return notes


def _of_file(announcing: Announcing) -> Notes:
    """Read a text; without a title, its first line is a heading, which becomes the title."""
    check_length(text := read_text(announcing.notes_file, most=LARGEST), of=announcing.notes_file)
    page = page_of(text)
    headings = page.headings
    title, begin = "", 0
    if headings and not (announcing.title or "".join(page.lines[: headings[0].begin]).strip()):
        title, begin = headings[0].text, headings[0].end
    return Notes(text="".join(page.lines[begin:]), version=bare(announcing.version), title=title)


def _title(announcing: Announcing, notes: Notes) -> str:
    """Return the title; that of the notes with the version, by which it is known again."""
    if "{version}" in announcing.title and not notes.version:
        raise UsageError("the title has {version}, which is not known", hint="give the version")
    if announcing.title:
        return announcing.title.replace("{version}", notes.version)
    if not notes.title:
        return f"Version {notes.version}" if notes.version else ""
    is_named = not version_in(notes.version) or names(notes.title, notes.version)
    return notes.title if is_named else f"{notes.title} ({notes.version})"
