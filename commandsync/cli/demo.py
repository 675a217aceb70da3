"""`commandsync demo`: every step from validate to pull, against a service that it starts.

Each command is a child process of this program, and its real output is shown. The service runs in
this process, so that it ends with it.
"""

import os
import re
import shlex
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from commandsync.cli.options import OrderedCommand
from commandsync.cli.serve import example

_echo = partial(click.echo, color=True)
PROGRAM = (sys.executable, "-m", "commandsync")
_SHOWN_LINES = 24
_FAILED = "\nA step did not end as expected."
_NEXT = """
All steps ended as expected. Next:

1. Try it yourself, with bots to play with; serve prints the lines to paste:
     {program} serve
2. Write the manifest of your own bot, in its folder:
     {absolute} init
3. Check the settings and the token before the first apply:
     {program} doctor"""


class DemoStep(NamedTuple):
    """One step of the demo: a change to its manifest, and a command with its expected exit code.

    The title is empty for a step that belongs to the one before.
    """

    title: str
    command: str
    edit: tuple[str, str] | None = None  # a regular expression, and its replacement
    exit_code: int = 0


_REWORD = (r"Shows how long the bot takes to answer\.", "Measures the way to the bot.")
_RENAME = (r"  - name: invite\n", "  - name: add-me\n    formerly: [invite]\n")
_REMOVE = (r"(?ms)^  - name: vote\n.*?\n\n", "")
_KEEP_THREE = (r"(?ms)(^commands:\n).*?((?:^  - name: (?:(?!^  - name: ).)*){3}).*", r"\1\2")

STEPS = (
    DemoStep("Check the manifest, offline:", "validate"),
    DemoStep("What would change on the page? It was edited by hand so far:", "plan"),
    DemoStep("Apply it:", "apply --yes"),
    DemoStep("Nothing is left to change:", "plan"),
    DemoStep("A description is reworded in commands.yaml:", "apply --yes", _REWORD),
    DemoStep(
        "A command is renamed; with `formerly` it keeps its id and its uses:", "plan", _RENAME
    ),
    DemoStep("", "apply --yes"),
    DemoStep("A command is removed:", "apply --yes", _REMOVE),
    DemoStep(
        "All but three are removed by mistake. That is refused:", "apply --yes", _KEEP_THREE, 5
    ),
    DemoStep("What is listed now, as a manifest:", "pull"),
)

_DISCORD = """\
version: 1
listings:
  - service: discord
    base_url: {url}
commands:
  - name: play
    description: Plays a song.
    syntax: /play <song>
    discord:
      options:
        - {{type: 3, name: song, description: The title., required: true}}
  - name: ping
    description: Says pong.
    syntax: /ping
"""
_RENAME_AT_DISCORD = (
    r"(?s)  - name: play\n(.*?)syntax: /play",
    r"  - name: music\n    formerly: [play]\n\1syntax: /music",
)
STEPS_AT_DISCORD = (
    DemoStep("The same for the commands that are registered at Discord:", "apply --yes"),
    DemoStep("A renamed command keeps its id there, too:", "apply --yes", _RENAME_AT_DISCORD),
    DemoStep("Nothing is left to change:", "plan"),
)


@click.command("demo", cls=OrderedCommand)
def demo_command() -> int:
    """Show every step, from validate to pull.

    Everything runs on this machine, against a listing service in a temporary folder, and is
    removed at the end.
    """
    from tempfile import TemporaryDirectory

    from commandsync.server.service import running
    from commandsync.sync.files import write_file

    with TemporaryDirectory(prefix="commandsync-demo-") as name:
        manifest, seed = Path(name) / "commands.yaml", Path(name) / "seed.json"
        for file in (manifest, seed):
            text = example(file.name).read_text(encoding="utf-8")
            write_file(str(file), text, force=False)
        _echo("$ commandsync serve --port 0 --seed seed.json &")
        with running(f"{name}/listing.db", seed=seed) as service:
            _echo(f"listening on {service.url}")
            _, lantern = service.bots
            settings = {
                "COMMANDSYNC_BASE_URL": service.url,
                "COMMANDSYNC_TOKEN": lantern.token,
                "COMMANDSYNC_BOT": "",
            }
            failed = [step for step in STEPS if not _run(step, manifest, settings)]
        failed += _at_discord(manifest)
    absolute = program_name(anywhere=True)
    _echo(_FAILED if failed else _NEXT.format(program=program_name(), absolute=absolute))
    return 1 if failed else 0


def _at_discord(manifest: Path) -> list[DemoStep]:
    """Run the steps at a simulation of Discord; return those that ended in another way."""
    from commandsync.server.service import SimulatedService, running_application
    from commandsync.simulation.registry import service_named
    from commandsync.sync.files import write_file

    _echo("\n$ commandsync serve --as discord --port 0 &")
    discord = SimulatedService(service_named("discord"), choices={})
    with running_application(discord.app) as url:
        _echo(f"listening on {url}")
        write_file(str(manifest), _DISCORD.format(url=url), force=True)
        simulation = discord.simulation
        settings = {simulation.service.variable: simulation.token}
        return [step for step in STEPS_AT_DISCORD if not _run(step, manifest, settings)]


def program_name(*, anywhere: bool = False) -> str:
    """Return how a shell calls this installation: by its name, or else by the path of its script.

    The path is below the current folder if it can be, unless it is to work `anywhere`.
    """
    own = shutil.which("commandsync", path=str(Path(sys.executable).parent))
    if own is None or own == shutil.which("commandsync"):
        return "commandsync"
    script, here = Path(own), Path.cwd()
    is_below = script.is_relative_to(here) and not anywhere
    path = script.relative_to(here) if is_below else script
    return shlex.quote(path.as_posix())


def _run(step: DemoStep, manifest: Path, settings: dict[str, str]) -> bool:
    """Run one step; return whether it ended with the expected exit code."""
    import subprocess

    from commandsync.cli.output import Output
    from commandsync.sync.files import write_file

    if step.title:
        _echo(f"\n# {step.title}")
    if step.edit:
        text = manifest.read_text(encoding="utf-8")
        write_file(str(manifest), re.sub(*step.edit, text, count=1), force=True)
    _echo(f"$ commandsync {step.command}")
    color = "always" if Output().screen().color else "never"
    ended = subprocess.run(  # noqa: S603 - this program, with the arguments above
        [*PROGRAM, *step.command.split(), "--color", color],
        cwd=manifest.parent,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,  # seconds; none takes two
        check=False,
    )
    lines = ended.stdout.decode("utf-8").splitlines()
    if len(lines) > _SHOWN_LINES:
        left_out = len(lines) - _SHOWN_LINES
        lines[_SHOWN_LINES // 2 : -_SHOWN_LINES // 2] = [f"  ... {left_out} lines ..."]
    _echo("\n".join(lines))
    if ended.returncode:
        _echo(f"(exit code {ended.returncode})")
    return ended.returncode == step.exit_code
