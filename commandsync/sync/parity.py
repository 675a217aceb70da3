"""The names of a bot's commands, read wherever they are: its code, Discord, its listings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from commandsync.errors import CommandsyncError, Exit, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.differences import Cell, NamePlace, Parity, key_of, parity
from commandsync.records.imported import ImportedCommand
from commandsync.records.snapshot import Snapshot, callables
from commandsync.records.texts import Resource
from commandsync.sources.entry import SourceReading
from commandsync.sync.importsource import (
    LIVE,
    NamedSource,
    read_sources,
    sources_of,
)
from commandsync.sync.job import RecordJob
from commandsync.sync.lists import ListJob
from commandsync.sync.registrations import RegistrationJob, read_registered
from commandsync.sync.selection import jobs
from commandsync.sync.settings import DISCORD_VARIABLE, Settings, token_in

if TYPE_CHECKING:
    from commandsync.sync.selection import ManifestJob

_COMMANDS = Resource.COMMAND


def compare_names(settings: Settings, manifest: Manifest) -> Parity:
    """Read the names of a bot's commands in each place, and compare them.

    `import:` of the manifest names its code. Discord's list is read if `DISCORD_TOKEN` is set. A
    place that cannot be read is part of the result.

    Raises:
        UsageError: The manifest has no `commands:`.
        CommandsyncError: The settings of a listing are not valid.
    """
    if not names_commands(manifest):
        raise UsageError(f"{manifest.path} has no commands:", hint="add commands: to it")
    own = NamePlace("manifest", [command.name for command in manifest.snapshot.commands])
    code, live = _served(settings, manifest)
    served = [code] if manifest.discord else [code, live]  # else it is among the listings
    listed = _listed(settings, manifest)
    return parity(manifest.path, own, served=served, listed=listed)


def names_commands(manifest: Manifest) -> bool:
    """Return whether a manifest has `commands:`."""
    return _COMMANDS in manifest.snapshot.collections


def exit_code(results: Sequence[Parity]) -> int:
    """Return the exit code: `FAILED` where a read failed, `CHANGES` where names differ."""
    if any(place.failed for result in results for place in result.places):
        return Exit.FAILED
    return Exit.CHANGES if any(result.differing for result in results) else Exit.DONE


def _served(settings: Settings, manifest: Manifest) -> tuple[NamePlace, NamePlace]:
    """Return the code and Discord, without commands that the manifest's rules leave out."""
    sources = sources_of(manifest) if manifest.imports.sources else []
    files = [source for source in sources if source.path]
    unread = "" if files else "import: of the manifest names no code"
    code, found = _read("code", manifest, lambda: (files, SourceReading()), unread)
    is_known = token_in(settings, DISCORD_VARIABLE) and not manifest.discord
    unread = "" if is_known else f"{DISCORD_VARIABLE} is not set"
    live, _ = _read("discord", manifest, lambda: _registered(settings, manifest), unread)
    calls = [(command.name, command.syntax) for command in manifest.snapshot.commands]
    calls += [(command.name, command.syntax) for command in found]
    slash = _keys(name for name, syntax in calls if syntax.startswith("/")) | _keys(live.names)
    left_out = code.not_meant | live.not_meant
    code = replace(code, not_meant=(left_out | _own(manifest)) - _keys(code.names))
    return code, replace(live, not_meant=left_out | _keys(name for name, _ in calls) - slash)


def _own(manifest: Manifest) -> frozenset[str]:
    """Return the names of entries that mean no imported command, nor the code."""
    if manifest.imported is None:
        return frozenset()
    imported = {command.name for command in manifest.imported.public}
    names = (command.name for command in manifest.snapshot.commands)
    return _keys(name for name in names if name not in imported)


def _read(
    name: str,
    manifest: Manifest,
    start: Callable[[], tuple[Sequence[NamedSource], SourceReading]],
    unread: str,
) -> tuple[NamePlace, Sequence[ImportedCommand]]:
    """Return a place and what it declares: nothing if it is `unread`, which says why, or fails."""
    place = NamePlace(name)
    if unread:
        return replace(place, others=Cell.NOT_READ, unread=unread), ()
    try:
        sources, live = start()
        found = read_sources(manifest, sources, registered=lambda _: live)
    except CommandsyncError as error:
        return _unreadable(place, error), ()
    if found.partly or found.unread:
        place = replace(
            place,
            others=Cell.NOT_READ,
            unread="a part of it cannot be read: commandsync import -- PROGRAM records it",
        )
    public = [each.command for each in found.public]
    names = [command.name for command in public]
    every = [each.command.name for each in found.found.values()]
    left_out = _keys([*every, *(each.name for each in found.left_out)]) - _keys(names)
    return replace(place, names=names, not_meant=left_out), public


def _registered(settings: Settings, manifest: Manifest) -> tuple[list[NamedSource], SourceReading]:
    """Read what is registered with Discord, as the environment says; it may be nothing."""
    reading = read_registered(settings, manifest.imports.locale)
    return [NamedSource(LIVE, None)] if reading.entries else [], reading


def _listed(settings: Settings, manifest: Manifest) -> list[NamePlace]:
    """Return the listings of a manifest, which are read at the same time."""
    known = (settings.base_url, manifest.base_url, manifest.listings, manifest.discord)
    if not any(known):
        return [NamePlace("page", others=Cell.NOT_READ, unread="the base URL is not known")]
    with jobs(settings, [manifest]) as opened:
        return [_listing(*each) for each in [(job, job.start_reading()) for job in opened]]


def _listing(job: "ManifestJob", reading: Callable[[], Snapshot]) -> NamePlace:
    place = NamePlace(job.name or job.site.name)
    if isinstance(job, ListJob) and not job.site.returned:
        unread = "the service does not return its list"
        return replace(place, others=Cell.UNREADABLE, unread=unread)
    if not (job.is_read or isinstance(job, RecordJob)):
        untrusted = job.site.untrusted
        unread = str(untrusted or f"{job.site.token_from} is not set")
        return replace(place, others=Cell.NOT_READ, unread=unread)
    try:
        entries = reading().collections[job.scope[0]]
    except CommandsyncError as error:
        return _unreadable(place, error)
    names = [name for entry in entries for name in callables(entry.text)]
    return replace(place, names=names, not_meant=_not_meant(job, names))


def _not_meant(job: "ManifestJob", names: Sequence[str]) -> frozenset[str]:
    """Return the keys of names that a listing does not show, or shows for other reasons."""
    manifest = job.manifest
    known = shown = _keys(command.name for command in manifest.snapshot.commands)
    others = _keys(filter(manifest.rules.ignores, names))
    match job:
        case ListJob(fitted=fitted):
            shown = _keys(command.name for command in fitted.snapshot.commands)
        case RegistrationJob():
            shown = _keys(each.name for each in manifest.registrables if not each.reason)
            others = _keys(filter(manifest.is_untouched, names))
            others |= _keys(each.name for each in manifest.registrables if each.reason)
        case RecordJob():
            pass
        case _:
            assert_never(job)
    return known - shown | others - known


def _unreadable(place: NamePlace, error: CommandsyncError) -> NamePlace:
    return replace(place, others=Cell.UNREADABLE, unread=error.message, failed=True)


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(key_of, names))
