"""An announcement: read, and posted on the page or at one listing.

`announcement_of` makes an announcement of a title and a text, in which mentions of commands are
replaced. An apply of `posted_manifest` posts it on the page and does nothing else; `posting_whole`
sends it to a service of `listings:` in one request.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from commandsync.api.credentials import contains_token
from commandsync.api.operations import Operation
from commandsync.client.connection import Connection
from commandsync.diagnostics import Do, Notice
from commandsync.errors import FileError, RefusedError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, Resource, canonical
from commandsync.services.catalogue import LISTS
from commandsync.services.service import PAGE
from commandsync.sync.commands import mention_of
from commandsync.sync.files import read_text
from commandsync.sync.job import Planned, connected
from commandsync.sync.settings import STDIN, Settings, check_stdin, default_manifest, load_single
from commandsync.sync.sites import ListSite, list_sites

LONGEST = 2_000
"""Code points of an announcement: services publish no limit, and nobody reads more on a page."""

LARGEST = 4 * 1024 * 1024
"""Bytes of a file that is read: none that people write is so large."""

_KIND = Resource.ANNOUNCEMENT
_MENTION = re.compile(r"\{mention:([^{}\n]+)\}")


def announcement_of(
    settings: Settings, *, title: str, text: str = "", notes_file: str = ""
) -> AnnouncementText:
    """Return an announcement with a text, or with the text of a file; `-` is standard input.

    In the text, `{mention:NAME}` is replaced by the mention of a command in Discord's messages.

    Raises:
        UsageError: The title or the text is empty or too long, or a mention's id is not known.
        FileError: The file cannot be read.
        RefusedError: A token of the run is in it.
        ManifestError: The manifest or its imported file is not valid.
    """
    if notes_file:
        check_stdin([notes_file, *settings.files])
        text = _read_stdin() if notes_file == STDIN else read_text(notes_file, most=LARGEST)
    announcement = AnnouncementText(
        " ".join(title.split()), canonical(_with_mentions(settings, text.removeprefix("\ufeff")))
    )
    for name, value in zip(("title", "text"), announcement, strict=True):
        if not value:
            raise UsageError(f"the announcement has no {name}", hint="write some")
        if len(value) > LONGEST:
            message = f"the {name} has {len(value):,} characters; the limit is {LONGEST:,}"
            raise UsageError(message, hint="shorten it, and link to the rest")
        if re.search(r"[\ud800-\udfff]", value):  # from bytes of the command line
            raise UsageError(f"the {name} is not UTF-8", hint="write it in UTF-8")
        if contains_token(value):
            hint = "remove the token where it is now, and renew it: others may have read it"
            raise RefusedError(f"an announcement contains a token, in its {name}", hint=hint)
    return announcement


def _read_stdin() -> str:
    content = sys.stdin.buffer.read(LARGEST + 1)
    if len(content) > LARGEST:
        message = f"standard input is larger than {LARGEST:,} bytes"
        raise FileError(message, hint="is it the right text?")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FileError("standard input is not UTF-8", hint="write it in UTF-8") from error


def _with_mentions(settings: Settings, text: str) -> str:
    def mention(found: re.Match[str]) -> str:
        if shown := mention_of(found[1], objects):
            return shown
        hint = "import the registered commands: commandsync import discord"
        raise UsageError(f"the id of the command {found[1]!r} is not known", hint=hint)

    if not _MENTION.search(text):
        return text
    objects = _manifest(settings).objects
    return _MENTION.sub(mention, text)


def _manifest(settings: Settings, contents: dict[str, bytes] | None = None) -> Manifest:
    hint = Do.NAME_MANIFEST()
    return load_single(settings, "announce works on one manifest", hint=hint, contents=contents)


def posted_manifest(
    settings: Settings, announcement: AnnouncementText, *, source: str
) -> Manifest | Notice:
    """Return a manifest that posts an announcement and does nothing else; a notice says why not.

    It has this announcement alone, adds what is missing, and deletes nothing. The settings need not
    name a manifest. `source` names the announcement's place in the plan.

    Raises:
        ManifestError: The manifest is invalid.
        UsageError: There is more than one manifest, or its next apply would delete the post.
    """
    contents: dict[str, bytes] = {}
    if not settings.files and not Path(path := default_manifest()).exists():
        contents[path] = b"version: 1\n"
    manifest = _manifest(settings, contents)
    entries = manifest.snapshot.collections.get(_KIND, ())
    listed = [replace(entry, id=str(number)) for number, entry in enumerate(entries, start=1)]
    pairs = match([Entry(announcement)], listed, pins_first=PAGE.abilities[_KIND].edit).pairs
    own = entries[pairs[0]] if 0 in pairs else None
    if own and own.text != announcement:
        message = f"the manifest has another text for {announcement.title!r}: nothing is posted"
        hint = "edit it there, or give the announcement another title"
        return Notice(message, hint, own.location)
    mirrored = manifest.rules.prune and manifest.rules.manages(_KIND, PAGE.abilities)
    if not own and mirrored and _KIND in manifest.snapshot.scope:
        raise UsageError(
            f"the next apply of {manifest.path} would delete it: announcements are mirrored",
            hint=Do.POST_LATER(),
        )
    return replace(
        manifest,
        paths=(source,),
        snapshot=Snapshot({_KIND: (Entry(announcement),)}),
        rules=replace(manifest.rules, announcements="append"),
        warnings=(),
        listings=(),
    )


def posted_alone(planned: Planned) -> Planned:
    """Return the plan of a posted manifest; it does not count the other announcements."""
    return planned._replace(plan=replace(planned.plan, unmanaged=()))


@contextmanager
def posting_whole(
    settings: Settings, announcement: AnnouncementText
) -> Iterator[tuple[Connection, ListSite, Operation[None]]]:
    """Open a connection to the listing of the settings, for one request that posts there.

    Raises:
        UsageError: The manifest does not have exactly one such listing, or there is no token.
        ArgumentError: The service does not take the announcement.
        RefusedError: Its token must not be sent to its host.
    """
    sites = list_sites(settings, _manifest(settings))
    names = ", ".join(settings.listing)
    if len(sites) != 1:
        hint = "name one; without a listing it is posted on the page"
        raise UsageError(f"{names} is not one service in listings: of the manifest", hint=hint)
    (site,) = sites
    if site.service.announce is None:
        known = ", ".join(name for name, service in LISTS.items() if service.announce)
        raise UsageError(f"{names} takes no announcements", hint=f"services that do: {known}")
    operation = site.service.announce(announcement, "announcement")
    site.check_token()
    with connected(replace(settings, retries=0), [site]) as (connection,):
        yield connection, site, operation
