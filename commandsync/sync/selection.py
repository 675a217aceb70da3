"""The listings of a run: the page of each manifest alone, or all that the manifests name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from commandsync.manifest import Manifest
from commandsync.sync.job import Job, page_jobs
from commandsync.sync.settings import Settings


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Find the listings of each manifest, and open a connection to each.

    Raises `CommandsyncError` as `page_jobs`, or as `listing_jobs` for manifests with `listings:`.
    """
    found = page_jobs
    if settings.listing or any(manifest.listings for manifest in manifests):
        from commandsync.sync.listings import listing_jobs as found  # noqa: PLC0415 - seldom needed
    with found(settings, manifests) as opened:
        yield opened
