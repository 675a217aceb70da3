"""`commandsync init`: a starter manifest, with the schema that editors complete it from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.files import make_folder, write_file
from commandsync.cli.options import talk_options
from commandsync.cli.settings import DEFAULT_MANIFEST
from commandsync.errors import FileError

SCHEMA = Path("schemas") / "commands.schema.json"

if TYPE_CHECKING:
    from commandsync.cli.output import Output


@click.command("init")
@click.argument("path", default=DEFAULT_MANIFEST)
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

    if Path(path).exists():
        raise FileError(f"{path} exists already", hint="edit it, or name another file")
    schema = Path(path).parent / SCHEMA
    make_folder(schema.parent)
    write_file(str(schema), schema_text(), force=True)
    write_file(path, starter(schema=f"./{SCHEMA.as_posix()}"), force=False)
    output.talk(f"wrote {path} and {schema.as_posix()}")
    output.talk("next: edit it, then run  commandsync validate")
