"""A live preview from its beginning to its end: a page that follows the manifest."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.errors import ManifestError
from commandsync.preview.baseline import baseline_of
from commandsync.preview.followed import FollowedManifest
from commandsync.preview.overlay import overlay_of
from commandsync.preview.page import applied

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from commandsync.manifest import Manifest
    from commandsync.preview.listing import PreviewListing, PreviewState
    from commandsync.server import PreviewService
    from commandsync.sync.settings import Settings


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a page shows.

    Attributes:
        state: The last valid state of the manifest.
        error: The problems of what was saved after it; None if it is the newest.
    """

    state: PreviewState
    error: ManifestError | None = None


@dataclass(frozen=True, slots=True)
class RunningPreview:
    """A preview whose page is served.

    Attributes:
        url: The address of the page.
        name: What the bot is called.
        first: What it shows at first.
        later: Yields what it shows, after each change of the manifest.
    """

    url: str
    name: str
    first: LiveState
    later: Iterator[LiveState]


@contextmanager
def live_preview(
    settings: Settings, *, offline: bool, port: int, stop: Event
) -> Iterator[RunningPreview]:
    """Serve the page of a bot with the manifest applied, for as long as the block lasts.

    Args:
        settings: The settings of the run, which name the manifest.
        offline: Show a new bot, and read no listing.
        port: The port on loopback; 0 picks a free one.
        stop: Ends the changes when it is set.

    Raises:
        CommandsyncError: The manifest is invalid, its listing cannot be read, or the port cannot be
            listened on.
    """
    with FollowedManifest(settings) as followed:
        manifest = followed.load()
        baseline = baseline_of(settings, manifest, offline=offline)
        with applied(settings, baseline, port=port) as (service, listing):
            first = LiveState(listing.bring_to(manifest))
            service.show(overlay_of(first.state))
            yield RunningPreview(
                f"{service.url}/bot/{service.bot}",
                baseline.name,
                first,
                _later(followed.changes(stop), listing, service, first.state),
            )


def _later(
    changes: Iterator[Manifest | ManifestError],
    listing: PreviewListing,
    service: PreviewService,
    state: PreviewState,
) -> Iterator[LiveState]:
    for manifest in changes:
        error: ManifestError | None = None
        try:
            if isinstance(manifest, ManifestError):
                raise manifest
            state = listing.bring_to(manifest)
        except ManifestError as invalid:
            error = invalid
        service.show(overlay_of(state, error.problems if error else ()))
        yield LiveState(state, error)
