"""README.md as a story: its files and edits made, its commands run, its outputs what they print.

    python tests/e2e/readme_blocks.py --write

writes the outputs anew. Fenced blocks are played in their order, in one folder, against the real
embedded service:

- `console`: after each `$ ` stands a command, and then what it prints, stdout and stderr together;
- `yaml` with a first line `# some/path.yaml`: the whole content of that file;
- `diff` with a first line `--- some/path`: lines of that file and what becomes of them.

Other blocks are left alone. What differs from run to run stands there under a name: the service's
address as `http://127.0.0.1:8000`, and `<token of ...>`, `<id of ...>`, `<fingerprint>`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PROGRAM = (sys.executable, "-m", "commandsync")
ADDRESS = "http://127.0.0.1:8000"

_BLOCK = re.compile(r"^```(console|yaml|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"(?:#|---) (\S+)\n")
_SEEDED = re.compile(r"bot \S+ \((\w+)\): (\S+)")
_RECORD = re.compile(r'"id": "([0-9a-f]{24})",\s+"name": "([^"]*)"')
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST = 60  # seconds; no command takes two


class StoryError(AssertionError):
    """The README asks for something that cannot be played."""


def played(text: str) -> str:
    """Play a README and return it with the outputs that were seen."""
    with tempfile.TemporaryDirectory() as name, Story(Path(name) / "tour") as story:
        return _BLOCK.sub(lambda match: story.play(match[1], match[2]), text)


@dataclass
class Story:
    """What has happened so far.

    Attributes:
        folder: Where the commands run; the examples stand beside it, as in a checkout.
        names: What is shown instead of what differs from run to run.
        variables: The environment's variables that the story has set.
        code: The exit code of the last command.
        service: The embedded service, once it was started.
    """

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    code: int = 0
    service: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir()
        shutil.copytree(ROOT / "examples", self.folder.parent / "examples")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.service is not None:
            self.service.terminate()
            self.service.communicate(timeout=_LONGEST)

    def play(self, language: str, content: str) -> str:
        """Do what a block says, and return it as it should stand there."""
        match language:
            case "console":
                commands = [line for line in content.splitlines() if line.startswith("$ ")]
                content = "".join(f"{line}\n{self.run(line[2:])}" for line in commands)
            case "yaml" if path := _PATH.match(content):
                file = self.folder / path[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, encoding="utf-8", newline="\n")
            case "diff":
                self.edit(content)
            case _:
                raise StoryError(f"what is this block for?\n{content}")
        return f"```{language}\n{content}```"

    def edit(self, content: str) -> None:
        """Replace the lines of a diff that stand in its file, together and once."""
        path, *lines = content.splitlines()
        file = self.folder / path.removeprefix("--- ")
        old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        text = file.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise StoryError(f"these lines stand {text.count(old)} times in {file.name}:\n{old}")
        file.write_text(text.replace(old, new), encoding="utf-8", newline="\n")

    def run(self, line: str) -> str:
        """Run one line of a shell and return what it prints."""
        command, _, filtered = line.partition(" | ")
        words = shlex.split(command)
        match words:
            case ["export", setting]:
                name, _, value = setting.partition("=")
                self.variables[name] = self._real(value)
                return ""
            case ["echo", "$?"]:
                return f"{self.code}\n"
            case ["commandsync", "serve", *arguments]:
                return self._serve(arguments)
            case ["commandsync", *arguments]:
                return self._shown(_tail(self._commandsync(arguments), filtered))
            case _:
                raise StoryError(f"no such command in this story: {line}")

    def _commandsync(self, arguments: list[str]) -> str:
        quiet = arguments[-1] == ">/dev/null"
        ended = subprocess.run(
            [*PROGRAM, *(arguments[:-1] if quiet else arguments)],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else subprocess.STDOUT,
            encoding="utf-8",
            timeout=_LONGEST,
            check=False,
        )
        self.code = ended.returncode
        return ended.stderr if quiet else ended.stdout

    def _serve(self, arguments: list[str]) -> str:
        """Start the service on a free port, whatever port it has in the story."""
        seed = self.folder / arguments[arguments.index("--seed") + 1]
        self.service = subprocess.Popen(
            [*PROGRAM, "serve", *arguments, "--port", "0"],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert self.service.stdout is not None
        bots = json.loads(seed.read_bytes())["bots"]
        said = "".join(self.service.stdout.readline() for _ in ["its address", *bots])
        url = re.search(r"http://\S+", said)
        if url is None:
            raise StoryError(f"the service did not start:\n{said}")
        self.names[url[0]] = ADDRESS
        self.names |= {token: f"<token of {bot}>" for bot, token in _SEEDED.findall(said)}
        return self._shown(said)

    def _environment(self) -> dict[str, str]:
        """Return this process's environment with the story's settings and no others."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("COMMANDSYNC_") and name != "NO_COLOR"
        }
        return kept | self.variables

    def _shown(self, text: str) -> str:
        for record, name in _RECORD.findall(text):
            self.names.setdefault(record, f"<id of {name}>")
        if "Traceback (most recent call last)" in text:
            raise StoryError(text)
        for real, name in self.names.items():
            text = text.replace(real, name)
        return _FINGERPRINT.sub("sha256:<fingerprint>", text)

    def _real(self, text: str) -> str:
        return next((real for real, name in self.names.items() if name == text), text)


def _tail(text: str, filtered: str) -> str:
    """Keep the lines that `tail -n N` would."""
    if not filtered:
        return text
    count = re.fullmatch(r"tail -n ([0-9]+)", filtered)
    if count is None:
        raise StoryError(f"no such filter in this story: {filtered}")
    return "".join(text.splitlines(keepends=True)[-int(count[1]) :])


def main() -> int:
    """Say whether README.md is true, or write what is."""
    parser = argparse.ArgumentParser(description="Play the README's story.")
    parser.add_argument("--write", action="store_true", help="write the outputs into README.md")
    arguments = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    true = played(text)
    if arguments.write:
        README.write_text(true, encoding="utf-8", newline="\n")
    return 0 if arguments.write or true == text else 1


if __name__ == "__main__":
    sys.exit(main())
