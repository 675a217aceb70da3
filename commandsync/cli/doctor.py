"""`commandsync doctor`: the checks of the set-up, before the first sync."""

import click

from commandsync.cli.help import Command
from commandsync.cli.options import Run, probe_options
from commandsync.errors import Exit


@click.command("doctor", cls=Command)
@probe_options
def doctor_command(run: Run, /) -> int:
    """Check the settings, the service and the token.

    It shows where the base URL and the bot come from, whether the service can be reached, and for
    which bot it accepts the token. The token of each service in listings: is checked, too, where
    the service has a request that changes nothing. Nothing is written, and no token is shown. Exits
    1 if something would stop an apply.

    \b
    Example:
      commandsync doctor
      commandsync doctor -f bots/ --format json
    """
    import logging

    from commandsync.cli.output import log_handled_by
    from commandsync.report.diagnosis import check_lines, verdict
    from commandsync.report.records import document
    from commandsync.sync.diagnosis import diagnose

    is_json, screen, checks = run.output.format == "json", run.output.screen(), []
    # A check contains the client's warnings; -vv shows its whole log all the same.
    with log_handled_by(logging.NullHandler()):
        for check in diagnose(run.settings):
            checks.append(check)
            if not is_json and (check.state == "failed" or not screen.quiet):
                run.output.result(check_lines(check, screen=screen))
    listed = [check._asdict() | {"hint": str(check.hint)} for check in checks]
    run.output.result(document({"checks": listed}) if is_json else verdict(checks, screen=screen))
    return Exit.FAILED if any(check.state == "failed" for check in checks) else Exit.DONE
