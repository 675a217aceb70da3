"""A value -> str: the output for people and programs, in four formats.

Text of the service and of manifests is untrusted: every format escapes it in its own way (see
`escape`). The module of a format loads when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from commandsync.apply.outcomes import Result, Settled
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError
from commandsync.report.lines import PLAIN as PLAIN
from commandsync.report.lines import Screen as Screen

if TYPE_CHECKING:
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan

Format = Literal["text", "json", "markdown", "github"]


def render_plans(
    plans: Sequence[Plan | Result | CommandsyncError], *, format: Format, screen: Screen = PLAIN
) -> str:
    """Show the changes of plans; only json shows results and errors beside them.

    A single plan as json is the file that `plan --out` saves.
    """
    return _render("plans", plans, format, screen=screen)


def render_results(
    results: Sequence[Result | CommandsyncError], *, format: Format, screen: Screen = PLAIN
) -> str:
    """Show the results of plans; the text does not repeat the plan. Only json shows errors."""
    return _render("results", results, format, screen=screen)


def render_failure(
    error: CommandsyncError, *, format: Format, screen: Screen = PLAIN, kind: str = ""
) -> str:
    """Show an error, a manifest's problems each at its place.

    A program reads the `kind` of failure in one word; by default it follows from the error.
    """
    options = {"kind": kind} if format == "json" else {}
    return _render("failure", error, format, screen=screen, **options)


def render_validated(
    manifests: Sequence[Manifest], *, format: Format, screen: Screen = PLAIN
) -> str:
    """Show the counts of valid manifests, and their warnings."""
    return _render("validated", manifests, format, screen=screen)


def render_notices(notices: Sequence[Notice], *, screen: Screen = PLAIN) -> str:
    """Show warnings for people, beside a result of any format."""
    return _render("notices", notices, "text", screen=screen)


def render_settled(settled: Settled, *, screen: Screen = PLAIN) -> str:
    """Show the outcome of one change on one line, while others are not settled yet."""
    return _render("settled", settled, "text", screen=screen)


def _render(name: str, value: object, form: Format, *, screen: Screen, **options: object) -> str:
    """Call a function of the module of a format; only text is fitted to a screen."""
    function: Callable[..., str] = getattr(import_module(f"commandsync.report.{form}"), name)
    if form in {"text", "github"}:
        options["screen"] = screen
    return function(value, **options)
