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
    from commandsync.plan.plan import Plan

Format = Literal["text", "json", "markdown", "github"]
T = TypeVar("T")


class _Renderer(NamedTuple, Generic[T]):
    """Shows a value in any format, by a function of the format's module; only text has a screen."""

    function: str

    def __call__(self, value: T, /, *, format: Format = "text", screen: Screen = PLAIN) -> str:
        module = import_module(f"commandsync.report.{format}")
        render: Callable[..., str] = getattr(module, self.function)
        return render(value, screen=screen) if format in {"text", "github"} else render(value)


render_plans: _Renderer[Sequence[Plan | Result | CommandsyncError]] = _Renderer("plans")
"""The changes of plans; only json shows results and errors. A plan as json is a saved plan."""

render_results: _Renderer[Sequence[Result | CommandsyncError]] = _Renderer("results")
"""The results of plans; the text does not repeat the plan. Only json shows errors."""

render_failure: _Renderer[CommandsyncError] = _Renderer("failure")
"""An error, a manifest's problems each at its place."""

render_validated: _Renderer[Sequence[Manifest]] = _Renderer("validated")
"""The counts of valid manifests, and their warnings."""

render_notices: _Renderer[Sequence[Notice]] = _Renderer("notices")
"""Warnings for people, beside a result of any format: only as text."""

render_settled: _Renderer[Settled] = _Renderer("settled")
"""The outcome of one change on one line, while others are not settled yet: only as text."""
