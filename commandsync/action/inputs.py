"""The input of a step: the event that started the workflow, and the Action's own inputs.

`read_event` reads the event of the workflow, from which the mode of a run follows. `read_inputs`
reads and validates the inputs, and `settings_of` makes the settings of the job from them.
`secrets_of` returns the texts that the log must not show. A `Context` has the event, the inputs,
and the values that follow from them.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from commandsync.action.rest import GitHub, Server, github_of, server_of
from commandsync.action.runner import INPUTS, Runner, say
from commandsync.api.credentials import bare, secrets_in
from commandsync.errors import UsageError
from commandsync.plan.rules import DeleteLimit
from commandsync.report.lines import Screen, visible
from commandsync.sync.files import relative
from commandsync.sync.setting import BASE_URL, BOT, MAX_DELETES, PLAN_FILE, PRUNE, STATE
from commandsync.sync.settings import LockProgress, Progress, Settings, default_manifest, read_clock

Mode = Literal["validate", "plan", "apply", "drift"]

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GitHubEvent:
    """The event that started the workflow: a pull request by number, or 0, and its base commit.

    A merged pull request has no number: an apply writes to its comment.
    `head_sha` is the commit that the pull request adds, or the one that was pushed, empty if it is
    not known: `sha` is that of a merge with the base branch. A merge queue's group has a base
    commit and no number. `branch` is the branch that is checked out, empty for a tag or a pull
    request; `default_branch` is for a push to it; `before` is the commit that the branch has
    without the proposal, or had before the push, if that is known; `workflow` is the file of the
    caller's workflow; `run_url` is the page of the job's summary, at the server that runs it.
    """

    name: str = ""
    repository: str = ""
    sha: str = ""
    pull_request: int = 0
    base_sha: str = ""
    fork: bool = False
    default_branch: bool = False
    run_url: str = ""
    head_sha: str = ""
    branch: str = ""
    workflow: str = ""
    run_id: str = ""
    before: str = ""
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
    head = _inner(request, "head", "repo").get("full_name")
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
        fork=bool(request) and head != repository,
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
    try:
        payload = json.loads(Path(path).read_bytes()) if path else {}
    except (OSError, ValueError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _commit(text: object) -> str:
    """Return the whole name of a commit; empty for another text."""
    return str(text) if _COMMIT.fullmatch(str(text)) else ""


def _inner(payload: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        inner = payload.get(name)
        payload = inner if isinstance(inner, dict) else {}
    return payload


_SHORTEST = 6  # characters: masking a shorter text would make the log unreadable


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
    comment: Literal["auto", "always", "never"] = "auto"
    hosts: str = ""
    label: str = ""
    summary: bool = True
    annotations: bool = True
    fail_on: Literal["", "error", "changes"] = ""
    prune: bool = PRUNE.default
    max_deletes: DeleteLimit | None = MAX_DELETES.default
    import_check: bool = False
    docs_check: tuple[str, ...] = ()
    apply: Literal["reviewed", "current"] = "reviewed"
    plan_file: str = PLAN_FILE.default
    issue: Literal["auto", "never"] = "auto"

    @property
    def key(self) -> str:
        """The key of a run's comment and issue: of its label, or of the manifests and the listing.

        The inputs name the listing; a listing that a manifest names goes with its file.
        """
        named = self.label or "\n".join((*self.files, self.base_url, self.bot))
        return sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:20]


_READ_BY_TYPE = {
    name: kind
    for name, kind in get_type_hints(Inputs).items()
    if name not in {"files", "max_deletes", "docs_check", "plan_file"}
}


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs from the step's environment; raises `UsageError` if one is not valid."""
    get = _Getter(environ)
    folder = get("working-directory") or "."
    return Inputs(
        **{name: get.typed(name, kind) for name, kind in _READ_BY_TYPE.items()},
        files=_files(get, folder),
        max_deletes=_limit(get),
        docs_check=_paths(get, "docs-check", folder),
        plan_file=_plan_file(get),
    )


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


def _plan_file(get: "_Getter") -> str:
    path = get(PLAN_FILE.input_name)
    if path and (get(MAX_DELETES.input_name) or get(PRUNE.input_name) != "true"):
        raise UsageError(
            "the input plan-file applies a saved plan as it is, with its own limits",
            hint="remove the inputs max-deletes and prune, or make a new plan with them",
        )
    return path and os.path.join(".", path)  # noqa: PTH118 - "-" is a file here, and none is empty


@dataclass(frozen=True, slots=True)
class _Getter:
    environ: Mapping[str, str]

    def __call__(self, name: str) -> str:
        return self.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()

    def typed(self, field: str, kind: object) -> Any:  # noqa: ANN401 - of that type
        """Return an input by the type of its field: a text, a boolean, or one of some words."""
        name = field.replace("_", "-")
        value = self(name)
        choices = ("true", "false") if kind is bool else get_args(kind)
        if kind is not str and value not in choices:
            valid = ", ".join(filter(None, choices))
            raise UsageError(f"the input {name} is {value!r}", hint=f"use one of: {valid}")
        return value == "true" if kind is bool else value


def _files(get: _Getter, folder: str) -> tuple[str, ...]:
    if not os.path.isdir(folder):  # noqa: PTH112 - the runner's paths are strings
        raise UsageError(
            f"the input working-directory is not a folder: {folder!r}",
            hint="it is relative to the workspace; does an earlier step check out the repository?",
        )
    return _paths(get, "file", folder) or (_in_workspace(default_manifest(folder)),)


def _paths(get: _Getter, name: str, folder: str) -> tuple[str, ...]:
    given = [line.strip() for line in get(name).splitlines() if line.strip()]
    return tuple(_in_workspace(os.path.join(folder, path)) for path in given)  # noqa: PTH118 - as above


def _in_workspace(path: str) -> str:
    """Return a path relative to the workspace, where GitHub looks for annotated files."""
    path = relative(path)
    if path == "-":
        raise UsageError("the input file is '-'", hint="a workflow has no standard input")
    return path


def _limit(get: _Getter) -> DeleteLimit | None:
    text, read = get(MAX_DELETES.input_name), MAX_DELETES.read
    try:
        return read(text) if text and read else MAX_DELETES.default
    except ValueError as error:
        message = f"the input {MAX_DELETES.input_name} is {text!r}: {error}"
        raise UsageError(message, hint="use a number, a percentage, or all") from error


def secrets_of(environ: Mapping[str, str], *, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every text that the log must not show, without duplicates.

    These are the tokens in the inputs and in the variables that begin with `COMMANDSYNC_TOKEN` or
    are of known services, or else those in the variables `named`. The runner that gets them also
    hides their lines, and their usual encodings.
    """
    variables = sorted(set(named))
    secrets = [environ.get(name, "") for name in variables] if variables else secrets_in(environ)
    texts = dict.fromkeys(text for secret in secrets for text in (secret.strip(), bare(secret)))
    return tuple(text for text in texts if len(text) >= _SHORTEST)


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
        _enter(workspace)
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
    """Say in the log that another apply is waited for."""
    if isinstance(progress, LockProgress):
        say(visible(progress.sentence))


def _enter(workspace: str) -> None:
    """Make the workspace the current folder; raises `UsageError` if that is not possible."""
    try:
        os.chdir(workspace)
    except OSError as error:
        message = f"GITHUB_WORKSPACE cannot be entered: {error.strerror}"
        raise UsageError(message, hint="it is the folder with the checkout") from error
