"""An announcement: its text, its place in the manifest, and the plan that posts it.

`announcement_of` reads a changelog, a release, a file or the changes of commands, and makes one
text of it. `plan_announcement` compares that with the manifest, and adds it there. With `posting` a
plan posts it on the page and does nothing else; `posting_whole` sends it to a service of
`listings:` in one request. Mentions of commands are replaced before.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from commandsync.api.operations import Operation
from commandsync.client.connection import Connection
from commandsync.diagnostics import Do, Notice
from commandsync.errors import CommandsyncError, UsageError
from commandsync.manifest import Manifest
from commandsync.manifest.fileedits import ListEdits, edit
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, Resource, canonical
from commandsync.services.catalogue import LISTS
from commandsync.services.service import PAGE
from commandsync.sources.changeset import FileEdit
from commandsync.sources.notes import Notes, bare, check_length, names, read_event, version_in
from commandsync.sources.notes.changelog import page_of, section_of
from commandsync.sources.notes.excerpt import excerpt, on_one_line, plain
from commandsync.sync.companions import mention_of, objects_of
from commandsync.sync.destinations import ListSite, list_sites
from commandsync.sync.edits import EntryPlaces, checked_edits
from commandsync.sync.files import read_file, read_text
from commandsync.sync.job import Planned, RecordJob, connected
from commandsync.sync.selection import jobs, plan_jobs
from commandsync.sync.settings import Settings, default_manifest, load_to_edit

Read = Callable[["Announcing"], Notes | Notice]

LONGEST = 2_000
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
    title: str = ""  # by default the notes' own, or `Version` and the version
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
    text = excerpt(plain(mentioned(notes.text)), limit=LONGEST, link=notes.link)
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
    if announcing.title:
        return announcing.title
    if not notes.title:
        return f"Version {notes.version}" if notes.version else ""
    is_named = not version_in(notes.version) or names(notes.title, notes.version)
    return notes.title if is_named else f"{notes.title} ({notes.version})"


_KIND = Resource.ANNOUNCEMENT
_MENTION = re.compile(r"\{mention:([^{}\n]+)\}")


@dataclass(frozen=True, slots=True)
class AnnouncementPlan:
    """An announcement beside a manifest."""

    announcement: Announcement  # the announcement
    manifest: Manifest  # the manifest as it is
    own: Entry | None  # the manifest's announcement that is the same one; None if it has none
    # The file of the manifest that gets the announcement; None if `own` is there.
    file: FileEdit | None

    @property
    def difference(self) -> Notice | None:
        """The warning that the manifest has another text for it; None if it has not."""
        if self.own is None or self.own.text == self.announcement.text:
            return None
        return Notice(
            f"the manifest has another text for {self.announcement.text.title!r}: it stays, and "
            "nothing is announced",
            "edit it there, or give the announcement another title",
            self.own.location,
        )

    @property
    def remark(self) -> Notice | None:
        """The remark that announcements are managed from now on; None if they are already."""
        if _KIND in self.manifest.snapshot.scope:
            return None
        return Notice("the manifest manages announcements from now on", Do.MERGE_LISTED())


def plan_announcement(
    settings: Settings, announcement: Announcement, *, posts: bool
) -> AnnouncementPlan:
    """Compare an announcement with the manifest; nothing is written.

    The announcement goes to the end: a listing shows them in the order in which they are posted,
    and so does a manifest.

    An announcement that is posted needs no manifest.

    Raises:
        ManifestError: The manifest is invalid, or would be, or cannot be edited in place.
        UsageError: There is not exactly one manifest, or its next apply would delete what is
            posted.
    """
    contents: dict[str, bytes] = {}
    if posts and not settings.files and not Path(path := default_manifest()).exists():
        contents[path] = b"version: 1\n"
    manifest = load_to_edit(settings, contents, what="announce")
    entries = manifest.snapshot.collections.get(_KIND, ())
    own = _same(announcement, entries)
    file = None if own else _edited(manifest, announcement, contents)
    mirrored = manifest.rules.prune and manifest.rules.manages(_KIND, PAGE.abilities)
    if posts and file and mirrored and _KIND in manifest.snapshot.scope:
        raise UsageError(
            f"the next apply of {manifest.path} would delete it: announcements are mirrored",
            hint=Do.POST_LATER(),
        )
    return AnnouncementPlan(announcement, manifest, own, file)


@contextmanager
def posting(
    settings: Settings, plan: AnnouncementPlan, *, source: str
) -> Iterator[list[Planned | CommandsyncError]]:
    """Plan to post an announcement, with a connection to its listing.

    The plan is one of a manifest with this announcement alone, which adds what is missing and
    deletes nothing.

    `source` is what the announcement was read from. Raises `CommandsyncError` if the listing is not
    known, or the token is missing or another bot's.
    """
    entry = Entry(plan.announcement.text)
    alone = replace(
        plan.manifest,
        paths=(source,),
        snapshot=Snapshot({_KIND: (entry,)}),
        rules=replace(plan.manifest.rules, announcements="append"),
        warnings=(),
        listings=(),
    )
    with jobs(settings, [alone]) as opened:
        for job in opened:
            job.site.check_token()
        yield [
            _keyed(planned, plan.announcement) if isinstance(planned, Planned) else planned
            for planned in plan_jobs(opened)
        ]


@contextmanager
def posting_whole(
    settings: Settings, text: AnnouncementText
) -> Iterator[tuple[Connection, ListSite, Operation[None]]]:
    """Open a connection to the listing of the settings, for one request that posts a text there.

    Raises:
        UsageError: The manifest does not have exactly one such listing, or there is no token.
        ArgumentError: The service does not take the announcement.
        RefusedError: Its token must not be sent to its host.
    """
    manifest = load_to_edit(settings, {}, what="announce")
    sites = list_sites(settings, manifest)
    names = ", ".join(settings.listing)
    if len(sites) != 1:
        hint = "name one; without a listing it is posted on the page"
        raise UsageError(f"{names} is not one service in listings: of the manifest", hint=hint)
    (site,) = sites
    if site.service.announce is None:
        known = ", ".join(name for name, service in LISTS.items() if service.announce)
        raise UsageError(f"{names} takes no announcements", hint=f"services that do: {known}")
    operation = site.service.announce(text, "announcement")
    site.check_token()
    with connected(replace(settings, retries=0), [site]) as (connection,):
        yield connection, site, operation


def with_mentions(settings: Settings, text: str) -> str:
    """Return a text in which `{mention:NAME}` is what mentions a command in Discord's messages.

    Raises:
        ManifestError: The manifest, or what was imported into it, is not valid.
        UsageError: The id of a command is not known.
    """

    def mention(match: re.Match[str]) -> str:
        if found := mention_of(match[1], objects):
            return found
        message = f"the id of the command {match[1]!r} is not known"
        raise UsageError(
            message, hint="import what the bot has registered: commandsync import discord"
        )

    if not _MENTION.search(text):
        return text
    objects = objects_of(load_to_edit(settings, {}, what="announce"))
    return _MENTION.sub(mention, text)


def _keyed(planned: Planned, announcement: Announcement) -> Planned:
    """Return a plan that takes a listed announcement of the same version for the same one.

    The others are none of its business: it does not count what the manifest has.
    """
    pin = _pin(announcement, planned.listed.collections[_KIND])
    if pin and isinstance(planned.job, RecordJob):
        planned = planned.job.pinned({None: pin}).planned(planned.listed)
    return planned._replace(plan=replace(planned.plan, unmanaged=()))


def _same(announcement: Announcement, entries: Sequence[Entry]) -> Entry | None:
    """Find the announcement among others, as a plan matches them."""
    others = [replace(entry, id=str(n)) for n, entry in enumerate(entries, start=1)]
    wanted = Entry(announcement.text, id=_pin(announcement, others))
    found = match([wanted], others, pins_first=PAGE.abilities[_KIND].edit).pairs.get(0)
    return None if found is None else entries[found]


def _pin(announcement: Announcement, entries: Sequence[Entry]) -> str:
    """Return the id of the first of some announcements whose title names the version."""
    version = version_in(announcement.version)  # a word or one number may mean anything
    of_version = (entry.id for entry in entries if entry.writable and names(entry.name, version))
    return next(of_version, "") if version else ""


def _edited(manifest: Manifest, announcement: Announcement, contents: dict[str, bytes]) -> FileEdit:
    """Add an announcement to the manifest; raises `ManifestError` if that makes it invalid."""
    entries = manifest.snapshot.collections.get(_KIND, ())
    path, after = EntryPlaces.of(manifest, entries).after(None, manifest)
    edits = {_KIND.collection: ListEdits(added=[(after, announcement.text._asdict())])}
    text = edit(contents[path].decode(), edits, path=path)
    return checked_edits(manifest, contents, {path: text}, when="with the announcement")[0]
