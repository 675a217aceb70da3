"""The JSON documents of a command list, and of what users notice since an earlier manifest."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from commandsync.document import VERSION, part
from commandsync.plan.userchanges import UserChanges
from commandsync.records.texts import CommandText


class CommandList(part.Model):
    """The commands of a manifest, in its order, with the prefix filled in."""

    version: Literal[1]
    commands: tuple[part.CommandField, ...]


def command_list_document(commands: Iterable[CommandText]) -> part.Document:
    """Return the document of a command list."""
    return CommandList.of(version=VERSION, commands=tuple(commands)).model_dump(mode="json")


def is_command_list(text: str) -> bool:
    """Return whether a text is such a document, whatever its commands are."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.keys() == CommandList.model_fields.keys()


class ChangedPart(part.Model):
    """A command with another text than before."""

    before: part.CommandField
    after: part.CommandField
    fields: part.DifferencesField
    breaking: bool
    renamed: bool = Field(description="Whether its name, or what is typed before it, has changed.")
    needs: tuple[str, ...] = Field(description="The arguments that users have to give now.")


class UserChangesDocument(part.Model):
    """What users of the bot notice since an earlier manifest."""

    version: Literal[1]
    since: str = Field(description="The earlier manifest: a file, or a revision of git.")
    manifest: tuple[str, ...]
    count: part.Count = Field(description="How many commands are gone, changed or new.")
    breaking: part.Count = Field(description="How many of these changes are breaking.")
    gone: tuple[part.CommandField, ...]
    changed: tuple[ChangedPart, ...]
    new: tuple[part.CommandField, ...]
    warnings: tuple[part.NoticeField, ...]


def user_changes_document(
    changes: UserChanges, *, since: str, manifest: Sequence[str]
) -> part.Document:
    """Return the document of changes since an earlier manifest, and the files of the later one."""
    return UserChangesDocument.of(
        changes,
        version=VERSION,
        since=since,
        manifest=tuple(manifest),
        changed=tuple(
            ChangedPart.of(command, needs=tuple(map(str, command.needs)))
            for command in changes.changed
        ),
        warnings=changes.notices,
    ).model_dump(mode="json")
