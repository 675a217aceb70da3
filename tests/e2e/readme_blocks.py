"""Run the examples of README.md and docs/, and compare their outputs with real ones.

    python tests/e2e/readme_blocks.py            # exit code 1 if an output or a picture differs
    python tests/e2e/readme_blocks.py --write    # write all outputs and pictures again

Each document runs on its own: in a new folder, its fenced blocks in their order, in one bash, whose
variables and folder stay as the document set them. Two programs with these names are on its PATH:
`commandsync` and `python`.

- `console`: a line that begins with `$ ` is a command. The lines below it are its output, stdout
  and stderr together. `commandsync serve` stays in the background, on any free port; the next one
  on the same port ends it.
- `yaml`, `py`, `python` or `js` with a first line `# some/path.yaml` (`// some/path.js`): the
  content of that file.
- `diff` with a first line `--- some/path`: an edit of that file. A line `@@` separates two places.
- `<!-- picture: PATH = COMMAND -->`: PATH, relative to the repository, is a picture of the coloured
  output of this command.

Other blocks are not run. Values that differ from run to run have a fixed name in the documents: a
service's address has the port that the document shows, or 8000, the folder is `/home/ann/bot`, and
there are `<token of ...>`, `<id of ...>` and `<fingerprint>`.
"""

import argparse
import html
import io
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
ADDRESS = "http://127.0.0.1:8000"
FOLDER = "/home/ann/bot"

BLOCK = re.compile(
    r"^```(?P<language>console|yaml|python|py|js|diff)\n(?P<content>.*?)^```$"
    r"|^<!-- picture: (?P<picture>\S+) = (?P<command>.+) -->$",
    re.MULTILINE | re.DOTALL,
)
_DESCRIPTION = re.compile(r"(?<=<desc>).*?(?=</desc>)", re.DOTALL)
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # rich loads them from another host
_PATH = re.compile(r"(?:#|//|---) (\S+)\n")
_SERVE = re.compile(r"commandsync serve\b(?:.* --as (?P<name>\S+))?(?:.* --port (?P<port>\d+))?")
_LISTENING = re.compile(
    r"listening on (http://\S+)\n.*(?:^  # \w+: export|^    base_url:) .*\n",
    re.DOTALL | re.MULTILINE,
)
_EXPORT = re.compile(r"export COMMANDSYNC_TOKEN_\w+='?([^\s']+)")
_RECORD = re.compile(r'"id": "([0-9a-f]{24})",\s+"name": "([^"]*)"')
_NEW_ID = re.compile(r"'(.*?)' has the new id '([0-9a-f]{24})'")
_FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST = 60  # seconds; no command takes two


class BlockError(AssertionError):
    """A block cannot be run."""


def with_real_outputs(text: str, python: str = sys.executable) -> tuple[str, dict[Path, str]]:
    """Run the blocks of a document; return it with their real outputs, and its pictures.

    `python` is the interpreter that has commandsync.
    """
    with (
        tempfile.TemporaryDirectory() as name,
        Walkthrough(Path(name), python=python) as walkthrough,
    ):
        real = BLOCK.sub(walkthrough.run, text)
        return real, walkthrough.pictures


def shows(picture: str, of: str) -> bool:
    """Return whether two pictures show one text; the drawing depends on the version of rich."""
    return _DESCRIPTION.findall(picture) == _DESCRIPTION.findall(of)


class Shell:
    """A bash that runs one line after the other, as somebody does who follows a page.

    Attributes:
        code: The exit code of the last line.
    """

    def __init__(self, folder: Path, programs: Path, columns: int = 0) -> None:
        """Start it in a folder; with `columns`, its commands are on a terminal of this width."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("COMMANDSYNC_") and name not in {"CI", "NO_COLOR", "COLUMNS"}
        }
        for who in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{who}_NAME": "Harbor", f"GIT_{who}_EMAIL": "harbor@example.com"}
        environment |= {"XDG_STATE_HOME": str(Path(programs).parent / "state")}
        environment |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        # A plugin for work on commandsync prints a warning, which a reader does not get.
        environment |= {"PYTEST_ADDOPTS": "-p no:asyncio"}
        if columns:
            import pty  # noqa: PLC0415 - not on Windows
            import termios  # noqa: PLC0415 - as above

            self._output, theirs = pty.openpty()
            termios.tcsetwinsize(theirs, (40, columns))
            self._input = os.ttyname(theirs)
        else:
            self._output, theirs = os.pipe()
            self._input = os.devnull
        self.code = 0
        self._child = subprocess.Popen(
            ["bash", "--norc"],  # noqa: S607 - the one of the PATH
            cwd=folder,
            env=environment | {"TERM": "xterm-256color"},
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def run(self, line: str, *, typed: str = "") -> str:
        """Run a line and return its output; on a terminal, with what is typed meanwhile."""
        end = f"end of {time.monotonic_ns()}"
        assert self._child.stdin is not None
        self._child.stdin.write(
            f"(exit {self.code}); eval {shlex.quote(line)} <{self._input}\n"
            f"printf '\\n{end}: %s\\n' $?\n".encode()
        )
        self._child.stdin.flush()
        if typed:
            os.write(self._output, typed.encode())
        shown, until = b"", re.compile(rf"\n{end}: (\d+)\r?\n".encode())
        while not (ended := until.search(shown)):
            ready, _, _ = select.select([self._output], [], [], _LONGEST)
            if not ready:
                raise BlockError(f"{line} does not end:\n{shown.decode(errors='replace')}")
            shown += os.read(self._output, 65_536)
        self.code = int(ended[1])
        return shown[: ended.start()].decode(errors="replace").replace("\r\n", "\n")

    def close(self) -> None:
        """End it and all that it runs in the background."""
        self.run("kill $(jobs -p) 2>/dev/null; wait")
        self._child.communicate(timeout=_LONGEST)
        os.close(self._output)


@dataclass
class Walkthrough:
    """The state of one document's examples.

    Attributes:
        home: An empty folder. The commands begin in `tour` in it.
        columns: The width of the terminal that the commands are on; 0 for none.
        python: The interpreter that has commandsync.
        names: The fixed names of values that differ from run to run.
        pictures: The pictures of the document, by their paths.
    """

    home: Path
    columns: int = 0
    python: str = sys.executable
    names: dict[str, str] = field(default_factory=dict)
    pictures: dict[Path, str] = field(default_factory=dict)
    _services: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        (self.home / "tour").mkdir()
        shutil.copytree(ROOT / "examples", self.home / "examples")
        for name, program in (("python", ""), ("commandsync", " -m commandsync")):
            file = self.home / "programs" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(f'#!/bin/sh\nexec "{self.python}"{program} "$@"\n', encoding="utf-8")
            file.chmod(0o755)
        self.names[str(self.home / "tour")] = FOLDER
        self.shell = Shell(self.home / "tour", self.home / "programs", self.columns)
        return self

    def __exit__(self, *_: object) -> None:
        self.shell.close()

    def run(self, match: re.Match[str]) -> str:
        """Run a block or a comment, and return it with its real output."""
        if match["picture"]:
            output = self.run_line(f"{match['command']} --color always")
            self.pictures[ROOT / match["picture"]] = _picture(output, title=match["command"])
            return match[0]
        return self.run_block(match["language"], match["content"])

    def run_block(self, language: str, content: str) -> str:
        """Run a block and return it with its real output."""
        match language:
            case "console":
                commands = [line for line in content.splitlines() if line.startswith("$ ")]
                content = "".join(f"{line}\n{self.run_line(line[2:])}" for line in commands)
            case "yaml" | "py" | "python" | "js" | "md" if path := _PATH.match(content):
                file = self.file(path[1])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self._without_names(content), encoding="utf-8", newline="\n")
            case "diff":
                self.edit(content)
            case _:
                raise BlockError(f"a block needs a path in its first line:\n{content}")
        return f"```{language}\n{content}```"

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder that the shell is in."""
        code, folder = self.shell.code, self.shell.run("pwd").strip()
        self.shell.code = code
        return Path(folder, name)

    def edit(self, content: str) -> None:
        """Replace the lines of a diff, which the file must contain together and once."""
        path, _, hunks = self._without_names(content).partition("\n")
        file = self.file(path.removeprefix("--- "))
        text = file.read_text(encoding="utf-8")
        for hunk in hunks.split("@@\n"):
            lines = hunk.splitlines()
            old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
            new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
            if text.count(old) != 1:
                raise BlockError(f"{file.name} contains {text.count(old)} times:\n{old}")
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8", newline="\n")

    def run_line(self, line: str, *, typed: str = "") -> str:
        """Run a line of a shell and return its output."""
        if served := _SERVE.match(line):
            return self._serve(line, served["name"], served["port"])
        return self._with_names(self.shell.run(self._without_names(line), typed=typed))

    def _serve(self, line: str, name: str | None, port: str | None) -> str:
        """Start a service on a free port, whatever port the document shows; end the last one."""
        address = f"http://127.0.0.1:{port}" if port else ADDRESS
        if running := self._services.pop(address, 0):
            os.kill(running, signal.SIGTERM)
            self.shell.run(f"wait {running}")
            self.names = {real: known for real, known in self.names.items() if known != address}
        with tempfile.NamedTemporaryFile(dir=self.home, delete=False) as file:
            output = Path(file.name)
        self.shell.run(f"{line} --port 0 >{shlex.quote(str(output))} 2>&1 &")
        self._services[address] = int(self.shell.run("echo $!"))
        for _ in range(_LONGEST * 50):
            if found := _LISTENING.search(output.read_text(encoding="utf-8")):
                break
            time.sleep(0.02)
        else:
            raise BlockError(f"the service did not start:\n{output.read_text(encoding='utf-8')}")
        self.names[found[1]] = address
        if token := _EXPORT.search(found[0]):
            self.names[token[1]] = f"<token of {name}>"
        return self._with_names(output.read_text(encoding="utf-8"))

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
        for real, name in self.names.items():
            text = text.replace(name, real)
        return text


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
    parser.add_argument("documents", nargs="*", type=Path, help="only these; by default all")
    arguments = parser.parse_args()
    write = arguments.write
    differing = []
    for document in [path.resolve() for path in arguments.documents] or DOCUMENTS:
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
