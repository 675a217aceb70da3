"""Reports a verdict: the log, annotations, outputs, the summary and the comment."""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.action.comment import key_of, write_comment
from commandsync.action.issue import keep_issue
from commandsync.action.marker import Marker, changes_of, fingerprint_of, removals_of
from commandsync.action.rest import GitHubError
from commandsync.errors import FileError
from commandsync.report import github, summary
from commandsync.report.escape import visible
from commandsync.report.github import MOST_OF_A_KIND, Annotation
from commandsync.report.page import LONGEST_COMMENT, LONGEST_SUMMARY, cut_page, page
from commandsync.sync.execution import write_backup

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commandsync.action.event import GitHubEvent
    from commandsync.action.inputs import Inputs, Mode
    from commandsync.action.rest import GitHub
    from commandsync.action.verdict import Verdict
    from commandsync.plan.plan import Plan
    from commandsync.sync.job import Planned
    from commandsync.sync.site import Site

_COMMENT_FILE = LONGEST_COMMENT - 1000  # bytes: the workflow that writes the comment adds a line
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(slots=True)
class Reporter:
    """Reports one run.

    Attributes:
        environ: The step's environment, with the runner's files.
        inputs: The inputs.
        event: The event.
        github: GitHub's API, if there is a token for it.
        sites: The listings, as soon as they are known.
        annotated: The number of annotations, by kind.
    """

    environ: Mapping[str, str]
    inputs: Inputs
    event: GitHubEvent
    github: GitHub | None = None
    sites: Sequence[Site] = ()
    annotated: Counter[str] = field(default_factory=Counter)

    def report(self, verdict: Verdict) -> None:
        """Report a verdict; the comment comes last, since it may wait for the network."""
        say(verdict.text)
        self.annotate(verdict.annotations)
        self.put_outputs(_scalars(verdict))
        if verdict.plans:
            self.put_outputs(self._files(verdict.plans))
        if self.inputs.summary:
            self._summarise(verdict)
        if self.event.fork and self.event.pull_request:
            self.put_outputs(self._comment_file(verdict))
        if self._comments(verdict):
            self.put_outputs({"comment-url": self._comment(verdict)})
        if self._keeps_issue(verdict):
            self.put_outputs({"issue-url": self._issue(verdict)})

    @property
    def mode(self) -> Mode:
        """The mode of the run: that of the input, or with auto that of the event."""
        return self.event.usual_mode if self.inputs.mode == "auto" else self.inputs.mode

    def put_backups(self, planned: Sequence[Planned]) -> None:
        """Write what is listed, as manifests, where it is about to be changed.

        Raises:
            FileError: One cannot be written: then nothing must be changed.
        """
        changing = [item for item in planned if item.plan.changes]
        try:
            folders = [self.new_folder("backup") for _ in changing]
        except OSError as error:
            raise FileError(f"the backup cannot be written: {error.strerror}") from error
        paths = [str(folder / "commands.yaml") for folder in folders]
        for item, path in zip(changing, paths, strict=True):
            write_backup(item, path, force=False)
        if paths:
            self.put_outputs({"backup-file": "\n".join(paths)})

    def annotate(self, annotations: Iterable[Annotation]) -> None:
        """Annotate lines, at most as many of a kind as a runner shows."""
        if not self.inputs.annotations:
            return
        for annotation in annotations:
            self.annotated[annotation.kind] += 1
            if self.annotated[annotation.kind] <= MOST_OF_A_KIND:
                say(str(annotation))

    def put_outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step; of several of one name the last one counts."""
        self._put("GITHUB_OUTPUT", github.outputs(values))

    def _files(self, plans: tuple[Plan, ...]) -> dict[str, str]:
        """Write the plan in both formats into a new folder."""
        try:
            folder = self.new_folder("plan")
            saved, shown = folder / "plan.json", folder / "plan.md"
            saved.write_text(report.render_plans(plans, format="json"), "utf-8", newline="\n")
            shown.write_text(report.render_plans(plans, format="markdown"), "utf-8", newline="\n")
        except OSError as error:
            self.warn(f"the plan's files cannot be written: {error.strerror}")
            return {}
        return {"plan-file": str(saved), "plan-markdown-file": str(shown)}

    def _summarise(self, verdict: Verdict) -> None:
        more = [
            summary.counted(count - MOST_OF_A_KIND, kind)
            for kind, count in self.annotated.items()
            if count > MOST_OF_A_KIND
        ]
        limit = f"A job shows {MOST_OF_A_KIND} annotations of a kind"
        notes = [f"*{limit}; not shown: {', '.join(more)}.*"] if more else []
        text = page(verdict.markdown, label=self.inputs.label, title=verdict.title, notes=notes)
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
        """Create a folder for files of the run, which other steps can read."""
        parent = self.environ.get("RUNNER_TEMP") or None
        return Path(tempfile.mkdtemp(prefix=f"commandsync-{name}-", dir=parent)).absolute()

    def _comments(self, verdict: Verdict) -> bool:
        """Whether this run writes a comment."""
        choice = self.inputs.comment
        if choice == "never" or verdict.word == "valid" or verdict.compared:
            return False
        if verdict.reason == "stale":  # the comment goes on to show the plan that was reviewed
            return False
        if choice == "always":
            return True
        if self.event.name == "pull_request" and self.event.fork:
            summary = "; the plan is in the summary" if self.inputs.summary else ""
            say(f"A job of a fork's pull request may not comment{summary}.")
        return not self.event.fork and self.event.name in {"pull_request", "push"}

    def _comment(self, verdict: Verdict) -> str:
        if self.github is None:
            self.warn("the comment is not written: there is no github-token")
            return ""
        pending = self.event.name == "pull_request" and any(p.changes for p in verdict.plans)
        markdown = page(
            verdict.markdown,
            label=self.inputs.label,
            title=verdict.title,
            notes=self._origin(),
        )
        try:
            return write_comment(
                markdown,
                self.github,
                self.event,
                marker=self._marker(verdict),
                creates=pending or self.inputs.comment == "always",
            )
        except GitHubError as error:
            self.warn(f"the comment is not written: {error.message}", error.hint)
            return ""

    def _comment_file(self, verdict: Verdict) -> dict[str, str]:
        """Write the comment that a fork's job may not write, for a workflow that may."""
        if self.inputs.comment == "never" or verdict.word in {"valid", "compared"}:
            return {}
        text = page(
            verdict.markdown,
            label=self.inputs.label,
            title=verdict.title,
            notes=self._origin(),
        )
        pointer = f"The rest is in the [job's summary]({self.event.run_url})."
        try:
            path = self.new_folder("comment") / "comment.md"
            cut = cut_page(text, most=_COMMENT_FILE, pointer=pointer)
            path.write_text(cut, "utf-8", newline="\n")
        except OSError as error:
            self.warn(f"the comment's file cannot be written: {error.strerror}")
            return {}
        return {"comment-file": str(path), "pull-request": str(self.event.pull_request)}

    def _keeps_issue(self, verdict: Verdict) -> bool:
        """Whether this run keeps the issue: a check for drift that knows the whole listing."""
        if self.inputs.issue == "never" or self.mode != "drift" or self.event.proposes:
            return False
        return verdict.changed is True or verdict.word == "no-changes"

    def _issue(self, verdict: Verdict) -> str:
        if self.github is None:
            self.warn("the issue is not written: there is no github-token")
            return ""
        label = f": {visible(self.inputs.label)}" if self.inputs.label else ""
        drifted = verdict.changed is True
        try:
            return keep_issue(
                page(verdict.markdown, label=self.inputs.label),
                self.github,
                self.event,
                key=key_of(self.inputs, self.sites),
                title=f"The listing differs from the manifest{label}",
                drifted=drifted,
            )
        except GitHubError as error:
            if drifted:
                self.warn(f"the issue is not written: {error.message}", error.hint)
            else:
                say(f"An issue cannot be closed: {error.message}")
            return ""

    def _origin(self) -> list[str]:
        """Return which commit the comment is about, which GitHub links, and which run wrote it."""
        commit = self.event.head_sha if _COMMIT.fullmatch(self.event.head_sha) else ""
        return [f"Commit {commit}, [run]({self.event.run_url})"] if commit else []

    def _marker(self, verdict: Verdict) -> Marker:
        """Return the marker of this run; only the plan of a pull request is shown for review."""
        shown = verdict.plans if self.event.pull_request else ()
        return Marker(
            key=key_of(self.inputs, self.sites),
            fingerprint=fingerprint_of(shown),
            removals=removals_of(shown),
            applied=verdict.complete,
            changes=changes_of(shown),
        )

    def warn(self, message: str, hint: str = "") -> None:
        """Print a warning, and annotate the run with it."""
        say(f"warning: {message}")
        self.annotate([Annotation("warning", "commandsync", message, hint)])

    def _put(self, variable: str, text: str) -> None:
        """Append to a file of the runner; without a runner there is none.

        An error is only a warning, since it changes nothing on the listing.
        """
        path = self.environ.get(variable, "")
        try:
            if path:
                with open(path, "ab") as file:  # noqa: PTH123 - the runner's path is a string
                    file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            self.warn(f"the runner's file {variable} cannot be written: {error.strerror}")


def say(text: str) -> None:
    """Print to the job's log at once: annotations and other lines keep their order."""
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


def _scalars(verdict: Verdict) -> dict[str, str]:
    values = {
        "result": verdict.word,
        "failure-reason": verdict.reason,
        "changed": "" if verdict.changed is None else str(verdict.changed).lower(),
    }
    plans = verdict.plans
    if not plans:
        return values
    counted = {"adds": ("add",), "edits": ("edit", "replace"), "deletes": ("delete",)}
    for name, actions in counted.items():
        values[name] = str(sum(plan.count(action) for plan in plans for action in actions))
    values["unchanged"] = str(sum(plan.unchanged for plan in plans))
    return {**values, "fingerprint": fingerprint_of(plans)}
