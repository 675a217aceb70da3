"""A run of the Action: inputs and event -> core -> verdict -> report."""

import gc
import io
import os
import sys
import traceback
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync import errors, report
from commandsync.action import verdict
from commandsync.action.branch import MOST_COMMITS, Branch, newer_run
from commandsync.action.inputs import (
    Inputs,
    Mode,
    read_event,
    read_inputs,
    secrets_of,
    settings_of,
)
from commandsync.action.proposal import base_manifests, hand_over_token, with_destinations
from commandsync.action.reporter import Reporter, say
from commandsync.action.rest import github_of
from commandsync.action.verdict import Verdict
from commandsync.apply.outcomes import exit_code
from commandsync.manifest import Manifest
from commandsync.report.github import mask, plan_annotations
from commandsync.report.lines import Screen, visible
from commandsync.sync import process
from commandsync.sync.apply import (
    Declined,
    Hooks,
    NotBegun,
    Written,
    apply,
    carry_out,
    refusal_of,
)
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.history import committed, first_parents
from commandsync.sync.job import Job, Planned
from commandsync.sync.process import Signals, redacted_outputs
from commandsync.sync.savedplan import saved_jobs
from commandsync.sync.selection import jobs, plan_jobs, plans_in
from commandsync.sync.settings import HOSTS_VARIABLE, TOKEN_VARIABLE, Settings, load

if TYPE_CHECKING:
    from commandsync.sync.listcontent import Memory


def main(environ: MutableMapping[str, str]) -> int:
    """Run the Action in the step's environment, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a runner's locale may be C
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(200_000, 20, 20)  # as the command line does
    for secret in secrets_of(environ):
        say(mask(secret))
    event = read_event(environ)
    # Until the inputs are known, no comment is written.
    reporter = Reporter(environ, Inputs(comment="never"), Branch(event))
    with process.handled() as handler, redacted_outputs(environ):
        try:
            if workspace := environ.get("GITHUB_WORKSPACE", ""):
                _enter_workspace(workspace)
                if Path(".git").exists():
                    reporter.screen = reporter.screen._replace(files=event.files_url)
            reporter.inputs = inputs = read_inputs(environ)
            environ[HOSTS_VARIABLE] = inputs.hosts or environ.get(HOSTS_VARIABLE, "")
            reporter.branch.github = github_of(inputs.github_token, environ)
            mode = reporter.mode
            say(f"commandsync: {mode}" + (f" ({event.name})" if inputs.mode == "auto" else ""))
            run = _ActionRun(mode, reporter, settings_of(inputs, environ, mode), handler)
            with process.unwrapped():
                outcome = run.apply() if mode == "apply" else run.plan()
        except process.Interruption as interruption:
            handler.disarm()
            error = errors.CommandsyncError("interrupted; no listing was changed")
            outcome = verdict.of_error(
                error, reporter.screen, code=process.of_signal(interruption.number)
            )
        except errors.CommandsyncError as error:
            outcome = verdict.of_error(error, reporter.screen)
        except Exception as error:  # noqa: BLE001 - a defect must set the outputs too
            outcome = _defect(error, reporter.screen, writing=handler.writing)
        handler.ignore()
        return _reported(outcome, reporter)


def _enter_workspace(folder: str) -> None:
    """Make the workspace the current folder; raises `UsageError` if that is not possible."""
    try:
        os.chdir(folder)
    except OSError as error:
        message = f"GITHUB_WORKSPACE cannot be entered: {error.strerror}"
        raise errors.UsageError(message, hint="it is the folder with the checkout") from error


def _load(settings: Settings) -> tuple[Manifest, ...]:
    """Load the manifests that the input file names; raises `UsageError` in an empty workspace."""
    if not all(map(os.path.isabs, settings.files)) and not os.listdir():  # noqa: PTH208 - a question
        message = "the workspace is empty: the repository was not checked out"
        raise errors.UsageError(message, hint="add a step with actions/checkout before this one")
    return load(settings)


@dataclass(frozen=True, slots=True)
class _ActionRun:
    mode: Mode
    reporter: Reporter
    settings: Settings
    signals: Signals

    def plan(self) -> Verdict:
        """Validate or plan, without a write."""
        if self.reporter.inputs.plan_file:
            message = f"the input plan-file is for the mode apply, and this is {self.mode}"
            raise errors.UsageError(message, hint="set mode: apply, or remove plan-file")
        manifests = _load(self.settings)
        checked = [] if self.mode == "drift" else manifests
        with_checks = self._checks(checked)
        if self.mode == "validate":
            return with_checks(verdict.of_validated(manifests, self.reporter.screen))
        bases = self._hand_over_token(manifests)
        with jobs(self.settings, manifests, self._memory(manifests, bases)) as opened:
            self.reporter.branch.jobs = opened
            unread = [job for job in opened if self.mode == "drift" and not job.is_read]
            read = [job for job in opened if job not in unread]
            planned = plan_jobs(read)
            refusals = [refusal_of(item) for item in planned if isinstance(item, Planned)]
        outcome = verdict.with_unchecked(self._plans_verdict(planned, refusals), unread)
        outcome = verdict.with_user_changes(outcome, bases, manifests, self.reporter.screen)
        overridden = {"base_url": self.settings.base_url, "bot": self.settings.bot}
        return with_destinations(with_checks(outcome), manifests, bases, overridden=overridden)

    def _checks(self, manifests: Sequence[Manifest]) -> Callable[[Verdict], Verdict]:
        inputs = self.reporter.inputs
        if not (inputs.import_check or inputs.docs_check):
            return lambda verdict: verdict
        from commandsync.action.checks import checks_of  # noqa: PLC0415 - loads what imports need

        return checks_of(manifests, self.settings, inputs, self.reporter.screen)

    def apply(self) -> Verdict:
        """Make the listings match."""
        manifests = [] if self.reporter.inputs.plan_file else _load(self.settings)
        if run := self._newer_run(manifests):
            return verdict.of_superseded(run)
        hooks = Hooks(opened=self._opened, passed=self._passed, begin=self._begin)
        steps = apply(load=lambda: manifests, connect=self._connected, hooks=hooks)
        match carry_out(steps, signals=self.signals):
            case Written(applied, unread) as ending:
                self.reporter.applied = applied
                screen, results = self.reporter.screen, ending.results
                code = self.signals.code(exit_code(*results, unread=bool(unread)))
                outcome = verdict.of_results(results, screen, code=code)
                return verdict.with_unread(outcome, unread, screen)
            case NotBegun(planned, refusals):
                return self._plans_verdict(planned, refusals)
            case Declined():
                raise AssertionError("the Action asks nothing")

    def _opened(self, opened: Sequence[Job]) -> None:
        self.reporter.branch.jobs = opened

    def _passed(self, planned: Sequence[Planned], _unread: Sequence[object]) -> None:
        plans = [item.plan for item in planned]
        say(report.render_plans(plans, screen=self.reporter.screen))
        for plan in plans:
            self.reporter.annotate(plan_annotations(plan))

    def _begin(self, planned: Sequence[Planned]) -> None:
        self.reporter.put_backups(planned)
        self.reporter.announce(planned)

    def _memory(
        self, manifests: Sequence[Manifest], bases: Mapping[str, EarlierVersion]
    ) -> "Memory | None":
        """Return what is known of lists before the run; None if there are none."""
        if not any(manifest.listings for manifest in manifests):
            return None
        from commandsync.action.lastsent import memory_of  # noqa: PLC0415 - seldom needed

        return memory_of(
            self.settings,
            self.reporter.branch,
            bases,
            current=self.reporter.inputs.apply == "current",
            only_read=self.mode == "drift",  # it cannot read the others, and compares nothing else
        )

    def _newer_run(self, manifests: Sequence[Manifest]) -> str | None:
        """Return the run that applies a newer manifest, if any; raises as `newer_run` does."""
        branch = self.reporter.branch
        try:
            path = manifests[0].path if manifests else self.reporter.inputs.plan_file
            branch.commits = first_parents(path, most=MOST_COMMITS)
            files = [committed(manifest) for manifest in manifests]
        except errors.RefusedError:
            if self.settings.owned:
                raise
            return None  # a manifest that is not in git has no newer version there
        branch.head, run = newer_run(files, branch.github, branch.event) if files else ("", None)
        return run

    def _connected(self, manifests: Sequence[Manifest]) -> AbstractContextManager[Sequence[Job]]:
        """Open the listings of the manifests, or that of the saved plan."""
        if not (path := self.reporter.inputs.plan_file):
            self._hand_over_token(manifests)
            return jobs(self.settings, manifests, self._memory(manifests, {}))
        if token := self.reporter.inputs.token:
            os.environ[TOKEN_VARIABLE] = token
        if not self.settings.base_url:
            raise errors.UsageError(
                "with the input plan-file, the base URL is missing",
                hint="give the input base-url: a plan does not decide where the token goes",
            )
        return saved_jobs(replace(self.settings, files=()), path)

    def _plans_verdict(
        self,
        planned: Sequence[Planned | errors.CommandsyncError],
        refusals: Sequence[errors.RefusedError | None],
    ) -> Verdict:
        fail_on = self.reporter.inputs.fail_on
        return verdict.of_plans(
            plans_in(planned),
            self.reporter.screen,
            fail_on_changes=fail_on == "changes" or (self.mode == "drift" and not fail_on),
            refusals=[refusal for refusal in refusals if refusal is not None],
            drift=self.mode == "drift",
        )

    def _hand_over_token(self, manifests: Sequence[Manifest]) -> dict[str, EarlierVersion]:
        """Put the input's token into each manifest's variable; return the base branch's manifests.

        Raises `RefusedError` as `base_manifests`: before the token is sent.
        """
        entries = [entry for manifest in manifests for entry in manifest.listings]
        named = [*(each.token_env for each in manifests), *(each.token_env for each in entries)]
        if variables := [name for name in named if name]:
            for secret in secrets_of(self.reporter.environ, named=variables):
                say(mask(secret), with_tokens=True)
        hand_over_token(manifests, self.reporter.inputs.token, writes=self.mode == "apply")
        return base_manifests(
            manifests, self.reporter.branch.event, base_url=self.settings.base_url
        )


def _reported(outcome: Verdict, reporter: Reporter) -> int:
    """Report the run; return the exit code, which is never 0 if the report fails."""
    try:
        reporter.report(outcome)
    except Exception as error:  # noqa: BLE001 - as above
        lost = _defect(error, reporter.screen, writing=outcome.word == "applied")
        say(lost.text)
        reporter.annotate(lost.annotations)
        reporter.put_outputs({"result": lost.word, "failure-reason": outcome.reason or lost.reason})
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
