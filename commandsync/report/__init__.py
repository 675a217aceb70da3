"""A value -> str: the output for people and programs, in four formats.

Text of the service and of manifests is untrusted: every format escapes it in its own way (see
`escape`). The module of a format loads when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from commandsync.report.lines import PLAIN as PLAIN
from commandsync.report.lines import Screen as Screen

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Notice
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.differences import UserChanges
    from commandsync.plan.plan import Plan
    from commandsync.report.records import Diagnosis
    from commandsync.sources.changeset import Import

Format = Literal["text", "json", "markdown", "github"]
T = TypeVar("T")


class _Renderer(NamedTuple, Generic[T]):
    """Shows a value in any format, by one function for each, as `module:function`.

    The formats of plans, results and manifests have a module each; of the others, each value has.
    """

    place: str

    def load(self, format: Format) -> Callable[..., str]:
        """Load the function of a format."""
        module, function = self.place.format(format=format).split(":")
        render: Callable[..., str] = getattr(import_module(f"{__name__}.{module}"), function)
        return render

    def __call__(self, value: T, /, *, format: Format = "text", screen: Screen = PLAIN) -> str:
        return self.load(format)(value, screen=screen)


render_plans: _Renderer[Sequence[Plan | Result | CommandsyncError]] = _Renderer("{format}:plans")
"""The changes of plans; only json shows results and errors. A plan as json is a saved plan."""

render_results: _Renderer[Sequence[Result | CommandsyncError]] = _Renderer("{format}:results")
"""The results of plans; the text does not repeat the plan. Only json shows errors."""

render_failure: _Renderer[CommandsyncError] = _Renderer("{format}:failure")
"""An error, a manifest's problems each at its place."""

render_validated: _Renderer[Sequence[Manifest]] = _Renderer("{format}:validated")
"""The counts of valid manifests, and their warnings."""

render_notices: _Renderer[Sequence[Notice]] = _Renderer("text:notices")
"""Warnings for people, beside a result of any format: only as text."""

render_settled: _Renderer[Settled] = _Renderer("text:settled")
"""The outcome of one change on one line, while others are not settled yet: only as text."""

render_import: _Renderer[Import] = _Renderer("imports:{format}")
"""The changes of an import, and the tasks that remain."""

render_user_changes: _Renderer[UserChanges] = _Renderer("usersentences:{format}")
"""The changes that users of a bot notice."""

render_diagnosis: _Renderer[Diagnosis] = _Renderer("records:diagnosis_{format}")
"""The end of the checks of a set-up; only text and github have shown each check before it."""
