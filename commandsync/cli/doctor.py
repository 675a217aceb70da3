"""`commandsync doctor`: the set-up is checked, and the names of commands are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import SERVICE, Run, RunCommand, ServiceArguments, options
from commandsync.sync import setting

if TYPE_CHECKING:
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

    from commandsync.plan.differences import Parity
    from commandsync.report import render_diagnosis
    from commandsync.report.records import Diagnosis, check_lines
    from commandsync.sync.diagnosis import diagnose, exit_code_of

    settings = replace(run.settings, files=files, listing=listing, state=state, **service)
    checks: list[Check] = []
    compared: list[Parity] = []
    output, screen = run.output, run.output.screen()
    log, silent = logging.getLogger("commandsync"), logging.NullHandler()
    log.addHandler(silent)  # a check contains the client's warnings; -vv shows its whole log
    try:
        for found in diagnose(settings):
            if isinstance(found, Parity):
                compared.append(found)
                continue
            checks.append(found)
            if output.format == "text" and (found.state == "failed" or not screen.quiet):
                output.result(check_lines(found, screen=screen))  # as soon as it is made
    finally:
        log.removeHandler(silent)
    diagnosis = Diagnosis(checks, compared)
    output.result(render_diagnosis(diagnosis, format=output.format, screen=screen))
    return exit_code_of(checks)
