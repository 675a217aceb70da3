"""`commandsync init`: a manifest of what is listed, or a starter, with the schema for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import PATH, listing_options, not_empty
from commandsync.sync import DEFAULT_MANIFEST, SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings

_TITLE = b'"commandsync manifest"'
_LARGEST_SCHEMA = 1024 * 1024  # bytes
_ADOPTED = (
    "What is listed now. Edit it, see what would change with `commandsync plan`, then apply it."
)


@click.command("init", cls=Command)
@click.argument("path", type=PATH, default=DEFAULT_MANIFEST, callback=not_empty)
@listing_options
def init_command(*, path: str, settings: Settings, output: Output) -> None:
    """Write a manifest; never over an existing file.

    If the bot and the base URL are known and something is listed, the manifest contains what is
    listed. Otherwise it is a starter. If the page cannot be read, nothing is written. The JSON
    Schema is written to schemas/ beside it, so that editors complete it.

    \b
    Example:
      commandsync init
      commandsync init bots/music/commands.yaml
      commandsync init --bot 779641401482805289 --base-url https://listing.example
    """
    import shlex
    from pathlib import Path

    from commandsync.manifest import schema_text
    from commandsync.sync.files import check_target, write_file

    hint = "name another file; commandsync pull --merge adds what is listed to a manifest"
    check_target(path, force=False, new_folder=True, hint=hint)
    schema = Path(path).parent / SCHEMA
    _check_schema(schema)
    text, adopted = _manifest(settings, output)
    write_file(str(schema), schema_text(), force=True, new_folder=True)
    write_file(path, text, force=False)
    output.talk(f"wrote {path} and {schema.as_posix()}")
    if adopted:
        output.talk(f"{path} contains what is listed now: {adopted}")
    option = "" if path == DEFAULT_MANIFEST else f" -f {shlex.quote(Path(path).as_posix())}"
    output.talk(f"next: edit it, then run  commandsync validate{option}")


def _manifest(settings: Settings, output: Output) -> tuple[str, str]:
    """Return the manifest to write, and what of the listing it contains; empty for a starter."""
    from commandsync.diagnostics import Notice
    from commandsync.manifest.dump import dump_manifest, starter
    from commandsync.sync.job import read_listing
    from commandsync.sync.settings import known_bot, site_of

    schema = f"./{SCHEMA}"
    site = site_of(settings, None, of_bot=False) if settings.base_url else None
    if site is None or not site.bot.strip():
        base_url = site.address.base_url if site else ""
        return starter(schema, bot=known_bot(settings), base_url=base_url), ""
    listed = read_listing(settings, site)
    output.notices(site.warnings())
    counts = [
        f"{len(entries):,} {resource if len(entries) == 1 else resource.collection}"
        for resource, entries in listed.collections.items()
        if entries
    ]
    base_url = site.address.base_url
    if not counts:
        return starter(schema, bot=site.bot, base_url=base_url), ""
    header = (f"yaml-language-server: $schema={schema}", "", _ADOPTED)
    dumped = dump_manifest(listed, bot=site.bot, base_url=base_url, header=header)
    output.notices([Notice(warning) for warning in dumped.warnings])
    return dumped.text, " and ".join(counts)


def _check_schema(path: Path) -> None:
    """Refuse to replace a file that is not an older schema of this program."""
    from commandsync.errors import FileError
    from commandsync.sync.files import read_file

    if path.exists() and _TITLE not in read_file(str(path), most=_LARGEST_SCHEMA):
        raise FileError(
            f"{path.as_posix()} exists already, and is not a schema of commandsync",
            hint="move it, or put the manifest into another folder",
        )
