"""Reports a verdict: the log, annotations, outputs, the summary and the comment.

`INPUTS` has the hints in the words of the Action, by its inputs.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from commandsync import report
from commandsync.action.branch import SENDING, Branch, Status, merged_requests, refusal, status_of
from commandsync.action.comment import cut_to_fit, keep_issue, write_comment
from commandsync.action.inputs import GitHubEvent, Inputs, Mode
from commandsync.action.rest import GitHubError
from commandsync.action.verdict import Verdict, outputs_of
from commandsync.api.credentials import redacted
from commandsync.apply.outcomes import Result
from commandsync.diagnostics import Do, Words
from commandsync.errors import CommandsyncError
from commandsync.plan.plan import ListPlan, Plan, RecordPlan
from commandsync.report import github
from commandsync.report.github import LONGEST_SUMMARY, MOST_OF_A_KIND, Annotation, cut_page, page
from commandsync.report.lines import Screen, visible
from commandsync.sync.apply import write_backup
from commandsync.sync.files import append_to_file, temporary_folder, write_file
from commandsync.sync.job import Planned
from commandsync.sync.process import unredacted

_BY_HAND = "run the workflow by hand (event workflow_dispatch)"
_EMPTY = (
    "the input token and the variable {variable} are empty: is the secret defined under the name "
    "that the workflow uses, and does the job name its environment? Forks and Dependabot get no "
    "secrets"
)

INPUTS: Words = {
    Do.ALLOW_DELETES: (
        "if that is meant, write max_deletes: {limit} below sync: of the manifest in this change, "
        f"or allow it once after the merge: {_BY_HAND} on the default branch, with the input "
        "max-deletes: {limit}"
    ),
    Do.ALLOW_DELETES_OF_NEW_PLAN: (
        "if that is meant, make a new plan with the input max-deletes: {limit}"
    ),
    Do.APPLY_ALL: "{first}, or " + _BY_HAND + " with the input apply: current",
    Do.APPLY_PLAN: "the input plan-file applies it; the input file names a manifest",
    Do.DELETE_ALONE: "{mend}",
    Do.GIVE_BASE_URL: (
        "give the input base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest"
    ),
    Do.GIVE_BOT: (
        "give the input bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token "
        "from the bot's page, which contains the id"
    ),
    Do.GIVE_TOKEN: "give the bot's token: the input token",
    Do.KEEP_LIMITS: "remove the inputs file, max-deletes and prune, or make a new plan",
    Do.KEEP_TARGET: "remove the inputs bot and base-url (and their variables), or make a new plan",
    Do.LOWER_CONCURRENCY: "run again later",
    Do.MAKE_PLAN: "make the plan again in the mode plan{then}",
    Do.NAME_MANIFEST: "name its file with the input file",
    Do.NAME_STATE: "set COMMANDSYNC_STATE to a file that the job may write, below env: of the step",
    Do.RAISE_TIMEOUT: "run again later",
    Do.RENEW_TOKEN: "copy the bot's token again from the service's page into the secret",
    Do.REPLACE_UNMATCHED: f"{{why}}; if that is meant, {_BY_HAND} with the input apply: current",
    Do.REPLACE_UNSEEN: f"if that is meant, {_BY_HAND} with the input apply: current",
    Do.SET_TOKEN: _EMPTY,
    Do.SET_VARIABLE: (
        "set {variable} below env: of the step (with sync.yml, below secrets:); is the secret "
        "defined, and does the job name its environment?"
    ),
    Do.UNSET_BOT: "unset {variable}, or choose the bot with the input bot",
    Do.USE_HTTPS: "use https://",
    Do.WRITE_STARTER: "commandsync init writes a starter; the input file names another file",
}

_INPUTS = Screen(words=INPUTS)
_ROOM_FOR_LINE = 1000  # bytes: the workflow that writes the comment adds a line


@dataclass(slots=True)
class Reporter:
    """Reports one run."""

    environ: Mapping[str, str]  # the step's environment, with the runner's files
    inputs: Inputs
    branch: Branch  # the branch of the run, and its event
    screen: Screen = _INPUTS  # how values are shown, with links to the files
    applied: Sequence[tuple[Planned, Result]] = ()  # the plans that were carried out
    annotated: Counter[str] = field(default_factory=Counter)  # how many, by kind

    def report(self, verdict: Verdict) -> None:
        """Report a verdict; the comment comes last, since it may wait for the network."""
        say(verdict.text)
        self.annotate(verdict.annotations)
        self.put_outputs(outputs_of(verdict) | {"key": self.inputs.key})
        if verdict.plans:
            with self.warned("the plan's files are not written"):
                self.put_outputs(self._files(verdict.plans))
        if self.inputs.summary:
            self._summarise(verdict)
        if self.applied and self.branch.github:
            # A page alone has a status only if all is done; each of several listings has one.
            some = [pair for pair in self.applied if verdict.complete or pair[1].plan.label]
            with self.warned("the commit's status is not set"):
                self._set_statuses(
                    (item, status_of(result, item.job.settings.now)) for item, result in some
                )
        self._put_comment(verdict)
        if self._keeps_issue(verdict):
            with self.warned("the issue is not written"):
                self.put_outputs({"issue-url": self._issue(verdict)})

    @property
    def mode(self) -> Mode:
        """The mode of the run: that of the input, or with auto that of the event."""
        return self.event.usual_mode if self.inputs.mode == "auto" else self.inputs.mode

    @property
    def event(self) -> GitHubEvent:
        """The event of the run."""
        return self.branch.event

    def announce(self, planned: Sequence[Planned]) -> None:
        """Mark the commit before lists are sent that cannot be read back.

        Raises `RefusedError` if that is not possible: no later run would know what they show.
        """
        unread = [
            each for each in planned if isinstance(each.plan, ListPlan) and not each.plan.is_read
        ]
        try:
            self._set_statuses((each, SENDING) for each in unread if each.plan.writes)
        except GitHubError as error:
            raise refusal("the status of the commit cannot be set", error) from error

    def _set_statuses(self, statuses: Iterable[tuple[Planned, Status]]) -> None:
        for planned, status in statuses:
            at = self.branch.head if planned.plan.label else ""
            self.branch.set_status(planned.job, status, at=at)

    def put_backups(self, planned: Sequence[Planned]) -> None:
        """Write the listed records that are about to be changed, as manifests.

        Raises `FileError` if one cannot be written: then nothing must be changed.
        """
        paths = []
        for item in planned:
            if item.plan.changes and isinstance(item.plan, RecordPlan):
                paths.append(str(self.new_folder("backup") / "commands.yaml"))
                write_backup(item, paths[-1], force=False)
        if paths:
            self.put_outputs({"backup-file": "\n".join(paths)})

    def annotate(self, annotations: Iterable[Annotation]) -> None:
        """Annotate lines, at most as many of a kind as a runner shows."""
        if not self.inputs.annotations:
            return
        for annotation in annotations:
            self.annotated[annotation.kind] += 1
            if self.annotated[annotation.kind] <= MOST_OF_A_KIND:
                say(annotation.command(self.screen.words))

    def put_outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step; of several of one name the last one counts."""
        self._put("GITHUB_OUTPUT", github.outputs(values))

    def _files(self, plans: tuple[Plan, ...]) -> dict[str, str]:
        folder = self.new_folder("plan")
        saved, shown = folder / "plan.json", folder / "plan.md"
        markdown = redacted(report.render_plans(plans, format="markdown", screen=self.screen))
        write_file(str(shown), markdown, force=False)
        document = report.render_plans(plans, format="json", screen=self.screen)
        write_file(str(saved), document, force=False)
        return {"plan-file": str(saved), "plan-markdown-file": str(shown)}

    def _summarise(self, verdict: Verdict) -> None:
        text = page(verdict.markdown, label=self.inputs.label, title=verdict.title)
        path = self.environ.get("GITHUB_STEP_SUMMARY", "")
        size = 0
        with suppress(OSError):
            size = Path(path).stat().st_size if path else 0
        most = max(LONGEST_SUMMARY - size, 0)
        pointer = "The rest is in the job's log" + (
            " and in the file that the output plan-markdown-file names." if verdict.plans else "."
        )
        self._put("GITHUB_STEP_SUMMARY", cut_page(text, most=most, pointer=pointer))

    def new_folder(self, name: str) -> Path:
        """Create a folder for files of the run, which other steps can read; raises `FileError`."""
        return temporary_folder(name, within=self.environ.get("RUNNER_TEMP", ""))

    def _put_comment(self, verdict: Verdict) -> None:
        if self.inputs.comment == "never" or verdict.word == "valid":
            return
        if self.event.fork and self.event.pull_request:
            with self.warned("the comment's file is not written"):
                self.put_outputs(self._comment_file(verdict))
        if self._comments():
            with self.warned("the comment is not written"):
                self.put_outputs({"comment-url": self._comment(verdict)})

    def _comments(self) -> bool:
        if self.inputs.comment == "always" or self.mode == "apply":
            return bool(self.event.pull_request or self.branch.commits)
        if self.event.name == "pull_request" and self.event.fork:
            summary = "; the plan is in the summary" if self.inputs.summary else ""
            say(f"A job of a fork's pull request may not comment{summary}.")
        return not self.event.fork and self.event.name == "pull_request"

    @contextmanager
    def warned(self, problem: str) -> Iterator[None]:
        """Warn of a problem, in the log and an annotation, if the block raises an error.

        The error then does not fail the run.
        """
        try:
            yield
        except (CommandsyncError, GitHubError) as error:
            message = f"{problem}: {error.message}"
            say(f"warning: {message}")
            self.annotate([Annotation("warning", "commandsync", message, error.hint)])

    def _comment(self, verdict: Verdict) -> str:
        """Write the comment; of an apply, to the pull requests that it is of. Return the URL."""
        markdown, key = self._page(verdict), self.inputs.key
        if self.event.pull_request:
            pending = any(plan.writes for plan in verdict.plans)
            creates = pending or self.inputs.comment == "always"
            return write_comment(markdown, self.branch.api, self.event, key=key, creates=creates)
        numbers = merged_requests(self.branch)
        urls = []
        for number in numbers:
            request, applied = replace(self.event, pull_request=number), verdict.complete
            urls.append(write_comment(markdown, self.branch.api, request, key=key, applied=applied))
        return next(filter(None, urls), "")

    def _comment_file(self, verdict: Verdict) -> dict[str, str]:
        """Write the comment that a fork's job may not write, for a workflow that may."""
        markdown, path = redacted(self._page(verdict)), self.new_folder("comment") / "comment.md"
        text = cut_to_fit(markdown, run_url=self.event.run_url, room=_ROOM_FOR_LINE)
        write_file(str(path), text, force=False)
        return {"comment-file": str(path), "pull-request": str(self.event.pull_request)}

    def _keeps_issue(self, verdict: Verdict) -> bool:
        """Whether this run keeps the issue: a check for drift that knows the whole listing."""
        if self.inputs.issue == "never" or self.mode != "drift" or self.event.proposes:
            return False
        return verdict.changed is True or bool(verdict.plans and verdict.word == "no-changes")

    def _issue(self, verdict: Verdict) -> str:
        label = f": {visible(self.inputs.label)}" if self.inputs.label else ""
        title, drifted = f"The listing differs from the manifest{label}", verdict.changed is True
        markdown = page(verdict.markdown, label=self.inputs.label)
        try:
            return keep_issue(
                markdown,
                self.branch.api,
                self.event,
                key=self.inputs.key,
                title=title,
                drifted=drifted,
            )
        except GitHubError as error:
            if drifted:
                raise
            say(f"An issue cannot be closed: {error.message}")
            return ""

    def _page(self, verdict: Verdict) -> str:
        commit, run = self.event.head_sha, self.event.run_url
        # GitHub links a commit that is written out.
        notes = [f"Commit {commit}, [run]({run})"] if commit else []
        return page(verdict.markdown, label=self.inputs.label, title=verdict.title, notes=notes)

    def _put(self, variable: str, text: str) -> None:
        """Append to a file of the runner, if there is one; an error is only a warning."""
        if path := self.environ.get(variable, ""):
            with self.warned(f"the runner's file {variable} is not written"):
                append_to_file(path, redacted(text))


def say(text: str, *, with_tokens: bool = False) -> None:
    """Print to the job's log at once: annotations and other lines keep their order.

    Only a mask is printed `with_tokens`: the runner hides what it names, and the line itself.
    """
    stream = unredacted(sys.stdout) if with_tokens else sys.stdout
    stream.write(text.rstrip("\n") + "\n")
    stream.flush()
