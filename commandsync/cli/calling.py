"""The way from settings to the client library, for commands that call the service directly."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.errors import UsageError
from commandsync.sync.settings import DEFAULT_MANIFEST, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync import Client
    from commandsync.manifest import Manifest
    from commandsync.sync.settings import Settings, Site


def one_manifest(settings: Settings, *, known: bool) -> Manifest | None:
    """Load the manifest that says which listing, if one is needed for that or was named.

    Args:
        settings: Flags and environment.
        known: Whether they say it all already.

    Raises:
        ManifestError: It is invalid.
        UsageError: Several are named.
    """
    if not settings.files and (known or _is_empty(Path(DEFAULT_MANIFEST))):
        return None
    from commandsync.sync.job import load  # noqa: PLC0415 - seldom needed

    manifests = load(settings)
    if len(manifests) != 1:
        raise UsageError("this works on one listing", hint="name one manifest")
    return manifests[0]


def _is_empty(path: Path) -> bool:
    """Whether nothing is there, or what a shell makes of it for `pull > commands.yaml`."""
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


@contextmanager
def calling(
    settings: Settings, *, of_bot: bool = True, with_token: bool = False
) -> Iterator[tuple[Client, Site]]:
    """Open a client for the listing that the settings, or a manifest, mean.

    Args:
        settings: Flags and environment.
        of_bot: Whether what follows is about one bot.
        with_token: Whether it needs the bot's own token; refused before any request without.
    """
    known = bool(settings.base_url and (settings.bot or not of_bot))
    site = site_of(settings, one_manifest(settings, known=known), of_bot=of_bot)
    if with_token:
        site.check_token()
    from commandsync.client.library import Client  # noqa: PLC0415 - loads requests

    with Client(
        site.token,
        site.address.base_url,
        bot=site.bot or None,
        timeout=settings.timeout,
        retries=settings.retries,
        insecure_http=settings.insecure_http,
    ) as client:
        yield client, site
