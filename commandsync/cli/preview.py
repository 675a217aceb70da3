"""`commandsync preview`: the bot's page as it will be, live or written into a folder.

The live page prints where it is, one line for each save, and the problems of the manifest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import option, options
from commandsync.cli.options import (
    SERVICE,
    Run,
    RunCommand,
    force_option,
    manifest_arguments,
    source_of,
)
from commandsync.errors import UsageError
from commandsync.sync.setting import (
    BASE_URL,
    BOT,
    FILES,
    MAX_DELETES,
    ONLY,
    PRUNE,
    RETRIES,
    STRICT,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.plan.rules import DeleteLimit
    from commandsync.preview.views import LiveState


@click.command("preview", cls=RunCommand)
@manifest_arguments
@option(
    "--port N",
    "The port on this machine.  [default: a free one]",
    type=click.IntRange(0, 65535),
    default=0,
)
@option("--no-open", "Do not open the page in a browser.")
@option("--offline", "Read no listing: everything is new on the page.")
@option("--html PATH", "Write the page into this folder instead, and end.", dest="folder")
@force_option
@options(FILES, *SERVICE, RETRIES)
@options(STRICT, PRUNE, MAX_DELETES, ONLY)
def preview_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    port: int,
    no_open: bool,
    offline: bool,
    folder: str | None,
    force: bool,
    manifests: tuple[str, ...],
    files: tuple[str, ...],
    base_url: str,
    bot: str,
    token_file: str,
    timeout: float,
    insecure_http: bool,
    retries: int,
    strict: bool,
    prune: bool,
    max_deletes: DeleteLimit | None,
    only: str,
) -> int:
    """Show the bot's page as it will be, while you edit.

    It applies the manifest to a copy of the listing in memory, again at each save, and marks
    on the page what has changed. Nothing is written to the listing, and no token is needed. Without
    a base URL, or with --offline, the page begins empty. Ctrl-C ends it.

    \b
    Example:
      commandsync preview
      commandsync preview bots/lantern.yaml --no-open --port 8080
      commandsync preview --html site    # in CI: writes site/index.html
    """
    settings = replace(
        run.settings,
        files=files + manifests,
        base_url=base_url,
        base_url_from=source_of(BASE_URL),
        bot=bot,
        bot_from=source_of(BOT),
        token_file=token_file,
        timeout=timeout,
        insecure_http=insecure_http,
        retries=retries,
        strict=strict,
        prune=prune,
        max_deletes=max_deletes,
        only=only,
    )
    run = run._replace(settings=settings)
    if folder:
        _write_page(run, folder, offline=offline, force=force)
        return 0
    _show_live(run, offline=offline, port=port, opens=not no_open)
    return 0


def _write_page(run: Run, folder: str, *, offline: bool, force: bool) -> None:
    from commandsync.cli.output import OPTIONS
    from commandsync.pages.botpage import page_files
    from commandsync.preview.previewpage import baseline_of, state_of
    from commandsync.preview.views import check_folder, load_one, write_folder
    from commandsync.report.lines import visible
    from commandsync.sync.files import refuse_token

    check_folder(folder, force=force)
    manifest = load_one(run.settings)
    entries = chain.from_iterable(manifest.snapshot.collections.values())
    refuse_token(folder, (text for entry in entries for text in entry.text))  # Markdown in them
    baseline = baseline_of(run.settings, manifest, offline=offline)
    state = state_of(run.settings, manifest, baseline, OPTIONS)
    page = write_folder(folder, page_files(state.page), force=force)
    run.output.notices(list(state.notices))
    run.output.talk(f"wrote {page}")
    for line in state.summary:
        run.output.result(visible(line))


def _show_live(run: Run, *, offline: bool, port: int, opens: bool) -> None:
    """Serve the page, and print its summary at each save, until a signal."""
    import webbrowser
    from threading import Event, Thread

    import commandsync.server  # noqa: F401 - its extra is needed, and has that of the pages
    from commandsync.cli.output import OPTIONS
    from commandsync.preview.views import live_states
    from commandsync.report.lines import visible
    from commandsync.server.live_preview import preview_server

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
    """Return whether a person can see a browser.

    Without a display, the browsers of Linux are those of the terminal, which is in use.
    """
    from commandsync.sync.files import NOT_CI

    if not is_terminal or environ.get("CI", "").lower() not in NOT_CI:
        return False
    graphical = "DISPLAY" in environ or "WAYLAND_DISPLAY" in environ or "BROWSER" in environ
    return graphical or not sys.platform.startswith("linux")


def _show(shown: LiveState, before: LiveState | None, output: Output) -> None:
    """Print a state, without the notices of the one before it."""
    from datetime import datetime

    from commandsync.report.lines import visible

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
