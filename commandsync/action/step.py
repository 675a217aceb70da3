"""The step of a job: the event that started the workflow, its inputs, and its runner.

`of_event` reads the event, which is enough to report a run. `read` adds the inputs, and the mode
and the settings that follow from them. A `Context` has all of these. Its `Runner` writes to the
log, the annotations and the files of the step, with the hints in the words of the Action
(`INPUTS`).
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

from commandsync.action.rest import GitHub, GitHubError, Server, github_of, server_of
from commandsync.api.credentials import bare, redacted, secrets_in
from commandsync.diagnostics import Do, Words
from commandsync.errors import CommandsyncError, UsageError
from commandsync.plan.rules import DeleteLimit, parse_delete_limit
from commandsync.report import github
from commandsync.report.github import MOST_OF_A_KIND, Annotation
from commandsync.report.lines import Screen, visible
from commandsync.sync.files import append_to_file, relative, temporary_folder
from commandsync.sync.process import unredacted
from commandsync.sync.setting import BASE_URL, BOT, FILES, MAX_DELETES, PLAN_FILE, PRUNE, STATE
from commandsync.sync.settings import LockProgress, Progress, Settings, default_manifest, read_clock

Mode = Literal["validate", "plan", "apply", "drift"]
Comment = Literal["auto", "always", "never"]
FailOn = Literal["", "error", "changes"]
Approval = Literal["reviewed", "current"]
Issue = Literal["auto", "never"]

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GitHubEvent:
    """The event that started the workflow; a text is empty if it is not known."""

    name: str = ""
    repository: str = ""
    sha: str = ""  # on a pull request, a merge with the base branch
    pull_request: int = 0  # its number; 0 after its merge, when an apply writes to its comment
    base_sha: str = ""  # of a pull request, or of a merge queue's group
    fork: bool = False
    default_branch: bool = False  # whether it is a push to that branch
    run_url: str = ""  # the page of the job's summary, at the server that runs it
    head_sha: str = ""  # the commit that the pull request adds, or that was pushed
    branch: str = ""  # the branch that is checked out; empty for a tag or a pull request
    workflow: str = ""  # the file of the caller's workflow
    run_id: str = ""
    before: str = ""  # the branch's commit without the proposal, or before the push
    server: Server = "GitHub"

    @property
    def proposes(self) -> bool:
        """Whether the checkout is a proposal: nobody has merged it yet."""
        return bool(self.base_sha) or self.name.startswith(("pull_request", "merge_group"))

    @property
    def files_url(self) -> str:
        """The page of the head commit's files; empty for a fork, whose comment is shown as text."""
        known = self.head_sha and not self.fork
        place = "blob" if self.server == "GitHub" else "src/commit"
        return f"{self.run_url.partition('/actions/')[0]}/{place}/{self.head_sha}" if known else ""

    @property
    def usual_mode(self) -> Mode:
        """The mode of `auto`; only a push to the default branch is applied."""
        if self.name in {"pull_request", "merge_group"}:
            return "plan"
        if self.name == "push" and self.default_branch:
            return "apply"
        return "drift" if self.name == "schedule" else "validate"


def read_event(environ: Mapping[str, str]) -> GitHubEvent:
    """Read the event from the step's environment and its payload.

    A payload that cannot be read counts as empty, so that nothing is applied by itself.
    """
    payload = _payload(environ.get("GITHUB_EVENT_PATH", ""))
    name = environ.get("GITHUB_EVENT_NAME", "")
    repository = environ.get("GITHUB_REPOSITORY", "")
    request = _inner(payload, "pull_request")
    number = request.get("number")
    fork = bool(request) and _inner(request, "head", "repo").get("full_name") != repository
    base = _inner(request, "base").get("sha") or _inner(payload, "merge_group").get("base_sha")
    ref = environ.get("GITHUB_REF", "")
    workflow, _, _ = environ.get("GITHUB_WORKFLOW_REF", "").partition("@")
    default = _inner(payload, "repository").get("default_branch")
    url, server = environ.get("GITHUB_SERVER_URL", "https://github.com"), server_of(environ)
    run = "GITHUB_RUN_ID" if server == "GitHub" else "GITHUB_RUN_NUMBER"
    return GitHubEvent(
        name=name,
        repository=repository,
        sha=environ.get("GITHUB_SHA", ""),
        pull_request=number if isinstance(number, int) and not request.get("merged") else 0,
        base_sha=str(base or ""),
        fork=fork,
        default_branch=bool(default) and ref == f"refs/heads/{default}",
        head_sha=_commit(_inner(request, "head").get("sha") or environ.get("GITHUB_SHA")),
        run_url=f"{url}/{repository}/actions/runs/{environ.get(run, '')}",
        branch=ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else "",
        workflow=workflow.removeprefix(f"{repository}/"),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        before=str(base or payload.get("before") or ""),
        server=server,
    )


def _payload(path: str) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        return _inner(json.loads(Path(path).read_bytes()))
    return {}


def _commit(text: object) -> str:
    """Return the whole name of a commit; empty for another text."""
    return str(text) if _COMMIT.fullmatch(str(text)) else ""


def _inner(content: object, *names: str) -> Mapping[str, Any]:
    """Return the object below names; empty for content of another type."""
    for name in names:
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else {}


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs, as action.yml describes them.

    Paths are relative to the workspace, with `/` between folders. An empty `fail_on` is the default
    of the mode.
    """

    mode: Literal["auto", Mode] = "auto"
    files: tuple[str, ...] = ("commands.yaml",)
    base_url: str = BASE_URL.default
    bot: str = BOT.default
    token: str = field(default="", repr=False)
    github_token: str = field(default="", repr=False)
    comment: Comment = "auto"
    hosts: str = ""
    label: str = ""
    summary: bool = True
    annotations: bool = True
    fail_on: FailOn = ""
    prune: bool = PRUNE.default
    max_deletes: DeleteLimit | None = MAX_DELETES.default
    import_check: bool = False
    docs_check: tuple[str, ...] = ()
    apply: Approval = "reviewed"
    plan_file: str = PLAN_FILE.default
    issue: Issue = "auto"

    @property
    def key(self) -> str:
        """The key of a run's comment and issue: of its label, or of the manifests and the listing.

        The inputs name the listing; a listing that a manifest names goes with its file.
        """
        named = self.label or "\n".join((*self.files, self.base_url, self.bot))
        return sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:20]


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs from the step's environment; raises `UsageError` if one is not valid."""

    def given(name: str) -> str:
        return environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()

    def word(name: str, words: object) -> Any:  # noqa: ANN401 - one of the words of a type
        value, valid = given(name), get_args(words)
        if value not in valid:
            shown = ", ".join(filter(None, valid))
            raise UsageError(f"the input {name} is {value!r}", hint=f"use one of: {shown}")
        return value

    def switch(name: str) -> bool:
        return bool(word(name, Literal["true", "false"]) == "true")

    def paths(name: str) -> tuple[str, ...]:
        lines = [line.strip() for line in given(name).splitlines() if line.strip()]
        return tuple(_in_workspace(os.path.join(folder, path)) for path in lines)  # noqa: PTH118 - as below

    folder = given("working-directory") or "."
    if not os.path.isdir(folder):  # noqa: PTH112 - the runner's paths are strings
        raise UsageError(
            f"the input working-directory is not a folder: {folder!r}",
            hint="it is relative to the workspace; does an earlier step check out the repository?",
        )
    plan_file, limit = given(PLAN_FILE.input_name), given(MAX_DELETES.input_name)
    prune = switch(PRUNE.input_name)
    if plan_file and (limit or not prune):
        raise UsageError(
            "the input plan-file applies a saved plan as it is, with its own limits",
            hint="remove the inputs max-deletes and prune, or make a new plan with them",
        )
    return Inputs(
        mode=word("mode", Literal["auto", Mode]),
        files=paths(FILES.input_name) or (_in_workspace(default_manifest(folder)),),
        base_url=given(BASE_URL.input_name),
        bot=given(BOT.input_name),
        token=given("token"),
        github_token=given("github-token"),
        comment=word("comment", Comment),
        hosts=given("hosts"),
        label=given("label"),
        summary=switch("summary"),
        annotations=switch("annotations"),
        fail_on=word("fail-on", FailOn),
        prune=prune,
        max_deletes=_delete_limit(limit),
        import_check=switch("import-check"),
        docs_check=paths("docs-check"),
        apply=word("apply", Approval),
        plan_file=plan_file and os.path.join(".", plan_file),  # noqa: PTH118 - "-" is a file here, and none is empty
        issue=word("issue", Issue),
    )


def _in_workspace(path: str) -> str:
    """Return a path relative to the workspace, where GitHub looks for annotated files."""
    path = relative(path)
    if path == "-":
        raise UsageError("the input file is '-'", hint="a workflow has no standard input")
    return path


def _delete_limit(text: str) -> DeleteLimit | None:
    try:
        return parse_delete_limit(text) if text else None
    except ValueError as error:
        message = f"the input max-deletes is {text!r}: {error}"
        raise UsageError(message, hint="use a number, a percentage, or all") from error


def settings_of(inputs: Inputs, environ: Mapping[str, str], mode: Mode) -> Settings:
    """Return the settings of a run in a mode."""
    reviewed = inputs.apply == "reviewed" and not inputs.plan_file
    return Settings(
        now=read_clock(),
        files=inputs.files,
        base_url=inputs.base_url or environ.get(BASE_URL.variable, ""),
        base_url_from=f"the input {BASE_URL.input_name}" if inputs.base_url else BASE_URL.variable,
        bot=inputs.bot or environ.get(BOT.variable, ""),
        bot_from=f"the input {BOT.input_name}" if inputs.bot else BOT.variable,
        prune=inputs.prune,
        max_deletes=inputs.max_deletes,
        owned=reviewed and mode in {"plan", "apply"},
        state=environ.get(STATE.variable, "") or None,
    )


_SHORTEST = 6  # characters: masking a shorter text would make the log unreadable


def secrets_of(environ: Mapping[str, str], *, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every text that the log must not show, without duplicates.

    These are the tokens in the inputs and in the variables that begin with `COMMANDSYNC_TOKEN` or
    are of known services; or if variables are `named`, the tokens in these. The runner that gets
    them also hides their lines, and their usual encodings.
    """
    variables = sorted(set(named))
    secrets = [environ.get(name, "") for name in variables] if variables else secrets_in(environ)
    texts = dict.fromkeys(text for secret in secrets for text in (secret.strip(), bare(secret)))
    return tuple(text for text in texts if len(text) >= _SHORTEST)


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
    annotated: Counter[str] = field(default_factory=Counter)  # how many it was given, by kind

    def annotate(self, annotations: Iterable[Annotation]) -> None:
        """Annotate lines, at most as many of a kind as a runner shows."""
        for annotation in annotations if self.annotates else ():
            self.annotated[annotation.kind] += 1
            if self.annotated[annotation.kind] <= MOST_OF_A_KIND:
                say(annotation.command(INPUTS))

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The input of a run, read once; with the event alone, no comment is written."""

    runner: Runner
    event: GitHubEvent
    mode: Mode
    settings: Settings
    inputs: Inputs
    screen: Screen  # how values are shown, with links to the files
    github: GitHub | None = None  # GitHub's API, if there is a token for it

    @property
    def api(self) -> GitHub:
        """GitHub's API; raises `GitHubError` if it has no token."""
        if self.github is None:
            raise GitHubError("no github-token was given")
        return self.github


def of_event(environ: Mapping[str, str]) -> Context:
    """Return the context of a run whose inputs are not known."""
    event = read_event(environ)
    return Context(
        runner=Runner(environ),
        event=event,
        mode=event.usual_mode,
        settings=Settings(now=read_clock()),
        inputs=Inputs(comment="never"),
        screen=Screen(words=INPUTS),
    )


def read(context: Context) -> Context:
    """Read the inputs of a run whose event is known; the workspace becomes the current folder.

    Raises `UsageError` if there is no such folder, or an input is not valid.
    """
    environ, event, files = context.runner.environ, context.event, ""
    if workspace := environ.get("GITHUB_WORKSPACE", ""):
        try:
            os.chdir(workspace)
        except OSError as error:
            message = f"GITHUB_WORKSPACE cannot be entered: {error.strerror}"
            raise UsageError(message, hint="it is the folder with the checkout") from error
        files = event.files_url if Path(".git").exists() else ""
    inputs = read_inputs(environ)
    mode = event.usual_mode if inputs.mode == "auto" else inputs.mode
    return replace(
        context,
        runner=replace(context.runner, annotates=inputs.annotations),
        inputs=inputs,
        mode=mode,
        settings=replace(settings_of(inputs, environ, mode), on_progress=_say_wait),
        screen=context.screen._replace(files=files),
        github=github_of(inputs.github_token, environ),
    )


def _say_wait(progress: Progress) -> None:
    """Print that another apply is waited for."""
    if isinstance(progress, LockProgress):
        say(visible(progress.sentence))
