"""The protocol of apply and a driver: calls to start, and how they ended.

A driver starts the calls of a step, then waits for whichever comes first: the answer to any call in
flight, the end of the step's wait, or a stop from outside; and sends that event back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure
from commandsync.errors import ListingError

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Settled


class Call(NamedTuple):
    """An operation to carry out, retries included, and the key its answer comes back under."""

    key: int
    operation: Operation[Any]


class Step(NamedTuple):
    """What to do before the next event."""

    start: tuple[Call, ...] = ()  # calls to start now, all at once
    wait: float | None = None  # seconds until `Elapsed`; None to wait for the calls alone
    settled: tuple[Settled, ...] = ()  # what became final since the last step, for progress


class Answered(NamedTuple):
    """A call ended: its value is the content of its answer, or a `Failure`."""

    key: int
    value: Any = None

    @property
    def failure(self) -> Failure | None:
        """How the call failed; None if it did not."""
        return self.value if isinstance(self.value, Failure) else None

    @property
    def error(self) -> ListingError | None:
        """The last error of a call that failed."""
        return self.failure.error if self.failure else None


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The step's wait is over."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Stop: start nothing new; what is in flight will still be answered."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """Stop at once: what is in flight will not be waited for."""


StepResult = Answered | Elapsed | Interrupted | Aborted
