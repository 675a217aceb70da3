"""`commandsync preview`: the bot's page as it will be."""

from itertools import chain

import click

from commandsync.cli.option import Command, option
from commandsync.cli.options import (
    Run,
    force_option,
    limit_options,
    manifest_arguments,
    page_options,
)


@click.command("preview", cls=Command)
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
@page_options
@limit_options
def preview_command(
    run: Run,
    /,
    *,
    port: int,
    no_open: bool,
    offline: bool,
    folder: str | None,
    force: bool,
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
    if folder:
        _write_page(run, folder, offline=offline, force=force)
        return 0
    import commandsync.server  # noqa: F401 - its extra is needed, and has that of the pages
    from commandsync.cli.display import show_live

    show_live(run, offline=offline, port=port, opens=not no_open)
    return 0


def _write_page(run: Run, folder: str, *, offline: bool, force: bool) -> None:
    from commandsync.cli.output import OPTIONS
    from commandsync.pages.botpage import page_files
    from commandsync.preview.previewpage import (
        baseline_of,
        check_folder,
        load_one,
        state_of,
        write_folder,
    )
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
