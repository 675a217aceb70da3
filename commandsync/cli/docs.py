"""`commandsync docs`: the command list, written into files or printed.

Files are read, compared with the manifest, and then shown (`--check`, `--diff`) or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from commandsync.cli.option import PATH, not_empty, option, options
from commandsync.cli.options import Run, RunCommand
from commandsync.sync.setting import FILES, STRICT

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.diagnostics import Location
    from commandsync.manifest import Manifest
    from commandsync.records.texts import CommandText
    from commandsync.report.markdownfile import State
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
    """
    from commandsync.api.credentials import redacted
    from commandsync.errors import Exit, UsageError
    from commandsync.sync.companions import commands_of
    from commandsync.sync.files import refuse_token
    from commandsync.sync.settings import load_single

    shows = check or diff
    if printed and (paths or shows):
        raise UsageError("--format prints the list", hint="give no PATH, --check or --diff")
    problem, hint = "docs takes one manifest", "run it for each manifest"
    run = run._replace(settings=replace(run.settings, files=files, strict=strict))
    manifest = load_single(run.settings, problem, hint=hint)
    if printed:
        _print_list(run, manifest, printed)
        return Exit.DONE
    readable = redacted if shows else str  # what is written is refused instead
    bot, commands = readable(manifest.name), commands_of(manifest, readable)
    pages = _read_pages(paths, commands, bot=bot)
    if shows:
        return _show_pages(run, pages, paths, check=check, diff=diff)
    for page in pages:  # a format may write a token in another way than it is
        refuse_token(page.edit.path, chain([bot], *commands))
    if not force:
        _check_edits(pages)
    _write_pages(pages, run.output)
    return Exit.DONE


def _write_pages(pages: Sequence[Page], output: Output) -> None:
    """Write the files that are not up to date, all of them or none."""
    from commandsync.sync.files import write_edits

    write_edits([page.edit for page in pages if page.stale])
    for page in pages:
        path = page.edit.path
        output.talk(f"wrote {path}" if page.stale else f"{path} is up to date")


def _print_list(run: Run, manifest: Manifest, form: str) -> None:
    """Print the list of a manifest in a format; a token in it is hidden."""
    from commandsync.api.credentials import redacted
    from commandsync.sync.companions import commands_of

    if form == "botfather":
        text = redacted(_botfather_list(run, manifest))
    else:
        text = _list_as(form, commands_of(manifest, redacted), bot=redacted(manifest.name))
    run.output.result(text)


def _botfather_list(run: Run, manifest: Manifest) -> str:
    """Return a list as lines `name - text`, and warn about commands that Telegram does not take."""
    from commandsync.records.losses import loss_notice
    from commandsync.records.texts import Resource
    from commandsync.services.fit import fit
    from commandsync.services.telegram import TELEGRAM
    from commandsync.sync.beginning import recommended_lossy

    fitted, shown_nowhere = fit(TELEGRAM, manifest.snapshot), recommended_lossy(TELEGRAM)
    losses = (loss for loss in fitted.losses if loss.field not in shown_nowhere)
    run.output.notices([loss_notice(loss, at="BotFather") for loss in losses])
    commands = fitted.snapshot.collections.get(Resource.COMMAND, ())
    lines = (f"{each.name} - {' '.join(each.text[1].split())}\n" for each in commands)
    return "".join(lines)


def _list_as(form: str, commands: Sequence[CommandText], *, bot: str) -> str:
    """Return a list as markdown, html or json.

    Raises `UsageError` for html if the extra `[preview]` is missing.
    """
    if form == "markdown":
        from commandsync.report.commandlist import Layout, command_list

        return command_list(commands, Layout(), level=2)
    if form == "json":
        from commandsync.document.schemas import command_list_document
        from commandsync.report.json import dumped

        return dumped(command_list_document(commands))
    from commandsync.pages.botpage import commands_page
    from commandsync.report.markdownfile import sealed

    return sealed(commands_page(commands, bot=bot))


class Page(NamedTuple):
    """A file with command lists, and the states of those that are not up to date."""

    edit: FileEdit
    lists: int
    stale: Sequence[tuple[Location, State]]


def _read_pages(paths: Iterable[str], commands: Sequence[CommandText], *, bot: str) -> list[Page]:
    """Read files, without names the usual ones, and write their lists again, in memory."""
    from commandsync.errors import UsageError
    from commandsync.report.markdownfile import BEGIN, read_regions

    named = list(dict.fromkeys(paths)) or [
        name for name in DEFAULT_PAGES if read_regions(_read(name) or "", name)
    ]
    if not named:
        raise UsageError(
            f"neither {' nor '.join(DEFAULT_PAGES)} has the marker {BEGIN}",
            hint=f"name a file: commandsync docs {DEFAULT_PAGES[-1]} creates it",
        )
    return [_page(name, commands, bot) for name in named]


def _page(name: str, commands: Sequence[CommandText], bot: str) -> Page:
    from commandsync.diagnostics import Location
    from commandsync.errors import UsageError
    from commandsync.report.markdownfile import NEW_FILE, State, state_of, with_lists
    from commandsync.sources.changeset import FileEdit

    suffix = Path(name).suffix.lower()
    if suffix not in {*_MARKDOWN, ".json", ".html"}:
        hint = "its name must end in .md, .html or .json"
        raise UsageError(f"{name} is not a file that docs can write", hint=hint)
    old = _read(name)
    lists: Sequence[tuple[Location, State]]
    if suffix in _MARKDOWN:
        new, lists = with_lists(NEW_FILE if old is None else old, commands, path=name)
    else:
        new = _list_as(suffix.removeprefix("."), commands, bot=bot)
        lists = [(Location(name), state_of(old, new))]
    stale = [(at, state) for at, state in lists if state is not State.CURRENT]
    return Page(FileEdit(name, old, new), len(lists), stale)


def _read(name: str) -> str | None:
    """Read a file as it is; None where it does not exist."""
    from commandsync.sync.files import MOST_BYTES, check_target, read_text

    check_target(name, force=True, new_folder=True)  # a pipe would be read for ever
    return read_text(name, most=MOST_BYTES) if Path(name).exists() else None


def _check_edits(pages: Sequence[Page]) -> None:
    """Refuse to replace the work of a person: a list edited by hand, or another file."""
    from commandsync.errors import RefusedError
    from commandsync.report.markdownfile import State

    by_hand = "move the edit into the manifest, or in Markdown out of the markers"
    for state, problem, hint in (
        (State.EDITED, "the list was edited by hand", by_hand),
        (State.FOREIGN, "the file is not a list that docs wrote", "name another file"),
    ):
        if places := [str(at) for page in pages for at, was in page.stale if was is state]:
            message = f"{' and '.join(places)}: {problem}"
            raise RefusedError(message, hint=f"{hint}; --force replaces it")


def _show_pages(
    run: Run, pages: Sequence[Page], paths: Sequence[str], *, check: bool, diff: bool
) -> int:
    """Print the differences between the files and their new content; return the exit code.

    With `check`, print the lists that are not up to date, and the command that updates them.
    """
    from commandsync.cli.output import command_line
    from commandsync.errors import Exit
    from commandsync.report.linediff import edit_lines
    from commandsync.report.lines import joined, path
    from commandsync.report.markdownfile import State
    from commandsync.report.summary import counted

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
    force = ["--force"] if State.EDITED in dict(stale).values() else []
    line = command_line("docs", *force, *paths, files=run.settings.files)
    run.output.result(f"{shown}\nNot up to date: {len(stale)} of {count}. Run  {line}")
    return Exit.CHANGES
