"""A run of the Action, from the environment of its step to its exit code.

`main` reads the step (`step`), then plans or applies, and reports the outcome (`reporter`).

- `_planned` loads the manifests, checks a proposal (`proposal`), reads the listings and plans them.
- `_applied` first asks GitHub for a newer manifest (`branch`), and then makes the one apply of all
  doors, `sync.apply.apply`, with the hooks of this door.

Both return a `Verdict`; so does an error that ends the run early. The facts of an apply are kept
beside it, since they are reported however the run ends.
"""

import gc
import io
import os
import sys
import traceback
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from commandsync import errors, report
from commandsync.action import branch, proposal, step, verdict
from commandsync.action.reporter import ApplyFacts, put_backups, put_report
from commandsync.action.step import Context, say
from commandsync.action.verdict import Verdict
from commandsync.apply.outcomes import exit_code
from commandsync.manifest import Manifest
from commandsync.report.github import mask, plan_annotations
from commandsync.report.lines import Screen, visible
from commandsync.sync import process
from commandsync.sync.apply import (
    AppliedPlans,
    CheckedPlans,
    Declined,
    Hooks,
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


def main(environ: MutableMapping[str, str]) -> int:
    """Run the Action in the step's environment, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a runner's locale may be C
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(200_000, 20, 20)  # as the command line does
    for secret in step.secrets_of(environ):
        say(mask(secret))
    with process.handled() as signals, redacted_outputs(environ):
        context, facts = step.of_event(environ), ApplyFacts()
        try:
            with process.unwrapped():
                context = step.read(context)
                environ[HOSTS_VARIABLE] = context.inputs.hosts or environ.get(HOSTS_VARIABLE, "")
                mode, auto = context.mode, context.inputs.mode == "auto"
                say(f"commandsync: {mode}" + (f" ({context.event.name})" if auto else ""))
                applies = mode == "apply"
                outcome = _applied(context, signals, facts) if applies else _planned(context)
        except process.Interruption as interruption:
            signals.disarm()
            error = errors.CommandsyncError("interrupted; no listing was changed")
            code = process.of_signal(interruption.number)
            outcome = verdict.of_error(error, context.screen, code=code)
        except errors.CommandsyncError as error:
            outcome = verdict.of_error(error, context.screen)
        except Exception as error:  # noqa: BLE001 - a defect must set the outputs too
            outcome = _defect(error, context.screen, writing=signals.writing)
        signals.ignore()
        return _reported(context, outcome, facts)


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
    outdated = proposal.outdated_files(context, manifests)
    if mode == "validate":
        valid = verdict.of_validated(manifests, context.screen)
        return proposal.with_outdated(valid, outdated)
    _hand_over_token(context, manifests)
    bases = proposal.base_manifests(manifests, context.event, base_url=settings.base_url)
    with jobs(settings, manifests, _memory(context, manifests, bases)) as opened:
        unread = [job for job in opened if mode == "drift" and not job.is_read]
        planned = plan_jobs([job for job in opened if job not in unread])
        refusals = [apply_refusal(item) for item in planned if isinstance(item, Planned)]
    # An unknown list alone does not fail a plan.
    failing = [each for each in refusals if not isinstance(each, errors.UnknownListError)]
    outcome = verdict.with_unchecked(_of_plans(context, planned, failing), unread)
    outcome = proposal.with_user_changes(outcome, bases, manifests, context.screen)
    outcome = proposal.with_outdated(outcome, outdated)
    overridden = {"base_url": settings.base_url, "bot": settings.bot}
    return proposal.with_destinations(outcome, manifests, bases, overridden=overridden)


def _applied(context: Context, signals: Signals, facts: ApplyFacts) -> Verdict:
    """Make the listings match, unless another run has a newer manifest."""
    plan_file = context.inputs.plan_file
    manifests = [] if plan_file else _load(context)
    if newer := _newer_run(context, manifests or _manifest_of_saved(plan_file), facts):
        return verdict.of_superseded(newer)
    hooks = Hooks(
        opened=facts.jobs.extend,
        passed=partial(_show_passed, context),
        begin=partial(put_backups, context),
    )
    steps = apply(load=lambda: manifests, connect=partial(_connected, context), hooks=hooks)
    match carry_out(steps, signals=signals):
        case AppliedPlans(applied, left) as ending:
            facts.applied = applied
            code = signals.code(exit_code(*ending.results, left=left))
            written = verdict.of_results(ending.results, context.screen, code=code)
            return verdict.with_left(written, left, context.screen)
        case CheckedPlans(planned, refusals):
            return _of_plans(context, planned, refusals)
        case Declined():
            raise AssertionError("the Action asks nothing")


def _newer_run(context: Context, manifests: Sequence[Manifest], facts: ApplyFacts) -> str | None:
    """Return the URL of the run that applies a newer manifest of the branch, if any.

    Raises `RefusedError` if that is not known.
    """
    try:
        path = manifests[0].path if manifests else context.inputs.plan_file
        facts.commits = first_parents(path, most=branch.MOST_COMMITS)
        files = [committed(manifest) for manifest in manifests if facts.commits]
    except errors.RefusedError:
        if context.settings.owned:
            raise
        files = []
    if not files:
        return None  # a manifest that is not in git has no newer version there
    facts.head, newer = branch.newer_run(files, context.github, context.event)
    return newer


def _show_passed(context: Context, planned: Sequence[Planned], _left: Sequence[object]) -> None:
    """Show the plans that are about to be applied."""
    plans = [item.plan for item in planned]
    say(report.render_plans(plans, screen=context.screen))
    for plan in plans:
        context.runner.annotate(plan_annotations(plan))


def _manifest_of_saved(plan_file: str) -> Sequence[Manifest]:
    """Return the manifest of a saved plan as it is checked out; none if it was made in the job."""
    try:
        return load_files(read_plan(plan_file).manifest[:1])
    except errors.CommandsyncError:
        return ()  # a plan that cannot be read is an error of the apply


def _connected(
    context: Context, manifests: Sequence[Manifest]
) -> AbstractContextManager[Sequence[Job]]:
    """Open the listings of the manifests, or the listing of the saved plan."""
    settings, inputs = context.settings, context.inputs
    if not inputs.plan_file:
        _hand_over_token(context, manifests)
        # Only for its refusal: a proposal must not decide where the token goes.
        proposal.base_manifests(manifests, context.event, base_url=settings.base_url)
        return jobs(settings, manifests, _memory(context, manifests, {}))
    if inputs.token:
        os.environ[TOKEN_VARIABLE] = inputs.token
    # The host of Discord is our own, or one that the environment names.
    if not (settings.base_url or any(kind.exact for kind in read_plan(inputs.plan_file).scope)):
        raise errors.UsageError(
            "with the input plan-file, the base URL is missing",
            hint="give the input base-url: a plan does not decide where the token goes",
        )
    return saved_jobs(replace(settings, files=()), inputs.plan_file)


def _hand_over_token(context: Context, manifests: Sequence[Manifest]) -> None:
    """Put the input's token into the variable of each manifest, and hide all of their tokens.

    Raises `WrongBotError` if a run that writes has one token for manifests of several bots.
    """
    _hide_tokens(context, manifests)
    token = context.inputs.token
    pages = [manifest.token_env or TOKEN_VARIABLE for manifest in manifests if manifest.has_page]
    shared = len(pages) > 1 if token else len(set(pages)) < len(pages)
    if shared and context.mode == "apply":
        raise errors.WrongBotError(
            f"there is one token for {len(pages)} manifests, and a token belongs to one bot",
            hint="give each manifest its own token_env: and set these variables instead of the "
            "input token, or use one job for each bot",
        )
    if token:
        os.environ.update(dict.fromkeys(pages, token))


def _hide_tokens(context: Context, manifests: Sequence[Manifest]) -> None:
    """Hide in the log the tokens in the variables that manifests name."""
    named = [manifest.token_env for manifest in manifests]
    named += [entry.token_env for manifest in manifests for entry in manifest.listings]
    named += [manifest.discord.token_env for manifest in manifests if manifest.discord]
    if variables := [name for name in named if name]:
        for secret in step.secrets_of(context.runner.environ, named=variables):
            say(mask(secret), with_tokens=True)


def _memory(
    context: Context, manifests: Sequence[Manifest], bases: Mapping[str, EarlierVersion]
) -> "Memory | None":
    """Return the knowledge of lists before the run; None if the manifests have none."""
    if not any(manifest.listings or manifest.discord for manifest in manifests):
        return None
    from commandsync.action.deployments import memory_of  # noqa: PLC0415 - seldom needed

    return memory_of(context, bases)


def _of_plans(
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


def _reported(context: Context, outcome: Verdict, facts: ApplyFacts) -> int:
    """Report the run; return the exit code, which is never 0 if the report fails."""
    try:
        put_report(context, outcome, facts)
    except Exception as error:  # noqa: BLE001 - as above
        lost = _defect(error, context.screen, writing=outcome.word == "applied")
        say(lost.text)
        context.runner.annotate(lost.annotations)
        reason = outcome.reason or lost.reason
        context.runner.put_outputs({"result": lost.word, "failure-reason": reason})
        return outcome.code or lost.code
    return outcome.code


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
