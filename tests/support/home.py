"""A place to run the whole program in: an empty folder, a clean environment, no terminal.

The folder can be a real git repository, whose commits are made without the settings of the machine,
and have a bot's project as its author has it: dependencies, and a file for each command. The
commands of the program are listed as click has them.
"""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from threading import Timer
from types import MappingProxyType
from typing import IO, Any

import click
import jsonschema
import pytest

from commandsync.action import rest
from commandsync.apply import run
from commandsync.cli.program import program as root
from commandsync.cli.program import run as program
from commandsync.client.threads import Gate
from tests.support.bots import Bot

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-m", "commandsync")
MYPY = (
    *(sys.executable, "-m", "mypy", "--strict"),
    *("--config-file", str(ROOT / "pyproject.toml")),
    *("--cache-dir", str(ROOT / ".mypy_cache")),  # which `make check` has filled
)
LONGEST = 60  # seconds that a child may take on a busy machine before the test gives up


@dataclass(frozen=True)
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def document(self) -> Any:  # noqa: ANN401 - any document
        """The one JSON document on standard output."""
        return json.loads(self.out)

    def ending(self, code: int | None) -> "Ran":
        """Return it if it ended so; otherwise what it said is shown."""
        assert code in {None, self.code}, self.said
        return self


@dataclass
class Home:
    """A folder to run in."""

    path: Path  # the folder, which is the current one
    monkeypatch: pytest.MonkeyPatch
    # The environment that runs get on top of a clean one.
    variables: dict[str, str] = field(default_factory=dict)
    # The child processes that were started, and what kills them.
    children: dict[subprocess.Popen[bytes], Timer] = field(default_factory=dict)

    def knows(self, bot: Bot, *, url: str = "", token: str | None = None) -> Bot:
        """Let runs work on a bot, and return it: by the environment, as in CI."""
        self.variable("COMMANDSYNC_BASE_URL", url or bot.url)
        self.variable("COMMANDSYNC_BOT", bot.id)
        self.variable("COMMANDSYNC_TOKEN", bot.token if token is None else token)
        return bot

    def variable(self, name: str, value: str) -> None:
        self.variables[name] = value
        self.monkeypatch.setenv(name, value)

    def forget(self, name: str) -> None:
        self.variables.pop(name, None)
        self.monkeypatch.delenv(name, raising=False)

    def write(self, text: str | bytes, name: str = "commands.yaml") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def read(self, name: str) -> str:
        return (self.path / name).read_bytes().decode()

    def run(self, *arguments: str, stdin: bytes = b"", exits: int | None = None) -> Ran:
        """Run in this process, with no terminal; `exits` is the code that it has to end with."""
        out, err = io.StringIO(), io.StringIO()
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with redirect_stdout(out), redirect_stderr(err):
            code = program(arguments)
        return Ran(int(code), out.getvalue(), err.getvalue()).ending(exits)

    def child(self, *arguments: str, exits: int | None = None, **variables: str) -> Ran:
        """Run as a child process to its end."""
        return self.child_of(PROGRAM, *arguments, exits=exits, **variables)

    def child_of(
        self, program: Sequence[str], *arguments: str, exits: int | None = None, **variables: str
    ) -> Ran:
        """Run as a child process that is started otherwise."""
        return self.child_into([*program, *arguments], variables).ending(exits)

    def child_into(
        self,
        command: Sequence[str],
        variables: Mapping[str, str] = MappingProxyType({}),
        *,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
    ) -> Ran:
        """Run as a child process that may write elsewhere; return what it wrote into pipes."""
        ended = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            timeout=LONGEST,
            check=False,
        )
        out, err = ((said or b"").decode() for said in (ended.stdout, ended.stderr))
        return Ran(ended.returncode, out, err)

    def started(
        self, *arguments: str, program: Sequence[str] = PROGRAM, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start a child process, to be spoken with; it is killed when it takes too long."""
        child = subprocess.Popen(
            [*program, *arguments],
            cwd=self.path,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.children[child] = Timer(LONGEST, child.kill)
        self.children[child].start()
        return child

    def close(self) -> None:
        """End all children that still run."""
        for child, timer in self.children.items():
            timer.cancel()
            child.kill()
            with child:
                pass

    def environment(self, **variables: str) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        return {**os.environ, "PYTHONPATH": path, **self.variables, **variables}


def lines(child: subprocess.Popen[bytes], count: int) -> list[str]:
    """Return the next lines on a child's standard output."""
    assert child.stdout is not None
    return [child.stdout.readline().decode() for _ in range(count)]


def fields(*records: tuple[str, ...]) -> str:
    """Return the `commands:` of a manifest: a name each, then description, syntax and category.

    As in a starter, the syntax has `{prefix}`, where it begins with "/".
    """
    written = ["version: 1", "commands:" if records else "commands: []"]
    for record in records:
        names = ("name", "description", "syntax", "category")
        values = [*record, *("Does it.", f"/{record[0]}")[len(record) - 1 :]]
        values[2] = re.sub("^/", "{prefix}", values[2])
        pairs = zip(names, values, strict=False)
        written.append(
            "  - "
            + "\n    ".join(
                f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in pairs
            )
        )
    return "\n".join([*written, 'prefix: "/"', ""])


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema)


def checked(ran: Ran, schema: str) -> Any:  # noqa: ANN401 - any document
    """Return the one document a run printed, which is as the schema says."""
    document = ran.document
    _validator(schema).validate(document)
    return document


def failed(ran: Ran, kind: str) -> str:
    """Return the message of a run that printed nothing but the document of one failure."""
    document = checked(ran, "result")
    assert checked(ran, "plan") == document
    assert document["error"]["kind"] == kind
    message: str = document["error"]["message"]
    return message


def end_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocking connections and runs go on at once where they would wait."""
    monkeypatch.setattr(rest, "sleep", lambda _: None)
    monkeypatch.setattr(Gate, "wait", lambda gate, _: not gate.stopped)
    monkeypatch.setattr(Gate, "pause", lambda _gate, _seconds: None)
    monkeypatch.setattr(run, "REREADS", [0.0] * len(run.REREADS))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A place in which no run of this process waits; `unit/api` and `unit/apply` test the waits."""
    for name in list(os.environ):
        if name.startswith("COMMANDSYNC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    machine = ("CI", "GITHUB_WORKSPACE", "NO_COLOR", "FORCE_COLOR")
    for name in (*machine, "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    end_waits(monkeypatch)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(folder)
    home = Home(folder, monkeypatch)
    yield home
    home.close()


def commands_of(
    group: click.Group = root, *words: str
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the group itself and every command in it, with its words."""
    context = click.Context(group)
    yield words, group
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands_of(command, *words, name)
        else:
            yield (*words, name), command


_NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Nobody"),
        ("EMAIL", "nobody@example.com"),
        ("DATE", "2026-01-01T00:00:00Z"),
    )
}
_OF_NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **_NOBODY}


@dataclass(frozen=True)
class GitRepo:
    """A repository in a folder."""

    path: Path
    # Every commit has a later second: git shows those of the same second by branch.
    seconds: Iterator[int] = field(default_factory=lambda: count(1_795_000_000))

    def git(self, *arguments: str, sent: bytes = b"") -> str:
        """Run git here, and return its output."""
        others = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        ended = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the machine's own
            cwd=self.path,
            env=others | _OF_NOBODY | {"GIT_COMMITTER_DATE": f"{next(self.seconds)} +0000"},
            input=sent,
            capture_output=True,
            check=True,
        )
        return ended.stdout.decode().strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str], *, tag: str = "") -> str:
        """Commit these files with all others, and return the commit."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A commit")
        if tag:
            self.git("tag", tag)
        return self.git("rev-parse", "HEAD")

    def commit_apart(self, files: dict[str, str]) -> str:
        """Commit these files alone, without a parent and outside of the workspace."""
        contents = "".join(
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for name, text in files.items()
        )
        head = (
            "commit refs/heads/apart\ncommitter Nobody <n@example.com> 1790000000 +0000\ndata 0\n"
        )
        self.git("fast-import", "--quiet", "--force", sent=f"{head}deleteall\n{contents}".encode())
        return self.git("rev-parse", "apart")

    def commit_many(self, name: str, texts: Sequence[str]) -> None:
        """Commit one file with these texts, one after the other, quicker than `commit`."""
        commits = [
            f"commit refs/heads/main\ncommitter Nobody <n@example.com> {1_790_000_000 + n} +0000\n"
            f"data 0\n{'from refs/heads/main^0' if not n else ''}\n"
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for n, text in enumerate(texts)
        ]
        self.git("fast-import", "--quiet", sent="".join(commits).encode())
        self.git("reset", "--quiet", "--hard")


def git_repo(path: Path) -> GitRepo:
    """Create an empty repository."""
    path.mkdir(parents=True, exist_ok=True)
    repo = GitRepo(path)
    repo.git("init", "--quiet", "--initial-branch=main")
    return repo


Code = Callable[[Sequence[str]], dict[str, str]]  # of the names of commands: texts by their files


def _discord_js(names: Sequence[str]) -> dict[str, str]:
    builder = 'new SlashCommandBuilder().setName("{0}").setDescription("Does {0}.")'
    head = 'const { SlashCommandBuilder } = require("discord.js");\n'
    file = head.replace("{", "{{").replace("}", "}}") + "module.exports = {{ data: {1} }};\n"
    return {
        f"src/commands/{name}.js": file.format(name, builder.format(name)) for name in names
    } | {"deploy-commands.js": "// registers them\n"}


def _discord_py(names: Sequence[str]) -> dict[str, str]:
    function = '@bot.tree.command()\nasync def {0}(interaction):\n    """Does {0}."""\n'
    head = (
        'import discord\nfrom discord.ext import commands\nbot = commands.Bot(command_prefix="?")\n'
    )
    return {"bot.py": head + "\n".join(function.format(name) for name in names)}


def _grammy(names: Sequence[str]) -> dict[str, str]:
    listed = ",\n".join(f'  {{ command: "{name}", description: "Does {name}." }}' for name in names)
    head = 'import { Bot } from "grammy";\nconst bot = new Bot(process.env.BOT_TOKEN);\n'
    return {"src/bot.js": f"{head}bot.api.setMyCommands([\n{listed},\n]);\n"}


def _aiogram(names: Sequence[str]) -> dict[str, str]:
    listed = ", ".join(
        f'BotCommand(command="{name}", description="Does {name}.")' for name in names
    )
    head = "from aiogram import Bot\nfrom aiogram.types import BotCommand\n"
    return {"main.py": f"{head}async def begin(bot):\n    await bot.set_my_commands([{listed}])\n"}


def _telebot(names: Sequence[str]) -> dict[str, str]:
    handler = '@bot.message_handler(commands=["{0}"])\ndef {0}(message):\n    """Does {0}."""\n'
    head = 'import telebot\nbot = telebot.TeleBot("1:a")\n'
    return {"bot.py": head + "\n".join(handler.format(name) for name in names)}


def _expressions(names: Sequence[str]) -> dict[str, str]:
    head = (
        'const TelegramBot = require("node-telegram-bot-api");\nconst bot = new TelegramBot("");\n'
    )
    texts = "".join(f'  "/{name}": (message) => 1,\n' for name in names)
    answer = 'bot.on("message", (message) => answers[message.text]?.(message));\n'
    return {"src/bot.js": f"{head}const answers = {{\n{texts}}};\n{answer}"}


@dataclass(frozen=True)
class Kind:
    """A kind of project: its platform, its list of dependencies and its code."""

    platform: str
    dependencies: Mapping[str, str]
    code: Code
    source: str  # where the commands are

    @property
    def service(self) -> str:
        return "telegram" if self.platform == "telegram" else "top.gg"

    def write(self, home: Home, names: Sequence[str]) -> None:
        for file, text in {**self.dependencies, **self.code(names)}.items():
            (home.path / file).parent.mkdir(parents=True, exist_ok=True)
            home.write(text, file)


def _package(name: str) -> dict[str, str]:
    return {"package.json": json.dumps({"name": "bot", "dependencies": {name: "^1.0.0"}})}


PROJECTS = {
    "discord.js": Kind("discord", _package("discord.js"), _discord_js, "src"),
    "discord.py": Kind("discord", {"requirements.txt": "discord.py>=2.4\n"}, _discord_py, "."),
    "aiogram": Kind(
        "telegram",
        {"pyproject.toml": '[project]\nname = "bot"\ndependencies = ["aiogram>=3"]\n'},
        _aiogram,
        ".",
    ),
    "grammY": Kind("telegram", _package("grammy"), _grammy, "src"),
    "telebot": Kind("telegram", {"requirements.txt": "pyTelegramBotAPI\n"}, _telebot, "."),
}

UNREAD = Kind("telegram", _package("node-telegram-bot-api"), _expressions, "src")
"""One whose code is not read: it has to be recorded."""
