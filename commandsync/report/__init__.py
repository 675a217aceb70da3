"""The output for people and programs: a value becomes a text, in four formats.

Text of the service and of manifests is untrusted: every format escapes it in its own way (see
`lines`). The module of a format loads when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast

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


class _FormatModule(Protocol):
    """The functions of `text.py`, `json.py`, `markdown.py` and `github.py`."""

    def plans(self, _: Sequence[Plan | Result | CommandsyncError], /, *, screen: Screen) -> str: ...
    def results(self, _: Sequence[Result | CommandsyncError], /, *, screen: Screen) -> str: ...
    def failure(self, _: CommandsyncError, /, *, screen: Screen) -> str: ...
    def validated(self, _: Sequence[Manifest], /, *, screen: Screen) -> str: ...


def module_of(format: Format) -> _FormatModule:
    """Load the module of a format."""
    return cast("_FormatModule", import_module(f"{__name__}.{format}"))


def render_plans(
    plans: Sequence[Plan | Result | CommandsyncError],
    *,
    format: Format = "text",
    screen: Screen = PLAIN,
) -> str:
    """Return the changes of plans; only json shows results and errors.

    A plan as json is a saved plan.
    """
    return module_of(format).plans(plans, screen=screen)


def render_results(
    results: Sequence[Result | CommandsyncError],
    *,
    format: Format = "text",
    screen: Screen = PLAIN,
) -> str:
    """Return the results of plans; the text does not repeat the plan. Only json shows errors."""
    return module_of(format).results(results, screen=screen)


def render_failure(
    error: CommandsyncError, *, format: Format = "text", screen: Screen = PLAIN
) -> str:
    """Return an error, a manifest's problems each at its place."""
    return module_of(format).failure(error, screen=screen)


def render_validated(
    manifests: Sequence[Manifest], *, format: Format = "text", screen: Screen = PLAIN
) -> str:
    """Return the counts of valid manifests, and their warnings."""
    return module_of(format).validated(manifests, screen=screen)


def render_notices(notices: Sequence[Notice], *, screen: Screen = PLAIN) -> str:
    """Return warnings for people, beside a result of any format: only as text."""
    from commandsync.report import text  # noqa: PLC0415 - as in `module_of`

    return text.notices(notices, screen=screen)


def render_settled(settled: Settled, *, screen: Screen = PLAIN) -> str:
    """Return the outcome of one change on one line, while others are not settled yet."""
    from commandsync.report import text  # noqa: PLC0415 - as in `module_of`

    return text.settled(settled, screen=screen)


def render_import(result: Import, *, format: Format = "text", screen: Screen = PLAIN) -> str:
    """Return the changes of an import, and the tasks that remain."""
    from commandsync.report import imports  # noqa: PLC0415 - as in `module_of`

    formats = {"text": imports.text, "json": imports.json, "markdown": imports.markdown}
    return formats[format](result, screen=screen)


def render_user_changes(
    changes: UserChanges, *, format: Format = "text", screen: Screen = PLAIN
) -> str:
    """Return the changes that users of a bot notice."""
    from commandsync.report import usersentences  # noqa: PLC0415 - as in `module_of`

    if format == "json":
        return usersentences.json(changes, screen=screen)
    if format == "markdown":
        return usersentences.markdown(changes, screen=screen)
    return usersentences.text(changes, screen=screen)


def render_diagnosis(
    diagnosis: Diagnosis, *, format: Format = "text", screen: Screen = PLAIN
) -> str:
    """Return the end of the checks of a set-up; the text has shown each check before it."""
    from commandsync.report import records  # noqa: PLC0415 - as in `module_of`

    shows = records.diagnosis_json if format == "json" else records.diagnosis_text
    return shows(diagnosis, screen=screen)
