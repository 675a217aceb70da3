"""The listings of a run: the page of each manifest alone, or all that the manifests name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from commandsync.manifest import Manifest
from commandsync.sync.job import AnyJob, page_jobs
from commandsync.sync.settings import Settings


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[AnyJob]]:
    """Find the listings of each manifest, and open a connection to each.

    Raises `CommandsyncError` as `page_jobs`, or as `listing_jobs` for manifests with `listings:`.
    """
    if not settings.listing and not any(manifest.listings for manifest in manifests):
        with page_jobs(settings, manifests) as pages:
            yield [*pages]
        return
    from commandsync.sync.listings import listing_jobs  # noqa: PLC0415 - seldom needed

    with listing_jobs(settings, manifests) as opened:
        yield opened
