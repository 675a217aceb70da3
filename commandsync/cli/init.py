"""`commandsync init`: a manifest of what is listed, or a starter, with the schema for editors."""

from pathlib import Path

import click

from commandsync.cli.option import PATH, Command, not_empty, option
from commandsync.cli.options import Run, listing_options
from commandsync.sync import SCHEMA

_ADOPTED = (
    "What is listed now. Edit it, see what would change with `commandsync plan`, then apply it."
)


@click.command("init", cls=Command)
@click.argument("given", metavar="[PATH]", type=PATH, required=False, callback=not_empty)
@option(
    "--platform NAME",
    "Write a starter for a bot of this platform, without a page: telegram.",
    type=click.Choice(["telegram"]),
)
@listing_options
def init_command(run: Run, /, *, given: str | None, platform: str | None) -> None:
    """Write a manifest; never over an existing file.

    If the bot and the base URL are known and something is listed, the manifest contains what is
    listed. Otherwise it is a starter. If the page cannot be read, nothing is written. The JSON
    Schema is written to schemas/ beside it, unless it is there, so that editors complete it.

    \b
    Example:
      commandsync init
      commandsync init bots/music/commands.yaml
      commandsync init --platform telegram
      commandsync init --bot 779641401482805289 --base-url https://listing.example
    """
    from commandsync.cli.output import command_line
    from commandsync.cli.reference import write_schema
    from commandsync.sync.files import check_target, refuse_token, write_file
    from commandsync.sync.settings import default_manifest

    path = given or default_manifest()
    hint = "name another file; commandsync pull --merge adds what is listed to a manifest"
    check_target(path, force=False, new_folder=True, hint=hint)
    text, adopted = _platform_starter(run) if platform else _manifest(run)
    refuse_token(path, [text])
    schema = write_schema(path)
    write_file(path, text, force=False)
    run.output.talk(f"wrote {' and '.join(filter(None, (path, schema)))}")
    if adopted:
        run.output.talk(f"{path} contains what is listed now: {adopted}")
    files = [Path(given).as_posix()] if given else []
    run.output.talk(f"next: edit it, then run  {command_line('validate', files=files)}")


def _platform_starter(run: Run) -> tuple[str, str]:
    """Return the starter of a bot of Telegram, which contains nothing that is listed."""
    from commandsync.errors import UsageError
    from commandsync.manifest.dump import starter

    settings = run.settings
    for value, source in (
        (settings.base_url, settings.base_url_from),
        (settings.bot, settings.bot_from),
    ):
        if value and source.startswith("--"):
            raise UsageError(
                f"{source} cannot be used with --platform",
                hint="that is about a page, which this manifest does not have",
            )
    return starter(f"./{SCHEMA}", platform="telegram"), ""


def _manifest(run: Run) -> tuple[str, str]:
    """Return the manifest to write, and what of the listing it contains; empty for a starter."""
    from commandsync.api.operations import get_bot
    from commandsync.diagnostics import Notice
    from commandsync.manifest.dump import dump_manifest, starter
    from commandsync.report.summary import counted
    from commandsync.sync.destinations import known_bot, site_of
    from commandsync.sync.job import connected, read_listing

    schema = f"./{SCHEMA}"
    site = site_of(run.settings, None, of_bot=False) if run.settings.base_url else None
    if site is None or not site.bot.strip():
        base_url = site.address.base_url if site else ""
        return starter(schema, bot=known_bot(run.settings), base_url=base_url), ""
    listed = read_listing(run.settings, site)
    run.output.notices(site.warnings())
    collections = listed.collections.items()
    counts = [counted(len(entries), resource) for resource, entries in collections if entries]
    base_url = site.address.base_url
    if not counts:
        return starter(schema, bot=site.bot, base_url=base_url), ""
    header = (f"yaml-language-server: $schema={schema}", "", _ADOPTED)
    with connected(run.settings, [site]) as (connection,):
        name = connection.call(get_bot(site.bot)).profile.username
    dumped = dump_manifest(listed, name=name, bot=site.bot, base_url=base_url, header=header)
    run.output.notices([Notice(warning) for warning in dumped.warnings])
    return dumped.text, " and ".join(counts)
