"""`commandsync doctor`, `listings`, `schema` and `completion`: the set-up, and facts to look up.

`doctor` checks the set-up, and compares the names of commands. The others need neither a manifest
nor a service. `init` and `pull --out` write the JSON Schema of manifests beside a new manifest,
which `schema_beside` returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import Command
from commandsync.cli.options import Run, probe_options, table_options, talk_options
from commandsync.cli.program import program
from commandsync.sync import SCHEMA

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.diagnostics import Check
    from commandsync.sources.changeset import FileEdit


@click.command("doctor", cls=Command)
@probe_options
def doctor_command(run: Run, /) -> int:
    """Check the settings, the service and the token.

    It shows where the base URL and the bot come from, whether the service can be reached, and for
    which bot it accepts the token. The token of each service in listings: is checked, too, where
    the service has a request that changes nothing. Nothing is written, and no token is shown.

    If import: of the manifest names the bot's code, or DISCORD_TOKEN is set, it compares the names
    of commands in the code, at Discord, in the manifest and in each listing.

    Exits 5, 4 or 1 if something would stop an apply or could not be read, and 3 if names differ.

    \b
    Example:
      commandsync doctor
      commandsync doctor -f bots/ --format json
      commandsync doctor --format markdown
    """
    import logging

    from commandsync.cli.output import log_handled_by
    from commandsync.plan.differences import Parity
    from commandsync.report import render_diagnosis
    from commandsync.report.diagnosis import Diagnosis
    from commandsync.sync.diagnosis import diagnose, exit_code_of

    checks: list[Check] = []
    compared: list[Parity] = []
    # A check contains the client's warnings; -vv shows its whole log all the same.
    with log_handled_by(logging.NullHandler()):
        for found in diagnose(run.settings):
            if isinstance(found, Parity):
                compared.append(found)
            else:
                checks.append(found)
                _show_check(found, run.output)
    diagnosis = Diagnosis(checks, compared)
    form, screen = run.output.format, run.output.screen()
    run.output.result(render_diagnosis(diagnosis, format=form, screen=screen))
    return exit_code_of(checks)


def _show_check(check: Check, output: Output) -> None:
    """Print a check as soon as it is made, where the output is lines."""
    from commandsync.report.diagnosis import check_lines

    screen = output.screen()
    if output.format in {"text", "github"} and (check.state == "failed" or not screen.quiet):
        output.result(check_lines(check, screen=screen))


@click.command("schema", cls=Command)
@click.argument(
    "name", type=click.Choice(["commands", "plan", "result", "docs"]), default="commands"
)
@talk_options
def schema_command(run: Run, /, *, name: str) -> None:
    """Print a JSON Schema: of manifests, plans, results or lists.

    \b
    Example:
      commandsync schema > commands.schema.json
      commandsync schema plan
    """
    if name == "commands":
        from commandsync.manifest.model import schema_text

        run.output.result(schema_text())
    else:
        from commandsync.document import schemas

        run.output.result(schemas.schema_text(name))


def schema_beside(manifest: str) -> list[FileEdit]:
    """Return the schema as a new file beside a manifest; nothing if it is there."""
    from commandsync.manifest.model import schema_text
    from commandsync.sources.changeset import FileEdit

    path = Path(manifest).parent / SCHEMA
    return [] if path.exists() else [FileEdit(path.as_posix(), None, schema_text())]


@click.command("listings", cls=Command)
@table_options
def listings_command(run: Run, /) -> None:
    """Show what each listing service can do, as far as it is known.

    The column `page` is the service of base_url; listings: can name the others, and any other
    service with replace:. "simulated only" means that nobody has used the service itself with
    commandsync yet.

    \b
    Example:
      commandsync listings
      commandsync listings --format json
    """
    from commandsync.report.records import services_json, services_text

    is_json = run.output.format == "json"
    run.output.result(services_json() if is_json else services_text(screen=run.output.screen()))


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(*, shell: str) -> None:
    """Print a script that completes commands in a shell.

    \b
    Example:
      eval "$(commandsync completion bash)"      # in ~/.bashrc
      eval "$(commandsync completion zsh)"       # in ~/.zshrc, after compinit
      commandsync completion fish | source       # in config.fish
    """
    from click.shell_completion import get_completion_class

    from commandsync.cli.output import print_out

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - click has all three
    print_out(script(program, {}, "commandsync", "_COMMANDSYNC_COMPLETE").source())
