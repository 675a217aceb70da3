"""What a run reports while it goes on, to `Settings.on_progress`: one value for each thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.api.operations import Operation
from commandsync.api.policy import Send, Wait

if TYPE_CHECKING:
    from commandsync.apply.steps import Step
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.site import Site


class FilesRead(NamedTuple):
    """Manifests, or the saved plan that is all of `content`, were read in so many seconds."""

    paths: Sequence[str]
    content: tuple[Manifest, ...] | Plan
    seconds: float


class CallProgress(NamedTuple):
    """A call of the service waits: for its answer (`Send`) or for a retry (`Wait`).

    It may come from any thread. The step is None when the call has ended.
    """

    site: Site
    operation: Operation[Any]
    step: Send | Wait | None


class ApplyProgress(NamedTuple):
    """A plan is applied: the next step; None when it has ended."""

    plan: Plan
    step: Step | None


Progress = FilesRead | CallProgress | ApplyProgress
