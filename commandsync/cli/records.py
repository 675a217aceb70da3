"""The commands that every kind of record has: list, add, edit, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command
from commandsync.cli.options import call_options, yes_option
from commandsync.errors import ListingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync import Client
    from commandsync.cli.output import Output
    from commandsync.records.texts import Resource
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


def add_record_commands(group: click.Group, resource: Resource, *, sample: str) -> None:
    """Add the commands of a kind of record; `sample` are the options in the example of `add`."""
    group.add_command(_list_command(resource))
    group.add_command(_add_command(resource, sample))
    group.add_command(_delete_command(resource))
    if resource.editable:
        group.add_command(_edit_command(resource))


def _list_command(resource: Resource) -> click.Command:
    collection = resource.collection

    @click.command(
        "list", cls=Command, help=_help(f"List the {collection}, ids included.", resource, "list")
    )
    @call_options
    def list_command(*, settings: Settings, output: Output) -> None:
        from commandsync.cli.call import open_client, show_records

        with open_client(settings) as (client, site):
            listed = getattr(client, f"get_{collection}")()
        show_records(collection, listed, site=site, output=output)

    return list_command


def _add_command(resource: Resource, sample: str) -> click.Command:
    text = (
        f"Add {resource.with_article}.\n\nA request that may have been received is "
        "not repeated. If the result is unknown, check the list."
    )

    @click.command("add", cls=Command, help=_help(text, resource, f"add {sample}"))
    @_field_options(resource, required=True)
    @call_options
    @click.pass_obj
    def add_command(
        signals: Signals, /, *, settings: Settings, output: Output, **fields: str | None
    ) -> int:
        from commandsync.api.operations import add
        from commandsync.cli.call import open_writer, quoted

        given = {field: text for field, text in fields.items() if text is not None}
        name = given[resource.fields[0]]
        with open_writer(settings, signals, output, resource) as writer:
            client = writer.client
            return writer.write(
                lambda: client.call(add(client.bot, resource, resource.text(**given))),
                lambda new: (f"added {quoted(name, new)}", {"added": new or None}),
            )

    return add_command


def _edit_command(resource: Resource) -> click.Command:
    text = (
        f"Edit {resource.with_article}; fields that are not given keep their text.\n\n"
        f"The {resource} is read first, since the service needs all of its fields."
    )
    sample = f"edit 64f0c2a91be34d5a7c0e8812 --{resource.fields[0]} latency"

    @click.command("edit", cls=Command, help=_help(text, resource, sample))
    @click.argument("identifier", metavar="ID")
    @_field_options(resource, required=False)
    @call_options
    @click.pass_obj
    def edit_command(
        signals: Signals,
        /,
        *,
        settings: Settings,
        output: Output,
        identifier: str,
        **fields: str | None,
    ) -> int:
        from commandsync.cli.call import open_writer, quoted

        if all(text is None for text in fields.values()):
            options = ", ".join(f"--{field}" for field in resource.fields)
            raise UsageError("nothing to edit", hint=f"give {options}")
        with open_writer(settings, signals, output, resource) as writer:
            old = _record(writer.client, resource, identifier)
            new = {
                field: getattr(old, field) if text is None else text
                for field, text in fields.items()
            }
            return writer.write(
                lambda: getattr(writer.client, f"edit_{resource}")(identifier, **new),
                lambda _: (
                    f"edited {quoted(new[resource.fields[0]], identifier)}",
                    {"edited": identifier},
                ),
            )

    return edit_command


def _delete_command(resource: Resource) -> click.Command:
    text = f"Delete {resource.with_article}; asks first on a terminal."

    @click.command(
        "delete", cls=Command, help=_help(text, resource, "delete 64f0c2a91be34d5a7c0e8812 --yes")
    )
    @click.argument("identifier", metavar="ID")
    @yes_option
    @call_options
    @click.pass_obj
    def delete_command(
        signals: Signals, *, settings: Settings, output: Output, identifier: str, yes: bool
    ) -> int:
        from commandsync.cli.approval import confirm, decline
        from commandsync.cli.call import open_writer, quoted
        from commandsync.sync.exits import Exit

        if not (yes or output.interactive):
            raise UsageError(
                "delete asks before it writes, and there is no terminal to ask on",
                hint="--yes deletes without asking",
            )
        with open_writer(settings, signals, output, resource) as writer:
            old = _record(writer.client, resource, identifier)
            which = quoted(getattr(old, resource.fields[0]), identifier)
            if not (yes or confirm(f"Delete the {resource} {which}?")):
                decline(output)
                return Exit.FAILED
            return writer.write(
                lambda: getattr(writer.client, f"delete_{resource}")(identifier),
                lambda _: (f"deleted {which}", {"deleted": identifier}),
            )

    return delete_command


def _field_options(resource: Resource, *, required: bool) -> Callable[[Any], Any]:
    """Return a decorator for one option per field; a field with a default is never required."""

    def decorate(command: Any) -> Any:  # noqa: ANN401 - a command under construction
        for field in reversed(resource.fields):
            optional = field not in resource.required
            command = click.option(
                f"--{field}",
                required=required and not optional,
                metavar="TEXT",
                help=f"The {resource}'s {field}{'; empty for none' if optional else ''}.",
            )(command)
        return command

    return decorate


def _help(text: str, resource: Resource, example: str) -> str:
    return f"{text}\n\n\b\nExample:\n  commandsync {resource.collection} {example}\n"


def _with_article(resource: Resource) -> str:
    return f"{'an' if resource.value[0] in 'aeiou' else 'a'} {resource}"


def _record(client: Client, resource: Resource, identifier: str) -> Any:  # noqa: ANN401 - of any kind
    for record in getattr(client, f"get_{resource.collection}")():
        if record.id == identifier:
            return record
    raise ListingError(
        f"no {resource} with the id {identifier!r} is listed",
        hint=f"commandsync {resource.collection} list shows the ids",
    )
