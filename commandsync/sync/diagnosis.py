"""The checks of a set-up before a sync: each is a value, made one after the other.

Nothing here changes a listing, and no check contains the token.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from typing import TYPE_CHECKING

from commandsync import __version__
from commandsync.diagnostics import Check
from commandsync.errors import CommandsyncError, ManifestError
from commandsync.sync.job import load
from commandsync.sync.reachability import failed, reachability
from commandsync.sync.settings import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commandsync.manifest import Manifest
    from commandsync.sync.settings import Settings
    from commandsync.sync.site import Site

_PACKAGES = ("click", "deepdiff", "pydantic", "pyyaml", "requests", "rich", "urllib3")
_EXTRAS = {"async": "aiohttp", "server": "fastapi", "postgres": "psycopg"}


def diagnose(settings: Settings, *, given: Mapping[str, str]) -> Iterator[Check]:
    """Yield the checks of the program, of the manifests, and of the listing of each.

    Args:
        settings: As of a sync.
        given: The flag or variable that a setting is from, by the setting's name.
    """
    yield Check("python", "ok", f"{platform.python_version()} on {sys.platform}")
    installed = [extra for extra, package in _EXTRAS.items() if _is_installed(package)]
    extras = ", ".join(installed) or "none"
    yield Check("commandsync", "ok", f"{__version__}, extras: {extras}")
    yield Check("packages", "ok", ", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    try:
        manifests: tuple[Manifest, ...] = load(settings)
    except CommandsyncError as error:
        yield _invalid_manifest(error)
        yield from _listing(settings, None, given)
        return
    for manifest in manifests:
        for check in chain([_manifest(manifest)], _listing(settings, manifest, given)):
            yield replace(check, manifest=manifest.path if len(manifests) > 1 else "")


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _invalid_manifest(error: CommandsyncError) -> Check:
    if isinstance(error, ManifestError) and len(error.problems) == 1:
        (problem,) = error.problems
        return Check("manifest", "failed", str(problem), problem.hint)
    return Check("manifest", "failed", error.message, error.hint or "commandsync validate shows it")


def _manifest(manifest: Manifest) -> Check:
    collections = manifest.snapshot.collections.items()
    counts = [f"{kind.collection}: {len(entries):,}" for kind, entries in collections]
    message = f"{manifest.path}, {', '.join(counts) or 'which manages nothing'}"
    if not manifest.warnings:
        return Check("manifest", "ok", message)
    hint = "commandsync validate shows the warnings"
    return Check("manifest", "warning", f"{message}, warnings: {len(manifest.warnings):,}", hint)


def _listing(
    settings: Settings, manifest: Manifest | None, given: Mapping[str, str]
) -> Iterator[Check]:
    """Yield the checks of one listing, up to the first without which the others have no sense."""
    try:
        site = site_of(settings, manifest, of_bot=False)
    except CommandsyncError as error:
        yield failed("settings", error)
        return
    path = manifest.path if manifest else ""
    source = given.get("base_url") or f"base_url: in {path}"
    yield Check("base URL", "ok", f"{site.address}, from {source}")
    source = "the token" if manifest is None or not manifest.bot else f"bot: in {path}"
    yield _bot(site, given.get("bot") or source)
    yield _token(site, "--token-file" if settings.token_file else site.token_from)
    yield from reachability(settings, site)


def _bot(site: Site, source: str) -> Check:
    if site.bot.strip():
        return Check("bot", "ok", f"{site.bot}, from {source}")
    hint = "give --bot, set COMMANDSYNC_BOT, or write bot: in the manifest"
    return Check("bot", "failed", "the bot's id is missing", hint)


def _token(site: Site, source: str) -> Check:
    """Check that there is a token, as far as this can be seen without the service."""
    try:
        site.check_token()
    except CommandsyncError as error:
        return failed("token", error)
    bot = site.token.bot if site.token else ""
    of_bot = f"of bot {bot}" if bot else "without a bot id in it: only the service knows its bot"
    return Check("token", "ok", f"in {source}, {of_bot}")
