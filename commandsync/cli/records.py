"""`commandsync commands`, `commandsync announcements`: the listed records of a kind, one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
_ADDED = """\
Add {}.

A request that may have been received is not repeated. If the result is unknown, check the list."""
_EDITED = """\
Edit {}; fields that are not given keep their text.

The {} is read first, since the service needs all of its fields."""
_ID = "64f0c2a91be34d5a7c0e8812"  # of examples
_identifier = click.argument("identifier", metavar="ID")


def record_group(resource: Resource) -> click.Group:
    """Return the commands for a kind of record: what the service can do with it."""
    ability, one = PAGE_ABILITIES[resource], resource.with_article
    sample = " ".join(f"--{field} {_SAMPLES.get(field, 'Hello.')}" for field in resource.required)
    about = (_EDITABLE if ability.edit else _POSTED).format(resource.collection)
    group = Group(resource.collection, help=_help(about, resource, "list", f"add {sample}"))

    def define(action: Callable[..., Any], text: str, example: str, *options: Any) -> None:  # noqa: ANN401 - decorators
        name, _, _ = example.partition(" ")
        command = options_of(*options, call_options)(partial(action, resource))
        group.command(name, help=_help(text, resource, example))(command)

    fields = _field_options(resource, required=True)
    define(_list, f"List the {resource.collection}, ids included.", "list")
    define(_add, _ADDED.format(one), f"add {sample}", fields)
    text = f"Delete {one}; asks first on a terminal."
    define(_delete, text, f"delete {_ID} --yes", _identifier, yes_option)
    if ability.edit:
        fields = _field_options(resource, required=False)
        example = f"edit {_ID} --{resource.fields[0]} latency"
        define(_edit, _EDITED.format(one, resource), example, _identifier, fields)
    if ability.uses:
        uses = click.argument("uses", type=click.IntRange(0))
        text = f"Set how often {one} was used; 0 is allowed."
        define(_set_uses, text, f"set-uses {_ID} 1840", _identifier, uses)
    return group


def _list(resource: Resource, run: Run) -> None:
    from commandsync.cli.call import open_client, show_records

    with open_client(run.settings) as (client, site):
        listed = _records(client, resource)
    show_records(resource.collection, listed, site=site, output=run.output)


def _add(resource: Resource, run: Run, **fields: str | None) -> int:
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


def _edit(resource: Resource, run: Run, *, identifier: str, **fields: str | None) -> int:
    from commandsync.api.operations import edit
    from commandsync.cli.call import open_writer, quoted

    if all(text is None for text in fields.values()):
        options = ", ".join(f"--{field}" for field in resource.fields)
        raise UsageError("nothing to edit", hint=f"give {options}")
    with open_writer(run, resource) as (client, writer):
        old = _record(client, resource, identifier)
        new = {
            field: getattr(old, field) if text is None else text for field, text in fields.items()
        }
        which = quoted(new[resource.fields[0]], identifier)
        return writer.write(
            edit(client.bot, resource, identifier, resource.text(**new)),
            lambda _: (f"edited {which}", {"edited": identifier}),
            is_unchanged=lambda: _record(client, resource, identifier) == old,
        )


def _delete(resource: Resource, run: Run, *, identifier: str, yes: bool) -> int:
    from commandsync.api.operations import delete
    from commandsync.cli.approval import check_terminal, confirm, decline
    from commandsync.cli.call import open_writer, quoted

    if not yes:
        check_terminal("delete", "--yes deletes without asking")
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


def _set_uses(resource: Resource, run: Run, *, identifier: str, uses: int) -> int:
    from commandsync.api.operations import set_uses
    from commandsync.cli.call import open_writer, quoted

    sentence = f"{quoted('', identifier)}: used {uses:,} times"
    with open_writer(run, resource) as (client, writer):
        return writer.write(
            set_uses(client.bot, identifier, uses),
            lambda _: (sentence, {"id": identifier, "uses": uses}),
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
