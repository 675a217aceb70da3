"""`commandsync init`: the first manifest of a bot, and the tasks that remain.

The folder shows the platform, the code and the prefix: each is the default of a question. On a
terminal the questions are asked; elsewhere each answer is an option, and `--yes` takes the
defaults. Without any of these off a terminal, the manifest has the listed records, or
is a starter.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import (
    PATH,
    SERVICE,
    Run,
    RunCommand,
    ServiceArguments,
    not_empty,
    option,
    options,
    yes_option,
)
from commandsync.sync import SCHEMA
from commandsync.sync.setting import RETRIES

if TYPE_CHECKING:
    from commandsync.cli.answers import Given
    from commandsync.records.snapshot import Snapshot
    from commandsync.sources.changeset import FileEdit, Import
    from commandsync.sync.init import Answers

_ADOPTED = (
    "The listed records. Edit them, see the changes with `commandsync plan`, then apply them."
)


@click.command("init", cls=RunCommand)
@click.argument("path", metavar="[PATH]", type=PATH, required=False, callback=not_empty)
@option(
    "--listing NAME",
    "A service that lists the bot, such as top.gg; may be repeated.",
    dest="listings",
    multiple=True,
)
@option(
    "--from PATH",
    "The bot's code, which is read and not run; may be repeated.",
    dest="sources",
    multiple=True,
)
@option("--prefix TEXT", "The prefix of the bot's text commands, such as !.")
@option(
    "--platform NAME",
    "The bot's platform: discord or telegram.",
    type=click.Choice(["discord", "telegram"]),
)
@option("--workflow", "Also write a workflow for GitHub, which plans and applies.")
@yes_option
@options(*SERVICE, RETRIES)
def init_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    path: str | None,
    listings: Sequence[str],
    sources: Sequence[str],
    prefix: str | None,
    platform: str | None,
    workflow: bool,
    yes: bool,
    retries: int,
    **service: Unpack[ServiceArguments],
) -> int:
    """Write the first manifest of a bot; never over an existing file.

    It looks at the folder: which library the bot uses, and where its commands are. On a terminal it
    asks, each question with a default; elsewhere the options are the answers, and --yes takes the
    defaults. The commands are read from the code, which is not run. Commands that a page
    lists already stay. The JSON Schema is written to schemas/ beside the manifest, so that editors
    complete it.

    Without a terminal and without these options, the manifest has the records that the page
    of --base-url lists, or is a starter.

    \b
    Example:
      commandsync init
      commandsync init --yes --listing top.gg
      commandsync init --listing top.gg --from src --prefix "!" --workflow
      commandsync init --listing discord --listing top.gg --from src
      commandsync init --listing telegram --from bot.py
      commandsync init --bot 779641401482805289 --base-url https://listing.example
    """
    from pathlib import Path

    from commandsync.cli.answers import Given
    from commandsync.sync.files import check_target
    from commandsync.sync.settings import default_manifest

    target = Path(path or default_manifest()).as_posix()
    hint = "name another file; commandsync import writes the bot's commands beside a manifest, and "
    hint += "commandsync pull prints the listed records"
    check_target(target, force=False, new_folder=True, hint=hint)
    run = run._replace(settings=replace(run.settings, retries=retries, **service))
    given = Given(
        listings=listings,
        sources=sources,
        prefix=prefix,
        platform=platform,
        workflow=workflow,
        yes=yes,
    )
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if not (given.any or is_terminal):
        return _start(run, target)
    return _begin(run, target, given, asks=is_terminal and not yes)


def _start(run: Run, path: str) -> int:
    """Write the listed records, or a starter."""
    from commandsync.cli.output import command_line
    from commandsync.errors import Exit
    from commandsync.sources.changeset import FileEdit

    text, adopted, _ = _listed(run)
    _write(run, path, [FileEdit(path, None, text)])
    if adopted:
        run.output.talk(f"{path} contains the listed records: {adopted}")
    files = [] if path == "commands.yaml" else [path]
    run.output.talk(f"next: edit it, then run  {command_line('validate', files=files)}")
    return Exit.DONE


def _listed(run: Run) -> tuple[str, str, Snapshot | None]:
    """Return the manifest, the counts of its listed records, and them; empty for a starter."""
    from commandsync.api.operations import get_bot
    from commandsync.diagnostics import Notice
    from commandsync.manifest.dump import dump_manifest, starter
    from commandsync.records.texts import counted
    from commandsync.sync.job import connected, read_listing
    from commandsync.sync.sites import known_bot, site_of

    schema = f"./{SCHEMA}"
    site = site_of(run.settings, None, of_bot=False) if run.settings.base_url else None
    if site is None or not site.bot.strip():
        base_url = site.address.base_url if site else ""
        return starter(schema, bot=known_bot(run.settings), base_url=base_url), "", None
    listed = read_listing(run.settings, site)
    run.output.notices(site.warnings())
    collections = listed.collections.items()
    counts = [counted(len(entries), resource) for resource, entries in collections if entries]
    base_url = site.address.base_url
    if not counts:
        return starter(schema, bot=site.bot, base_url=base_url), "", None
    header = (f"yaml-language-server: $schema={schema}", "", _ADOPTED)
    with connected(run.settings, [site]) as (connection,):
        name = connection.call(get_bot(site.bot)).profile.username
    dumped = dump_manifest(listed, name=name, bot=site.bot, base_url=base_url, header=header)
    run.output.notices([Notice(warning) for warning in dumped.warnings])
    return dumped.text, " and ".join(counts), listed


def _begin(run: Run, path: str, given: Given, *, asks: bool) -> int:
    """Find the answers, and write the manifest, its commands and the workflow."""
    from pathlib import Path

    from commandsync.cli.answers import find_answers
    from commandsync.errors import Exit
    from commandsync.report.lines import CopiedLine, joined
    from commandsync.sources.changeset import FileEdit
    from commandsync.sync.files import check_target
    from commandsync.sync.init import begin, workflow_path, workflow_text

    if given.workflow:
        check_target(workflow_path(), force=False, new_folder=True, hint="leave out --workflow")
    folder = Path(path).parent
    answers = find_answers(run, folder if folder.is_dir() else Path(), given, asks=asks)
    if answers is None:
        return Exit.FAILED
    if answers.base_url and answers.bot:  # the commands that the page lists stay
        page = replace(run.settings, base_url=answers.base_url, bot=answers.bot)
        text, adopted, listed = _listed(run._replace(settings=page))
        answers = replace(answers, listed=listed, adopted=text if adopted else "")
    beginning = begin(run.settings, path, answers)
    edits = [*beginning.edits]
    if answers.workflow:
        edits.append(FileEdit(workflow_path(), None, workflow_text(answers, path)))
    if beginning.result:
        _show(run, beginning.result)
    _write(run, path, edits)
    lines = ["", "Left to do:"]
    tasks = _left(answers, path, beginning.result)
    for number, (task, *copied) in enumerate(tasks, start=1):
        lines += [f"  {number}. {task}", *(CopiedLine(f"       {line}") for line in copied)]
    run.output.talk(joined(lines, run.output.screen(sys.stderr)))
    return Exit.DONE


def _show(run: Run, result: Import) -> None:
    """Show the commands that are read from the code, and those that are not."""
    from commandsync.report.imports import by_cause, counts, unread_lines
    from commandsync.report.lines import joined

    screen = run.output.screen(sys.stderr)
    run.output.notices([*by_cause(result.notes, each=run.output.verbosity > 0)])
    run.output.talk(joined([*unread_lines(result), counts(result)], screen))


def _left(answers: Answers, path: str, result: Import | None) -> Iterator[list[str]]:
    """Yield each task that is left, with the lines to copy: workflow, tokens, next commands."""
    from commandsync.cli.output import command_line
    from commandsync.sync.init import default_branch, workflow_path

    files = [] if path == "commands.yaml" else [path]
    if answers.workflow:
        replaced = f"Replace OWNER and COMMIT in {workflow_path()}"
        yield [f"{replaced}, and store the tokens as secrets of the environment listing."]
        branch, is_known = default_branch()
        if not is_known:
            yield [f"Check that {branch}, its branch, is the default branch of the repository."]
    if answers.has_examples:
        task = f"Replace the commands in {path}, which are examples"
        if answers.program:
            record = command_line("import", "--", *shlex.split(answers.program), files=files)
            yield [f"{task}, or remove them and record a run of the bot:", record]
        else:
            yield [f"{task}."]
    exports, words = _missing_tokens(answers)
    if exports:
        yield [f"Set the token{'s' if len(exports) > 1 else ''}:", *exports]
    lines = [command_line(command, *words, files=files) for command in ("plan", "apply")]
    yield ["See what would be sent, and send it:", *lines]
    yield from _left_at_discord(answers, result)


def _missing_tokens(answers: Answers) -> tuple[list[str], list[str]]:
    """Return the lines that set the missing tokens, and the option that takes others from .env."""
    from commandsync.sync.files import USUAL_ENV_FILE, in_usual_file
    from commandsync.sync.init import token_variables

    unset = [
        variables
        for variables in token_variables(answers).values()
        if not any(os.environ.get(variable, "").strip() for variable in variables)
    ]
    exports = [f"export {each[0]}=..." for each in unset if not in_usual_file(each)]
    return exports, ["--env-file", USUAL_ENV_FILE] if len(exports) < len(unset) else []


def _left_at_discord(answers: Answers, result: Import | None) -> Iterator[list[str]]:
    """Yield the task at Discord, where either the bot or commandsync registers the commands."""
    from commandsync.records.snapshot import Kind
    from commandsync.sync.settings import DISCORD_VARIABLE

    if answers.registers:
        yield ["Then remove the registration from the bot's program: commandsync does it now."]
    elif answers.registered and result:
        at_discord = [each for each in result.after.commands if each.kind is not Kind.PREFIX]
        if any(command.discord is None for command in at_discord):
            task = "The code does not show all options of the commands. To read them from Discord,"
            task += f" write discord under import.from, set {DISCORD_VARIABLE}, and run"
            yield [task, "commandsync import"]


def _write(run: Run, path: str, files: Sequence[FileEdit]) -> None:
    """Write new files and the schema, all of them or none; say which."""
    from commandsync.cli.schema import schema_beside
    from commandsync.report.lines import joined
    from commandsync.sync.files import write_edits

    edits = [*files, *schema_beside(path)]
    write_edits(edits, new_folder=True)
    *names, last = [edit.path for edit in edits]
    line = f"wrote {', '.join(names)}{' and ' if names else ''}{last}"
    run.output.talk(joined([line], run.output.screen(sys.stderr)))
