"""Field by field differences of edited records (the only door to deepdiff, loaded when needed)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commandsync.texts import Text


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
    if not pairs:
        return []
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    old = _by_place(before for before, _ in pairs)
    new = _by_place(after for _, after in pairs)
    found: list[dict[str, FieldChange]] = [{} for _ in pairs]
    differences = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0)
    for level in differences.get("values_changed", ()):
        ((n, name),) = level.path(output_format="list")
        found[n][name] = FieldChange(name, old=level.t1, new=level.t2)
    return [
        tuple(changed[name] for name in before._fields if name in changed)
        for changed, (before, _) in zip(found, pairs, strict=True)
    ]


def _by_place(texts: Iterable[Text]) -> dict[tuple[int, str], str]:
    return {
        (n, name): value for n, text in enumerate(texts) for name, value in text._asdict().items()
    }
