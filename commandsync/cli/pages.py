"""The files that `commandsync docs` writes: read, compared with the manifest, shown and written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from commandsync.api.credentials import redacted
from commandsync.cli.options import Run
from commandsync.cli.output import Output, command_line
from commandsync.diagnostics import Location
from commandsync.document.schemas import command_list_document
from commandsync.errors import Exit, RefusedError, UsageError
from commandsync.manifest import Manifest
from commandsync.records.texts import CommandText, Resource
from commandsync.report.commandlist import Layout, command_list
from commandsync.report.json import dumped
from commandsync.report.linediff import edit_lines
from commandsync.report.lines import joined, path
from commandsync.report.markdownfile import (
    BEGIN,
    NEW_FILE,
    State,
    read_regions,
    sealed,
    state_of,
    with_lists,
)
from commandsync.report.summary import counted
from commandsync.sources.changeset import FileEdit
from commandsync.sync.companions import commands_of
from commandsync.sync.files import MOST_BYTES, check_target, read_text, write_edits

DEFAULT_PAGES = ("README.md", "COMMANDS.md")
_MARKDOWN = frozenset({".md", ".markdown"})
_REFUSED = (
    (
        State.EDITED,
        "the list was edited by hand",
        "move the edit into the manifest, or in Markdown out of the markers; --force replaces it",
    ),
    (
        State.FOREIGN,
        "the file is not a list that docs wrote",
        "name another file; --force replaces it",
    ),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A file with command lists."""

    edit: FileEdit
    lists: tuple[tuple[Location, State], ...]

    @property
    def stale(self) -> list[tuple[Location, State]]:
        """The lists that are not up to date."""
        return [(at, state) for at, state in self.lists if state is not State.CURRENT]


def list_as(form: str, commands: Sequence[CommandText], *, bot: str) -> str:
    """Return a list as markdown, html or json.

    Raises `UsageError` for html if the extra `[preview]` is missing.
    """
    if form == "markdown":
        return command_list(commands, Layout(), level=2)
    if form == "json":
        return dumped(command_list_document(commands))
    from commandsync.pages.botpage import commands_page

    return sealed(commands_page(commands, bot=bot))


def print_list(run: Run, manifest: Manifest, form: str) -> int:
    """Print the list of a manifest in a format; a token in it is hidden."""
    if form == "botfather":
        text = redacted(_botfather_list(run, manifest))
    else:
        text = list_as(form, commands_of(manifest, redacted), bot=redacted(manifest.name))
    run.output.result(text)
    return Exit.DONE


def _botfather_list(run: Run, manifest: Manifest) -> str:
    """Return a list as lines `name - text`, and warn about commands that Telegram does not take."""
    from commandsync.records.losses import loss_notice
    from commandsync.services.fit import fit
    from commandsync.services.telegram import TELEGRAM
    from commandsync.sync.beginning import recommended_lossy

    fitted, shown_nowhere = fit(TELEGRAM, manifest.snapshot), recommended_lossy(TELEGRAM)
    losses = (loss for loss in fitted.losses if loss.field not in shown_nowhere)
    run.output.notices([loss_notice(loss, at="BotFather") for loss in losses])
    commands = fitted.snapshot.collections.get(Resource.COMMAND, ())
    lines = (f"{each.name} - {' '.join(each.text[1].split())}\n" for each in commands)
    return "".join(lines)


def read_pages(paths: Iterable[str], commands: Sequence[CommandText], *, bot: str) -> list[Page]:
    """Read files, without names the usual ones, and write their lists again, in memory."""
    named = list(dict.fromkeys(paths)) or [
        name for name in DEFAULT_PAGES if read_regions(_read(name) or "", name)
    ]
    if not named:
        raise UsageError(
            f"neither {' nor '.join(DEFAULT_PAGES)} has the marker {BEGIN}",
            hint=f"name a file: commandsync docs {DEFAULT_PAGES[-1]} creates it",
        )
    return [_page(name, commands, bot) for name in named]


def check_edits(pages: Sequence[Page]) -> None:
    """Refuse to replace the work of a person: a list edited by hand, or another file."""
    for state, problem, hint in _REFUSED:
        if places := [str(at) for page in pages for at, was in page.lists if was is state]:
            raise RefusedError(f"{' and '.join(places)}: {problem}", hint=hint)


def write_pages(pages: Sequence[Page], output: Output) -> None:
    """Write the files that are not up to date, all of them or none."""
    write_edits([page.edit for page in pages if page.stale])
    for page in pages:
        path = page.edit.path
        output.talk(f"wrote {path}" if page.stale else f"{path} is up to date")


def show_pages(
    run: Run, pages: Sequence[Page], paths: Sequence[str], *, check: bool, diff: bool
) -> int:
    """Print the differences between the files and their new content; return the exit code.

    With `check`, print the lists that are not up to date, and the command that updates them.
    """
    edits = [page.edit for page in pages if diff and page.stale]
    shown = joined(edit_lines(edits), run.output.screen())
    if not check:
        run.output.result(shown)
        return Exit.DONE
    stale = [*chain.from_iterable(page.stale for page in pages)]
    count = counted(sum(len(page.lists) for page in pages), "list")
    if not stale:
        run.output.result(f"{shown}Up to date: {count}.")
        return Exit.DONE
    shown += "".join(f"{path(str(at))}: {state}\n" for at, state in stale)
    force = ["--force"] if State.EDITED in dict(stale).values() else []
    line = command_line("docs", *force, *paths, files=run.settings.files)
    run.output.result(f"{shown}\nNot up to date: {len(stale)} of {count}. Run  {line}")
    return Exit.CHANGES


def _page(name: str, commands: Sequence[CommandText], bot: str) -> Page:
    suffix = Path(name).suffix.lower()
    if suffix not in {*_MARKDOWN, ".json", ".html"}:
        hint = "its name must end in .md, .html or .json"
        raise UsageError(f"{name} is not a file that docs can write", hint=hint)
    old = _read(name)
    if suffix in _MARKDOWN:
        new, lists = with_lists(NEW_FILE if old is None else old, commands, path=name)
        return Page(FileEdit(name, old, new), lists)
    new = list_as(suffix.removeprefix("."), commands, bot=bot)
    return Page(FileEdit(name, old, new), ((Location(name), state_of(old, new)),))


def _read(name: str) -> str | None:
    """Read a file as it is; None where it does not exist."""
    check_target(name, force=True, new_folder=True)  # a pipe would be read for ever
    return read_text(name, most=MOST_BYTES) if Path(name).exists() else None
