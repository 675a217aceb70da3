"""Field by field differences of edited records (the only door to deepdiff, loaded when needed)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.records.texts import Text


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a record with two different texts."""

    field: str
    old: str
    new: str


def field_changes(pairs: Sequence[tuple[Text, Text]]) -> list[tuple[FieldChange, ...]]:
    """Say which fields differ in each pair of texts of one resource.

    Args:
        pairs: The old and the new text of each record.

    Returns:
        For each pair its differing fields, in the record's order of fields; `()` for equals.
    """
    return [_changed(before, after) for before, after in pairs]


def _changed(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Compare numbers that stand for the texts.

    deepdiff makes a unified diff of each pair of different multi-line strings, in cubic time, and
    no option of it prevents that. Equal texts have the same number, so records that differ in the
    same way are compared once.
    """
    numbers: dict[str, int] = {}
    places = _differing(
        before._fields,
        tuple(numbers.setdefault(text, len(numbers)) for text in before),
        tuple(numbers.setdefault(text, len(numbers)) for text in after),
    )
    return tuple(FieldChange(before._fields[n], old=before[n], new=after[n]) for n in places)


@cache  # four fields on two sides are equal in 4,140 ways at most
def _differing(
    fields: tuple[str, ...], before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[int, ...]:
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    old, new = (dict(zip(fields, numbers, strict=True)) for numbers in (before, after))
    affected = DeepDiff(old, new, threshold_to_diff_deeper=0).affected_root_keys
    return tuple(n for n, name in enumerate(fields) if name in affected)
