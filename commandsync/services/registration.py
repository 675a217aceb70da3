"""The commands of a manifest as Discord registers them: whole objects, or nothing.

A manifest has an entry for each callable command; Discord has one record for all sub-commands of a
group. `compose` folds the entries into records before anything is compared with the list.
"""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from commandsync.diagnostics import Notice, Problem
from commandsync.records.losses import Loss
from commandsync.records.registrations import Registrable, Standing
from commandsync.records.snapshot import Entry
from commandsync.services.discord import Application
from commandsync.services.discordobjects import text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """The records of a manifest, and the listed ones that it leaves alone."""

    entries: tuple[Entry, ...] = ()  # to be registered, in the manifest's order
    untouched: tuple[Entry, ...] = ()  # listed ones that are neither written nor deleted
    losses: tuple[Loss, ...] = ()  # what is not registered, and why
    notices: tuple[Notice, ...] = ()  # what else deserves a warning
    problems: tuple[Problem, ...] = ()  # what Discord would refuse


def compose(  # noqa: PLR0913 - the policy of the manifest
    commands: Sequence[Registrable],
    *,
    listed: Sequence[Entry] = (),
    application: Application,
    guild: str = "",
    ignored: Callable[[str], bool] = lambda _: False,
    prune: bool = True,
    earlier: Container[tuple[str, str]] | None = None,
) -> Registration:
    """Return the records of a manifest's commands, as far as their objects are known.

    Args:
        commands: The callable commands, in the manifest's order.
        listed: The registered commands as they were read; none where they were not.
        application: The application whose commands they are.
        guild: The server whose commands they are; empty for those of all servers.
        ignored: Whether the manifest leaves a callable command alone, by its name.
        prune: Whether listed commands that the manifest does not have are deleted.
        earlier: If given, only these are deleted: the types and the names of callable commands
            that an earlier version of the manifest had. Sources that are partly read ask for it.
    """
    _ = listed, ignored, prune, earlier
    entries = []
    for command in commands:
        if command.standing is Standing.REGISTERED and command.discord is not None:
            text = text_of(command.discord, installs=application.integration_types, guild=guild)
            entry = Entry(text, command.id, command.location, command.formerly)
            entries.append(entry)
    return Registration(entries=tuple(entries))
