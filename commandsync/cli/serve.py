"""`commandsync serve`: the embedded listing service, or with `--as` a simulation of another one.

It prints lines to paste into another terminal: they set the address of the service and a token.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click import IntRange
from click.core import ParameterSource

from commandsync.cli.options import Number, Run, RunCommand, database_option, option, read_by
from commandsync.simulation import NAMES

if TYPE_CHECKING:
    from pathlib import Path

    from commandsync.cli.output import Output
    from commandsync.server.administration import SeededBot
    from commandsync.server.conditions import Conditions


POWERSHELL = os.name == "nt" and "SHELL" not in os.environ  # Git's bash on Windows sets it


def lines_to_paste(
    url: str, bots: Sequence[SeededBot], database: str, *, with_tokens: bool
) -> Iterator[str]:
    """Yield the lines that set the service and the first bot in another terminal.

    The token says which bot it is. Every other bot has its line in a comment, so that the lines can
    be pasted together. A terminal shows tokens. Other output may be a log, where no token belongs:
    the line asks the database for it, from any folder. The database in memory cannot be asked, and
    its tokens end with the process.
    """
    from pathlib import Path

    from commandsync.report.lines import visible

    is_file = "://" not in database  # a URL has a password
    option = f" --database {shlex.quote(str(Path(database).absolute()))}" if is_file else ""
    for number, bot in enumerate(bots):
        token = bot.token if with_tokens else f"commandsync bots token {bot.id}{option}"
        line = variable_line("COMMANDSYNC_TOKEN", token, is_command=not with_tokens)
        if number:
            yield f"  # {visible(bot.username)}: {line}"
            continue
        yield from ("", f"  # {visible(bot.username)}")
        yield "  " + variable_line("COMMANDSYNC_BASE_URL", reachable(url))
        yield f"  {line}"
        yield from [""] if len(bots) > 1 else []


def variable_line(
    name: str, value: str, *, is_command: bool = False, powershell: bool = POWERSHELL
) -> str:
    """Return the line that sets an environment variable in bash, zsh and fish, or in PowerShell.

    The value can be a command that prints it.
    """
    if powershell:
        text = value.replace("'", "''")
        return f"$env:{name} = " + (value if is_command else f"'{text}'")
    quoted = f'"$({value})"' if is_command else shlex.quote(value)
    return f"export {name}={quoted}"


def reachable(url: str) -> str:
    """Return the URL for clients on this machine: no client connects to "all addresses"."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


F = TypeVar("F", bound=Callable[..., Any])

_ONLY_OWN = ("host", "database", "seed", "vote_interval")
QUESTIONS = {
    "empty": "An empty list is accepted or refused.",
    "method": "The list is replaced with put or post.",
    "announcements": "Announcements are sent with post or put.",
    "scheme": "The token has its scheme as documented, or none.",
    "unauthorized": "The status for a wrong token: 401 or 400.",
    "success": "The body after a success: json, text or none.",
    "retry_after": "Where a 429 says how long: body, header or none.",
    "bucket": "The changes of Discord's commands that are accepted: 5/20s, 1/s or none for any.",
    "installs": "Where Discord's application can be installed: both, guild or user.",
    "bot_id": "The id of Discord's bot: same as that of the application, or other.",
    "servers": "The servers of Discord's bot: any, or one.",
    "unknown_keys": "Keys that Discord does not document are dropped or kept.",
    "user_agent": "Discord's rule for the User-Agent is not used (any) or checked.",
}
"""The questions that the documents of a service may leave open: options with their help texts."""


def flag(question: str) -> str:
    """Return the option of a question."""
    return f"--{question.replace('_', '-')}"


def simulation_options(command: F) -> F:
    """Give a command the options of a simulation."""
    simulated = partial(option, section="Simulation")
    for name, text in reversed(QUESTIONS.items()):
        command = simulated(f"{flag(name)} VALUE", text)(command)
    which = f"Simulate another service from its documents: {', '.join(NAMES)}."
    return simulated("--as NAME", which, dest="service", type=click.Choice(NAMES))(command)


def check_options(service: str | None, choices: Mapping[str, str | None]) -> None:
    """Raise `UsageError` for an option of a simulation without one, and the other way round."""
    from commandsync.errors import UsageError

    source = click.get_current_context().get_parameter_source
    for name in choices if service is None else _ONLY_OWN:
        if source(name) is ParameterSource.COMMANDLINE:
            wrong = "needs --as" if service is None else "cannot be used with --as"
            raise UsageError(
                f"{flag(name)} {wrong}",
                hint="a simulation listens on this machine only, and stores nothing",
            )


def serve_simulation(
    run: Run,
    service: str,
    *,
    port: int,
    conditions: Conditions,
    choices: Mapping[str, str | None],
) -> None:
    """Run a simulation until SIGINT or SIGTERM, and print its address, token and manifest."""
    from commandsync.server.service import SimulatedService, serve_application
    from commandsync.simulation.registry import SERVICES

    served = SimulatedService(SERVICES[service], conditions=conditions, choices=choices)
    simulation = served.simulation

    def on_ready(url: str) -> None:
        lines = (
            f"listening on {url}\n{service}, simulated from its documents; {url}/ shows its lists"
        )
        token = variable_line(simulation.service.variable, simulation.token)
        text = f"{lines}\n\n  {token}\n\n{simulation.manifest_lines(url)}"
        run.output.result(text, with_tokens=True)
        sys.stdout.flush()

    for line in served.conditions.described():
        run.output.talk(line)
    log = run.output.verbosity > 0
    serve_application(served.app, port=port, on_ready=on_ready, access_log=log)


_MOST_BOTS = 10  # whose lines are printed


def _rate_limit(value: str) -> str:
    from commandsync.server.conditions import parse_rate_limit

    parse_rate_limit(value)
    return value


_condition = partial(option, section="Conditions")


@click.command("serve", cls=RunCommand)
@option("--host TEXT", "The address to listen on.", default="127.0.0.1")
@option("--port N", "The port; 0 picks a free one.", type=IntRange(0, 65535), default=8000)
@option(
    "--host-name NAME",
    "A host name that requests may use, beside localhost and --host; may be repeated.",
    dest="names",
    multiple=True,
)
@database_option
@option("--seed PATH", "A JSON file of bots to create if they do not exist.", callback=None)
@option(
    "--vote-interval SECONDS",
    "The time until a user can vote for a bot again.",
    type=IntRange(1, 31_536_000),
    default=43_200,
)
@_condition(
    "--latency MS", "The minimum time of an answer, in milliseconds.", type=Number(0, 60_000)
)
@_condition(
    "--rate-limit LIMIT",
    "Answer 429 to a client with more requests: 30/minute, or 100/5 minutes.",
    callback=read_by(_rate_limit),
)
@_condition(
    "--fail RATE",
    "The share of requests that fail, half of them after their work was done; 0.1 is a tenth.",
    type=Number(0, 1),
)
@_condition("--chaos-seed N", "Repeat the failures of another run.", type=IntRange(0))
@simulation_options
def serve_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    host: str,
    port: int,
    names: Sequence[str],
    database: str,
    seed: str | None,
    vote_interval: int,
    latency: float | None,
    rate_limit: str | None,
    fail: float | None,
    chaos_seed: int | None,
    service: str | None,
    **choices: str | None,
) -> None:
    """Run a listing service on this machine.

    It has a real database, so that everything can be tried with no account. A new database file
    gets bots to play with, unless there is a seed. It prints lines to paste into another terminal:
    they set the service and the first bot; the lines of the other bots are comments. Only a
    terminal shows the tokens; elsewhere, where the output may be a log, the lines ask the database
    for them.

    With --as, it answers as the documents of another listing service say, on this machine only and
    with nothing stored. It prints a token and the lines for the manifest. The options of the
    simulation choose the answers that the documents leave open.

    \b
    Example:
      commandsync serve
      commandsync serve --as top.gg --empty refused
      commandsync serve --database mine.db --seed bots.json
    """
    from datetime import timedelta
    from pathlib import Path

    from commandsync.server.conditions import Conditions
    from commandsync.server.service import serve

    seeded = {} if chaos_seed is None else {"chaos_seed": chaos_seed}
    conditions = Conditions(latency or 0, rate_limit, fail or 0, **seeded)
    check_options(service, choices)
    if service is not None:
        serve_simulation(run, service, port=port, conditions=conditions, choices=choices)
        return
    for line in conditions.described():
        run.output.talk(line)
    # A database of PostgreSQL may be anybody's: only a file that is made now gets bots.
    exists = os.path.exists(database)  # noqa: PTH110 - False also for a name that is too long
    if seed is None and "://" not in database and not exists:
        seed = str(example("seed.json"))
    serve(
        host=host,
        port=port,
        names=names,
        database=database,
        seed=None if seed is None else Path(seed),
        vote_interval=timedelta(seconds=vote_interval),
        conditions=conditions,
        on_ready=partial(_show_service, run.output, database),
        access_log=run.output.verbosity > 0,
    )


def _show_service(output: Output, database: str, url: str, bots: Sequence[SeededBot]) -> None:
    """Print the address of the service, and the lines that set its bots."""
    shown = sys.stdout.isatty() or database == ":memory:"
    lines = lines_to_paste(url, bots[:_MOST_BOTS], database, with_tokens=shown)
    output.result("\n".join([f"listening on {url}", *lines]), with_tokens=shown)
    sys.stdout.flush()
    if sys.stderr.isatty():
        output.talk(f"\nopen {reachable(url)} in a browser to see its pages")
    if not bots:
        output.talk("no bots yet: commandsync bots add ID --name NAME adds one")
    elif len(bots) > _MOST_BOTS:
        output.talk("there are more bots: commandsync bots token ID prints the token of each")


def example(name: str) -> Path:
    """Return the path of an example; raises `UsageError` if it is missing."""
    from pathlib import Path

    from commandsync.errors import UsageError

    package = Path(__file__).resolve().parents[1]
    for folder in ("examples", "../examples"):  # in the installed package, in a checkout
        if (path := package / folder / name).is_file():
            return path
    raise UsageError(f"examples/{name} is missing", hint="install commandsync again")
