"""The listings of a run: the page of each manifest alone, or all that the manifests name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from commandsync.manifest import Manifest
from commandsync.sync.job import Job, connected
from commandsync.sync.settings import Settings, sites_of


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Find the listings of each manifest, and open a connection to each.

    Raises `CommandsyncError` as `sites_of`, or as `listing_jobs` for manifests with `listings:`.
    """
    if settings.listing or any(manifest.listings for manifest in manifests):
        from commandsync.sync.listings import listing_jobs  # noqa: PLC0415 - seldom needed

        with listing_jobs(settings, manifests) as opened:
            yield opened
        return
    sites = sites_of(settings, manifests)
    with connected(settings, sites) as connections:
        parts = zip(manifests, sites, connections, strict=True)
        yield [Job(manifest, site, settings, connection) for manifest, site, connection in parts]
