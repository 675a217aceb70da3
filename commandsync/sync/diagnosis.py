"""The checks of a set-up before a sync: each is a value, made one after the other.

The program comes first, then each manifest, and for each of its listings the settings, the token,
and whether the service can be reached and accepts the token. Nothing here changes a listing, and no
check contains the token.
"""

import asyncio
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

from commandsync import errors
from commandsync.api.operations import Operation, list_bots
from commandsync.api.policy import Send
from commandsync.client.asynclibrary import AsyncClient
from commandsync.client.connection import Connection
from commandsync.client.events import Event, Ready, Reconnecting
from commandsync.client.network import proxy_host
from commandsync.diagnostics import Check, Do
from commandsync.manifest import Manifest
from commandsync.plan.differences import Parity
from commandsync.records.models import Account
from commandsync.records.texts import Resource
from commandsync.sources.sourcefile import (
    PYTHON,
    SCRIPTS,
    code_files,
    is_folder_or_pattern,
    matching,
    read_bytes,
)
from commandsync.sync.history import recent_versions
from commandsync.sync.importsource import sources_of
from commandsync.sync.job import connected
from commandsync.sync.listcontent import digest_of, other_lists, read_others, state_file
from commandsync.sync.parity import compare_names, exit_code, names_commands
from commandsync.sync.registrations import read_registrations
from commandsync.sync.settings import DISCORD_VARIABLE, Settings, Site, load, token_in
from commandsync.sync.sites import (
    ListSite,
    check_names,
    check_tokens,
    discord_of,
    is_selected,
    list_sites,
    site_of,
)
from commandsync.version import __version__

_PACKAGES = ("click", "deepdiff", "pydantic", "pyyaml", "requests", "rich", "urllib3")
_EXTRAS = {  # the modules of each
    "async": ("aiohttp",),
    "html": ("jinja2", "markupsafe", "nh3"),
    "javascript": ("tree_sitter", "tree_sitter_javascript", "tree_sitter_typescript"),
    "postgres": ("psycopg",),
    "record": ("aiohttp", "trustme"),
    "server": ("fastapi", "h11", "jwt", "limits", "nh3", "sqlalchemy", "uvicorn", "websockets"),
}

# The calls by which the usual libraries register commands with Discord.
_REGISTERS = re.compile(
    rb"\btree\.sync\(|\.sync_(?:all_application_)?commands\(|\.syncCommands\("
    rb"|\b(?:application|guild)[?!]?\.commands\.(?:set|create)\("
    rb"|\bRoutes\.application(?:Guild)?Commands\(|\.bulk(?:Edit|Overwrite)\w*Commands\("
)


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
        manifests: tuple[Manifest, ...] = load(settings)
    except errors.CommandsyncError as error:
        yield _invalid_manifest(error)
        yield from _listing(settings, None)
        return
    for manifest in manifests:
        parts = (
            [_manifest(manifest)],
            _listing(settings, manifest),
            _discord(settings, manifest),
            _lists(settings, manifest),
        )
        failures = 0
        for check in chain(*parts):
            failures += check.state == "failed"
            yield _about(check, manifest, manifests)
        for found in _names(settings, manifest, failures=failures):
            yield _about(found, manifest, manifests) if isinstance(found, Check) else found
    yield from _unknown(settings, manifests)


def exit_code_of(checks: Iterable[Check]) -> int:
    """Return the exit code: the first of 5, 4, 1, 3 and 0 that a check asks for."""
    return errors.worst_exit(errors.Exit(check.code) for check in checks)


def _about(check: Check, manifest: Manifest, manifests: Sequence[Manifest]) -> Check:
    """Return a check with the manifest's name, if there are several."""
    return check._replace(manifest=manifest.path if len(manifests) > 1 else "")


def _invalid_manifest(error: errors.CommandsyncError) -> Check:
    if isinstance(error, errors.ManifestError) and len(error.problems) == 1:
        (problem,) = error.problems
        return failed("manifest", error)._replace(message=str(problem), hint=problem.hint)
    check = failed("manifest", error)
    return check._replace(hint=error.hint or "commandsync validate shows it")


def _manifest(manifest: Manifest) -> Check:
    collections = manifest.snapshot.collections.items()
    counts = [f"{kind.collection}: {len(entries):,}" for kind, entries in collections]
    message = f"{manifest.path}, {', '.join(counts) or 'no records'}"
    if not manifest.warnings:
        return Check("manifest", "ok", message)
    hint = "commandsync validate shows the warnings"
    return Check("manifest", "warning", f"{message}, warnings: {len(manifest.warnings):,}", hint)


def _listing(settings: Settings, manifest: Manifest | None) -> Iterator[Check]:
    """Yield the checks of the page, up to the first without which the others have no sense."""
    if manifest and not manifest.has_page:
        return
    try:
        site = site_of(settings, manifest, of_bot=False)
    except errors.CommandsyncError as error:
        yield failed("settings", error)
        return
    if not is_selected(settings, site.name):
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


def _discord(settings: Settings, manifest: Manifest) -> Iterator[Check]:
    """Yield the check of the application at Discord, and a warning if a program registers, too."""
    if manifest.discord is None:
        return
    name = manifest.discord.name
    try:
        if (site := discord_of(settings, manifest)) is None:
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
    if program := _registering(manifest):
        message = f"{program} registers commands, too: each undoes the changes of the other"
        hint = "let apply alone register them; or remove discord from listings:, and import it"
        yield Check(name, "warning", message, hint)


def _registering(manifest: Manifest) -> str:
    """Return a program of the bot that registers commands with Discord; empty if none is known.

    It was recorded, or it is a file of the imported code that calls its library for that.
    """
    program = manifest.imports.program
    if program and manifest.imported and any(each.recorded for each in manifest.imported.commands):
        return program
    with suppress(errors.CommandsyncError):  # the check of the names says what cannot be read
        for source in sources_of(manifest) if manifest.imports.sources else ():
            path = source.path or ""
            root, inside = matching(path) if is_folder_or_pattern(path) else (Path(path), None)
            for file in code_files(root, inside, (*PYTHON, *SCRIPTS), ()) if path else ():
                if _REGISTERS.search(read_bytes(file)):
                    return file
    return ""


def _lists(settings: Settings, manifest: Manifest) -> Iterator[Check]:
    """Yield the check of each service of a manifest that takes a whole list."""
    try:
        sites = list_sites(settings, manifest)
        check_tokens(sites)
    except errors.CommandsyncError as error:
        yield failed("listings", error)
        return
    for site in sites:
        if site.entry.first:
            yield (check := acceptance(settings, site))
            yield from _others(settings, manifest, site) if check.state == "ok" else ()
    if unread := [site for site in sites if not site.returned]:
        yield _state(settings, manifest, unread)


def _state(settings: Settings, manifest: Manifest, sites: Sequence[ListSite]) -> Check:
    """Return the check of the memory of lists that services do not return."""
    names = ", ".join(dict.fromkeys(site.service.name for site in sites))
    try:
        store = state_file(settings, manifest)
        for site in sites:
            store.memory(site.service.name, site.identity, digest_of(site))
    except errors.RefusedError as error:
        return failed("state", error)
    return Check("state", "ok", f"the lists sent to {names} are remembered in {store.path}")


def _others(settings: Settings, manifest: Manifest, site: ListSite) -> Iterator[Check]:
    """Yield a warning about each other list of a service that users may see."""
    others = other_lists(manifest, site, recent_versions(manifest.path))
    if not others:
        return
    with connected(settings, [site]) as (connection,):
        notices = read_others(connection, site.bot, others)
    for notice in notices:
        message = notice.message.removeprefix(f"{site.service.name}: ")
        yield Check(site.service.name, "warning", message, notice.hint)


def _names(settings: Settings, manifest: Manifest, *, failures: int) -> Iterator[Check | Parity]:
    """Yield the check of the names, and their comparison, if anything says what the bot serves.

    Without its code and its platform, a plan shows what differs. An error is reported by the checks
    before it, if they had `failures`.
    """
    platform = token_in(settings, DISCORD_VARIABLE) and not manifest.discord
    served = manifest.imports.sources or platform
    if settings.listing or not served or not names_commands(manifest):
        return
    try:
        compared = compare_names(settings, manifest)
    except errors.CommandsyncError as error:
        if not failures:
            yield failed("parity", error)
        return
    code = exit_code([compared])
    yield Check("parity", "warning" if code else "ok", compared.sentence(), code=code)
    yield compared


def _unknown(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[Check]:
    """Yield a check for each listing that the settings name and no manifest has."""
    pages = []
    with suppress(errors.CommandsyncError):  # a check of the page says so
        with_page = [manifest for manifest in manifests if manifest.has_page]
        pages = [site_of(settings, manifest, of_bot=False) for manifest in with_page]
    try:
        check_names(settings, manifests, pages)
    except errors.CommandsyncError as error:
        yield failed("listings", error)


def _token(site: Site, source: str) -> Check:
    """Check that there is a token, as far as this can be seen without the service."""
    try:
        site.check_token()
    except errors.CommandsyncError as error:
        return failed("token", error)
    bot = site.token.bot if site.token else ""
    of_bot = f"of bot {bot}" if bot else "without a bot id in it: only the service knows its bot"
    return Check("token", "ok", f"in {source}, {of_bot}")


_GATEWAY: Operation[errors.Reply] = Operation(
    "open the gateway", "GET", "/gateway/", lambda reply: reply
)
_UNCHECKED = "no other call checks a token and changes nothing: the first apply shows it"


def failed(name: str, error: errors.CommandsyncError) -> Check:
    """Return the check that an error failed."""
    code = error.exit_code
    known = code if code in {errors.Exit.REFUSED, errors.Exit.INVALID} else errors.Exit.FAILED
    return Check(name, "failed", error.message, error.hint, code=known)


def reachability(settings: Settings, site: Site) -> Iterator[Check]:
    """Yield the checks of the way to a service; where there is no answer, the last one says so."""
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
    """Ask the gateway whether the token is accepted, and for which bot."""
    connection.on_wait(_GATEWAY, Send())
    try:
        bot = _accepted_bot(connection)
    except (errors.Unauthorized, errors.Forbidden) as error:
        return failed("access", error)
    except (errors.ListingError, errors.UsageError) as error:
        return Check("access", "skipped", error.message, error.hint or _UNCHECKED)
    finally:
        connection.on_wait(_GATEWAY, None)
    if isinstance(bot, str):
        return Check("access", "skipped", f"not checked: {bot}", _UNCHECKED)
    if bot.id and site.bot and bot.id != site.bot:
        message = f"the token is accepted for bot {bot.id}, not for bot {site.bot}"
        return failed(
            "access", errors.WrongBotError(message, hint="use the token from this bot's page")
        )
    name = f" ({bot.username})" if bot.username else ""
    return Check("access", "ok", f"the service accepts the token, for bot {bot.id}{name}")


_PATIENCE = 10.0  # seconds: the gateway greets at once


def _accepted_bot(connection: Connection) -> Account | str:
    """Return the bot whose token a connection has, or why the service cannot be asked.

    Reads may be answered whatever the token is, and every other call that needs it writes. The
    gateway refuses a wrong token at once, and greets a right one with its bot.

    Raises `Unauthorized` or `Forbidden` for a refused token, `ListingError` if the attempt failed
    and a retry cannot help, and `UsageError` without the extra [async].
    """
    try:
        event = asyncio.run(_first_event(connection))
    except TimeoutError:
        return f"the gateway does not answer within {_PATIENCE:g} s"
    except errors.ArgumentError:  # without a gateway, the voters of a bot would be read
        return "the service has no gateway"
    if isinstance(event, Ready):
        return event.bot
    unexpected = f"the gateway begins with the event {event.name!r}"
    return event.reason if isinstance(event, Reconnecting) else unexpected


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
