"""A plan and the problems of a manifest -> what the page of a preview shows beside the listing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.plan.changes import Add, Delete
from commandsync.report.scheduled import in_quotes, scheduled
from commandsync.report.summary import of_plan, remark_on
from commandsync.report.wording import worded
from commandsync.server.pages.overlay import Mark, Marked, Overlay, ProblemLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.diagnostics import Problem
    from commandsync.plan.changes import Change, Edit, Replace
    from commandsync.preview.listing import PreviewState


def overlay_of(state: PreviewState, problems: Sequence[Problem] = ()) -> Overlay:
    """Return what the page shows: the plan's counts and changes, and problems of a later text."""
    return Overlay(
        summary=of_plan(state.plan),
        notices=(
            *map(_sentence, notices_of(state)),
            *scheduled(state.plan, in_quotes),
            *(_end(change) for change in state.plan.changes if change.ends_record),
        ),
        marks={
            resource.collection: {id_: _marked(change) for id_, change in changes.items()}
            for resource, changes in state.changes.items()
        },
        gone={
            resource.collection: tuple(
                change.before._asdict()
                for change in state.plan.changes
                if isinstance(change, Delete) and change.resource is resource
            )
            for resource in state.changes
        },
        problems=tuple(
            ProblemLine(
                place=str(problem.location), message=problem.message, hint=worded(problem.hint)
            )
            for problem in problems
        ),
    )


def notices_of(state: PreviewState) -> Iterator[Notice]:
    """Yield what to know about the state: first why apply would refuse the plan."""
    if refusal := state.plan.refusal:
        yield Notice(f"apply would refuse this plan: it {refusal.message}", refusal.hint)
    yield from state.plan.notices
    yield from state.notices


def _marked(change: Add | Edit | Replace) -> Marked:
    if isinstance(change, Add):
        return Marked(mark=Mark.NEW, before={})
    renamed = change.before[0] != change.after[0]
    before = {field.field: field.old for field in change.fields}
    return Marked(mark=Mark.RENAMED if renamed else Mark.EDITED, before=before)


def _end(change: Change) -> str:
    """Return why a record goes, which its mark does not say."""
    return f"The {change.resource} {in_quotes(change.name)} is deleted: {remark_on(change)}."


def _sentence(notice: Notice) -> str:
    where = f"{notice.location}: " if notice.location else ""
    hint = f" ({worded(notice.hint)})" if notice.hint else ""
    return f"{where}{notice.message}{hint}"
