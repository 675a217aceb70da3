"""A live preview from its beginning to its end: a page that follows the manifest."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from threading import Event

from commandsync.errors import ManifestError
from commandsync.manifest import Manifest
from commandsync.pages.botpage import BotPage
from commandsync.preview.baseline import Baseline, baseline_of
from commandsync.preview.followed import FollowedManifest
from commandsync.preview.page import PreviewState, page_with, state_of
from commandsync.server.preview import PreviewServer, preview_server
from commandsync.sync import default_manifest
from commandsync.sync.settings import Settings


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a page shows."""

    page: BotPage
    state: PreviewState | None  # the last valid state of the manifest; None if there was none yet
    error: ManifestError | None  # the problems of what was saved after it; None if it is the newest


@contextmanager
def live_preview(
    settings: Settings, *, offline: bool, port: int, stop: Event
) -> Iterator[tuple[str, Iterator[LiveState]]]:
    """Serve the page of a bot with the manifest applied, for as long as the block lasts.

    Yields its URL, and what it shows, first and after each change of the manifest.

    Args:
        settings: The settings of the run, which name the manifest.
        offline: Show a new bot, and read no listing.
        port: The port on loopback; 0 picks a free one.
        stop: Ends the changes when it is set.

    Raises:
        CommandsyncError: The listing cannot be read, or the port cannot be listened on.
    """
    states = _states(FollowedManifest(settings).manifests(stop), settings, offline=offline)
    first = next(states)
    with preview_server(first.page, port=port) as server:
        yield f"{server.url}/", chain([first], _shown(states, server))


def _states(
    manifests: Iterable[Manifest | ManifestError], settings: Settings, *, offline: bool
) -> Iterator[LiveState]:
    """Yield what to show for each manifest; the listing is read for the first valid one."""
    baseline: Baseline | None = None
    state: PreviewState | None = None
    path = (settings.files or (default_manifest(),))[0]
    for manifest in manifests:
        error: ManifestError | None = None
        try:
            if isinstance(manifest, ManifestError):
                raise manifest
            baseline = baseline or baseline_of(settings, manifest, offline=offline)
            state = state_of(settings, manifest, baseline)
        except ManifestError as invalid:
            error = invalid
        page = page_with(error.problems if error else (), state, path=path)
        yield LiveState(page, state, error)


def _shown(states: Iterable[LiveState], server: PreviewServer) -> Iterator[LiveState]:
    for shown in states:
        server.show(shown.page)
        yield shown
