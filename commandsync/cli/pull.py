"""`commandsync pull`: a manifest of what is listed now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import force_option, path_option, service_options, yes_option
from commandsync.sync import SCHEMA

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.command("pull", cls=Command)
@path_option("--out", help="Write the manifest here instead of printing it.")
@click.option(
    "--merge",
    is_flag=True,
    help="Add to the manifest, in place, what is listed and missing in it; asks first.",
)
@click.option("--pin", is_flag=True, help="Include the ids, so that renames need no formerly.")
@yes_option
@force_option
@service_options
def pull_command(  # noqa: PLR0913 - the options of one command
    *,
    settings: Settings,
    output: Output,
    out: str | None,
    merge: bool,
    pin: bool,
    yes: bool,
    force: bool,
) -> int | None:
    """Print a manifest of what is listed now.

    With --bot and --base-url it needs no manifest; otherwise they are taken from commands.yaml.
    A plan after a pull has no changes.

    With --merge, it adds to the manifest what is missing there, and changes nothing else. A listed
    command that is probably one of the manifest's under an old name becomes its former name.

    \b
    Example:
      commandsync pull --bot 779641401482805289 --base-url https://listing.example
      commandsync pull --pin --out commands.yaml
      commandsync pull --merge
    """
    if not merge:
        _pull(settings, output, out, pin=pin, force=force)
        return None
    from commandsync.cli.merge import merge_listing
    from commandsync.errors import UsageError

    if out or force:
        raise UsageError("--merge edits the manifest itself", hint="leave out --out and --force")
    return merge_listing(settings, output, pin=pin, yes=yes)


def _pull(settings: Settings, output: Output, out: str | None, *, pin: bool, force: bool) -> None:
    from pathlib import Path

    from commandsync.cli.call import one_manifest
    from commandsync.diagnostics import Notice
    from commandsync.manifest import schema_text
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
    dumped = dump_manifest(
        listed,
        bot=site.bot,
        base_url=site.address.base_url,
        pin=pin,
        header=[f"yaml-language-server: $schema=./{SCHEMA}"],
    )
    output.notices([Notice(warning) for warning in dumped.warnings])
    if out:
        write_file(out, dumped.text, force=force)
        output.talk(f"wrote {out}")
        if not (schema := Path(out).parent / SCHEMA).exists():
            write_file(str(schema), schema_text(), force=False, new_folder=True)
            output.talk(f"wrote {schema.as_posix()}, with which editors complete {out}")
    else:
        output.result(dumped.text)
