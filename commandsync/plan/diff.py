"""Field by field differences of edited records (the only door to deepdiff, loaded when needed)."""

from dataclasses import dataclass
from functools import cache

from commandsync.records.texts import Text


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a record with two different texts."""

    field: str
    old: str
    new: str


def field_changes(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Return the fields that differ in two texts of one resource, in their order.

    deepdiff makes a unified diff of each pair of different multi-line strings, in cubic time, and
    no option of it prevents that. So it compares numbers: equal texts have the same number, a text
    that only `after` has is None, and records that differ in the same way are compared once.
    """
    numbers: dict[str, int] = {}
    places = _differing(
        tuple(numbers.setdefault(text, len(numbers)) for text in before),
        tuple(map(numbers.get, after)),
    )
    return tuple(FieldChange(before._fields[n], old=before[n], new=after[n]) for n in places)


@cache  # the fields of two records are equal in a few thousand ways at most
def _differing(before: tuple[int, ...], after: tuple[int | None, ...]) -> tuple[int, ...]:
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    old, new = (dict(enumerate(numbers)) for numbers in (before, after))
    affected = DeepDiff(old, new, threshold_to_diff_deeper=0).affected_root_keys
    return tuple(sorted(affected))
