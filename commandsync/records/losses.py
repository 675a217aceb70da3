"""What a service cannot show of a manifest: each loss with its reason, and what happens instead."""

from dataclasses import dataclass
from enum import Enum, auto

from commandsync.diagnostics import Location
from commandsync.records.facts import Limit

OPTIONS, TRANSLATIONS, COMMANDS, SYNC = "options", "translations", "commands", "sync"
"""What can be lost beside a field of a command: its options, the platform's translations of its
texts, the command as a whole, and what the manifest's policy keeps on a list."""


class Reason(Enum):
    """Why the service cannot show it."""

    SHORT = auto()  # the text is shorter than the service accepts
    LONG = auto()  # it is longer
    CHARACTERS = auto()  # it has characters that the service does not accept
    SAME_NAME = auto()  # a command before it has that name
    BELOW_COMMAND = auto()  # a command before it has the beginning of its name, and is not a group
    HAS_SUB_COMMANDS = auto()  # its name is that of a group of commands before it
    LEVELS = auto()  # its name has more levels of sub-commands than the service has
    SUB_COMMANDS = auto()  # the command or group that it is in has as many as the service accepts
    RECORDS = auto()  # the list has as many
    NOT_TAKEN = auto()  # the service does not take that field
    CHANGED = auto()  # it belongs to a text that the manifest has another one for
    NOT_READ = auto()  # the service does not return its list


class Instead(Enum):
    """What happens instead."""

    LEFT_OUT = auto()  # the command is not sent
    GROUP = auto()  # the command is shown as the group of its sub-commands, not as one of its own
    SHORTENED = auto()  # the text is sent without its end
    NOT_SHOWN = auto()  # the command is sent without the text
    NOT_KEPT = auto()  # what the policy keeps on other lists is replaced on this one


@dataclass(frozen=True, slots=True)
class Loss:
    """What several commands lose for one reason."""

    field: str  # what they lose: a field of a command, or one of the above
    reason: Reason
    instead: Instead  # what happens instead
    names: tuple[str, ...]  # their names in the manifest, in its order; of `SYNC`, what is not kept
    limit: Limit | None = None  # what the service accepts, where that is the reason
    location: Location | None = None  # where the manifest defines the first one

    @property
    def count(self) -> int:
        """How many commands it is about."""
        return len(self.names)
