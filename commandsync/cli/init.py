"""`commandsync init`: a starter manifest, with the schema that editors complete it from."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.files import check_new, make_folder, read_file, write_file
from commandsync.cli.options import PATH, not_empty, talk_options
from commandsync.cli.settings import DEFAULT_MANIFEST
from commandsync.errors import FileError

SCHEMA = Path("schemas") / "commands.schema.json"
_TITLE = b'"commandsync manifest"'
_LARGEST_SCHEMA = 1024 * 1024  # bytes

if TYPE_CHECKING:
    from commandsync.cli.output import Output


@click.command("init")
@click.argument("path", type=PATH, default=DEFAULT_MANIFEST, callback=not_empty)
@talk_options
def init_command(*, path: str, output: Output) -> None:
    """Write a starter manifest; never over an existing file.

    The JSON Schema is put into schemas/ beside it, so that editors complete and check it.

    \b
    Example:
      commandsync init
      commandsync init bots/music/commands.yaml
    """
    from commandsync.manifest import schema_text, starter  # noqa: PLC0415 - loads yaml

    check_new(path)
    schema = Path(path).parent / SCHEMA
    _check_schema(schema)
    make_folder(schema.parent)
    write_file(str(schema), schema_text(), force=True)
    write_file(path, starter(schema=f"./{SCHEMA.as_posix()}"), force=False)
    output.talk(f"wrote {path} and {schema.as_posix()}")
    named = "" if path == DEFAULT_MANIFEST else f" -f {shlex.quote(path.replace(os.sep, '/'))}"
    output.talk(f"next: edit it, then run  commandsync validate{named}")


def _check_schema(path: Path) -> None:
    """Let an older schema of ours be renewed, and no other file be replaced."""
    if path.exists() and _TITLE not in read_file(str(path), most=_LARGEST_SCHEMA):
        raise FileError(
            f"{path.as_posix()} exists already, and is no schema of commandsync",
            hint="move it, or put the manifest into another folder",
        )
