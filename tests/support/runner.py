"""GitHub's runner, as far as a composite action of one bash step needs it.

It reads action.yml, builds the step's environment from the inputs and their defaults, runs the
script with bash's exact flags, and reads the step's files and the commands in its log as the runner
does. What the shell and the bootstrap add nothing to is run in the tests' own process, with the
same environment. GitHub's choice of jobs (conditions, and inputs of steps) is here as far as our
workflow needs it.
"""

import gc
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from commandsync.action import run as action_run
from tests.support.gitrepo import GitRepo, git_repo

Payload = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
# On Windows another bash comes first on the PATH, one of another system.
_GIT_BASH = r"C:\Program Files\Git\bin\bash.exe"
_PROGRAM = _GIT_BASH if os.name == "nt" else shutil.which("bash") or "bash"
BASH = (_PROGRAM, "--noprofile", "--norc", "-e", "-o", "pipefail")
REPOSITORY = "octo/bots"
BASE_SHA = "b" * 40
SHA = "a" * 40
WORKFLOW = ".github/workflows/commands.yml"
JOB_TOKEN = "ghs_marked-job-token-51aa"
LONGEST = 120  # seconds that a step may take on a busy machine before the test gives up

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_COMMAND = re.compile(r"^::(?P<name>[a-z-]+)(?: (?P<properties>.*?))?::(?P<data>.*)$")
_OLD_COMMAND = re.compile(r"##\[(?P<name>[a-z-]+)(?: (?P<properties>.*?))?\](?P<data>.*)$")


@dataclass(frozen=True)
class Event:
    """What sets a workflow off."""

    name: str
    payload: Payload = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def pull_request(*, head: str = REPOSITORY, actor: str = "mona") -> Event:
    """A pull request; from a fork where `head` is another repository."""
    payload = {
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": {"sha": SHA, "repo": {"full_name": head}},
            "base": {"sha": BASE_SHA, "ref": "main"},
        },
        "repository": {"default_branch": "main", "full_name": REPOSITORY},
    }
    return Event(
        "pull_request", payload, {"GITHUB_REF": "refs/pull/7/merge", "GITHUB_ACTOR": actor}
    )


def push(branch: str = "main", kind: str = "heads") -> Event:
    payload = {"ref": f"refs/{kind}/{branch}", "repository": {"default_branch": "main"}}
    return Event("push", payload, {"GITHUB_REF": f"refs/{kind}/{branch}"})


def other(name: str) -> Event:
    payload = {"repository": {"default_branch": "main"}}
    return Event(name, payload, {"GITHUB_REF": "refs/heads/main"})


@dataclass(frozen=True)
class Command:
    """A command that the runner obeys."""

    name: str
    data: str
    properties: dict[str, str]

    @property
    def place(self) -> str:
        return ":".join(self.properties.get(name, "") for name in ("file", "line", "col"))


@dataclass(frozen=True)
class Step:
    """How the step ended."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def commands(self) -> list[Command]:
        found = []
        for line in self.log.splitlines():
            match = _COMMAND.match(line.lstrip()) or _OLD_COMMAND.search(line)
            if match:
                pairs = (one.split("=", 1) for one in (match["properties"] or "").split(",") if one)
                properties = {name: _unescaped(value) for name, value in pairs}
                found.append(Command(match["name"], _unescaped(match["data"]), properties))
        return found

    def annotations(self, kind: str) -> list[Command]:
        return [one for one in self.commands if one.name == kind]


@dataclass
class Runner:
    """A machine that runs jobs.

    Attributes:
        folder: The machine's disk.
        python: What the input python names; empty to run steps in this process.
        checks_out: Whether the workspace is a commit of a repository, with all that is in it.
        base: The files of a proposal's base branch.
        has_base: Whether the checkout has the commit of that branch.
        main: What is run in this process.
        api: Where GitHub's API is.
        variables: The job's own environment.
    """

    folder: Path
    python: str
    api: str = "http://127.0.0.1:9"
    action: Path = ROOT
    variables: dict[str, str] = field(default_factory=dict)
    checks_out: bool = True
    base: dict[str, str] = field(default_factory=dict)
    has_base: bool = True
    main: Callable[[MutableMapping[str, str]], int] = action_run.main
    steps: int = 0

    def __post_init__(self) -> None:
        for path in (self.workspace, self.temp, self.folder / "home"):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def temp(self) -> Path:
        return self.folder / "_temp"

    def write(self, text: str, name: str = "commands.yaml") -> None:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")

    @property
    def repo(self) -> GitRepo:
        """The repository in the workspace."""
        if (self.workspace / ".git").exists():
            return GitRepo(self.workspace)
        return git_repo(self.workspace)

    def commit(self, text: str | None = None) -> str:
        """Commit the workspace, with a manifest if there is one; return the commit."""
        if text is not None:
            self.write(text)
        repo = self.repo
        if repo.git("status", "--porcelain") or not (self.workspace / ".git/refs/heads").exists():
            return repo.commit({})
        return repo.git("rev-parse", "HEAD")

    def run(self, event: Event, **inputs: str) -> Step:
        """Run the action's step to its end; `_` in an input's name stands for `-`."""
        if not self.python:
            return self._run_here(event, inputs)
        process, files = self.start(event, **inputs)
        out, _ = process.communicate(timeout=LONGEST)
        return self.ended(process, files, out)

    def start(self, event: Event, **inputs: str) -> tuple[subprocess.Popen[bytes], dict[str, Path]]:
        """Start the step as the runner does."""
        environment, files = self.prepared(event, inputs)
        script = files["GITHUB_OUTPUT"].with_name("script.sh")
        (step,) = definition_of(self.action)["runs"]["steps"]
        script.write_text(step["run"], encoding="utf-8", newline="\n")
        process = subprocess.Popen(
            [*BASH, str(script)],
            cwd=self.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return process, files

    def ended(self, process: subprocess.Popen[bytes], files: dict[str, Path], out: bytes) -> Step:
        """Read what a step has left behind."""
        return self._step(process.returncode, files, out.decode())

    def _run_here(self, event: Event, inputs: Mapping[str, str]) -> Step:
        """Run what action.yml and the bootstrap hand over to."""
        environment, files = self.prepared(event, inputs)
        log = io.StringIO()
        with _as_process(environment), redirect_stdout(log), redirect_stderr(log):
            code = self.main(os.environ)
        return self._step(code, files, log.getvalue())

    def prepared(
        self, event: Event, inputs: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, Path]]:
        """Make the step's files, and return its environment and them."""
        self.steps += 1
        if self.checks_out and any(self.workspace.iterdir()):
            self.commit()
        here = self.folder / f"_files-{self.steps}"
        here.mkdir()
        files = {name: here / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.touch()
        payload = here / "event.json"
        payload.write_text(self._with_base(json.dumps(event.payload)), encoding="utf-8")
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        given = {"python": self.python} | given
        environment = {
            **_machine(self.folder),
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_ACTOR": "mona",
            "GITHUB_API_URL": self.api,
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(payload),
            "GITHUB_GRAPHQL_URL": f"{self.api}/graphql",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "4211",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_SHA": SHA,
            "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/{WORKFLOW}@refs/heads/main",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            **{name: str(path) for name, path in files.items()},
            **self.variables,
            **event.variables,
            **step_environment(definition_of(self.action), given),
        }
        return environment, files

    def _with_base(self, payload: str) -> str:
        """Return the payload of an event with the commit of the base branch."""
        if BASE_SHA not in payload or not (self.has_base and (self.workspace / ".git").exists()):
            return payload
        return payload.replace(BASE_SHA, self.repo.commit_apart(self.base))

    def _step(self, code: int, files: dict[str, Path], log: str) -> Step:
        definition = definition_of(self.action)
        (step,) = definition["runs"]["steps"]
        set_ = outputs_of(files["GITHUB_OUTPUT"].read_text(encoding="utf-8"))
        outputs = {
            name: _EXPRESSION.sub(
                lambda match: set_.get(match[1].removeprefix(f"steps.{step['id']}.outputs."), ""),
                output["value"],
            )
            for name, output in definition["outputs"].items()
        }
        summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        return Step(code, log, outputs, summary)


@cache
def definition_of(action: Path = ROOT) -> Payload:
    definition: Payload = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))
    return definition


def step_environment(definition: Payload, given: Mapping[str, str]) -> dict[str, str]:
    """Return the step's `env:` with its expressions evaluated."""
    unknown = given.keys() - definition["inputs"].keys()
    assert not unknown, f"no such input: {unknown}"
    values = {"github.token": JOB_TOKEN}
    for name, declared in definition["inputs"].items():
        default = _EXPRESSION.sub(lambda match: values[match[1]], declared.get("default", ""))
        values[f"inputs.{name}"] = given.get(name, default)
    (step,) = definition["runs"]["steps"]
    return {
        name: _EXPRESSION.sub(lambda match: values[match[1]], value)
        for name, value in step["env"].items()
    }


def outputs_of(text: str) -> dict[str, str]:
    """Read a file of outputs as the runner does."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark, rest = (
            line.partition("<<") if "<<" in line.split("=")[0] else line.partition("=")
        )
        assert mark, f"not an output: {line!r}"
        if mark == "<<":
            value = []
            while (following := next(lines)) != rest:
                value.append(following)
            rest = "\n".join(value)
        found[name] = rest
    return found


@contextmanager
def _as_process(environment: Mapping[str, str]) -> Iterator[None]:
    """Let this process look like one with that environment, until the block ends."""
    before, folder, thresholds = dict(os.environ), Path.cwd(), gc.get_threshold()
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        os.chdir(folder)
        gc.set_threshold(*thresholds)


def _machine(folder: Path) -> dict[str, str]:
    """Return what every machine has."""
    kept = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")
    machine = {name: os.environ[name] for name in kept if name in os.environ}
    return machine | {"HOME": str(folder / "home"), "CI": "true", "GITHUB_ACTIONS": "true"}


def _unescaped(text: str) -> str:
    return unquote(text)


Job = dict[str, Any]

SYNC = ROOT / ".github" / "workflows" / "sync.yml"
COMMENT = SYNC.with_name("comment.yml")
ACTION_PATH = "./.commandsync"
_TOKEN = re.compile(r"'[^']*'|==|&&|\|\||[(),]|[\w.-]+|\s+")
_OPERATORS = {"==": "==", "&&": " and ", "||": " or "}


def definition(path: Path = SYNC) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes only strings
    return content


def started(event: Event, **given: str) -> dict[str, dict[str, str]]:
    """Return the jobs that an event starts, each with the inputs of its Action's step.

    `given` is what the caller has under `with:`; `_` stands for `-`.
    """
    workflow = definition()
    declared = workflow["on"]["workflow_call"]["inputs"]
    given = {name.replace("_", "-"): value for name, value in given.items()}
    assert given.keys() <= declared.keys()
    inputs = {name: given.get(name, each.get("default", "")) for name, each in declared.items()}
    contexts = dict(_flattened("github", _context(event)))
    contexts |= {f"inputs.{name}": value for name, value in inputs.items()}
    contexts["secrets.COMMANDSYNC_TOKEN"] = "marked-secret-of-the-workflow"
    return {
        name: _inputs_of(job, contexts)
        for name, job in workflow["jobs"].items()
        if _value(job["if"], contexts)
    }


def script(path: Path, step: str) -> str:
    """Return the script of a named step."""
    jobs = definition(path)["jobs"].values()
    (found,) = (each for job in jobs for each in job["steps"] if each.get("name") == step)
    text: str = found["run"]
    return text


def _inputs_of(job: Job, contexts: Mapping[str, str]) -> dict[str, str]:
    (step,) = (step for step in job["steps"] if step.get("uses") == ACTION_PATH)
    return {
        name: _EXPRESSION.sub(lambda match: str(_value(match[1], contexts)), value)
        for name, value in step["with"].items()
    }


def _context(event: Event) -> dict[str, Any]:
    return {
        "event": event.payload,
        "event_name": event.name,
        "ref": event.variables.get("GITHUB_REF", ""),
    }


def _flattened(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flattened(f"{name}.{key}", inner)
    else:
        yield name, str(value)


def _value(expression: str, contexts: Mapping[str, str]) -> object:
    """Evaluate an expression: what is not there is an empty string, as GitHub has it."""
    tokens = _TOKEN.findall(expression)
    assert "".join(tokens) == expression, f"not understood: {expression}"
    python = "".join(_python(token, contexts) for token in tokens)
    return eval(python.strip(), {"format": lambda text, *values: text.format(*values)})  # noqa: S307 - our own workflow


def _python(token: str, contexts: Mapping[str, str]) -> str:
    if token in {"(", ")", ",", "format"} or token.startswith("'") or not token.strip():
        return token.strip() or " "
    return _OPERATORS.get(token) or repr(contexts.get(token, ""))
