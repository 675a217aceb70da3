"""What a live preview shows: a page that follows the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event

from commandsync.errors import ManifestError
from commandsync.pages.botpage import BotPage
from commandsync.preview.baseline import Baseline, baseline_of
from commandsync.preview.followed import FollowedManifest
from commandsync.preview.page import PreviewState, page_with, state_of
from commandsync.sync import default_manifest
from commandsync.sync.settings import Settings


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a page shows."""

    page: BotPage
    state: PreviewState | None  # the last valid state of the manifest; None if there was none yet
    error: ManifestError | None  # the problems of what was saved after it; None if it is the newest


def live_states(settings: Settings, *, offline: bool, stop: Event) -> Iterator[LiveState]:
    """Yield what to show, first and after each change of the manifest, until `stop` is set.

    The listing is read for the first valid manifest, unless `offline`. Raises `ListingError` if it
    cannot be read, and `UsageError` if there are several manifests.
    """
    baseline: Baseline | None = None
    state: PreviewState | None = None
    path = (settings.files or (default_manifest(),))[0]
    for manifest in FollowedManifest(settings).manifests(stop):
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
