"""`commandsync pull`: from a listing to a manifest.

It prints the listed records as a manifest or as JSON.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import (
    SERVICE,
    Run,
    RunCommand,
    ServiceArguments,
    force_option,
    option,
    options,
)
from commandsync.sync import SCHEMA, setting

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.manifest import Manifest
    from commandsync.records.snapshot import Snapshot
    from commandsync.sync.settings import Settings, Site


@click.command("pull", cls=RunCommand, formats=("text", "json"))
@option("--out PATH", "Write the manifest here instead of printing it.")
@option("--pin", "Include the ids, so that renames need no formerly.")
@force_option
@options(
    setting.FILES, *SERVICE, setting.RETRIES, setting.CONCURRENCY, setting.LISTING, setting.GUILD
)
def pull_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    out: str | None,
    pin: bool,
    force: bool,
    files: tuple[str, ...],
    retries: int,
    concurrency: int,
    listing: tuple[str, ...],
    guild: str,
    **service: Unpack[ServiceArguments],
) -> None:
    """Print a manifest of the listed records.

    With --bot and --base-url it needs no manifest; otherwise they are taken from commands.yaml.
    With --listing discord or --guild, it prints the commands that the application of the token has
    registered. A plan after a pull has no changes. With --format json, it lists the records with
    their ids and uses instead.

    \b
    Example:
      commandsync pull --bot 779641401482805289 --base-url https://listing.example
      commandsync pull --pin --out commands.yaml
      commandsync pull --listing discord
      commandsync pull --format json
    """
    from commandsync.cli.call import one_manifest
    from commandsync.diagnostics import Notice
    from commandsync.errors import UsageError
    from commandsync.manifest.dump import dump_manifest
    from commandsync.sync.files import check_target
    from commandsync.sync.sites import listing_of

    output, is_json = run.output, run.output.format == "json"
    if is_json and out:
        message = "--format json lists the records, and writes no file"
        raise UsageError(message, hint="leave out --out")
    settings = replace(
        run.settings,
        files=files,
        retries=retries,
        concurrency=concurrency,
        listing=listing,
        guild=guild,
        **service,
    )
    if out:
        check_target(out, force=force)
    site, listed = _read(settings, one_manifest(settings))
    discord = listing_of(site)
    if is_json:
        from commandsync.report.records import listed_document

        base_url, guild = site.address.base_url, discord.guild if discord else ""
        output.result(listed_document(listed, bot=site.bot, base_url=base_url, guild=guild))
        return
    dumped = dump_manifest(
        listed,
        bot=site.bot,
        base_url="" if discord else site.address.base_url,
        discord=discord,
        pin=pin,
        header=[f"yaml-language-server: $schema=./{SCHEMA}"],
    )
    output.notices([Notice(warning) for warning in dumped.warnings])
    if out:
        _write(output, out, dumped.text, force=force)
    else:
        output.result(dumped.text)


def _read(settings: Settings, manifest: Manifest | None) -> tuple[Site, Snapshot]:
    from commandsync.records.texts import OF_MANIFEST
    from commandsync.sync.job import read_listing
    from commandsync.sync.sites import DiscordSite, record_site

    site = record_site(settings, manifest)
    if isinstance(site, DiscordSite):
        from commandsync.sync.registrations import read_registrations

        return read_registrations(settings, site)
    managed = manifest.snapshot.scope if manifest else ()
    # A manifest that manages nothing yet only names the listing.
    return site, read_listing(settings, site, managed or OF_MANIFEST)


def _write(output: Output, path: str, text: str, *, force: bool) -> None:
    """Write a manifest, and its schema if there is none."""
    from commandsync.cli.schema import schema_beside
    from commandsync.sync.files import write_edits, write_file

    write_file(path, text, force=force)
    output.talk(f"wrote {path}")
    for schema in schema_beside(path):
        write_edits([schema], new_folder=True)
        output.talk(f"wrote {schema.path}, with which editors complete {path}")
