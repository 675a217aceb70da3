"""The states of a change during a run, and what leads from one to the next."""

from enum import StrEnum


class State(StrEnum):
    """How far a change has got; the last four are its outcomes."""

    PENDING = "pending"  # not sent
    UNCLEAR = "unclear"  # sent, with an unknown result
    REFUSED = "refused"  # sent, and refused by its answer: the read at the end decides
    REJECTED = "rejected"  # an add that failed, by its answer and by reads: sent once more
    ADDED = "added"  # a replace: the new record exists, the old one is not deleted
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


_ALL = "add edit replace delete"
TRANSITIONS: dict[tuple[State, State], frozenset[str]] = {
    (State(before), State(after)): frozenset(actions.split())
    for before, afters, actions in (
        ("pending", "unclear refused failed skipped", _ALL),
        ("pending", "done", "add edit delete"),
        ("pending", "added", "replace"),
        ("unclear", "done failed unknown", _ALL),
        ("unclear", "added", "replace"),
        ("unclear", "rejected", "add"),
        ("refused", "done failed unknown", _ALL),
        ("refused", "added", "replace"),
        ("rejected", "unclear refused done failed", "add"),
        ("added", "unclear refused done failed unknown skipped", "replace"),
        ("done", "unknown", _ALL),  # it was accepted, and a later read does not show it
        ("failed", "done", "add"),  # a later read shows it
        ("unknown", "done", "add"),  # as above
    )
    for after in afters.split()
}
"""The legal changes of state, and the actions of the changes that may make them.

A run starts each change as pending. A saved plan that was applied in part starts it as done, or a
replace as added, where the listing shows that.
"""

AT_THE_END = {
    State.PENDING: State.SKIPPED,
    State.ADDED: State.SKIPPED,
    State.UNCLEAR: State.UNKNOWN,
    State.REFUSED: State.UNKNOWN,
    State.REJECTED: State.FAILED,
}
"""What becomes of a change that a run leaves in one of the other states."""

SENT = {State.UNCLEAR, State.REFUSED, State.ADDED, State.DONE}
"""The states of what was or may have been written."""


class Finding(StrEnum):
    """What reading the list shows of a change that its answer did not confirm."""

    LISTED = "listed"  # the change
    GONE = "gone"  # not even the record that would prove it
    OTHERS = "others"  # not the new record, but new ones of other names: it may be one of them
    ABSENT = "absent"  # not the change: a 5xx said that it failed, and every read succeeded
    UNPROVEN = "unproven"  # not the change, but it may yet appear, or a read failed


FINDINGS: dict[tuple[State, Finding], State] = {
    (State.UNCLEAR, Finding.LISTED): State.DONE,
    (State.UNCLEAR, Finding.GONE): State.UNKNOWN,
    (State.UNCLEAR, Finding.OTHERS): State.UNKNOWN,
    (State.UNCLEAR, Finding.ABSENT): State.FAILED,
    (State.UNCLEAR, Finding.UNPROVEN): State.UNKNOWN,
    (State.REFUSED, Finding.LISTED): State.DONE,
    (State.REFUSED, Finding.GONE): State.UNKNOWN,
    (State.REFUSED, Finding.OTHERS): State.UNKNOWN,
    (State.REFUSED, Finding.UNPROVEN): State.FAILED,
}
"""What a finding makes of a change.

With the first half of a replace listed, the replace is `ADDED`. An add that can be edited later is
`REJECTED` instead of `FAILED` the first time: it is sent once more.
"""
