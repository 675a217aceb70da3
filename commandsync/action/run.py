"""A run of the Action: inputs and event -> core -> verdict -> report."""

from __future__ import annotations

import gc
import io
import os
import sys
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.action import verdict
from commandsync.action.base import base_manifests
from commandsync.action.comment import key_of
from commandsync.action.destination import destination_changes, with_destinations
from commandsync.action.event import read_event
from commandsync.action.inputs import Inputs, forms_of_secrets, read_inputs
from commandsync.action.manifests import enter_workspace, hand_over_token, load_from_workspace
from commandsync.action.reporter import Reporter, say
from commandsync.action.rest import github_of
from commandsync.action.review import of_unreviewed, review_of
from commandsync.action.wording import in_inputs
from commandsync.errors import CommandsyncError, Forbidden, Unauthorized, UsageError
from commandsync.report.escape import visible
from commandsync.report.github import mask, plan_annotations
from commandsync.report.wording import wording
from commandsync.sync import exits, signals
from commandsync.sync.comparison import plan_between
from commandsync.sync.execution import Stop, execute, ready_of, refusal_of
from commandsync.sync.job import Planned, jobs, plan_all, plans_of
from commandsync.sync.saved import saved_plan
from commandsync.sync.settings import TOKEN_VARIABLE, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence
    from typing import NoReturn

    from commandsync.action.destination import DestinationChange
    from commandsync.action.inputs import Mode
    from commandsync.action.verdict import Verdict
    from commandsync.manifest import Manifest
    from commandsync.sources.outcome import Import
    from commandsync.sync.job import Job
    from commandsync.sync.signals import Signals

_STOPPING = b"\nstopping: requests in flight are finished first\n"


def main(environ: MutableMapping[str, str]) -> int:
    """Run the Action in the step's environment, and return the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a runner's locale may be C
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(200_000, 20, 20)  # as the command line does
    for secret in forms_of_secrets(environ):
        say(mask(secret))
    event = read_event(environ)
    # Until the inputs are known, no comment is written.
    reporter = Reporter(environ, Inputs(comment="never"), event)
    with signals.handled() as handler, wording(in_inputs):
        try:
            if workspace := environ.get("GITHUB_WORKSPACE", ""):
                enter_workspace(workspace)
            reporter.inputs = inputs = read_inputs(environ)
            reporter.github = github_of(inputs.github_token, environ)
            mode = reporter.mode
            say(f"commandsync: {mode}" + (f" ({event.name})" if inputs.mode == "auto" else ""))
            run = _Run(mode, reporter, _settings(inputs, environ), handler)
            with signals.unwrapped():
                outcome = run.apply() if mode == "apply" else run.plan()
        except signals.Interruption as interruption:
            handler.disarm()
            error = CommandsyncError("interrupted; nothing was changed")
            outcome = verdict.of_error(error, code=signals.of_signal(interruption.number))
        except CommandsyncError as error:
            outcome = verdict.of_error(error)
        except Exception as error:  # noqa: BLE001 - a defect must set the outputs too
            outcome = _defect(error, writing=handler.writing)
        handler.ignore()
        return _reported(outcome, reporter)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run in one mode."""

    mode: Mode
    reporter: Reporter
    settings: Settings
    signals: Signals

    def plan(self) -> Verdict:
        """Validate or plan, without a write."""
        if self.reporter.inputs.plan_file:
            raise UsageError(
                f"the input plan-file is for the mode apply, and this is {self.mode}",
                hint="set mode: apply, or remove plan-file",
            )
        manifests = load_from_workspace(self.settings)
        imports = self._imports(manifests)
        if self.mode == "validate":
            self._write_preview(manifests, [])
            return verdict.with_imports(verdict.of_validated(manifests), imports)
        changes = self._hand_over_token(manifests)
        with jobs(self.settings, manifests) as opened:
            self.reporter.sites = [job.site for job in opened]
            planned = plan_all(opened)
            self._write_preview(manifests, planned)
        bases = self._bases(manifests)
        outcome = self._of_listings(opened, planned, bases)
        outcome = verdict.with_user_changes(outcome, bases, manifests)
        return with_destinations(verdict.with_imports(outcome, imports), changes)

    def _write_preview(
        self, manifests: Sequence[Manifest], planned: Sequence[Planned | CommandsyncError]
    ) -> None:
        if self.reporter.inputs.preview and self.mode != "drift":
            from commandsync.action.preview import write_preview  # noqa: PLC0415 - seldom needed

            write_preview(self.reporter, self.settings, manifests, planned)

    def _bases(self, manifests: Sequence[Manifest]) -> list[Manifest]:
        """Return the manifests of the base branch of a proposal, if they are known."""
        by = self.reporter
        folder = by.environ.get("RUNNER_TEMP", "")
        github = by.github if self.mode == "plan" else None
        return base_manifests(manifests, github, by.event, folder=folder, say=say)

    def _imports(self, manifests: Sequence[Manifest]) -> list[Import]:
        """Return what an import would change; nothing is checked in a drift check."""
        if not self.reporter.inputs.import_check or self.mode == "drift":
            return []
        from commandsync.sync.imports import plan_import  # noqa: PLC0415 - seldom needed

        return [
            plan_import(replace(self.settings, files=(each.path,)), [], registered=_refuse_requests)
            for each in manifests
        ]

    def apply(self) -> Verdict:
        """Make the listings match."""
        with self._planned() as planned:
            ready = ready_of(planned)
            if len(ready) < len(planned):
                return self._of_plans(planned)
            plans = [item.plan for item in ready]
            say(report.render_plans(plans, format="text"))
            for plan in plans:
                self.reporter.annotate(plan_annotations(plan))
            review = review_of(
                plans,
                inputs=self.reporter.inputs,
                github=self.reporter.github,
                event=self.reporter.event,
                key=key_of(self.reporter.inputs, self.reporter.sites),
            )
            if review.unseen:
                return of_unreviewed(plans, review)
            self.reporter.put_backups(ready)
            stop = Stop(_announce_stop)
            with self.signals.answered_by(stop):
                results = execute(
                    ready,
                    stop,
                    settings=self.settings,
                    signals=self.signals,
                )
        number = self.signals.number
        code = signals.of_signal(number) if number else exits.of_result(*results)
        return verdict.with_note(verdict.of_results(results, code=code), review.note)

    @contextmanager
    def _planned(self) -> Iterator[Sequence[Planned | CommandsyncError]]:
        """Make the plans that are to be applied, or read the saved one."""
        if path := self.reporter.inputs.plan_file:
            if token := self.reporter.inputs.token:
                os.environ[TOKEN_VARIABLE] = token
            if not self.settings.base_url:
                raise UsageError(
                    "with the input plan-file, the base URL is missing",
                    hint="give the input base-url: a plan does not decide where the token goes",
                )
            with saved_plan(replace(self.settings, files=()), path, writes=True) as item:
                self.reporter.sites = [item.site]
                yield [item]
            return
        manifests = load_from_workspace(self.settings)
        self._hand_over_token(manifests)
        with jobs(self.settings, manifests) as opened:
            self.reporter.sites = [job.site for job in opened]
            for site in self.reporter.sites:
                site.check_token()
            yield plan_all(opened)

    def _of_plans(self, planned: Sequence[Planned | CommandsyncError]) -> Verdict:
        refusals = [refusal_of(item) for item in planned if isinstance(item, Planned)]
        return verdict.of_plans(
            plans_of(planned),
            fail_on_changes=self._fails_on_changes,
            refusals=[refusal for refusal in refusals if refusal is not None],
            drift=self.mode == "drift",
        )

    @property
    def _fails_on_changes(self) -> bool:
        fail_on = self.reporter.inputs.fail_on
        return fail_on == "changes" or (self.mode == "drift" and not fail_on)

    def _of_listings(
        self,
        opened: Sequence[Job],
        planned: Sequence[Planned | CommandsyncError],
        bases: Sequence[Manifest],
    ) -> Verdict:
        """Return the verdict of plans, or of comparisons where readers need a token."""
        closed = {
            n: item
            for n, item in enumerate(planned)
            if isinstance(item, Unauthorized | Forbidden) and opened[n].site.token is None
        }
        if not closed or not bases:
            return self._of_plans(planned)
        compared = [plan_between(self.settings, opened[n].manifest, bases[n]) for n in closed]
        return verdict.with_comparison(
            self._of_plans([item for n, item in enumerate(planned) if n not in closed]),
            compared,
            next(iter(closed.values())),
            fail_on_changes=self._fails_on_changes,
        )

    def _hand_over_token(self, manifests: Sequence[Manifest]) -> list[DestinationChange]:
        """Put the token of the input into the variable of each manifest.

        Returns:
            What a proposal changes of where the token goes.
        """
        variables = [manifest.token_env for manifest in manifests if manifest.token_env]
        if variables:
            for secret in forms_of_secrets(self.reporter.environ, named=variables):
                say(mask(secret))
        hand_over_token(manifests, self.reporter.inputs.token, writes=self.mode == "apply")
        return destination_changes(
            manifests,
            self.reporter.github,
            self.reporter.event,
            base_url=self.settings.base_url,
            say=say,
        )


def _refuse_requests(_: str) -> NoReturn:
    """Refuse to read what is registered with Discord: a check needs no token of its own."""
    raise UsageError(
        "import-check reads files and code, not what is registered with Discord",
        hint="remove discord from import: of the manifest, or the input import-check",
    )


def _announce_stop() -> None:
    """Print that the run is stopping; a signal may come during another print, so write raw."""
    with suppress(OSError):
        os.write(2, _STOPPING)


def _reported(outcome: Verdict, reporter: Reporter) -> int:
    """Report the run; return the exit code, which is never 0 if the report fails."""
    try:
        reporter.report(outcome)
    except Exception as error:  # noqa: BLE001 - as above
        lost = _defect(error, writing=outcome.word == "applied")
        say(lost.text)
        reporter.annotate(lost.annotations)
        reporter.put_outputs({"result": lost.word, "failure-reason": outcome.reason or lost.reason})
        return outcome.code or lost.code
    return outcome.code


def _defect(error: Exception, *, writing: bool) -> Verdict:
    """Return the verdict of a defect, after which writes may have been in flight."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        say(f"  {visible(line)}")
    defect = CommandsyncError(
        f"this is a defect in commandsync: {type(error).__name__}",
        hint="please report it, with the details from the log",
    )
    code = exits.Exit.INCOMPLETE if writing else exits.Exit.FAILED
    outcome = verdict.of_error(defect, code=code)
    return replace(outcome, changed=True) if writing else replace(outcome, reason="defect")


def _settings(inputs: Inputs, environ: MutableMapping[str, str]) -> Settings:
    return Settings(
        files=inputs.files,
        base_url=inputs.base_url or environ.get("COMMANDSYNC_BASE_URL", ""),
        bot=inputs.bot or environ.get("COMMANDSYNC_BOT", ""),
        prune=inputs.prune,
        max_deletes=inputs.max_deletes,
    )
