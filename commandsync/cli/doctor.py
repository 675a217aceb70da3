"""`commandsync doctor`: the checks of the set-up, before the first sync."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from commandsync.cli.help import Command
from commandsync.cli.options import probe_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings

_VARIABLES = {"base_url": "COMMANDSYNC_BASE_URL", "bot": "COMMANDSYNC_BOT"}


@click.command("doctor", cls=Command)
@probe_options
@click.pass_context
def doctor_command(ctx: click.Context, /, *, settings: Settings, output: Output) -> int:
    """Check the settings, the service and the token.

    It shows where the base URL and the bot come from, whether the service can be reached, and for
    which bot it accepts the token. Nothing is written, and the token is not shown. Exits 1 if
    something would stop an apply.

    \b
    Example:
      commandsync doctor
      commandsync doctor -f bots/ --format json
    """
    import sys
    from dataclasses import replace

    from commandsync.cli.output import hint_in_flags
    from commandsync.report.diagnosis import check_lines, checks_json, verdict
    from commandsync.sync.diagnosis import diagnose
    from commandsync.sync.exits import Exit

    is_json, screen, checks = output.format == "json", output.screen(sys.stdout), []
    with _warnings_hidden():
        for made in diagnose(settings, given=_given(ctx)):
            check = replace(made, hint=hint_in_flags(made.hint))
            checks.append(check)
            if not is_json and (made.state == "failed" or not screen.quiet):
                output.result(check_lines(check, screen=screen))
    output.result(checks_json(checks) if is_json else verdict(checks, screen=screen))
    return Exit.FAILED if any(check.state == "failed" for check in checks) else Exit.DONE


def _given(ctx: click.Context) -> dict[str, str]:
    """Return the flag or variable of each setting that one of them gives."""
    names = {
        ParameterSource.COMMANDLINE: {name: f"--{name.replace('_', '-')}" for name in _VARIABLES},
        ParameterSource.ENVIRONMENT: _VARIABLES,
    }
    sources = {name: ctx.get_parameter_source(name) for name in _VARIABLES}
    return {name: names[source][name] for name, source in sources.items() if source in names}


@contextmanager
def _warnings_hidden() -> Iterator[None]:
    """Hide the client's warnings, which a check contains, unless -vv shows its whole log."""
    import logging

    log, handler = logging.getLogger("commandsync"), logging.NullHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
