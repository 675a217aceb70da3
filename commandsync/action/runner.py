"""The runner of the step: its log, its annotations and its files.

`INPUTS` has the hints in the words of the Action, by its inputs.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from commandsync.action.rest import GitHubError
from commandsync.api.credentials import redacted
from commandsync.diagnostics import Do, Words
from commandsync.errors import CommandsyncError
from commandsync.report import github
from commandsync.report.github import MOST_OF_A_KIND, Annotation
from commandsync.sync.files import append_to_file, temporary_folder
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
    Do.BEGIN_IMPORT: (
        "commandsync import SOURCE begins it, where SOURCE is the bot's code; the input file names "
        "another file"
    ),
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


@dataclass(frozen=True, slots=True)
class Runner:
    """The way to the runner of one step."""

    environ: Mapping[str, str]  # the step's environment, with the runner's files
    annotates: bool = True  # whether lines of files are annotated
    words: Words = field(default_factory=lambda: INPUTS)
    annotated: Counter[str] = field(default_factory=Counter)  # how many it was given, by kind

    def annotate(self, annotations: Iterable[Annotation]) -> None:
        """Annotate lines, at most as many of a kind as a runner shows."""
        for annotation in annotations if self.annotates else ():
            self.annotated[annotation.kind] += 1
            if self.annotated[annotation.kind] <= MOST_OF_A_KIND:
                say(annotation.command(self.words))

    def put_outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step; of several of one name the last one counts."""
        self.put("GITHUB_OUTPUT", github.outputs(values))

    def put(self, variable: str, text: str) -> None:
        """Append to a file of the runner, if there is one; an error is only a warning."""
        if path := self.environ.get(variable, ""):
            with self.warned(f"the runner's file {variable} is not written"):
                append_to_file(path, redacted(text))

    def new_folder(self, name: str) -> Path:
        """Create a folder for files of the run, which other steps can read; raises `FileError`."""
        return temporary_folder(name, within=self.environ.get("RUNNER_TEMP", ""))

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


def say(text: str, *, with_tokens: bool = False) -> None:
    """Print to the job's log at once: annotations and other lines keep their order.

    Only a mask is printed `with_tokens`: the runner hides what it names, and the line itself.
    """
    stream = unredacted(sys.stdout) if with_tokens else sys.stdout
    stream.write(text.rstrip("\n") + "\n")
    stream.flush()
