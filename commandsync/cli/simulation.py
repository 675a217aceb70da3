"""`commandsync serve --as NAME`: another listing service, simulated from its documents."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from commandsync.cli.option import option
from commandsync.cli.options import Run
from commandsync.cli.variables import variable_line

if TYPE_CHECKING:
    from commandsync.server.conditions import Conditions

F = TypeVar("F", bound=Callable[..., Any])

_ONLY_OWN = ("host", "database", "seed", "vote_interval")
QUESTIONS = {
    "empty": "An empty list is accepted or refused.",
    "method": "The list is replaced with put or post.",
    "scheme": "The token has its scheme as documented, or none.",
    "unauthorized": "The status for a wrong token: 401 or 400.",
    "success": "The body after a success: json, text or none.",
    "retry_after": "Where a 429 says how long: body, header or none.",
}
"""What the documents of a service may leave open: options with their help texts."""


def flag(question: str) -> str:
    """Return the option of a question."""
    return f"--{question.replace('_', '-')}"


def simulation_options(command: F) -> F:
    """Give a command the options of a simulation."""
    simulated = partial(option, section="Simulation")
    for name, text in reversed(QUESTIONS.items()):
        command = simulated(f"{flag(name)} VALUE", text)(command)
    which = "Simulate another listing service from its documents, such as top.gg or telegram."
    return simulated("--as NAME", which, dest="service")(command)


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
    """Run a simulation until SIGINT or SIGTERM, and print what leads to it."""
    from commandsync.server.runner import serve_application
    from commandsync.server.simulations import application, simulate

    simulation = simulate(service, conditions=conditions, choices=choices)

    def on_ready(url: str) -> None:
        lines = (
            f"listening on {url}\n{service}, simulated from its documents; {url}/ shows its lists"
        )
        token = variable_line(simulation.service.variable, simulation.token)
        text = f"{lines}\n\n  {token}\n\n{simulation.manifest_lines(url)}"
        run.output.result(text, with_tokens=True)
        sys.stdout.flush()

    for line in simulation.conditions.described():
        run.output.talk(line)
    log = run.output.verbosity > 0
    serve_application(application(simulation), port=port, on_ready=on_ready, access_log=log)
