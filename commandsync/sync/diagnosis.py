"""The checks of a set-up before a sync: each is a value, made one after the other.

The program comes first, then each manifest, and for each of its listings the settings, the token,
and whether the service can be reached and accepts the token. Nothing here changes a listing, and no
check contains the token.

Then the names of a bot's commands are compared wherever they are: in its code, at Discord, in the
manifest and in its listings. A place that cannot be read is part of the comparison.
"""

import asyncio
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any, assert_never

from commandsync import errors
from commandsync.api.operations import Operation, list_bots
from commandsync.api.policy import Send
from commandsync.client.asynclibrary import AsyncClient
from commandsync.client.connection import Connection
from commandsync.client.events import Event, Ready, Reconnecting
from commandsync.client.network import proxy_host
from commandsync.diagnostics import Check, Do
from commandsync.manifest import Manifest
from commandsync.plan.differences import Cell, NamePlace, Parity, key_of, parity
from commandsync.records.models import Account
from commandsync.records.snapshot import ImportedCommand, Snapshot, callables
from commandsync.records.texts import Resource
from commandsync.sources.entry import SourceReading
from commandsync.sync import sites
from commandsync.sync.history import recent_versions
from commandsync.sync.importsource import LIVE, NamedSource, read_sources, sources_of
from commandsync.sync.job import RecordJob, connected
from commandsync.sync.listcontent import digest_of, other_lists, read_others, state_file
from commandsync.sync.lists import ListJob
from commandsync.sync.registrations import (
    RegistrationJob,
    read_registered,
    read_registrations,
    registering_program,
)
from commandsync.sync.selection import jobs
from commandsync.sync.settings import DISCORD_VARIABLE, Settings, Site, load, token_in
from commandsync.sync.sites import ListSite
from commandsync.version import __version__

if TYPE_CHECKING:
    from commandsync.sync.selection import ManifestJob

_COMMANDS = Resource.COMMAND
_PACKAGES = ("click", "deepdiff", "pydantic", "pyyaml", "requests", "rich", "urllib3")
_EXTRAS = {  # the modules of each
    "async": ("aiohttp",),
    "html": ("jinja2", "markupsafe", "nh3"),
    "javascript": ("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript"),
    "postgres": ("psycopg",),
    "record": ("aiohttp", "trustme"),
    "server": ("fastapi", "h11", "jwt", "limits", "nh3", "sqlalchemy", "uvicorn", "websockets"),
}


def diagnose(settings: Settings) -> Iterator[Check | Parity]:
    """Yield the checks of the program, of the manifests, and of the listing of each.

    The comparison of a manifest's names follows the check of it. No request is sent again.
    """
    settings = replace(settings, retries=0)
    yield Check("python", "ok", f"{platform.python_version()} on {sys.platform}")
    installed = [extra for extra, modules in _EXTRAS.items() if all(map(find_spec, modules))]
    extras = ", ".join(installed) or "none"
    yield Check("commandsync", "ok", f"{__version__}, extras: {extras}")
    yield Check("packages", "ok", ", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    try:
        manifests = load(settings)
    except errors.CommandsyncError as error:
        yield _invalid_manifest(error)
        yield from _page(settings, None)
        return
    for manifest in manifests:
        path = manifest.path if len(manifests) > 1 else ""
        for found in _of_manifest(settings, manifest):
            yield found._replace(manifest=path) if isinstance(found, Check) else found
    yield from _unknown(settings, manifests)


def exit_code_of(checks: Iterable[Check]) -> int:
    """Return the exit code: the first of 5, 4, 1, 3 and 0 that a check asks for."""
    return errors.worst_exit(errors.Exit(check.code) for check in checks)


def failed(name: str, error: errors.CommandsyncError) -> Check:
    """Return the check that an error failed."""
    code = error.exit_code
    known = code if code in {errors.Exit.REFUSED, errors.Exit.INVALID} else errors.Exit.FAILED
    return Check(name, "failed", error.message, error.hint, code=known)


def _invalid_manifest(error: errors.CommandsyncError) -> Check:
    check = failed("manifest", error)
    if isinstance(error, errors.ManifestError) and len(error.problems) == 1:
        (problem,) = error.problems
        return check._replace(message=str(problem), hint=problem.hint)
    return check._replace(hint=error.hint or "commandsync validate shows it")


def _unknown(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[Check]:
    """Yield a check for each listing that the settings name and no manifest has."""
    pages = []
    with suppress(errors.CommandsyncError):  # a check of the page says so
        with_page = [manifest for manifest in manifests if manifest.has_page]
        pages = [sites.site_of(settings, manifest, of_bot=False) for manifest in with_page]
    try:
        sites.check_names(settings, manifests, pages)
    except errors.CommandsyncError as error:
        yield failed("listings", error)


def _of_manifest(settings: Settings, manifest: Manifest) -> Iterator[Check | Parity]:
    """Yield the checks of a manifest and of its listings, and the comparison of its names."""
    failures = 0
    for check in chain(
        [_manifest(manifest)],
        _page(settings, manifest),
        _discord(settings, manifest),
        _lists(settings, manifest),
    ):
        failures += check.state == "failed"
        yield check
    if not settings.listing and _COMMANDS in manifest.snapshot.collections:
        yield from _names(settings, manifest, failures=failures)


def _names(settings: Settings, manifest: Manifest, *, failures: int) -> Iterator[Check | Parity]:
    """Yield the check of the names, and their comparison.

    Without the code and the platform of the bot, a plan shows the differences. An error is not
    reported again if the checks before had `failures`.
    """
    at_discord = token_in(settings, DISCORD_VARIABLE) and not manifest.discord
    if not (manifest.imports.sources or at_discord):
        return
    try:
        compared = _compared_names(settings, manifest)
    except errors.CommandsyncError as error:
        if not failures:
            yield failed("parity", error)
        return
    codes = [errors.Exit.CHANGES] if compared.differing else []
    codes += (errors.Exit.FAILED for place in compared.places if place.failed)
    code = errors.worst_exit(codes)
    yield Check("parity", "warning" if code else "ok", compared.sentence(), code=code)
    yield compared


def _manifest(manifest: Manifest) -> Check:
    collections = manifest.snapshot.collections.items()
    counts = [f"{kind.collection}: {len(entries):,}" for kind, entries in collections]
    message = f"{manifest.path}, {', '.join(counts) or 'no records'}"
    if not manifest.warnings:
        return Check("manifest", "ok", message)
    hint = "commandsync validate shows the warnings"
    return Check("manifest", "warning", f"{message}, warnings: {len(manifest.warnings):,}", hint)


def _page(settings: Settings, manifest: Manifest | None) -> Iterator[Check]:
    """Yield the checks of the page, up to the first without which the others have no sense."""
    if manifest and not manifest.has_page:
        return
    try:
        site = sites.site_of(settings, manifest, of_bot=False)
    except errors.CommandsyncError as error:
        yield failed("settings", error)
        return
    if not sites.is_selected(settings, site.name):
        return
    path = manifest.path if manifest else ""
    source = site.base_url_from or f"base_url: in {path}"
    yield Check("base URL", "ok", f"{site.address}, from {source}")
    if site.bot.strip():
        yield Check("bot", "ok", f"{site.bot}, from {site.bot_from or f'bot: in {path}'}")
    else:
        yield Check(
            "bot", "failed", "the bot's id is missing", Do.GIVE_BOT(), code=errors.Exit.FAILED
        )
    yield _token(site, "the token file" if settings.token_file else site.token_from)
    yield from reachability(settings, site)


def _token(site: Site, source: str) -> Check:
    """Check that there is a token, as far as this can be seen without the service."""
    try:
        site.check_token()
    except errors.CommandsyncError as error:
        return failed("token", error)
    bot = site.token.bot if site.token else ""
    of_bot = f"of bot {bot}" if bot else "without a bot id in it: only the service knows its bot"
    return Check("token", "ok", f"in {source}, {of_bot}")


def _discord(settings: Settings, manifest: Manifest) -> Iterator[Check]:
    """Yield the check of the application at Discord, and a warning if a program registers, too."""
    if manifest.discord is None:
        return
    name = manifest.discord.name
    try:
        if (site := sites.discord_of(settings, manifest)) is None:
            return
        site, listed = read_registrations(settings, site)
    except errors.CommandsyncError as error:
        yield failed(name, error)
        return
    known = site.application.name if site.application else ""
    whose = f"application {site.bot}" + (f" ({known})" if known else "")
    count = sum(map(len, listed.collections.values()))
    accepts = f"accepts the token of {whose} in {site.token_from}"
    yield Check(name, "ok", f"{accepts}, commands registered: {count:,}")
    if program := registering_program(manifest):
        message = f"{program} registers commands, too: each undoes the changes of the other"
        hint = "let apply alone register them; or remove discord from listings:, and import it"
        yield Check(name, "warning", message, hint)


def _lists(settings: Settings, manifest: Manifest) -> Iterator[Check]:
    """Yield the check of each service of a manifest that takes a whole list."""
    try:
        lists = sites.list_sites(settings, manifest)
        sites.check_tokens(lists)
    except errors.CommandsyncError as error:
        yield failed("listings", error)
        return
    for site in lists:
        if site.entry.first:
            yield (check := acceptance(settings, site))
            if check.state == "ok":
                yield from _other_lists(settings, manifest, site)
    if not (unread := [site for site in lists if not site.returned]):
        return
    names = ", ".join(dict.fromkeys(site.service.name for site in unread))
    try:
        store = state_file(settings, manifest)
        for site in unread:
            store.remembered(site.service.name, site.identity, digest_of(site))
    except errors.RefusedError as error:
        yield failed("state", error)
    else:
        yield Check("state", "ok", f"the lists sent to {names} are remembered in {store.path}")


def _other_lists(settings: Settings, manifest: Manifest, site: ListSite) -> Iterator[Check]:
    """Yield a warning about each other list of a service that users may see."""
    others = other_lists(manifest, site, recent_versions(manifest.path))
    if not others:
        return
    with connected(settings, [site]) as (connection,):
        notices = read_others(connection, site.bot, others)
    for notice in notices:
        message = notice.message.removeprefix(f"{site.service.name}: ")
        yield Check(site.service.name, "warning", message, notice.hint)


_GATEWAY: Operation[errors.Reply] = Operation(
    "open the gateway", "GET", "/gateway/", lambda reply: reply
)
_PATIENCE = 10.0  # seconds: the gateway greets at once
_UNCHECKED = "no other call checks a token and changes nothing: the first apply shows it"


def reachability(settings: Settings, site: Site) -> Iterator[Check]:
    """Yield the checks of the connection to a service; the last one reports a missing answer."""
    with connected(settings, [site]) as (connection,):
        yield _proxy(connection)
        service, answered = _service(connection, site)
        yield service
        if answered and site.token is not None:
            yield _access(connection, site)


def acceptance(settings: Settings, site: ListSite) -> Check:
    """Return the check of the token for a service that takes a whole list.

    The request changes nothing; where the service has no such request, the check says so.
    """
    name = site.service.name
    try:
        site.check_token()
        if site.service.check is None:
            message = f"not checked: the token is in {site.token_from}"
            return Check(name, "skipped", message, _UNCHECKED.replace("other ", ""))
        with connected(settings, [site]) as (connection,):
            account = connection.call(site.service.check())
    except errors.CommandsyncError as error:
        return failed(name, error)
    of = f" of {account}" if account else ""
    return Check(name, "ok", f"accepts the token{of} in {site.token_from}")


def _proxy(connection: Connection) -> Check:
    if connection.address.loopback:
        return Check("proxy", "ok", "none: this machine is reached directly")
    try:
        host = proxy_host(connection.address, connection.surroundings)
    except OSError:
        hint = "give it as http://host:port in HTTPS_PROXY, or add the host to NO_PROXY"
        message = "the URL of the proxy is not valid"
        return Check("proxy", "failed", message, hint, code=errors.Exit.FAILED)
    return Check("proxy", "ok", f"{host}, from the environment" if host else "none")


def _service(connection: Connection, site: Site) -> tuple[Check, bool]:
    """Read a list; return the check, and whether there was an answer."""
    operation: Operation[Any] = list_bots(limit=1)
    if site.bot:
        operation = connection.service.read(site.bot, Resource.COMMAND)
    start = monotonic()
    try:
        listed = connection.call(operation)
    except errors.ListingError as error:
        return failed("service", error), bool(getattr(error, "reply", None))
    milliseconds = round(1000 * (monotonic() - start))
    count = f", commands listed: {len(listed):,}" if site.bot else ""
    return Check("service", "ok", f"answers in {milliseconds:,} ms{count}"), True


def _access(connection: Connection, site: Site) -> Check:
    """Ask the gateway whether the token is accepted, and for which bot.

    Reads may be answered whatever the token is, and every other call that needs it writes. The
    gateway refuses a wrong token at once, and greets a right one with its bot.
    """
    connection.on_wait(_GATEWAY, Send())
    try:
        event = asyncio.run(_first_event(connection))
    except (errors.Unauthorized, errors.Forbidden) as error:
        return failed("access", error)
    except TimeoutError:
        why = f"the gateway does not answer within {_PATIENCE:g} s"
    except errors.ArgumentError:  # without a gateway, the voters of a bot would be read
        why = "the service has no gateway"
    except (errors.ListingError, errors.UsageError) as error:
        return Check("access", "skipped", error.message, error.hint or _UNCHECKED)
    else:
        if isinstance(event, Ready):
            return _accepted(event.bot, site)
        unexpected = f"the gateway begins with the event {event.name!r}"
        why = event.reason if isinstance(event, Reconnecting) else unexpected
    finally:
        connection.on_wait(_GATEWAY, None)
    return Check("access", "skipped", f"not checked: {why}", _UNCHECKED)


def _accepted(bot: Account, site: Site) -> Check:
    """Return the check of a token that is accepted for a bot."""
    if bot.id and site.bot and bot.id != site.bot:
        message = f"the token is accepted for bot {bot.id}, not for bot {site.bot}"
        error = errors.WrongBotError(message, hint="use the token from this bot's page")
        return failed("access", error)
    name = f" ({bot.username})" if bot.username else ""
    return Check("access", "ok", f"the service accepts the token, for bot {bot.id}{name}")


async def _first_event(connection: Connection) -> Event:
    client = AsyncClient(
        connection.token,
        str(connection.address),
        timeout=connection.timeout,
        retries=0,
        insecure_http=True,
        session=connection.surroundings,  # type: ignore[arg-type]  # a session lends them
    )
    async with asyncio.timeout(min(connection.timeout, _PATIENCE)), client:
        client.bot = ""
        async with aclosing(client.events()) as events:
            return await anext(events)


def _compared_names(settings: Settings, manifest: Manifest) -> Parity:
    """Read the names of a bot's commands in each place, and compare them.

    `import:` of the manifest names its code. Discord's list is read if `DISCORD_TOKEN` is set.
    Raises `CommandsyncError` if the settings of a listing are not valid.
    """
    own = NamePlace("manifest", [command.name for command in manifest.snapshot.commands])
    code, live = _served(settings, manifest)
    served = [code] if manifest.discord else [code, live]  # else it is among the listings
    listed = [NamePlace("page", others=Cell.NOT_READ, unread="the base URL is not known")]
    if any((settings.base_url, manifest.base_url, manifest.listings, manifest.discord)):
        with jobs(settings, [manifest]) as opened:  # they are read at the same time
            readings = [(job, job.start_reading()) for job in opened]
            listed = [_listed_names(job, reading) for job, reading in readings]
    return parity(manifest.path, own, served=served, listed=listed)


def _served(settings: Settings, manifest: Manifest) -> tuple[NamePlace, NamePlace]:
    """Return the code and Discord, without commands that the manifest's rules leave out."""

    def registered() -> tuple[list[NamedSource], SourceReading]:
        reading = read_registered(settings, manifest.imports.locale)
        return [NamedSource(LIVE, None)] if reading.entries else [], reading

    sources = sources_of(manifest) if manifest.imports.sources else []
    files = [source for source in sources if source.path]
    unread = "" if files else "import: of the manifest names no code"
    code, found = _read("code", manifest, lambda: (files, SourceReading()), unread)
    is_known = token_in(settings, DISCORD_VARIABLE) and not manifest.discord
    unread = "" if is_known else f"{DISCORD_VARIABLE} is not set"
    live, _ = _read("discord", manifest, registered, unread)
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
    """Return a place and its declared commands: none if the read fails, or it is `unread`.

    `unread` says why the place is not read; empty if it is.
    """
    place = NamePlace(name)
    if unread:
        return replace(place, others=Cell.NOT_READ, unread=unread), ()
    try:
        sources, live = start()
        found = read_sources(manifest, sources, registered=lambda _: live)
    except errors.CommandsyncError as error:
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


def _listed_names(job: "ManifestJob", reading: Callable[[], Snapshot]) -> NamePlace:
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
    except errors.CommandsyncError as error:
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


def _unreadable(place: NamePlace, error: errors.CommandsyncError) -> NamePlace:
    return replace(place, others=Cell.UNREADABLE, unread=error.message, failed=True)


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(key_of, names))
