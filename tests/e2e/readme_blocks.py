"""Run the examples of README.md and docs/, and compare their outputs with real ones.

    python tests/e2e/readme_blocks.py            # exit code 1 if an output or a picture differs
    python tests/e2e/readme_blocks.py --write    # write all outputs and pictures again

Each document runs on its own: in a new folder, its fenced blocks in their order, against the real
embedded service.

- `console`: a line that begins with `$ ` is a command. The lines below it are its output, stdout
  and stderr together. `commandsync serve --as NAME --port N` starts a simulation, on any free port.
- `yaml`, `py` or `md` with a first line `# some/path.yaml`: the content of that file.
- `diff` with a first line `--- some/path`: an edit of that file. A line `@@` separates two places.
- `<!-- serve: SEED as URL -->`: starts the embedded service, which the document calls URL.
- `<!-- picture: PATH = COMMAND -->`: PATH, relative to the repository, is a picture of the coloured
  output of this command.

Other blocks are not run. Values that differ from run to run have a fixed name in the documents: the
service's address is `http://127.0.0.1:8000`, and there are `<token of ...>`, `<id of ...>` and
`<fingerprint>`.
"""

import argparse
import html
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
PROGRAM = (sys.executable, "-m", "commandsync")
ADDRESS = "http://127.0.0.1:8000"

_BLOCK = re.compile(
    r"^```(?P<language>console|yaml|py|md|diff)\n(?P<content>.*?)^```$"
    r"|^<!-- serve: (?P<seed>\S+) as (?P<address>\S+) -->$"
    r"|^<!-- picture: (?P<picture>\S+) = (?P<command>.+) -->$",
    re.MULTILINE | re.DOTALL,
)
_DESCRIPTION = re.compile(r"(?<=<desc>).*?(?=</desc>)", re.DOTALL)
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # rich loads them from another host
_PATH = re.compile(r"(?:#|---) (\S+)\n")
_SEEDED = re.compile(r"# (\w+)(?:\n.*\n|:).*COMMANDSYNC_TOKEN=\"\$\(commandsync (.*)\)\"")
_SUBSTITUTED = re.compile(r"\$\(commandsync (.*)\)")
_RECORD = re.compile(r'"id": "([0-9a-f]{24})",\s+"name": "([^"]*)"')
_NEW_ID = re.compile(r"'(.*?)' has the new id '([0-9a-f]{24})'")
_EXPORT = re.compile(r"export \w+=(\S+)")
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_BOTS = 2  # of each service in the documents
_LARGEST = 65_536  # bytes of what a simulation prints
_AUTHOR = ("-c", "user.name=Harbor", "-c", "user.email=harbor@example.com")
_LONGEST = 60  # seconds; no command takes two


class BlockError(AssertionError):
    """A block cannot be run."""


def with_real_outputs(text: str) -> tuple[str, dict[Path, str]]:
    """Run the blocks of a document; return it with their real outputs, and its pictures."""
    with tempfile.TemporaryDirectory() as name, Walkthrough(Path(name) / "tour") as walkthrough:
        real = _BLOCK.sub(walkthrough.run, text)
        return real, walkthrough.pictures


def shows(picture: str, of: str) -> bool:
    """Return whether two pictures show one text; the drawing depends on the version of rich."""
    return _DESCRIPTION.findall(picture) == _DESCRIPTION.findall(of)


@dataclass
class Walkthrough:
    """The state of one document's examples.

    Attributes:
        folder: The folder that the commands run in; `examples/` is beside it, as in a checkout.
        names: The fixed names of values that differ from run to run.
        variables: The environment variables that the document has set.
        code: The exit code of the last command.
        service: The embedded service that was started last.
        simulations: The simulations of other services; all run until the end of the document.
        address: What the document calls the service.
        pictures: The pictures of the document, by their paths.
    """

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    code: int = 0
    service: subprocess.Popen[str] | None = None
    simulations: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    address: str = ADDRESS
    pictures: dict[Path, str] = field(default_factory=dict)

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
        self._end_service()
        for simulation in self.simulations.values():
            simulation.terminate()
            simulation.communicate(timeout=_LONGEST)

    def _end_service(self) -> None:
        if self.service is not None:
            self.service.terminate()
            self.service.communicate(timeout=_LONGEST)

    def run(self, match: re.Match[str]) -> str:
        """Run a block or a comment, and return it with its real output."""
        if match["seed"]:
            self.address = match["address"]
            self._serve(["--seed", match["seed"]])
        elif match["picture"]:
            _, *arguments = shlex.split(match["command"])
            output = self._with_names(self._commandsync([*arguments, "--color", "always"]))
            self.pictures[ROOT / match["picture"]] = _picture(output, title=match["command"])
        else:
            return self.run_block(match["language"], match["content"])
        return match[0]

    def run_block(self, language: str, content: str) -> str:
        """Run a block and return it with its real output."""
        match language:
            case "console":
                commands = [line for line in content.splitlines() if line.startswith("$ ")]
                content = "".join(f"{line}\n{self.run_line(line[2:])}" for line in commands)
            case "yaml" | "py" | "md" if path := _PATH.match(content):
                file = self.folder / path[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                real = self._with_simulations(content)
                file.write_text(real, encoding="utf-8", newline="\n")
            case "diff":
                self.edit(content)
            case _:
                raise BlockError(f"a block needs a path in its first line:\n{content}")
        return f"```{language}\n{content}```"

    def edit(self, content: str) -> None:
        """Replace the lines of a diff, which the file must contain together and once."""
        path, _, hunks = self._with_simulations(content).partition("\n")
        file = self.folder / path.removeprefix("--- ")
        text = file.read_text(encoding="utf-8")
        for hunk in hunks.split("@@\n"):
            lines = hunk.splitlines()
            old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
            new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
            if text.count(old) != 1:
                raise BlockError(f"{file.name} contains {text.count(old)} times:\n{old}")
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8", newline="\n")

    def run_line(self, line: str) -> str:
        """Run a line of a shell and return its output."""
        command, _, filtered = line.partition(" | ")
        words = shlex.split(command)
        match words:
            case ["export", setting]:
                name, _, value = setting.partition("=")
                if substituted := _SUBSTITUTED.fullmatch(value):
                    value = self._commandsync(shlex.split(substituted[1])).strip()
                self.variables[name] = self._without_names(value)
                return ""
            case ["echo", "$?"]:
                return f"{self.code}\n"
            case ["git", *arguments]:
                return self._output(["git", *_AUTHOR, *arguments])
            case ["commandsync", "serve", "--as", name, "--port", port]:
                return self._simulate(name, f"http://127.0.0.1:{port}")
            case ["commandsync", "serve", *arguments]:
                return self._serve(arguments)
            case ["commandsync", *arguments]:
                return self._with_names(_tail(self._commandsync(arguments), filtered))
            case _:
                raise BlockError(f"a document cannot run this command: {line}")

    def _commandsync(self, arguments: list[str]) -> str:
        return self._output([*PROGRAM, *arguments])

    def _output(self, command: list[str]) -> str:
        quiet = command[-1] == ">/dev/null"
        completed = subprocess.run(
            command[:-1] if quiet else command,
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else subprocess.STDOUT,
            encoding="utf-8",
            timeout=_LONGEST,
            check=False,
        )
        self.code = completed.returncode
        return completed.stderr if quiet else completed.stdout

    def _serve(self, arguments: list[str]) -> str:
        """Start the service on a free port, whatever port the document shows; end the last one."""
        self._end_service()
        self.names = {real: name for real, name in self.names.items() if name != self.address}
        self.service = subprocess.Popen(
            [*PROGRAM, "serve", *arguments, "--port", "0"],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert self.service.stdout is not None
        output = ""
        while output.count("COMMANDSYNC_TOKEN=") < _BOTS and (
            line := self.service.stdout.readline()
        ):
            output += line
        url = re.search(r"http://\S+", output)
        if url is None:
            raise BlockError(f"the service did not start:\n{output}")
        self.names[url[0]] = self.address
        for bot, command in _SEEDED.findall(output):
            token = self._commandsync(shlex.split(command)).strip()
            self.names[token] = f"<token of {bot}>"
        return self._with_names(output)

    def _simulate(self, name: str, address: str) -> str:
        """Start a simulation on a free port, which the document calls by an address."""
        child = subprocess.Popen(
            [*PROGRAM, "serve", "--as", name, "--port", "0"],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert child.stdout is not None
        self.simulations[address] = child
        output = os.read(child.stdout.fileno(), _LARGEST).decode()  # it is written at once
        url, token = re.search(r"http://\S+", output), _EXPORT.search(output)
        if url is None or token is None:
            raise BlockError(f"the simulation did not start:\n{output}")
        self.names |= {url[0]: address, token[1].strip("'"): f"<token of {name}>"}
        return self._with_names(output)

    def _with_simulations(self, text: str) -> str:
        """Return a text with the real addresses of the simulations that it names."""
        for real, name in self.names.items():
            text = text.replace(name, real) if name in self.simulations else text
        return text

    def _environment(self) -> dict[str, str]:
        """Return the environment of this process with the document's settings and no others."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("COMMANDSYNC_") and name != "NO_COLOR"
        }
        return inherited | self.variables

    def _with_names(self, text: str) -> str:
        for record, name in _RECORD.findall(text):
            self.names.setdefault(record, f"<id of {name}>")
        for name, record in _NEW_ID.findall(text):
            self.names.setdefault(record, f"<new-id-of-{name}>")
        if "Traceback (most recent call last)" in text:
            raise BlockError(text)
        for real, name in self.names.items():
            text = text.replace(real, name)
        return _FINGERPRINT.sub("sha256:<fingerprint>", text)

    def _without_names(self, text: str) -> str:
        return next((real for real, name in self.names.items() if name == text), text)


def _tail(text: str, filtered: str) -> str:
    """Return the lines that `tail -n N` prints."""
    if not filtered:
        return text
    count = re.fullmatch(r"tail -n ([0-9]+)", filtered)
    if count is None:
        raise BlockError(f"a document cannot run this filter: {filtered}")
    return "".join(text.splitlines(keepends=True)[-int(count[1]) :])


def _picture(output: str, *, title: str) -> str:
    """Return an SVG of a terminal with this coloured output, which loads nothing."""
    text = Text.from_ansi(output)
    console = Console(
        record=True,
        width=max(map(len, text.plain.splitlines())) + 1,
        force_terminal=True,
        color_system="truecolor",
        file=io.StringIO(),
    )
    console.print(text)
    drawn = _FONTS.sub("", console.export_svg(title=f"$ {title}", unique_id="terminal"))
    head, end, rest = drawn.partition(">")
    drawn = f"{head}{end}\n<desc>{html.escape(text.plain)}</desc>{rest}"
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def main() -> int:
    """Compare all outputs with real ones, or write the real ones."""
    parser = argparse.ArgumentParser(description="Run the examples of README.md and docs/.")
    parser.add_argument("--write", action="store_true", help="write the real outputs")
    write = parser.parse_args().write
    differing = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        real, pictures = with_real_outputs(text)
        for path, content in {document: real, **pictures}.items():
            before = path.read_text(encoding="utf-8") if path.exists() else ""
            if before == content or (path != document and shows(before, of=content)):
                continue
            differing.append(path.relative_to(ROOT).as_posix())
            if write:
                path.write_text(content, encoding="utf-8", newline="\n")
    sys.stdout.writelines(f"{path} {'changed' if write else 'differs'}\n" for path in differing)
    return 1 if differing and not write else 0


if __name__ == "__main__":
    sys.exit(main())
