"""`commandsync listings`: the abilities of each listing service."""

import click

from commandsync.cli.options import Run, RunCommand


@click.command("listings", cls=RunCommand, formats=("text", "json"))
def listings_command(run: Run, /) -> None:
    """Show the abilities of each listing service, as far as they are known.

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
