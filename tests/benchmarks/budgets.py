"""What is measured, what it may be, and whether it is: the rows of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

REQUESTS = "requests"


@dataclass(frozen=True, slots=True)
class Row:
    """One budget.

    Attributes:
        name: What was measured.
        measured: The figure.
        budget: The most it may be.
        unit: What both count in; times a reference where it is `x`.
        seen: The raw times behind it, for those who want to check the arithmetic.
    """

    name: str
    measured: float
    budget: float
    unit: str = "x"
    seen: str = ""

    @property
    def ok(self) -> bool:
        """Whether the budget is kept; requests are to be so many exactly."""
        if self.unit == REQUESTS:
            return self.measured == self.budget
        return self.measured <= self.budget

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as shown."""
        figures = (self._shown(self.measured), self._shown(self.budget))
        return (self.name, *figures, "ok" if self.ok else "OVER", self.seen)

    def _shown(self, figure: float) -> str:
        return f"{figure:.2f} x" if self.unit == "x" else f"{figure:.0f} {self.unit}"


HEAD = ("what", "measured", "budget", "", "seen")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table whose source reads as well as its page."""
    cells = [HEAD, *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [_line(line, widths) for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """Return a time as it is shown."""
    return f"{seconds * 1000:.0f} ms"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
