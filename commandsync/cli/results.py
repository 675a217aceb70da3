"""Plans, progress and results, in the format that the user asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.cli.output import Output, ResultLostError
from commandsync.errors import CommandsyncError, Exit, worst_exit
from commandsync.report.records import document
from commandsync.sync.job import Planned
from commandsync.sync.selection import split

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.plan.plan import Plan


def show_plans(plans: Sequence[Plan | CommandsyncError], output: Output) -> None:
    """Print plans, and the errors of those that could not be made."""
    made, errors = split(plans)
    if output.format == "json" and errors:
        output.result(report.render_plans(plans, format="json"))
        return
    if made:
        screen = output.screen()
        output.result(report.render_plans(made, format=output.format, screen=screen))
    for error in errors:
        output.failure(error)


def show_requests(planned: Sequence[Planned | CommandsyncError], output: Output) -> int:
    """Print the requests that an apply would send to replace whole lists; return the exit code."""
    from commandsync.sync.lists import ListJob

    errors = [item for item in planned if isinstance(item, CommandsyncError)]
    plans = [(item.job, item) for item in planned if isinstance(item, Planned)]
    requests = [job.shown(item) for job, item in plans if isinstance(job, ListJob)]
    if output.format == "json":
        output.result(document({"requests": requests}))
    else:
        output.result("\n\n".join(map(_request, requests)) or "no listing takes a whole list")
    for error in errors:
        output.failure(error)
    return worst_exit(error.exit_code for error in errors)


def _request(shown: Mapping[str, object]) -> str:
    """Return a request as text."""
    authorization = shown["authorization"]
    header = f"Authorization: {authorization}\n" if authorization else ""
    head = f"{shown['method']} {shown['url']}\n{header}Content-Type: application/json"
    return f"{head}\n\n{json.dumps(shown['body'], indent=2)}"


def show_results(
    results: Sequence[Result], output: Output, unread: Sequence[CommandsyncError] = ()
) -> int:
    """Print the results of plans; return their exit code: results that are lost are incomplete.

    The errors of listings that could not be read are part of a JSON document, after the results.
    """
    from commandsync.apply.outcomes import exit_code

    shown: list[Result | CommandsyncError] = [*results]
    if output.format == "json":
        shown += unread
    try:
        text = report.render_results(shown, format=output.format, screen=output.screen())
        output.result(text)
    except ResultLostError as error:
        touched = any(result.touched for result in results)
        output.failure(error.after_writing() if touched else error)
        return Exit.INCOMPLETE if touched else Exit.FAILED
    return exit_code(*results, unread=bool(unread))
