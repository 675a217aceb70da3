"""A preview on the terminal: where its page is, one line for each save, the manifest's problems."""

from __future__ import annotations

import os
import sys
import webbrowser
from datetime import datetime
from threading import Event, Thread
from typing import TYPE_CHECKING

from commandsync.errors import UsageError
from commandsync.preview.baseline import baseline_of
from commandsync.preview.folder import check_folder, write_folder
from commandsync.preview.followed import load_one
from commandsync.preview.live import live_preview
from commandsync.preview.overlay import notices_of
from commandsync.preview.page import page_of
from commandsync.report.escape import visible
from commandsync.report.summary import of_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.cli.output import Output
    from commandsync.diagnostics import Notice
    from commandsync.preview.live import LiveState
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_NOT_CI = frozenset({"", "0", "false"})


def write_page(
    settings: Settings, folder: str, *, output: Output, offline: bool, force: bool
) -> None:
    """Write the page into a folder, and print the plan's counts.

    Raises:
        CommandsyncError: The manifest is invalid, its listing cannot be read, or a file of somebody
            else is in the folder.
    """
    check_folder(folder, force=force)
    manifest = load_one(settings)
    baseline = baseline_of(settings, manifest, offline=offline)
    state, files = page_of(settings, manifest, baseline)
    page = write_folder(folder, files, force=force)
    output.notices(list(notices_of(state)))
    output.talk(f"wrote {page}")
    output.result(of_plan(state.plan))


def show_live(
    settings: Settings,
    output: Output,
    signals: Signals,
    *,
    offline: bool,
    port: int,
    opens: bool,
) -> None:
    """Serve the page, and print what it shows, until a signal.

    Raises:
        CommandsyncError: The manifest is invalid at the beginning, its listing cannot be read, or
            the port cannot be listened on.
    """
    if "-" in settings.files:
        hint = "name its file, or write a page of it: --html FOLDER"
        raise UsageError("standard input cannot be watched for changes", hint=hint)
    stop, terminal = Event(), _Terminal(output)
    with (
        live_preview(settings, offline=offline, port=port, stop=stop) as preview,
        signals.answered_by(lambda _count: stop.set()),
    ):
        output.result(f"preview of {visible(preview.name)} at {preview.url}")
        terminal.show(preview.first)
        if opens and can_open(os.environ, is_terminal=sys.stdout.isatty()):
            # In a thread: some browsers are waited for until they are closed.
            Thread(target=webbrowser.open, args=(preview.url,), daemon=True).start()
        for shown in preview.later:
            terminal.show(shown)


def can_open(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether a person is there who can see a browser.

    Without a display, the browsers of Linux are those of the terminal, which is in use.
    """
    if not is_terminal or environ.get("CI", "").lower() not in _NOT_CI:
        return False
    graphical = "DISPLAY" in environ or "WAYLAND_DISPLAY" in environ or "BROWSER" in environ
    return graphical or not sys.platform.startswith("linux")


class _Terminal:
    """Prints each state, and no notice or problem again that it has printed for the last one."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._notices: list[Notice] = []
        self._broken = False

    def show(self, shown: LiveState) -> None:
        if shown.error is not None:
            self._output.failure(shown.error)
            self._output.talk(f"{_clock()}  the page stays as it is until this is mended")
        else:
            notices = list(notices_of(shown.state))
            self._output.notices([each for each in notices if each not in self._notices])
            self._notices = notices
            mended = "the manifest is valid again. " if self._broken else ""
            self._output.result(f"{_clock()}  {mended}{of_plan(shown.state.plan)}")
        sys.stdout.flush()
        self._broken = shown.error is not None


def _clock() -> str:
    return f"{datetime.now():%H:%M:%S}"  # noqa: DTZ005 - the user's own
