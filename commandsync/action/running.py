"""A run of the Action: inputs and event -> core -> verdict -> told."""

from __future__ import annotations

import gc
import io
import os
import sys
import traceback
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.action import masking, verdict
from commandsync.action.base import base_manifest
from commandsync.action.event import read_event
from commandsync.action.inputs import Inputs, in_inputs, read_inputs
from commandsync.action.rest import GitHub, GitHubError
from commandsync.action.telling import Teller, say
from commandsync.errors import CommandsyncError, Forbidden, ManifestError, Unauthorized, UsageError
from commandsync.report.escape import visible
from commandsync.report.github import mask, plan_annotations
from commandsync.sync import exits, signals
from commandsync.sync.comparison import plan_against
from commandsync.sync.execution import Stop, execute, refusal_of
from commandsync.sync.job import Planned, jobs, load, plan_all
from commandsync.sync.settings import TOKEN_VARIABLE, Settings

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from commandsync.action.inputs import Mode
    from commandsync.action.verdict import Verdict
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.signals import Signals

_STOPPING = b"\nstopping: what is in flight is finished first\n"


def main(environ: MutableMapping[str, str]) -> int:
    """Run the Action.

    Args:
        environ: The step's environment, `os.environ`; the bot's token is put where the manifest
            wants it.

    Returns:
        The exit code, as the command line's.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # a runner's locale may be C
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    gc.set_threshold(200_000, 20, 20)  # as the command line does
    for secret in masking.hidden(environ):
        say(mask(secret))
    event = read_event(environ)
    # Until the inputs are known, nobody has asked for a comment, nor said whose it is.
    teller = Teller(environ, Inputs(comment="never"), event)
    with signals.handled() as handler:
        try:
            if workspace := environ.get("GITHUB_WORKSPACE", ""):
                os.chdir(workspace)
            teller.inputs = inputs = read_inputs(environ)
            teller.github = _github(inputs, environ)
            mode = event.usual_mode if inputs.mode == "auto" else inputs.mode
            say(f"commandsync: {mode}" + (f" ({event.name})" if inputs.mode == "auto" else ""))
            run = _Run(mode, teller, _settings(inputs, environ), handler)
            found = run.apply() if mode == "apply" else run.look()
        except signals.Interruption as interruption:
            error = CommandsyncError("interrupted; nothing was changed")
            found = verdict.of_error(error, code=signals.of_signal(interruption.number))
        except CommandsyncError as error:
            found = verdict.of_error(in_inputs(error))
        except Exception as error:  # noqa: BLE001 - a defect must not leave the outputs empty
            found = _defect(error, writing=handler.writing)
        handler.ignore()
        return _told(found, teller)


@dataclass(frozen=True, slots=True)
class _Run:
    """One run, once it is known what to do."""

    mode: Mode
    teller: Teller
    settings: Settings
    signals: Signals

    def look(self) -> Verdict:
        """Do what writes nothing to the listing."""
        manifests = load(self.settings)
        if self.mode == "validate":
            return verdict.of_validated(manifests)
        self._hand_over_token(manifests)
        with jobs(self.settings, manifests) as some:
            planned = plan_all(some)
            anonymous = all(job.site.token is None for job in some)
        closed = [one for one in planned if isinstance(one, Unauthorized | Forbidden)]
        compared = self._compared(manifests, closed[0]) if closed and anonymous else None
        return compared or self._of_plans(planned)

    def apply(self) -> Verdict:
        """Make the listings match."""
        manifests = load(self.settings)
        self._hand_over_token(manifests)
        with jobs(self.settings, manifests) as some:
            for job in some:
                job.site.check_token()
            planned = plan_all(some)
            ready = [one for one in planned if isinstance(one, Planned) and not refusal_of(one)]
            if len(ready) < len(planned):
                return self._of_plans(planned)
            say(report.render_plans([one.plan for one in ready], format="text"))
            for one in ready:
                self.teller.annotate(plan_annotations(one.plan))
            stop = Stop(_tell_stopping)
            with self.signals.answered_by(stop):
                results = execute(
                    ready,
                    stop,
                    settings=self.settings,
                    signals=self.signals,
                    progress=lambda _plan: nullcontext(lambda _settled: None),
                )
        number = self.signals.number
        code = signals.of_signal(number) if number else exits.of_result(*results)
        return verdict.of_results(results, code=code)

    def _of_plans(self, planned: Sequence[Planned | CommandsyncError]) -> Verdict:
        drift = self.mode == "drift"
        refusals = [refusal_of(one) for one in planned if isinstance(one, Planned)]
        return verdict.of_plans(
            [one.plan if isinstance(one, Planned) else one for one in planned],
            fail_on_changes=self.teller.inputs.fail_on == "changes"
            or (drift and not self.teller.inputs.fail_on),
            refusals=[one for one in refusals if one is not None],
            drift=drift,
        )

    def _hand_over_token(self, manifests: Sequence[Manifest]) -> None:
        """Put the input's token where each manifest says that its token is."""
        if token := self.teller.inputs.token:
            for manifest in manifests:
                os.environ[manifest.token_env or TOKEN_VARIABLE] = token

    def _compared(self, manifests: Sequence[Manifest], why: CommandsyncError) -> Verdict | None:
        """Compare with the base branch; None where that is not to be had either."""
        github, event = self.teller.github, self.teller.event
        if github is None or not event.base_sha or self.mode != "plan":
            return None
        temporary = self.teller.environ.get("RUNNER_TEMP", "")
        try:
            plans = [self._against_base(one, github, temporary) for one in manifests]
        except GitHubError as error:
            say(f"The base branch's manifest cannot be read: {error.message}")
            return None
        except (ManifestError, UsageError):
            say(f"The manifest of the base branch ({event.base_sha}) cannot be compared with.")
            return None
        return verdict.of_comparison(plans, why)

    def _against_base(self, manifest: Manifest, github: GitHub, temporary: str) -> Plan:
        other = base_manifest(manifest, github, self.teller.event, folder=temporary)
        return plan_against(self.settings, [manifest], other)


def _tell_stopping() -> None:
    """Say that the run is stopping; in the middle of another print, so it writes raw."""
    with suppress(OSError):
        os.write(2, _STOPPING)


def _told(found: Verdict, teller: Teller) -> int:
    """Tell of the run; return the exit code, which is never good where telling failed."""
    try:
        teller.tell(found)
    except Exception as error:  # noqa: BLE001 - as above; the listing is what it is all the same
        lost = _defect(error, writing=found.word == "applied")
        say(lost.text)
        teller.annotate(lost.annotations)
        teller.put_outputs({"result": lost.word, "failure-reason": lost.reason})
        return found.code or lost.code
    return found.code


def _defect(error: Exception, *, writing: bool) -> Verdict:
    """Tell of what should not happen, and of what may have been written before it did."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        say(f"  {visible(line)}")
    told = CommandsyncError(
        f"commandsync failed in a way it should not: {type(error).__name__}",
        hint="the log has the details; please report it",
    )
    code = exits.Exit.INCOMPLETE if writing else exits.Exit.FAILED
    return replace(verdict.of_error(told, code=code), changed=True if writing else None)


def _settings(inputs: Inputs, environ: MutableMapping[str, str]) -> Settings:
    return Settings(
        files=inputs.files,
        base_url=inputs.base_url or environ.get("COMMANDSYNC_BASE_URL", ""),
        bot=inputs.bot or environ.get("COMMANDSYNC_BOT", ""),
        prune=inputs.prune,
        max_deletes=inputs.max_deletes,
    )


def _github(inputs: Inputs, environ: MutableMapping[str, str]) -> GitHub | None:
    if not inputs.github_token:
        return None
    return GitHub(
        environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/"),
        inputs.github_token,
        environ.get("GITHUB_GRAPHQL_URL", ""),
    )
