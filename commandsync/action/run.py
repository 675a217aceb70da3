"""A run of the Action: its context is read once, then planned or applied, then reported."""

import gc
import io
import os
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from commandsync import errors, report
from commandsync.action import verdict
from commandsync.action.branch import MOST_COMMITS, Branch, newer_run
from commandsync.action.proposal import base_manifests, hand_over_token, with_destinations
from commandsync.action.reporter import ActionOutcome, put_backups, put_report
from commandsync.action.step import Context, of_event, read, say, secrets_of
from commandsync.action.verdict import Verdict
from commandsync.apply.outcomes import exit_code
from commandsync.manifest import Manifest
from commandsync.report.github import mask, plan_annotations
from commandsync.report.lines import Screen, visible
from commandsync.sync import process
from commandsync.sync.apply import (
    AppliedPlans,
    Declined,
    Ending,
    Hooks,
    NotBegun,
    apply,
    apply_refusal,
    carry_out,
)
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.history import committed, first_parents
from commandsync.sync.job import Job, Planned
from commandsync.sync.process import Signals, redacted_outputs
from commandsync.sync.selection import jobs, plan_jobs, plans_in, read_plan, saved_jobs
from commandsync.sync.settings import HOSTS_VARIABLE, TOKEN_VARIABLE, load, load_files

if TYPE_CHECKING:
    from commandsync.sync.listcontent import Memory

T = TypeVar("T")


def main(environ: MutableMapping[str, str]) -> int:
    """Run the Action in the step's environment, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a runner's locale may be C
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(200_000, 20, 20)  # as the command line does
    for secret in secrets_of(environ):
        say(mask(secret))
    with process.handled() as signals, redacted_outputs(environ):
        context = of_event(environ)
        outcome: Context | ActionOutcome | Verdict
        outcome = _caught(context, signals, partial(read, context))
        if isinstance(outcome, Context):
            context = outcome
            environ[HOSTS_VARIABLE] = context.inputs.hosts or environ.get(HOSTS_VARIABLE, "")
            outcome = _caught(context, signals, partial(_outcome, context, signals))
        if isinstance(outcome, Verdict):
            outcome = ActionOutcome(outcome, Branch(context.event, context.github))
        signals.ignore()
        return _reported(context, outcome)


def _caught(context: Context, signals: Signals, part: Callable[[], T]) -> T | Verdict:
    """Return the result of a part of the run, or the verdict that ended it early."""
    screen = context.screen
    try:
        with process.unwrapped():
            return part()
    except process.Interruption as interruption:
        signals.disarm()
        error = errors.CommandsyncError("interrupted; no listing was changed")
        return verdict.of_error(error, screen, code=process.of_signal(interruption.number))
    except errors.CommandsyncError as error:
        return verdict.of_error(error, screen)
    except Exception as error:  # noqa: BLE001 - a defect must set the outputs too
        return _defect(error, screen, writing=signals.writing)


def _outcome(context: Context, signals: Signals) -> ActionOutcome:
    """Validate, plan or apply, and return the outcome."""
    event, mode = context.event, context.mode
    say(f"commandsync: {mode}" + (f" ({event.name})" if context.inputs.mode == "auto" else ""))
    if mode == "apply":
        return _applied(context, signals)
    return ActionOutcome(_planned(context), Branch(event, context.github))


def _load(context: Context) -> tuple[Manifest, ...]:
    """Load the manifests that the input file names; raises `UsageError` in an empty workspace."""
    settings = context.settings
    if not all(map(os.path.isabs, settings.files)) and not os.listdir():  # noqa: PTH208 - a question
        message = "the workspace is empty: the repository was not checked out"
        raise errors.UsageError(message, hint="add a step with actions/checkout before this one")
    return load(settings)


def _planned(context: Context) -> Verdict:
    """Validate or plan, without a write."""
    settings, mode = context.settings, context.mode
    if context.inputs.plan_file:
        message = f"the input plan-file is for the mode apply, and this is {mode}"
        raise errors.UsageError(message, hint="set mode: apply, or remove plan-file")
    manifests = _load(context)
    with_checks = _checks(context, [] if mode == "drift" else manifests)
    if mode == "validate":
        return with_checks(verdict.of_validated(manifests, context.screen))
    bases = _hand_over_token(context, manifests)
    memory = _memory(context, Branch(context.event, context.github), manifests, bases)
    with jobs(settings, manifests, memory) as opened:
        unread = [job for job in opened if mode == "drift" and not job.is_read]
        planned = plan_jobs([job for job in opened if job not in unread])
        refusals = _failing(planned)
    outcome = verdict.with_unchecked(_plans_verdict(context, planned, refusals), unread)
    outcome = verdict.with_user_changes(outcome, bases, manifests, context.screen)
    overridden = {"base_url": settings.base_url, "bot": settings.bot}
    return with_destinations(with_checks(outcome), manifests, bases, overridden=overridden)


def _failing(planned: Sequence[Planned | errors.CommandsyncError]) -> list[errors.RefusedError]:
    """Return the refusals for which a plan fails: an unknown list is not one of them."""
    refusals = [apply_refusal(item) for item in planned if isinstance(item, Planned)]
    return [each for each in refusals if each and not isinstance(each, errors.UnknownListError)]


def _checks(context: Context, manifests: Sequence[Manifest]) -> Callable[[Verdict], Verdict]:
    inputs = context.inputs
    if not (inputs.import_check or inputs.docs_check):
        return lambda verdict: verdict
    from commandsync.action.checks import checks_of  # noqa: PLC0415 - loads the readers of code

    return checks_of(manifests, context.settings, inputs, context.screen)


def _applied(context: Context, signals: Signals) -> ActionOutcome:
    """Make the listings match, unless another run has a newer manifest.

    The outcome has the state of the branch by then, however the run ends.
    """
    manifests = [] if context.inputs.plan_file else _load(context)
    branch = Branch(context.event, context.github)
    bound = manifests or _of_saved(context.inputs.plan_file)
    try:
        path = bound[0].path if bound else context.inputs.plan_file
        branch = replace(branch, commits=first_parents(path, most=MOST_COMMITS))
    except errors.RefusedError:
        if context.settings.owned:
            raise
    newer = _caught(context, signals, partial(_newer_run, context, branch, bound))
    if isinstance(newer, Verdict):
        return ActionOutcome(newer, branch)
    branch = replace(branch, head=newer[0])
    if newer[1]:
        return ActionOutcome(verdict.of_superseded(newer[1]), branch)
    opened: list[Job] = []

    def passed(planned: Sequence[Planned], _left: Sequence[object]) -> None:
        plans = [item.plan for item in planned]
        say(report.render_plans(plans, screen=context.screen))
        for plan in plans:
            context.runner.annotate(plan_annotations(plan))

    steps = apply(
        load=lambda: manifests,
        connect=partial(_connected, context, branch),
        hooks=Hooks(opened=opened.extend, passed=passed, begin=partial(put_backups, context)),
    )
    ending = _caught(context, signals, partial(carry_out, steps, signals=signals))
    branch = replace(branch, jobs=opened)
    if isinstance(ending, Verdict):
        return ActionOutcome(ending, branch)
    applied = ending.applied if isinstance(ending, AppliedPlans) else ()
    return ActionOutcome(_verdict_of(context, signals, ending), branch, applied)


def _of_saved(plan_file: str) -> Sequence[Manifest]:
    """Return the manifest of a saved plan as it is checked out; none if it was made in the job."""
    try:
        return load_files(read_plan(plan_file).manifest[:1])
    except errors.CommandsyncError:
        return ()  # whatever is wrong with the plan is said when it is applied


def _newer_run(
    context: Context, branch: Branch, manifests: Sequence[Manifest]
) -> tuple[str, str | None]:
    """Return the head of the branch, and the run that applies a newer manifest, if any.

    Raises as `newer_run` does.
    """
    if not branch.commits:
        return "", None  # a manifest that is not in git has no newer version there
    try:
        files = [committed(manifest) for manifest in manifests]
    except errors.RefusedError:
        if context.settings.owned:
            raise
        return "", None  # as above
    return newer_run(files, branch.github, branch.event) if files else ("", None)


def _connected(
    context: Context, branch: Branch, manifests: Sequence[Manifest]
) -> AbstractContextManager[Sequence[Job]]:
    """Open the listings of the manifests, or the listing of the saved plan."""
    settings, inputs = context.settings, context.inputs
    if not inputs.plan_file:
        _hand_over_token(context, manifests)
        return jobs(settings, manifests, _memory(context, branch, manifests, {}))
    if inputs.token:
        os.environ[TOKEN_VARIABLE] = inputs.token
    # The host of Discord is our own, or one that the environment names.
    if not (settings.base_url or any(kind.exact for kind in read_plan(inputs.plan_file).scope)):
        raise errors.UsageError(
            "with the input plan-file, the base URL is missing",
            hint="give the input base-url: a plan does not decide where the token goes",
        )
    return saved_jobs(replace(settings, files=()), inputs.plan_file)


def _memory(
    context: Context,
    branch: Branch,
    manifests: Sequence[Manifest],
    bases: Mapping[str, EarlierVersion],
) -> "Memory | None":
    """Return the knowledge of lists before the run; None if there are none."""
    if not any(manifest.listings or manifest.discord for manifest in manifests):
        return None
    from commandsync.action.deployments import memory_of  # noqa: PLC0415 - seldom needed

    return memory_of(
        context.settings,
        branch,
        bases,
        current=context.inputs.apply == "current",
        mode=context.mode,
    )


def _hand_over_token(context: Context, manifests: Sequence[Manifest]) -> dict[str, EarlierVersion]:
    """Put the input's token into each manifest's variable; return the base branch's manifests.

    Raises `RefusedError` as `base_manifests`: before the token is sent.
    """
    entries = [entry for manifest in manifests for entry in manifest.listings]
    discord = [manifest.discord for manifest in manifests if manifest.discord]
    named = [*(each.token_env for each in manifests), *(each.token_env for each in entries)]
    named += [each.token_env for each in discord]
    if variables := [name for name in named if name]:
        for secret in secrets_of(context.runner.environ, named=variables):
            say(mask(secret), with_tokens=True)
    hand_over_token(manifests, context.inputs.token, writes=context.mode == "apply")
    return base_manifests(manifests, context.event, base_url=context.settings.base_url)


def _verdict_of(context: Context, signals: Signals, ending: Ending) -> Verdict:
    """Return the verdict of an apply that came to its end."""
    match ending:
        case AppliedPlans(left=left):
            results = ending.results
            code = signals.code(exit_code(*results, left=left))
            written = verdict.of_results(results, context.screen, code=code)
            return verdict.with_left(written, left, context.screen)
        case NotBegun(planned, refusals):
            return _plans_verdict(context, planned, refusals)
        case Declined():
            raise AssertionError("the Action asks nothing")


def _plans_verdict(
    context: Context,
    planned: Sequence[Planned | errors.CommandsyncError],
    refusals: Sequence[errors.RefusedError | None],
) -> Verdict:
    fail_on, drift = context.inputs.fail_on, context.mode == "drift"
    return verdict.of_plans(
        plans_in(planned),
        context.screen,
        fail_on_changes=fail_on == "changes" or (drift and not fail_on),
        refusals=[refusal for refusal in refusals if refusal is not None],
        drift=drift,
    )


def _reported(context: Context, outcome: ActionOutcome) -> int:
    """Report the run; return the exit code, which is never 0 if the report fails."""
    runner, found = context.runner, outcome.verdict
    try:
        put_report(context, outcome)
    except Exception as error:  # noqa: BLE001 - as above
        lost = _defect(error, context.screen, writing=found.word == "applied")
        say(lost.text)
        runner.annotate(lost.annotations)
        runner.put_outputs({"result": lost.word, "failure-reason": found.reason or lost.reason})
        return found.code or lost.code
    return found.code


def _defect(error: Exception, screen: Screen, *, writing: bool) -> Verdict:
    """Return the verdict of a defect, after which writes may have been in flight."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        say(f"  {visible(line)}")
    message = f"this is a defect in commandsync: {type(error).__name__}"
    hint = "please report it, with the details from the log"
    defect = errors.CommandsyncError(message, hint=hint)
    code = errors.Exit.INCOMPLETE if writing else errors.Exit.FAILED
    outcome = verdict.of_error(defect, screen, code=code)
    return replace(outcome, changed=True) if writing else replace(outcome, reason="defect")
