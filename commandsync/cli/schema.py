"""`commandsync schema`: the JSON Schemas of what goes in and comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.options import talk_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output


@click.command("schema", short_help="Print a JSON Schema: of manifests, plans or results.")
@click.argument("name", type=click.Choice(["commands", "plan", "result"]), default="commands")
@talk_options
def schema_command(*, name: str, output: Output) -> None:
    """Print a JSON Schema: of the manifest, of a plan, or of a result.

    \b
    Example:
      commandsync schema > commands.schema.json
      commandsync schema plan
    """
    if name == "commands":
        from commandsync.manifest import schema_text  # noqa: PLC0415 - loads yaml

        output.result(schema_text())
    elif name == "plan":
        from commandsync.document.plan import plan_schema_text  # noqa: PLC0415 - loads pydantic

        output.result(plan_schema_text())
    else:
        from commandsync.document.result import result_schema_text  # noqa: PLC0415 - as above

        output.result(result_schema_text())
