"""`commandsync docs`: the command list, written into files or printed.

Files are read, compared with the manifest, and then shown (`--check`, `--diff`) or written. With
`--open`, a browser shows the page: of a file that was just written, or of a temporary one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from commandsync.cli.options import PATH, Run, RunCommand, not_empty, option, options
from commandsync.sync.setting import FILES, STRICT

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.diagnostics import Location
    from commandsync.manifest import Manifest
    from commandsync.records.texts import CommandText
    from commandsync.report.commandlist import ListState
    from commandsync.sources.changeset import FileEdit

DEFAULT_PAGES = ("README.md", "COMMANDS.md")
_MARKDOWN = frozenset({".md", ".markdown"})


@click.command("docs", cls=RunCommand)
@click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty)
@options(FILES, STRICT)
@option("--check", "Write nothing; exit 3 if a list is not up to date.")
@option("--diff", "Write nothing; show the differences.")
@option("--force", "Replace lists that were edited by hand.")
@option(
    "--format FORMAT",
    "Print the list instead of writing files, as markdown, html, json or botfather.",
    dest="printed",
    type=click.Choice(["markdown", "html", "json", "botfather"]),
)
@option(
    "--open",
    "Show the page in a browser: the PATH that ends in .html, or with --format html.",
    dest="opens",
)
def docs_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    paths: tuple[str, ...],
    files: tuple[str, ...],
    strict: bool,
    check: bool,
    diff: bool,
    force: bool,
    printed: str | None,
    opens: bool,
) -> int:
    """Write the command list into Markdown, HTML and JSON files.

    In a Markdown file the list is between two markers, and nothing else changes. A file that does
    not exist is created with them. Without PATH, it is written into README.md and COMMANDS.md,
    where these have markers.

    \b
    Example:
      commandsync docs COMMANDS.md
      commandsync docs --check --diff      # in CI
      commandsync docs site/commands.html site/commands.json
      commandsync docs --format html --open
    """
    from commandsync.errors import Exit, UsageError
    from commandsync.sync.settings import load_single

    shows = check or diff
    if printed and (paths or shows):
        raise UsageError("--format prints the list", hint="give no PATH, --check or --diff")
    html = _page_to_open(paths, printed, shows=shows) if opens else ""
    run = run._replace(settings=replace(run.settings, files=files, strict=strict))
    manifest = load_single(run.settings, "docs takes one manifest", hint="run it for each manifest")
    if printed:
        text = _printed_list(run, manifest, printed)
        if opens:
            html = _temporary_page(run.output, text)
        else:
            run.output.result(text)
    elif shows:
        return _show_pages(run, manifest, paths, check=check, diff=diff)
    else:
        _write_pages(run, manifest, paths, force=force)
    if html:
        _open(run.output, html)
    return Exit.DONE


def _page_to_open(paths: Sequence[str], printed: str | None, *, shows: bool) -> str:
    """Return the one path of a page, empty with `--format html`; raises `UsageError`."""
    from commandsync.errors import UsageError

    pages = [path for path in paths if Path(path).suffix.lower() == ".html"]
    if shows or (len(pages) != 1 and printed != "html"):
        hint = "give --format html, or one PATH that ends in .html; neither --check nor --diff"
        raise UsageError("--open shows one page", hint=hint)
    return "" if printed else pages[0]


def _write_pages(run: Run, manifest: Manifest, paths: Sequence[str], *, force: bool) -> None:
    """Write the files that are not up to date, all of them or none."""
    from commandsync.sync.commands import commands_of
    from commandsync.sync.files import refuse_token, write_edits

    commands = commands_of(manifest)
    pages = _read_pages(paths, commands, bot=manifest.name)
    texts = [manifest.name, *chain(*commands), *(command.options for command in commands)]
    for page in pages:  # a format may write a token in another way than it is
        refuse_token(page.edit.path, texts)
    if not force:
        _check_edits(pages)
    write_edits([page.edit for page in pages if page.stale])
    for page in pages:
        path = page.edit.path
        run.output.talk(f"wrote {path}" if page.stale else f"{path} is up to date")


def _printed_list(run: Run, manifest: Manifest, form: str) -> str:
    """Return the list of a manifest in a format; a token in it is hidden.

    The lines for BotFather are `name - text`. Commands that Telegram does not take are warned of.
    """
    from commandsync.api.credentials import redacted
    from commandsync.sync.commands import commands_of

    if form != "botfather":
        return _list_as(form, commands_of(manifest, redacted), bot=redacted(manifest.name))
    from commandsync.records.losses import loss_notice
    from commandsync.records.texts import Resource
    from commandsync.services.fit import fit
    from commandsync.services.telegram import TELEGRAM
    from commandsync.sync.init import recommended_lossy

    fitted, shown_nowhere = fit(TELEGRAM, manifest.snapshot), recommended_lossy(TELEGRAM)
    losses = (loss for loss in fitted.losses if loss.field not in shown_nowhere)
    run.output.notices([loss_notice(loss, at="BotFather") for loss in losses])
    commands = fitted.snapshot.collections.get(Resource.COMMAND, ())
    lines = (f"{each.name} - {' '.join(each.text[1].split())}\n" for each in commands)
    return redacted("".join(lines))


def _list_as(form: str, commands: Sequence[CommandText], *, bot: str) -> str:
    """Return a list as markdown, html or json.

    Raises `UsageError` for html if the extra `[html]` is missing.
    """
    if form == "markdown":
        from commandsync.report.commandlist import Layout, command_list

        return command_list(commands, Layout(), level=2)
    if form == "json":
        from commandsync.document.schemas import command_list_document
        from commandsync.report.json import dumped

        return dumped(command_list_document(commands))
    from commandsync.pages.templates import commands_page
    from commandsync.report.commandlist import sealed

    return sealed(commands_page(commands, bot=bot))


class Page(NamedTuple):
    """A file with command lists, and the states of those that are not up to date."""

    edit: FileEdit
    lists: int
    stale: Sequence[tuple[Location, ListState]]


def _read_pages(paths: Iterable[str], commands: Sequence[CommandText], *, bot: str) -> list[Page]:
    """Read files, without names the usual ones, and write their lists again, in memory."""
    from commandsync.diagnostics import Location
    from commandsync.errors import UsageError
    from commandsync.report.commandlist import (
        BEGIN,
        NEW_FILE,
        ListState,
        read_regions,
        state_of,
        with_lists,
    )
    from commandsync.sources.changeset import FileEdit

    names = list(dict.fromkeys(paths)) or [
        name for name in DEFAULT_PAGES if read_regions(_read(name) or "", name)
    ]
    if not names:
        raise UsageError(
            f"neither {' nor '.join(DEFAULT_PAGES)} has the marker {BEGIN}",
            hint=f"name a file: commandsync docs {DEFAULT_PAGES[-1]} creates it",
        )
    pages = []
    for name in names:
        suffix = Path(name).suffix.lower()
        if suffix not in {*_MARKDOWN, ".json", ".html"}:
            hint = "its name must end in .md, .html or .json"
            raise UsageError(f"{name} is not a file that docs can write", hint=hint)
        old = _read(name)
        lists: Sequence[tuple[Location, ListState]]
        if suffix in _MARKDOWN:
            new, lists = with_lists(NEW_FILE if old is None else old, commands, path=name)
        else:
            new = _list_as(suffix.removeprefix("."), commands, bot=bot)
            lists = [(Location(name), state_of(old, new))]
        stale = [(at, state) for at, state in lists if state is not ListState.CURRENT]
        pages.append(Page(FileEdit(name, old, new), len(lists), stale))
    return pages


def _read(name: str) -> str | None:
    """Read a file as it is; None where it does not exist."""
    from commandsync.sync.files import MOST_BYTES, check_target, read_text

    check_target(name, force=True, new_folder=True)  # a pipe would be read for ever
    return read_text(name, most=MOST_BYTES) if Path(name).exists() else None


def _check_edits(pages: Sequence[Page]) -> None:
    """Refuse to replace the work of a person: a list edited by hand, or another file."""
    from commandsync.errors import RefusedError
    from commandsync.report.commandlist import ListState

    by_hand = "move the edit into the manifest, or in Markdown out of the markers"
    for state, problem, hint in (
        (ListState.EDITED, "the list was edited by hand", by_hand),
        (ListState.FOREIGN, "the file is not a list that docs wrote", "name another file"),
    ):
        if places := [str(at) for page in pages for at, was in page.stale if was is state]:
            message = f"{' and '.join(places)}: {problem}"
            raise RefusedError(message, hint=f"{hint}; --force replaces it")


def _show_pages(
    run: Run, manifest: Manifest, paths: Sequence[str], *, check: bool, diff: bool
) -> int:
    """Print the differences between the files and their new content; return the exit code.

    With `check`, print the lists that are not up to date, and the command that updates them.
    """
    from commandsync.api.credentials import redacted
    from commandsync.cli.output import command_line
    from commandsync.errors import Exit
    from commandsync.records.texts import counted
    from commandsync.report.commandlist import ListState
    from commandsync.report.lines import edit_lines, joined, path
    from commandsync.sync.commands import commands_of

    pages = _read_pages(paths, commands_of(manifest, redacted), bot=redacted(manifest.name))
    edits = [page.edit for page in pages if diff and page.stale]
    shown = joined(edit_lines(edits), run.output.screen())
    if not check:
        run.output.result(shown)
        return Exit.DONE
    stale = [*chain.from_iterable(page.stale for page in pages)]
    count = counted(sum(page.lists for page in pages), "list")
    if not stale:
        run.output.result(f"{shown}Up to date: {count}.")
        return Exit.DONE
    shown += "".join(f"{path(str(at))}: {state}\n" for at, state in stale)
    force = ["--force"] if ListState.EDITED in dict(stale).values() else []
    line = command_line("docs", *force, *paths, files=run.settings.files)
    run.output.result(f"{shown}\nNot up to date: {len(stale)} of {count}. Run  {line}")
    return Exit.CHANGES


def _temporary_page(output: Output, text: str) -> str:
    """Write a page into a new folder of the system's temporary files; return its path."""
    from commandsync.sources.changeset import FileEdit
    from commandsync.sync.files import temporary_folder, write_edits

    path = str(temporary_folder("docs") / "commands.html")
    write_edits([FileEdit(path, None, text)])
    output.talk(f"wrote {path}")
    return path


# Ends with the exit code 1 if no browser was found.
_SHOW = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_SECRET = re.compile(r"COMMANDSYNC_|.*(TOKEN|SECRET|PASSW|API_?KEY)", re.IGNORECASE)


def _open(output: Output, path: str) -> None:
    """Show a file in a browser, which gets no token of this process in its environment."""
    import subprocess

    from commandsync.api.credentials import contains_token
    from commandsync.diagnostics import Notice

    environment = {
        name: value
        for name, value in os.environ.items()
        if not (_SECRET.match(name) or contains_token(value))
    }
    # Without a display, Linux has only browsers in the terminal, which is in use.
    shows = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}.intersection(environment)
    if shows or not sys.platform.startswith("linux"):
        address = Path(path).absolute().as_uri()
        command = [sys.executable, "-I", "-c", _SHOW, address]
        quiet = subprocess.DEVNULL  # browsers write about themselves
        ended = subprocess.run(  # noqa: S603 - Python itself, by its path
            command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, check=False
        )
        if not ended.returncode:
            return
    output.notices([Notice("no browser can be started here", f"open {path} yourself")])
