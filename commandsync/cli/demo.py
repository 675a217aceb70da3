"""`commandsync demo`: the whole story in one go, against a service started just for it.

Nothing is canned: every command is a child process of this very program, and what is shown is what
it printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAM = (sys.executable, "-m", "commandsync")
_LONGEST_STEP = 60  # seconds; none takes two
_SHOWN_LINES = 24
_EXAMPLES = ("examples", "../examples")  # in the installed package, in a checkout


@dataclass(frozen=True, slots=True)
class Step:
    """One scene of the story.

    Attributes:
        says: What it shows.
        command: What follows the program's name.
        edit: What the developer changes in commands.yaml before.
        exits: The exit code it is to have.
    """

    says: str
    command: str
    edit: Callable[[str], str] | None = None
    exits: int = 0


def _reword(text: str) -> str:
    return text.replace("Shows how long the bot takes to answer.", "Measures the way to the bot.")


def _rename(text: str) -> str:
    return text.replace("  - name: invite\n", "  - name: add-me\n    formerly: [invite]\n")


def _remove(text: str) -> str:
    return re.sub(r"(?ms)^  - name: vote\n.*?\n\n", "", text, count=1)


def _keep_three(text: str) -> str:
    head, _, rest = text.partition("commands:\n  # Each")
    kept = "".join(re.split(r"(?m)^(?=  - name: )", rest)[1:4])
    return f"{head}commands:\n{kept}"


STORY = (
    Step("Check the manifest, offline:", "validate"),
    Step("What would change on the page? What is there was typed in by hand:", "plan"),
    Step("Make it so:", "apply --yes"),
    Step("Nothing is left to do:", "plan"),
    Step("A description is reworded in commands.yaml:", "apply --yes", _reword),
    Step("A command is renamed; with `formerly` it keeps its id and its uses:", "plan", _rename),
    Step("", "apply --yes"),
    Step("A command is removed:", "apply --yes", _remove),
    Step("All but three are removed by mistake. That is refused:", "apply --yes", _keep_three, 5),
    Step("What is listed now, as a manifest:", "pull"),
)


@click.command("demo", short_help="Show the whole story, from validate to pull.")
def demo_command() -> int:
    """Show the main job from validate to pull, against a service started just for this.

    Everything runs on this machine, in a temporary folder, and is cleaned up in the end.
    """
    from commandsync.server import require  # noqa: PLC0415 - needs the extra

    require()
    with tempfile.TemporaryDirectory(prefix="commandsync-demo-") as name:
        folder = Path(name)
        manifest = folder / "commands.yaml"
        manifest.write_text(_example("commands.yaml"), encoding="utf-8", newline="\n")
        (folder / "seed.json").write_text(_example("seed.json"), encoding="utf-8")
        with _service(folder) as settings:
            failed = [step for step in STORY if not _play(step, manifest, settings)]
    _say("\nThat was the whole story." if not failed else "\nThe demo did not go as it should.")
    return 1 if failed else 0


def _play(step: Step, manifest: Path, settings: dict[str, str]) -> bool:
    """Play one scene; whether it ended as it is to."""
    if step.says:
        _say(f"\n# {step.says}")
    if step.edit:
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(step.edit(text), encoding="utf-8", newline="\n")
    _say(f"$ commandsync {step.command}")
    color = "always" if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else "never"
    ended = subprocess.run(  # noqa: S603 - this very program, with the story's own words
        [*PROGRAM, *step.command.split(), "--color", color],
        cwd=manifest.parent,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_LONGEST_STEP,
        check=False,
    )
    lines = ended.stdout.decode("utf-8").splitlines()
    if len(lines) > _SHOWN_LINES:
        left_out = len(lines) - _SHOWN_LINES
        lines[_SHOWN_LINES // 2 : -_SHOWN_LINES // 2] = [f"  ... {left_out} lines ..."]
    _say("\n".join(lines))
    if ended.returncode:
        _say(f"(exit code {ended.returncode})")
    return ended.returncode == step.exits


@contextmanager
def _service(folder: Path) -> Iterator[dict[str, str]]:
    """Run the embedded service as a child; yield the variables that lead to it."""
    arguments = ["serve", "--port", "0", "--database", "listing.db", "--seed", "seed.json"]
    _say("$ commandsync " + " ".join(arguments) + " &")
    with (folder / "serve.log").open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - this very program
            [*PROGRAM, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=log
        )
    assert child.stdout is not None  # noqa: S101 - it is a pipe, as just asked for
    try:
        said = [child.stdout.readline().decode() for _ in range(2)]
        url = re.search(r"http://\S+", said[0])
        token = re.search(r"\S+\.\S+\.\S+$", said[1].strip())
        if url is None or token is None:
            raise UsageError(
                "the embedded service did not start",
                hint=(folder / "serve.log").read_text(encoding="utf-8").strip(),
            )
        _say(said[0].strip())
        yield {"COMMANDSYNC_BASE_URL": url[0], "COMMANDSYNC_TOKEN": token[0], "COMMANDSYNC_BOT": ""}
    finally:
        child.terminate()
        child.wait(_LONGEST_STEP)
        child.stdout.close()


def _example(name: str) -> str:
    package = Path(__file__).resolve().parents[1]
    found = next(
        (path for folder in _EXAMPLES if (path := package / folder / name).is_file()), None
    )
    if found is None:
        raise UsageError(f"examples/{name} is missing", hint="install commandsync again")
    return found.read_text(encoding="utf-8")


def _say(text: str) -> None:
    click.echo(text, color=True)
    sys.stdout.flush()
