"""GitHub's runner, as far as a composite action of one bash step needs it.

It reads action.yml, builds the step's environment from the inputs and their defaults, runs the
script with bash's exact flags, and reads the step's files and the commands in its log as the runner
does. What the shell and the bootstrap add nothing to is run in the tests' own process, with the
same environment. GitHub's choice of jobs (conditions, and inputs of steps) is here as far as our
workflow needs it. A `Hub` is a real HTTP server in place of GitHub's REST API.

The libraries of the Action's lock are a folder of wheels, and are in Pythons that run the step. The
wheels are fetched once, from the package index, and kept in the user's cache for as long as the
lock and the interpreter stay the same; so is the Python that has them. Where there is neither cache
nor network, the tests that need them are skipped.
"""

import gc
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml

from commandsync.action import run as action_run
from tests.support.deployments import SimulatedDeployments
from tests.support.home import GitRepo, git_repo
from tests.support.rawserver import Exchange, Request, SocketServer, answer

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

    def run(self, event: Event, *, ends: str = "", **inputs: str) -> Step:
        """Run the action's step; `_` in an input's name stands for `-`.

        Args:
            ends: How it has to end: its code, and the result or the reason of the failure.
        """
        if self.python:
            process, files = self.start(event, **inputs)
            out, _ = process.communicate(timeout=LONGEST)
            step = self.ended(process, files, out)
        else:
            step = self._run_here(event, inputs)
        outputs = [step.outputs.get(name) for name in ("result", "failure-reason")]
        assert ends in {"", f"{step.code}", *(f"{step.code} {one}" for one in outputs)}, step.log
        return step

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


Record = dict[str, Any]
Answer = tuple[int, Any, dict[str, str]]

JOBS_OWN = "github-actions[bot]"
_COMMENTS = re.compile(rf"/repos/{REPOSITORY}/issues/(\d+)/comments")
_COMMENT = re.compile(rf"/repos/{REPOSITORY}/issues/comments/(\d+)")
_ISSUES = re.compile(rf"/repos/{REPOSITORY}/issues(?:/(\d+))?")
_HEAD = re.compile(rf"/repos/{REPOSITORY}/git/ref/heads/(.+)")
_TREE = re.compile(rf"/repos/{REPOSITORY}/git/trees/(\w+)")
_RUNS = f"/repos/{REPOSITORY}/actions/runs"
_STATUSES = re.compile(rf"/repos/{REPOSITORY}/statuses/(\w+)")
_OBJECT = re.compile(r'(c\d+): object\(oid: "(\w+)"\)')


@dataclass
class Hub(SocketServer):
    """The server.

    Attributes:
        comments: The comments of all pull requests, in order; those of 7 unless they name another.
        issues: The issues, in order.
        checkout: The repository whose commits the branch has.
        head: The newest commit of the branch; empty for that of the checkout.
        merged: The numbers of the pull requests that each commit came with; of `SHA`, those that
            the newest one did.
        statuses: The statuses of each commit.
        deployments: The deployments, and the job's permission for them.
        runs: The runs of workflows.
        read_only: Whether all writes are answered 403.
        tells_login: Whether GraphQL says whose token it is.
        page: The most comments of a page.
        rule: Asked about each request, as method and path, before it is answered; it may answer
            itself, with a status, a content (any JSON, or bytes as they are) and headers.
    """

    comments: list[Record] = field(default_factory=list)
    issues: list[Record] = field(default_factory=list)
    checkout: Path | None = None
    head: str = ""
    merged: dict[str, list[int]] = field(default_factory=dict)
    statuses: dict[str, list[Record]] = field(default_factory=dict)
    deployments: SimulatedDeployments = field(default_factory=SimulatedDeployments)
    runs: list[Record] = field(default_factory=list)
    read_only: bool = False
    tells_login: bool = True
    page: int = 100
    rule: Callable[[str], Answer | None] = lambda _: None

    @property
    def writes(self) -> list[Request]:
        """The writes of comments and issues."""
        return [request for request in super().writes if "/issues" in request.target]

    @property
    def ours(self) -> list[str]:
        """The bodies of the comments that the job's own account wrote."""
        return [record["body"] for record in self.comments if record["user"]["login"] == JOBS_OWN]

    def says(self, body: str, *, login: str = JOBS_OWN, on: int = 7) -> Record:
        """Add a comment on a pull request."""
        number = 1 + max((record["id"] for record in self.comments), default=0)
        url = f"https://github.com/{REPOSITORY}/pull/{on}#issuecomment-{number}"
        record = {
            "id": number,
            "body": body,
            "user": {"login": login},
            "html_url": url,
            "url": f"{self.url}/repos/{REPOSITORY}/issues/comments/{number}",
        }
        self.comments.append(record)
        return record

    def opens(self, *, title: str, body: str, login: str = JOBS_OWN) -> Record:
        """Add an issue."""
        number = len(self.issues) + 1
        record = {
            "number": number,
            "title": title,
            "body": body,
            "state": "open",
            "user": {"login": login},
            "html_url": f"https://github.com/{REPOSITORY}/issues/{number}",
        }
        self.issues.append(record)
        return record

    def handle(self, exchange: Exchange) -> None:
        status, content, headers = self._answer(exchange.request)
        exchange.send(answer(content, status=status, headers=headers))

    def _answer(self, request: Request) -> Answer:
        if (instead := self.rule(f"{request.method} {request.target}")) is not None:
            return instead
        deployed = self.deployments.answer(
            request.method, request.path, request.query, request.json if request.writes else None
        )
        if deployed is not None:
            status, content, page = deployed
            return status, content, {"Link": f'<{self.url}{page}>; rel="next"'} if page else {}
        issues = _ISSUES.fullmatch(request.path)
        usual = self._of_issues(request, issues[1]) if issues else self._usual(request)
        status, content, link = usual
        return status, content, {"Link": link} if link else {}

    def _usual(self, request: Request) -> tuple[int, Any, str]:
        if request.path == "/graphql":
            return self._queried(request.json["query"])
        if request.writes:
            return self._written(request)
        if match := _COMMENTS.fullmatch(request.path):
            return self._paged(match[1], request.path, int(request.query.get("page", "1")))
        return self._of_git(request)

    def _queried(self, query: str) -> tuple[int, Any, str]:
        if asked := _OBJECT.findall(query):
            return 200, {"data": {"repository": dict(map(self._commit, asked))}}, ""
        if self.tells_login:
            return 200, {"data": {"viewer": {"login": JOBS_OWN}}}, ""
        return 404, {}, ""

    def _of_git(self, request: Request) -> tuple[int, Any, str]:
        if request.path == _RUNS:
            runs = [run for run in self.runs if run["head_sha"] == request.query["head_sha"]]
            return 200, {"total_count": len(runs), "workflow_runs": runs}, ""
        if self.checkout and _HEAD.fullmatch(request.path):
            newest = self.head or GitRepo(self.checkout).git("rev-parse", "HEAD")
            return 200, {"object": {"type": "commit", "sha": newest}}, ""
        if self.checkout and (match := _TREE.fullmatch(request.path)):
            return 200, {"truncated": False, "tree": self._tree(match[1])}, ""
        return 404, {"message": "Not Found"}, ""

    def _written(self, request: Request) -> tuple[int, Any, str]:
        method, path = request.method, request.path
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if method == "POST" and (match := _COMMENTS.fullmatch(path)):
            return 201, self.says(request.json["body"], on=int(match[1])), ""
        if match := _STATUSES.fullmatch(path):
            self.statuses.setdefault(match[1], []).append(request.json)
            return 201, request.json, ""
        match = _COMMENT.fullmatch(path)
        record = next((one for one in self.comments if match and one["id"] == int(match[1])), None)
        if record is None:
            return 404, {"message": "Not Found"}, ""
        if method == "DELETE":
            self.comments.remove(record)
            return 204, b"", ""
        record["body"] = request.json["body"]
        return 200, record, ""

    def _commit(self, asked: tuple[str, str]) -> tuple[str, Record]:
        """Return what GraphQL tells of a commit."""
        name, commit = asked
        numbers = self.merged.get(commit) or (self.merged.get(SHA, []) if name == "c0" else [])
        newest = {each["context"]: each for each in self.statuses.get(commit, [])}
        contexts = [
            {**each, "state": each["state"].upper(), "description": each.get("description")}
            for each in newest.values()
        ]
        requests = [{"number": number, "merged": True} for number in numbers]
        status = {"contexts": contexts} if contexts else None
        return name, {"status": status, "associatedPullRequests": {"nodes": requests}}

    def _tree(self, commit: str) -> list[Record]:
        assert self.checkout
        lines = GitRepo(self.checkout).git("ls-tree", "-r", commit).splitlines()
        records = []
        for line in lines:
            head, _, path = line.partition("\t")
            mode, kind, identifier = head.split()
            records.append({"path": path, "mode": mode, "type": kind, "sha": identifier})
        return records

    def _of_issues(self, request: Request, number: str | None) -> tuple[int, Any, str]:
        if not request.writes:
            return 200, [each for each in self.issues if self._asked(each, request.query)], ""
        if self.read_only:
            return 403, {"message": "Resource not accessible by integration"}, ""
        if number is None:
            return 201, self.opens(**request.json), ""
        if not 1 <= int(number) <= len(self.issues):
            return 404, {"message": "Not Found"}, ""
        self.issues[int(number) - 1].update(request.json)
        return 200, self.issues[int(number) - 1], ""

    @staticmethod
    def _asked(issue: Record, query: Mapping[str, str]) -> bool:
        return bool(issue["state"] == query["state"] and issue["user"]["login"] == query["creator"])

    def _paged(self, pull: str, path: str, number: int) -> tuple[int, Any, str]:
        begin = (number - 1) * self.page
        comments = [one for one in self.comments if f"/pull/{pull}#" in one["html_url"]]
        shown = comments[begin : begin + self.page]
        more = begin + self.page < len(comments)
        link = f'<{self.url}{path}?page={number + 1}>; rel="next"' if more else ""
        return 200, shown, link


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running


LOCK = ROOT / "commandsync" / "action" / "requirements.txt"
_HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
_PIP = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--quiet")
_MARK = "[externally-managed]\nError=marked: this Python belongs to the system\n"
_NO_WAY = ("ConnectionError", "NameResolutionError", "Timeout", "ProxyError")  # as pip puts it
_UNREACHABLE = "the locked wheels are not in the cache, and the package index is out of reach"


@pytest.fixture(scope="session")
def wheels() -> Path:
    """The wheels."""
    return _wheels(LOCK)


def _wheels(lock: Path) -> Path:
    def download(folder: Path) -> None:
        quick = ["--retries", "1", "--timeout", "10", "-d", str(folder), "-r", str(lock)]
        try:
            subprocess.run([*_PIP, "download", *quick, *_HASHED], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace")
            if any(word in said for word in _NO_WAY):
                pytest.skip(_UNREACHABLE)
            pytest.fail(said)

    return _kept("wheels", lock, download)


@pytest.fixture(scope="session")
def locked_python(wheels: Path) -> str:
    """A Python that has the locked libraries, and neither pip nor anything else."""

    def install(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        (site,) = folder.rglob("site-packages")
        _unpack(wheels, site)

    return str(_interpreter(_kept("environment", LOCK, install)))


@pytest.fixture(scope="session")
def system_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python as systems have it: not a virtual environment, with no library and no pip.

    It is marked as the system's own (PEP 668), so that pip by itself would install nothing.
    """
    folder = tmp_path_factory.mktemp("system")
    if os.name == "nt":  # there it finds its libraries otherwise, and no system owns it
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        return _interpreter(folder)
    program, library = folder / "bin" / NAME, folder / "lib" / NAME
    program.parent.mkdir()
    shutil.copy(Path(sys.executable).resolve(), program)
    (library / "site-packages").mkdir(parents=True)
    for path in Path(sysconfig.get_path("stdlib")).iterdir():
        if path.name not in {"site-packages", "dist-packages", "EXTERNALLY-MANAGED"}:
            (library / path.name).symlink_to(path)
    (library / "EXTERNALLY-MANAGED").write_text(_MARK, encoding="utf-8")
    return program


@pytest.fixture(scope="session")
def system_python_with_pip(system_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with pip, which notes each call in the file that CALLS names."""
    folder = tmp_path_factory.mktemp("with-pip") / "python"
    shutil.copytree(system_python.parents[1], folder, symlinks=True)
    (site,) = folder.rglob("site-packages")
    shutil.copytree(Path(sysconfig.get_path("purelib")) / "pip", site / "pip")
    main = site / "pip" / "__main__.py"
    before, imports, rest = main.read_text(encoding="utf-8").partition("import os\n")
    noted = f"{imports}open(os.environ['CALLS'], 'a').write('call\\n')\n"
    main.write_text(f"{before}{noted}{rest}", encoding="utf-8")
    return folder / system_python.relative_to(system_python.parents[1])


def _unpack(wheels: Path, folder: Path) -> None:
    """Put the libraries into a folder as an installer would: they have no scripts of their own."""
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def _interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _kept(name: str, lock: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made once, by whichever of the tests' processes comes first."""
    made_of = f"{lock.read_text(encoding='utf-8')}{sys.version}{sys.base_prefix}"
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    parent = _cache() / "commandsync-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / f"{name}-{digest}"
    with _alone(parent / f"{name}.lock"):
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / ".complete").touch()
    return folder


def _cache() -> Path:
    """Return the folder for what this user's programs can make again."""
    usual = {"win32": "~/AppData/Local", "darwin": "~/Library/Caches"}.get(sys.platform, "~/.cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual).expanduser()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        with suppress(ImportError):  # Windows: its test processes each make their own at worst
            import fcntl  # noqa: PLC0415 - POSIX only

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
