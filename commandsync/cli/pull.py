"""`commandsync pull`: a manifest of what is listed now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import force_option, path_option, service_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.command("pull", cls=Command)
@path_option("--out", help="Write the manifest here instead of printing it.")
@click.option("--pin", is_flag=True, help="Include the ids, so that renames need no formerly.")
@force_option
@service_options
def pull_command(
    *, settings: Settings, output: Output, out: str | None, pin: bool, force: bool
) -> None:
    """Print a manifest of what is listed now.

    With --bot and --base-url it needs no manifest; otherwise they are taken from commands.yaml.
    A plan after a pull has no changes.

    \b
    Example:
      commandsync pull --bot 779641401482805289 --base-url https://listing.example
      commandsync pull --pin --out commands.yaml
    """
    from commandsync.cli.call import one_manifest
    from commandsync.diagnostics import Notice
    from commandsync.manifest.dump import dump_manifest
    from commandsync.records.texts import Resource
    from commandsync.sync.files import check_target, write_file
    from commandsync.sync.job import read_listing
    from commandsync.sync.settings import site_of

    if out:
        check_target(out, force=force)
    manifest = one_manifest(settings, known=bool(settings.bot and settings.base_url))
    site = site_of(settings, manifest)
    managed = manifest.snapshot.scope if manifest else ()
    scope = managed or tuple(Resource)  # one that manages nothing yet only names the listing
    listed = read_listing(settings, site, scope)
    dumped = dump_manifest(listed, bot=site.bot, base_url=site.address.base_url, pin=pin)
    output.notices([Notice(warning) for warning in dumped.warnings])
    if out:
        write_file(out, dumped.text, force=force)
        output.talk(f"wrote {out}")
    else:
        output.result(dumped.text)
