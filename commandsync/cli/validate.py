"""`commandsync validate`: manifests are checked, with no network and no token."""

from dataclasses import replace

import click

from commandsync.cli.options import EVERY_FORMAT, Run, RunCommand, manifest_arguments, option
from commandsync.sync.setting import FILES, STRICT


@click.command("validate", cls=RunCommand, formats=EVERY_FORMAT)
@manifest_arguments
@option(FILES)
@option(STRICT)
def validate_command(
    run: Run, /, *, manifests: tuple[str, ...], files: tuple[str, ...], strict: bool
) -> None:
    """Check manifests, with no network and no token.

    Shows the problems of all files, each as path:line:column. Exits 4 if there are any.

    \b
    Example:
      commandsync validate
      commandsync validate bots/ --format github
    """
    from commandsync import report
    from commandsync.sync.settings import check_notices, load

    settings = replace(run.settings, files=files + manifests, strict=strict)
    valid = load(settings)
    if any(manifest.listings for manifest in valid):
        from commandsync.sync.sites import check_bots

        check_bots(valid)
    if any(manifest.discord for manifest in valid):
        from commandsync.sync.registrations import with_refused_parts

        valid = tuple(map(with_refused_parts, valid))
        check_notices([warning for each in valid for warning in each.warnings], settings)
    form, screen = run.output.format, run.output.screen()
    run.output.result(report.render_validated(valid, format=form, screen=screen))
