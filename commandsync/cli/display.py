"""A preview on the terminal: where its page is, one line for each save, the manifest's problems."""

import os
import sys
import webbrowser
from collections.abc import Mapping
from datetime import datetime
from itertools import chain, pairwise
from threading import Event, Thread

from commandsync.cli.options import Run
from commandsync.cli.output import OPTIONS, Output
from commandsync.errors import UsageError
from commandsync.preview.followed import LiveState, live_states
from commandsync.report.lines import visible
from commandsync.server.live_preview import preview_server
from commandsync.sync.files import NOT_CI


def show_live(run: Run, *, offline: bool, port: int, opens: bool) -> None:
    """Serve the page, and print what it shows, until a signal."""
    if "-" in run.settings.files:
        hint = "name its file, or write a page of it: --html FOLDER"
        raise UsageError("standard input cannot be watched for changes", hint=hint)
    output, stop = run.output, Event()
    states = live_states(run.settings, OPTIONS, offline=offline, stop=stop)
    first = next(states)
    with (
        preview_server(first.page, port=port) as server,
        run.signals.answered_by(lambda _count: stop.set()),
    ):
        url = f"{server.url}/"
        output.result(f"preview of {visible(first.page.bot.profile.username)} at {url}")
        _show(first, None, output)
        if opens and can_open(os.environ, is_terminal=sys.stdout.isatty()):
            # In a thread: some browsers are waited for until they are closed.
            Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        for before, shown in pairwise(chain([first], states)):
            server.show(shown.page)
            _show(shown, before, output)


def can_open(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether a person is there who can see a browser.

    Without a display, the browsers of Linux are those of the terminal, which is in use.
    """
    if not is_terminal or environ.get("CI", "").lower() not in NOT_CI:
        return False
    graphical = "DISPLAY" in environ or "WAYLAND_DISPLAY" in environ or "BROWSER" in environ
    return graphical or not sys.platform.startswith("linux")


def _show(shown: LiveState, before: LiveState | None, output: Output) -> None:
    """Print a state, without the notices of the one before it."""
    clock = f"{datetime.now():%H:%M:%S}"  # noqa: DTZ005 - the user's own
    if shown.error is not None:
        output.failure(shown.error)
        kept = " and its last valid state" if shown.state else ""
        output.talk(f"{clock}  the page shows the problems of the manifest{kept}")
    elif shown.state is not None:
        known = before.state.notices if before and before.state else ()
        output.notices([notice for notice in shown.state.notices if notice not in known])
        again = "the manifest is valid again. " if before and before.error else ""
        for line in shown.state.summary:
            output.result(f"{clock}  {again}{visible(line)}")
