"""`commandsync schema`: the JSON Schemas of manifests, plans, results, lists and changes."""

from pathlib import Path

import click

from commandsync.cli.help import Command
from commandsync.cli.options import Run, talk_options
from commandsync.sync import SCHEMA


@click.command("schema", cls=Command)
@click.argument(
    "name", type=click.Choice(["commands", "plan", "result", "docs", "changes"]), default="commands"
)
@talk_options
def schema_command(run: Run, /, *, name: str) -> None:
    """Print a JSON Schema: of manifests, plans, results, lists or changes.

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


def write_schema(manifest: str) -> str:
    """Write the schema beside a manifest if it is not there; return its path, else nothing."""
    from commandsync.manifest.model import schema_text
    from commandsync.sync.files import write_file

    path = Path(manifest).parent / SCHEMA
    if path.exists():
        return ""
    write_file(str(path), schema_text(), force=False, new_folder=True)
    return path.as_posix()
