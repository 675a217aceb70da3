"""The commands that an application has registered at Discord, as one listing of a manifest.

The token decides the application. It is read beside the commands, or first where the manifest does
not name the bot; a bot that is neither its id nor the id of its bot's user is refused. So a
job knows its application before it plans. Its commands are records with ids: the manifest's
are composed into whole objects, which depends on the commands as they are listed.

Without a token nothing can be read. Then the manifest is compared with an earlier version of itself
that the run names, such as the branch that a proposal is merged into.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from commandsync.api.credentials import Token, keep_secret
from commandsync.client.threads import in_thread, results_of
from commandsync.diagnostics import Location, Notice
from commandsync.errors import (
    CommandsyncError,
    ListingError,
    ManifestError,
    RefusedError,
    UsageError,
    WrongBotError,
)
from commandsync.plan.plan import AsRead, Baseline, OfVersion, Unread
from commandsync.records.losses import loss_notice
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand, Resource, named
from commandsync.services.discord import (
    ORIGIN,
    UNKNOWN,
    application,
    discord_address,
    discord_service,
)
from commandsync.services.discordobjects import SLASH, entries_of
from commandsync.services.registration import Registration, callable_names, compose
from commandsync.sync.files import missing_token
from commandsync.sync.history import History
from commandsync.sync.job import Job, Planned, calls_of, connected
from commandsync.sync.settings import DISCORD_VARIABLE, Settings, Site, rules_of, token_in
from commandsync.sync.sites import PORTAL, DiscordSite

if TYPE_CHECKING:
    from commandsync.client.connection import Connection
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import RecordPlan
    from commandsync.sources.entry import SourceReading
    from commandsync.sync.earlier import EarlierVersion

KIND = Resource.APPLICATION_COMMAND
_J = TypeVar("_J", bound=Job)

# The calls by which the usual libraries register commands with Discord.
_REGISTERS = re.compile(
    rb"\btree\.sync\(|\.sync_(?:all_application_)?commands\(|\.syncCommands\("
    rb"|\b(?:application|guild)[?!]?\.commands\.(?:set|create)\("
    rb"|\bRoutes\.application(?:Guild)?Commands\(|\.bulk(?:Edit|Overwrite)\w*Commands\("
)


@dataclass(frozen=True, slots=True)
class RegistrationJob(Job):
    """The commands of a manifest at Discord."""

    site: DiscordSite
    manifest: Manifest
    version: EarlierVersion | None = None  # their baseline if they cannot be read
    notices: tuple[Notice, ...] = ()  # of the whole run; its first listing has them

    @property
    def name(self) -> str:
        """The name of the listing among several."""
        return self.site.name

    @property
    def scope(self) -> Sequence[Resource]:
        """The collection of registered commands."""
        return (KIND,)

    @property
    def path(self) -> str:
        """The path of the manifest."""
        return self.manifest.path

    @property
    def is_read(self) -> bool:
        """Whether the commands are read: there is a token to ask with."""
        return self.site.token is not None

    @property
    def versions(self) -> History | None:
        """The versions of the manifest, of a run that takes away no others' commands."""
        return History(self.manifest, self._names_in) if self.settings.owned else None

    def _names_in(self, version: Manifest) -> Snapshot | None:
        """Return the types and names that a version had here; None for another listing.

        Its objects may not be complete, and its names of groups and sub-commands are known.
        """
        if not self._is_here(version):
            return None
        names = callable_names(version.registrables)
        names |= {(kind, name.partition(" ")[0]) for kind, name in names if kind == SLASH}
        texts = (ApplicationCommand(name, kind, "") for kind, name in sorted(names))
        return Snapshot({KIND: tuple(map(Entry, texts))})

    def _is_here(self, version: Manifest) -> bool:
        """Whether a version had this listing; without a bot it had the token's."""
        own, then = self.manifest.discord, version.discord
        if own is None or then is None:
            return False
        return own.guild == then.guild and then.bot in {"", own.bot, self.site.bot}

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the commands; without a token, the earlier version has them."""
        if self.is_read:
            reading = start_reading_discord(self.site, self.connection)
            return lambda: reading()[1]
        entries: Sequence[Entry] = ()
        if isinstance(self._baseline, OfVersion) and self.version:
            entries = self._composed(self.version.manifest).entries
        # An id that is not known is made of the type and the name.
        listed = (replace(x, id=x.id or "/".join(x.text[:2]), formerly=()) for x in entries)
        known = Snapshot({KIND: tuple(listed)})
        return lambda: known

    def start_planning(self) -> Callable[[], Planned]:
        """Start to read the application and its commands; the result waits, and plans."""
        return start_planning_discord(self) if self.is_read else Job.start_planning(self)

    def _composed(self, manifest: Manifest, listed: Sequence[Entry] = ()) -> Registration:
        return compose(
            manifest.registrables,
            listed=listed,
            application=self.site.application or UNKNOWN,
            guild=self.site.guild,
            ignored=manifest.is_untouched,
            prune=rules_of(self.settings, manifest).prune,
            earlier=_EarlierNames(History(self.manifest, self._names_in))
            if manifest.unread
            else None,
        )

    def plan(self, listed: Snapshot) -> RecordPlan:
        """Compare the manifest with the registered commands.

        Raises `ManifestError` with everything that Discord would refuse.
        """
        from commandsync.plan.plan import Target, make_plan  # noqa: PLC0415 - while answers travel

        site, settings, manifest = self.site, self.settings, self.manifest
        composed = self._composed(manifest, listed.collections[KIND])
        if composed.problems:
            raise ManifestError(composed.problems)
        entries = composed.entries
        if isinstance(self._baseline, Unread):  # nothing was read: no pinned id is known to be lost
            entries = tuple(replace(entry, id="") for entry in entries)
        plan = make_plan(
            desired=Snapshot({KIND: entries}),
            listed=listed,
            target=Target(
                bot=site.bot,
                base_url=site.address.base_url,
                abilities=site.service.abilities,
                guild=site.guild,
                name=site.application.name if site.application else "",
            ),
            rules=rules_of(settings, manifest),
            now=settings.now,
            manifest=manifest.paths,
            notices=[*self._warnings(composed)],
            untouched={entry.id for entry in composed.untouched},
        )
        plan = replace(
            plan, label=self.name, baseline=self._baseline, losses=tuple(composed.losses)
        )
        if settings.only:
            plan = plan.only(settings.only)
        return replace(plan, notices=(*site.warnings(plan.changes), *plan.notices))

    def _warnings(self, composed: Registration) -> Iterator[Notice]:
        settings, manifest = self.settings, self.manifest
        yield from self.notices
        yield from self.site.token_notices()
        # A page of the run shows the manifest's warnings.
        if settings.listing or settings.guild or not manifest.has_page:
            yield from (Notice(x.message, x.hint, x.location) for x in manifest.warnings)
        for loss in composed.losses:
            if loss.field not in self.site.listing.lossy:
                yield loss_notice(loss, at=self.name)
        yield from self._unexplained(composed)

    def _unexplained(self, composed: Registration) -> Iterator[Notice]:
        """Yield a notice about listed commands that stay, since not all of the code was read."""
        manifest = self.manifest
        own = {command.name.partition(" ")[0] for command in manifest.registrables}
        names = [entry.name for entry in composed.untouched if entry.name not in own]
        names = [name for name in names if not manifest.is_untouched(name)]
        if manifest.unread and names:
            stay, it = ("stays", "it") if len(names) == 1 else ("stay", "they")
            files = named(list(dict.fromkeys(each.source for each in manifest.unread)), most=3)
            message = f"{named(names, most=5)} {stay}, for not all of the code was read: {files}"
            hint = f"name these places in import: unread: if {it} may be deleted"
            yield Notice(f"{self.name}: {message}", hint)

    @property
    def _baseline(self) -> Baseline:
        if self.is_read:
            return AsRead()
        is_known = self.version and self._is_here(self.version.manifest)
        return OfVersion(name=self.version.name) if self.version and is_known else Unread()

    def other_notices(self, planned: Planned) -> Sequence[Notice]:
        """Warn about commands of a server that are global ones, too: people see them twice."""
        if not (self.is_read and self.site.guild):
            return ()
        from commandsync.plan.plan import expected_listing  # noqa: PLC0415 - it is loaded by then

        service = discord_service(self.site.application or UNKNOWN)
        try:
            everywhere = self.connection.call(service.read(self.site.bot, KIND))
        except ListingError as error:
            return (Notice(f"the global commands cannot be read: {error.message}", error.hint),)
        own = {text[:2] for text in expected_listing(planned.plan, planned.listed)[KIND]}
        twice = [entry.name for entry in everywhere if entry.text[:2] in own]
        if not twice:
            return ()
        are = "is also a global command" if len(twice) == 1 else "are also global commands"
        message = f"{self.name}: {named(twice, most=5)} {are}: people on the server see both"
        return (Notice(message, "delete one of the two"),)

    def pinned(self, pins: Mapping[Location | None, str]) -> Job:
        """Return this job with ids for the entries at some locations."""
        commands = self.manifest.registrables
        pinned = tuple(replace(each, id=pins.get(each.location, each.id)) for each in commands)
        return replace(self, manifest=replace(self.manifest, registrables=pinned))


class _EarlierNames:
    """The types and names of the commands that a version of a manifest had.

    The versions are read when a name is asked for that the manifest does not have any more; there
    are none where they cannot be read.
    """

    def __init__(self, versions: History) -> None:
        self._names: set[object] = set()
        self._unread = iter(versions)

    def __contains__(self, name: object) -> bool:
        while name not in self._names:
            try:
                version = next(self._unread, None)
            except RefusedError:
                version = None
            if version is None:
                return False
            self._names |= {entry.text[1::-1] for entry in version.collections[KIND]}
        return True


def start_planning_discord(job: _J) -> Callable[[], Planned]:
    """Start to read the application and the commands of a job; the result waits, and plans.

    It plans by the job that knows its application. Raises as `start_reading_discord`.
    """
    assert isinstance(job.site, DiscordSite)  # noqa: S101 - only these jobs call it
    reading = start_reading_discord(job.site, job.connection)

    def planned() -> Planned:
        site, listed = reading()
        return replace(job, site=site).planned(listed)

    return planned


def start_reading_discord(
    site: DiscordSite, connection: Connection
) -> Callable[[], tuple[DiscordSite, Snapshot]]:
    """Start to read an application and its commands; the returned function waits for both.

    It returns the site with its application. Raises `WrongBotError` if the token belongs to another
    one, and `ListingError` if Discord refuses, or does not answer.
    """
    reading = in_thread(partial(_read_discord, site, connection), name="commandsync-discord")

    def read() -> tuple[DiscordSite, Snapshot]:
        (result,) = results_of([reading])
        return result

    return read


def read_registrations(settings: Settings, site: DiscordSite) -> tuple[DiscordSite, Snapshot]:
    """Read an application and its commands, for a run that needs no plan.

    Raises `UsageError` without a token, and as `start_reading_discord`.
    """
    site.check_token()
    with connected(settings, [site]) as (connection,):
        return start_reading_discord(site, connection)()


def read_registered(settings: Settings, locale: str = "") -> SourceReading:
    """Read the commands that a bot has registered with Discord, as a source of an import.

    The token, an application's id and another address come from the environment alone: a manifest
    may be part of an untrusted pull request, which could name another host or another secret. Of
    the settings, the time-out, the retries and the progress are used; `locale` is the language of
    the texts, such as `de`, empty for the default texts.

    Raises:
        UsageError: The token is missing or belongs to a listing service, or a variable is invalid.
        PlainHttpError: The address is plain http to another machine.
        ListingError: Discord refused, or did not answer.
        FileError: The answer contains something other than application commands.
    """
    from commandsync.client.connection import registered_commands  # noqa: PLC0415 - loads requests
    from commandsync.sources.reading import read_answer  # noqa: PLC0415 - only an import reads so

    secret = token_in(settings, DISCORD_VARIABLE)
    if not secret:
        hint = missing_token([DISCORD_VARIABLE], PORTAL)
        raise UsageError(f"the variable {DISCORD_VARIABLE} is not set", hint=hint)
    try:
        keep_secret(token := Token(secret))
    except UsageError as error:
        raise UsageError(f"{DISCORD_VARIABLE}: {error.message}", hint=PORTAL) from None
    if token.bot:
        message = f"{DISCORD_VARIABLE} contains the token of a listing service"
        raise UsageError(message, hint=PORTAL)
    address = discord_address(os.environ.get("DISCORD_BASE_URL", "") or ORIGIN)
    site = Site(address, bot="", token=token, token_from=DISCORD_VARIABLE)
    answer = registered_commands(
        address,
        token,
        application=os.environ.get("DISCORD_APPLICATION_ID", ""),
        timeout=settings.timeout,
        retries=settings.retries,
        on_wait=calls_of(settings, site),
    )
    return read_answer(answer, locale=locale)


def _read_discord(site: DiscordSite, connection: Connection) -> tuple[DiscordSite, Snapshot]:
    if site.application:  # a run reads it once
        entries = connection.call(site.service.read(site.bot, KIND))
        return site, Snapshot({KIND: entries})
    asked = in_thread(partial(connection.call, application()), name="commandsync-application")
    # A bot has the id of its application, unless it is from before 2016.
    service = site.service
    early = site.bot and in_thread(
        partial(connection.call, service.read(site.bot, KIND)), name="commandsync-commands"
    )
    (found,) = results_of([asked])
    # The token may belong to another application than the manifest's.
    if site.bot and site.bot not in {found.id, found.bot}:
        name = f" ({found.name})" if found.name else ""
        message = f"the token in {site.token_from} belongs to application {found.id}{name}"
        hint = "use this bot's own token, or correct bot: in the manifest"
        raise WrongBotError(f"{message}, not to bot {site.bot}", hint=hint)
    service = discord_service(found, site.guild)
    if early and found.id == site.bot:
        (entries,) = results_of([early])
        nodes = [entry.own[0] for entry in entries]
        entries = entries_of(nodes, installs=found.integration_types, guild=site.guild)
    else:
        entries = connection.call(service.read(found.id, KIND))
    known = replace(site, bot=found.id, application=found, service=service)
    return known, Snapshot({KIND: entries})


def with_refused_parts(manifest: Manifest) -> Manifest:
    """Return a manifest with a warning for each part of it that Discord would refuse."""
    if manifest.discord is None:
        return manifest
    composed = compose(
        manifest.registrables,
        application=UNKNOWN,
        guild=manifest.discord.guild,
        ignored=manifest.is_untouched,
    )
    return replace(manifest, warnings=(*manifest.warnings, *composed.problems))


def registering_program(manifest: Manifest) -> str:
    """Return a program of the bot that registers commands with Discord; empty if none is known.

    It was recorded, or it is a file of the imported code that calls its library for that.
    """
    from commandsync.sources import sourcefile  # noqa: PLC0415 - only a diagnosis reads code
    from commandsync.sync.importsource import sources_of  # noqa: PLC0415 - as above

    program = manifest.imports.program
    if program and manifest.imported and any(each.recorded for each in manifest.imported.commands):
        return program
    with suppress(CommandsyncError):  # the check of the names reports unreadable code
        for source in sources_of(manifest) if manifest.imports.sources else ():
            path = source.path or ""
            root, inside = (
                sourcefile.matching(path)
                if sourcefile.is_folder_or_pattern(path)
                else (Path(path), None)
            )
            for file in (
                sourcefile.code_files(root, inside, (*sourcefile.PYTHON, *sourcefile.SCRIPTS), ())
                if path
                else ()
            ):
                if _REGISTERS.search(sourcefile.read_bytes(file)):
                    return file
    return ""
