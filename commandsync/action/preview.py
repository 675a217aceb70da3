"""The bot's page as it will be, as files for an artifact of the workflow."""

from collections.abc import Sequence

from commandsync.action.reporter import Reporter, say
from commandsync.errors import CommandsyncError, UsageError
from commandsync.manifest import Manifest
from commandsync.pages.botpage import page_files
from commandsync.preview.baseline import Baseline, completed, new_bot
from commandsync.preview.folder import write_folder
from commandsync.preview.page import state_of
from commandsync.sync.job import Planned
from commandsync.sync.settings import Settings


def write_preview(
    reporter: Reporter,
    settings: Settings,
    manifests: Sequence[Manifest],
    planned: Sequence[Planned | CommandsyncError],
) -> None:
    """Write the page of a manifest into a new folder, which the output `preview` names.

    It begins with the listing that was read for the plan; without one, everything is new. A page
    that cannot be made is a warning: the plan does not depend on it.
    """
    with reporter.warned("no preview is written"):
        if len(manifests) != 1:
            message = f"it shows one manifest, and these are {len(manifests)}"
            raise UsageError(message, hint="use one job for each bot")
        (manifest,) = manifests
        baseline = _baseline(settings, manifest, planned)
        page = state_of(settings, manifest, baseline).page
        folder = str(reporter.new_folder("preview"))
        write_folder(folder, page_files(page), force=False)
        reporter.put_outputs({"preview": folder})


def _baseline(
    settings: Settings, manifest: Manifest, planned: Sequence[Planned | CommandsyncError]
) -> Baseline:
    page = planned[0] if planned and manifest.has_page else None
    if isinstance(page, Planned):
        return completed(page.connection, page.site, page.listed, manifest)
    if page:
        say("The preview shows everything as new, since the listing cannot be read.")
    return new_bot(settings, manifest)
