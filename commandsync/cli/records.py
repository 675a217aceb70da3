"""`commandsync commands`, `commandsync announcements`: the listed records of a kind, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Group
from commandsync.cli.option import option
from commandsync.cli.options import Run, call_options, options_of, yes_option
from commandsync.errors import Exit, ListingError, UsageError
from commandsync.records.texts import Resource
from commandsync.services.abilities import PAGE_ABILITIES

if TYPE_CHECKING:
    from commandsync import Client


_SAMPLES = {"name": "ping", "syntax": "/ping", "title": "v2.0"}  # by field; others are a word
_EDITABLE = """\
List the bot's {}, and change single ones.

Where a manifest describes the listing, change the manifest: the next apply undoes changes
that are made here."""
_POSTED = """\
List, add and delete the bot's {}.

The service cannot edit them."""


def record_group(resource: Resource) -> click.Group:
    """Return the commands for a kind of record: what the service can do with it."""
    ability = PAGE_ABILITIES[resource]
    sample = " ".join(f"--{field} {_SAMPLES.get(field, 'Hello.')}" for field in resource.required)
    about = (_EDITABLE if ability.edit else _POSTED).format(resource.collection)
    group = Group(resource.collection, help=_help(about, resource, "list", f"add {sample}"))
    _define_list(group, resource)
    _define_add(group, resource, sample)
    _define_delete(group, resource)
    if ability.edit:
        _define_edit(group, resource)
    if ability.uses:
        _define_set_uses(group, resource)
    return group


def _define_list(group: click.Group, resource: Resource) -> None:
    collection = resource.collection

    @group.command("list", help=_help(f"List the {collection}, ids included.", resource, "list"))
    @call_options
    def list_command(run: Run, /) -> None:
        from commandsync.cli.call import open_client, show_records

        with open_client(run.settings) as (client, site):
            listed = _records(client, resource)
        show_records(collection, listed, site=site, output=run.output)


def _define_add(group: click.Group, resource: Resource, sample: str) -> None:
    text = (
        f"Add {resource.with_article}.\n\nA request that may have been received is "
        "not repeated. If the result is unknown, check the list."
    )

    @group.command("add", help=_help(text, resource, f"add {sample}"))
    @_field_options(resource, required=True)
    @call_options
    def add_command(run: Run, /, **fields: str | None) -> int:
        from commandsync.api.operations import add
        from commandsync.cli.call import open_writer, quoted
        from commandsync.records.rewrites import agrees

        given = {field: text for field, text in fields.items() if text is not None}
        name = given[resource.fields[0]]
        with open_writer(run, resource) as (client, writer):
            return writer.write(
                add(client.bot, resource, resource.text(**given)),
                lambda new: (f"added {quoted(name, new)}", {"added": new or None}),
                is_unchanged=lambda: (
                    not any(
                        agrees(getattr(record, resource.fields[0]), sent=name)
                        for record in _records(client, resource)
                    )
                ),
            )


def _define_edit(group: click.Group, resource: Resource) -> None:
    text = (
        f"Edit {resource.with_article}; fields that are not given keep their text.\n\n"
        f"The {resource} is read first, since the service needs all of its fields."
    )
    sample = f"edit 64f0c2a91be34d5a7c0e8812 --{resource.fields[0]} latency"

    @group.command("edit", help=_help(text, resource, sample))
    @click.argument("identifier", metavar="ID")
    @_field_options(resource, required=False)
    @call_options
    def edit_command(run: Run, /, *, identifier: str, **fields: str | None) -> int:
        from commandsync.api.operations import edit
        from commandsync.cli.call import open_writer, quoted

        if all(text is None for text in fields.values()):
            options = ", ".join(f"--{field}" for field in resource.fields)
            raise UsageError("nothing to edit", hint=f"give {options}")
        with open_writer(run, resource) as (client, writer):
            old = _record(client, resource, identifier)
            new = {
                field: getattr(old, field) if text is None else text
                for field, text in fields.items()
            }
            return writer.write(
                edit(client.bot, resource, identifier, resource.text(**new)),
                lambda _: (
                    f"edited {quoted(new[resource.fields[0]], identifier)}",
                    {"edited": identifier},
                ),
                is_unchanged=lambda: _record(client, resource, identifier) == old,
            )


def _define_delete(group: click.Group, resource: Resource) -> None:
    text = f"Delete {resource.with_article}; asks first on a terminal."
    sample = "delete 64f0c2a91be34d5a7c0e8812 --yes"

    @group.command("delete", help=_help(text, resource, sample))
    @click.argument("identifier", metavar="ID")
    @yes_option
    @call_options
    def delete_command(run: Run, /, *, identifier: str, yes: bool) -> int:
        from commandsync.api.operations import delete
        from commandsync.cli.approval import check_terminal, confirm, decline
        from commandsync.cli.call import open_writer, quoted

        if not yes:
            check_terminal(run.output, "delete", "--yes deletes without asking")
        with open_writer(run, resource) as (client, writer):
            old = _record(client, resource, identifier)
            which = quoted(getattr(old, resource.fields[0]), identifier)
            if not (yes or confirm(f"Delete the {resource} {which}?")):
                decline(run.output)
                return Exit.FAILED
            return writer.write(
                delete(client.bot, resource, identifier),
                lambda _: (f"deleted {which}", {"deleted": identifier}),
                is_unchanged=lambda: _record(client, resource, identifier) == old,
            )


def _define_set_uses(group: click.Group, resource: Resource) -> None:
    text = f"Set how often {resource.with_article} was used; 0 is allowed."
    sample = "set-uses 64f0c2a91be34d5a7c0e8812 1840"

    @group.command("set-uses", help=_help(text, resource, sample))
    @click.argument("identifier", metavar="ID")
    @click.argument("uses", type=click.IntRange(0))
    @call_options
    def set_uses_command(run: Run, /, *, identifier: str, uses: int) -> int:
        from commandsync.api.operations import set_uses
        from commandsync.cli.call import open_writer, quoted

        with open_writer(run, resource) as (client, writer):
            return writer.write(
                set_uses(client.bot, identifier, uses),
                lambda _: (
                    f"{quoted('', identifier)}: used {uses:,} times",
                    {"id": identifier, "uses": uses},
                ),
                is_unchanged=lambda: _record(client, resource, identifier).uses not in {None, uses},
            )


def _field_options(resource: Resource, *, required: bool) -> Callable[[Any], Any]:
    """Return a decorator for one option per field; a field with a default is never required."""
    options = []
    for field in resource.fields:
        optional = field not in resource.required
        text = f"The {resource}'s {field}{'; empty for none' if optional else ''}."
        options.append(option(f"--{field} TEXT", text, required=required and not optional))
    return options_of(*options)


def _help(text: str, resource: Resource, *examples: str) -> str:
    lines = (f"  commandsync {resource.collection} {example}\n" for example in examples)
    return f"{text}\n\n\b\nExample:\n{''.join(lines)}"


def _records(client: Client, resource: Resource) -> Any:  # noqa: ANN401 - of any kind
    return getattr(client, f"get_{resource.collection}")()


def _record(client: Client, resource: Resource, identifier: str) -> Any:  # noqa: ANN401 - of any kind
    for record in _records(client, resource):
        if record.id == identifier:
            return record
    raise ListingError(
        f"no {resource} with the id {identifier!r} is listed",
        hint=f"commandsync {resource.collection} list shows the ids",
    )
