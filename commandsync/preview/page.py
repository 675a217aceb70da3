"""The page of one state of a manifest, from a service in memory that ends with it."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from commandsync.preview.listing import PreviewListing
from commandsync.preview.overlay import overlay_of
from commandsync.server import preview_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.manifest import Manifest
    from commandsync.preview.baseline import Baseline
    from commandsync.preview.listing import PreviewState
    from commandsync.server import PreviewService
    from commandsync.sync.settings import Settings


@contextmanager
def applied(
    settings: Settings, baseline: Baseline, *, port: int = 0
) -> Iterator[tuple[PreviewService, PreviewListing]]:
    """Run a service with a bot, and what applies manifests to it, for as long as the block lasts.

    Raises:
        UsageError: The port cannot be listened on.
    """
    with (
        preview_service(baseline.bot, baseline.profile, name=baseline.name, port=port) as service,
        closing(PreviewListing(baseline, settings, service)) as listing,
    ):
        yield service, listing


def page_of(
    settings: Settings, manifest: Manifest, baseline: Baseline
) -> tuple[PreviewState, dict[str, bytes]]:
    """Return what a manifest changes, and the page that shows it, as the files of a folder."""
    with applied(settings, baseline) as (service, listing):
        state = listing.bring_to(manifest)
        return state, service.page_files(overlay_of(state))
