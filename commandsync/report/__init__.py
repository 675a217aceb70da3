"""A value -> str: what people and programs get to see, in four formats.

Text of the service and of manifests is hostile here: every format shows it escaped in its own way
(see `escape`). The formats load when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, assert_never

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.diagnostics import Notice
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan

Format = Literal["text", "json", "markdown", "github"]

__all__ = [
    "Format",
    "render_failure",
    "render_mixed",
    "render_notices",
    "render_plans",
    "render_results",
    "render_settled",
    "render_validated",
]


class _Renderer(Protocol):
    """What the module of each format offers."""

    def plans(self, plans: Sequence[Plan], *, color: bool) -> str: ...

    def results(self, results: Sequence[Result], *, color: bool) -> str: ...

    def failure(self, error: CommandsyncError, *, color: bool, kind: str) -> str: ...

    def validated(self, manifests: Sequence[Manifest], *, color: bool) -> str: ...


def render_plans(plans: Sequence[Plan], *, format: Format, color: bool = False) -> str:  # noqa: A002 - the option's name
    """Show what would be changed; a single plan as json is what `plan --out` saves.

    Args:
        plans: One for each manifest.
        format: The form.
        color: Whether the text is for a terminal that shows colours.
    """
    return _renderer(format).plans(plans, color=color)


def render_results(results: Sequence[Result], *, format: Format, color: bool = False) -> str:  # noqa: A002 - as above
    """Show what became of plans; the text says what is not plain, and does not repeat the plan."""
    return _renderer(format).results(results, color=color)


def render_failure(
    error: CommandsyncError,
    *,
    format: Format,  # noqa: A002 - as above
    color: bool = False,
    kind: str = "",
) -> str:
    """Show an error, a manifest's problems each at its place.

    Args:
        error: What went wrong.
        format: The form.
        color: Whether the text is for a terminal that shows colours.
        kind: What sort of failure it is, for programs; by default it follows from the error.
    """
    return _renderer(format).failure(error, color=color, kind=kind)


def render_validated(
    manifests: Sequence[Manifest],
    *,
    format: Format,  # noqa: A002 - as above
    color: bool = False,
) -> str:
    """Show what valid manifests hold, and the warnings about them."""
    return _renderer(format).validated(manifests, color=color)


def render_mixed(outcomes: Sequence[Plan | Result | CommandsyncError]) -> str:
    """Show as one JSON document what came of several manifests, failures included."""
    from commandsync.report import json  # noqa: PLC0415 - one format is enough for a run

    return json.mixed(outcomes)


def render_notices(notices: Sequence[Notice], *, color: bool = False) -> str:
    """Show warnings for people, as talk beside a result of any format."""
    from commandsync.report import text  # noqa: PLC0415 - as above

    return text.notices(notices, color=color)


def render_settled(settled: Settled, *, color: bool = False) -> str:
    """Show how one change ended, on one line, while others are still to come."""
    from commandsync.report import outcome  # noqa: PLC0415 - as above

    return outcome.settled(settled, color=color)


def _renderer(form: Format) -> _Renderer:
    match form:
        case "text":
            from commandsync.report import text  # noqa: PLC0415 - one format is enough for a run

            return text
        case "json":
            from commandsync.report import json  # noqa: PLC0415 - as above

            return json
        case "markdown":
            from commandsync.report import markdown  # noqa: PLC0415 - as above

            return markdown
        case "github":
            from commandsync.report import github  # noqa: PLC0415 - as above

            return github
        case _:
            assert_never(form)
