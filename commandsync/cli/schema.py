"""`commandsync schema`: the JSON Schemas.

`schema_beside` returns the schema of manifests as a new file, which `init` and `pull --out` write.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.options import Run, RunCommand
from commandsync.sync import SCHEMA

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit


@click.command("schema", cls=RunCommand)
@click.argument(
    "name", type=click.Choice(["commands", "plan", "result", "docs"]), default="commands"
)
def schema_command(run: Run, /, *, name: str) -> None:
    """Print a JSON Schema: of manifests, plans, results or lists.

    \b
    Example:
      commandsync schema > commands.schema.json
      commandsync schema plan
    """
    if name == "commands":
        from commandsync.manifest.model import schema_text

        run.output.result(schema_text())
    else:
        from commandsync.document import schemas

        run.output.result(schemas.schema_text(name))


def schema_beside(manifest: str) -> list[FileEdit]:
    """Return the schema as a new file beside a manifest; nothing if it is there."""
    from commandsync.manifest.model import schema_text
    from commandsync.sources.changeset import FileEdit

    path = Path(manifest).parent / SCHEMA
    return [] if path.exists() else [FileEdit(path.as_posix(), None, schema_text())]
