"""Commands as a manifest registers them at Discord, before they are composed into objects.

A manifest has an entry for each callable command, and so for each sub-command. Its imported file
also has the commands that no public list shows: Discord gets these, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from commandsync.diagnostics import Location
from commandsync.records.snapshot import Node


class Standing(StrEnum):
    """How a command of a manifest is treated at Discord."""

    REGISTERED = "registered"  # it is written there
    UNTOUCHED = "untouched"  # it is neither written nor deleted there


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrable:
    """One callable command of a manifest; every text is canonical."""

    name: str  # with the names of its groups: `queue add`
    description: str
    syntax: str  # with the prefix filled in
    standing: Standing = Standing.REGISTERED
    reason: str = ""  # why no public list shows it; empty if they do
    discord: Node | None = field(default=None, hash=False)  # its own object; None if not known
    id: str = ""  # the pin at Discord, `id` of that object; empty for none
    formerly: tuple[str, ...] = ()  # names that it had before, the newest first
    location: Location | None = None  # where the manifest or the imported file has it
    source: str = ""  # the file of the code that declares it; empty if not known
    # Where the manifest has the parts of the object: by their keys and the numbers of their
    # options and choices, joined by `/`, as in `options/0/choices/2/name`. `""` is the whole.
    places: Mapping[str, Location] = field(default_factory=dict, hash=False)
