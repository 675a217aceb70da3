"""The commands of the program, as click has them."""

from collections.abc import Iterator

import click

from commandsync.cli.program import program


def commands_of(
    group: click.Group = program, *words: str
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the group itself and every command in it, with its words."""
    context = click.Context(group)
    yield words, group
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands_of(command, *words, name)
        else:
            yield (*words, name), command
