"""`commandsync doctor`: the set-up is checked, and the names of commands are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import SERVICE, Run, RunCommand, ServiceArguments, options
from commandsync.sync import setting

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.diagnostics import Check


@click.command("doctor", cls=RunCommand, formats=("text", "json"))
@options(setting.FILES, *SERVICE, setting.LISTING, setting.STATE)
def doctor_command(
    run: Run,
    /,
    *,
    files: tuple[str, ...],
    listing: tuple[str, ...],
    state: str,
    **service: Unpack[ServiceArguments],
) -> int:
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
    """
    import logging

    from commandsync.cli.output import log_handled_by
    from commandsync.plan.differences import Parity
    from commandsync.report import render_diagnosis
    from commandsync.report.diagnosis import Diagnosis
    from commandsync.sync.diagnosis import diagnose, exit_code_of

    settings = replace(run.settings, files=files, listing=listing, state=state, **service)
    checks: list[Check] = []
    compared: list[Parity] = []
    # A check contains the client's warnings; -vv shows its whole log all the same.
    with log_handled_by(logging.NullHandler()):
        for found in diagnose(settings):
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
    if output.format == "text" and (check.state == "failed" or not screen.quiet):
        output.result(check_lines(check, screen=screen))
