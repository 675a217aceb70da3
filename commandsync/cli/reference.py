"""The commands that print what commandsync knows: JSON Schemas, services, and itself for a shell.

None of them needs a manifest or a service. `init` and `pull --out` write the schema of manifests
beside a new manifest, which `schema_beside` returns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import Command
from commandsync.cli.options import Run, table_options, talk_options
from commandsync.cli.program import program
from commandsync.sync import SCHEMA

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit


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


def schema_beside(manifest: str) -> list[FileEdit]:
    """Return the schema as a new file beside a manifest; nothing if it is there."""
    from commandsync.manifest.model import schema_text
    from commandsync.sources.changeset import FileEdit

    path = Path(manifest).parent / SCHEMA
    return [] if path.exists() else [FileEdit(path.as_posix(), None, schema_text())]


@click.command("listings", cls=Command)
@table_options
def listings_command(run: Run, /) -> None:
    """Show what each listing service can do, as far as it is known.

    The column `page` is the service of base_url; listings: can name the others, and any other
    service with replace:. "simulated only" means that nobody has used the service itself with
    commandsync yet.

    \b
    Example:
      commandsync listings
      commandsync listings --format json
    """
    from commandsync.report.services import services_json, services_text

    is_json = run.output.format == "json"
    run.output.result(services_json() if is_json else services_text(screen=run.output.screen()))


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(*, shell: str) -> None:
    """Print a script that completes commands in a shell.

    \b
    Example:
      eval "$(commandsync completion bash)"      # in ~/.bashrc
      eval "$(commandsync completion zsh)"       # in ~/.zshrc, after compinit
      commandsync completion fish | source       # in config.fish
    """
    from click.shell_completion import get_completion_class

    from commandsync.cli.output import print_out

    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - click has all three
    print_out(script(program, {}, "commandsync", "_COMMANDSYNC_COMPLETE").source())
