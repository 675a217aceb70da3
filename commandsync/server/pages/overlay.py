"""What a page shows beside the listing: the changes and the problems of a manifest in preview."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Mark(StrEnum):
    """What happened to a record since the listing was read; the value is the label of the page."""

    NEW = "new"
    EDITED = "edited"
    RENAMED = "renamed"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A change of one record.

    Attributes:
        mark: The kind of change.
        before: The listed text of each field that has another one now; empty for `NEW`.
    """

    mark: Mark
    before: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemLine:
    """A problem of a manifest, as the terminal shows it, without colour.

    Attributes:
        place: The path, the line and the column.
        message: What is wrong.
        hint: What to do; may be empty.
    """

    place: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """What the page of a preview shows beside the listing.

    Attributes:
        summary: The counts of the plan, in a sentence.
        notices: Warnings, and the reason for which `apply` would refuse the plan.
        marks: The changes, by collection and by the id of the record on this service.
        gone: The records that the listing has and the manifest has not, by collection.
        problems: Those of the manifest. While there are some, the page shows its last valid state.
    """

    summary: str
    notices: tuple[str, ...] = ()
    marks: Mapping[str, Mapping[str, Marked]]
    gone: Mapping[str, tuple[Mapping[str, str], ...]]
    problems: tuple[ProblemLine, ...] = ()


@dataclass(slots=True)
class Preview:
    """What a service in preview shows now, as `app.state.preview`.

    Attributes:
        overlay: What the page shows beside the listing.
        version: Another number after every change of the page.
    """

    overlay: Overlay
    version: int = 0
