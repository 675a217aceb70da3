"""What users of a bot notice between two manifests: commands that are gone, changed and new.

The commands are matched as for a plan. Announcements are left out: they speak for themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commandsync.diagnostics import Notice
from commandsync.plan.changes import FieldChange, field_changes
from commandsync.plan.hints import in_quotes, most_alike, pinned_by_both
from commandsync.plan.matching import match
from commandsync.plan.syntax import Argument, accepts_as_before, lead_of, newly_required
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource

_ANY_ID = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCommand:
    """A command with another text than before."""

    before: CommandText
    after: CommandText
    fields: tuple[FieldChange, ...]
    # What users typed before the name and type now (`!` and `/`); None if equal or not known.
    leads: tuple[str, str] | None = None
    needs: tuple[Argument, ...] = ()  # the arguments that users have to give now
    accepts_less: bool = False  # whether something that users could type after the name fails now

    @property
    def renamed(self) -> bool:
        """Whether users call it differently."""
        return self.leads is not None or self.differs("name")

    @property
    def breaking(self) -> bool:
        """Whether what users typed no longer works as it did."""
        return self.renamed or bool(self.needs) or self.accepts_less

    def differs(self, field: str) -> bool:
        """Whether a field is different."""
        return any(change.field == field for change in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChanges:
    """What users notice between two manifests, each in the order of the manifest that has it."""

    gone: tuple[CommandText, ...] = ()  # the commands that only the old manifest has: breaking
    changed: tuple[ChangedCommand, ...] = ()  # the commands with another text
    new: tuple[CommandText, ...] = ()  # the commands that only the new manifest has
    notices: tuple[Notice, ...] = ()  # what to check before the changes are published

    @property
    def count(self) -> int:
        """How many commands have a change."""
        return len(self.gone) + len(self.changed) + len(self.new)

    @property
    def breaking(self) -> int:
        """How many of the changes are breaking."""
        return len(self.gone) + sum(command.breaking for command in self.changed)


def user_changes(*, old: Snapshot, new: Snapshot) -> UserChanges:
    """Compare the commands of two manifests.

    There are no changes if one of the two does not manage commands: nothing is known about its
    commands then. The pins and former names of the new one count.
    """
    before, after = (side.collections.get(Resource.COMMAND) for side in (old, new))
    if before is None or after is None:
        return UserChanges()
    wanted, _ = pinned_by_both(after, before)
    # One without an id could not be matched by its name.
    listed = [replace(entry, id=entry.id or _ANY_ID) for entry in before]
    matching = match(wanted, listed)
    added = [wanted[n] for n in matching.wanted]
    gone = [listed[n] for n in matching.listed]
    return UserChanges(
        gone=tuple(map(_command, gone)),
        changed=tuple(
            _changed(_command(listed[o]), _command(wanted[w]))
            for w, o in matching.pairs.items()
            if listed[o].text != wanted[w].text
        ),
        new=tuple(map(_command, added)),
        notices=tuple(_undeclared(added, gone)),
    )


def _changed(before: CommandText, after: CommandText) -> ChangedCommand:
    leads = lead_of(before), lead_of(after)
    return ChangedCommand(
        before=before,
        after=after,
        fields=field_changes(before, after),
        leads=leads if all(leads) and leads[0] != leads[1] else None,
        needs=newly_required(before, after),
        accepts_less=not accepts_as_before(before, after),
    )


def _undeclared(added: Sequence[Entry], gone: Sequence[Entry]) -> Iterator[Notice]:
    """Yield the new commands that are probably old ones under a new name."""
    texts = [entry.text for entry in added], [entry.text for entry in gone]
    for a, g in most_alike(*texts, usage=Resource.COMMAND.usage):
        message = f"{added[a].name!r} looks like {gone[g].name!r} under a new name"
        line = f"formerly: [{in_quotes(gone[g].name)}]"
        hint = f"if it is a rename, write below its name:  {line}"
        yield Notice(message, hint, added[a].location)


def _command(entry: Entry) -> CommandText:
    return entry.text  # type: ignore[return-value]  # what the collection contains
