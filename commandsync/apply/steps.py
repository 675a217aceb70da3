"""What apply and a driver say to each other: calls to start, and what came of them.

A driver starts the calls of a step, then waits for whichever comes first: the answer to any call in
flight, the end of the step's wait, or a stop from outside; and hands that one event back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from commandsync.api.operations import Operation
    from commandsync.apply.outcomes import Settled
    from commandsync.errors import ListingError


@dataclass(frozen=True, slots=True)
class Call:
    """An operation to carry out, retries included, and the key its answer comes back under."""

    key: int
    operation: Operation[Any]


@dataclass(frozen=True, slots=True)
class Step:
    """What to do before the next event.

    Attributes:
        start: Calls to start now, all at once.
        wait: Seconds after which `Elapsed` comes; None to wait for the calls alone.
        settled: Outcomes that became final since the last step, for showing progress.
    """

    start: tuple[Call, ...] = ()
    wait: float | None = None
    settled: tuple[Settled, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A call came to its end: with what its answer says, or with the error it was given up with."""

    key: int
    value: Any = None
    error: ListingError | None = None


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The step's wait is over."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Stop: start nothing new; what is in flight will still be answered."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """Stop at once: what is in flight will not be waited for."""


Event = Answered | Elapsed | Interrupted | Aborted
