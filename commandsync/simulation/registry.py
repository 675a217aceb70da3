"""The services by their names, and the simulation of one with its open questions decided."""

from collections.abc import Mapping

from commandsync.errors import UsageError
from commandsync.simulation.botapi import TELEGRAM
from commandsync.simulation.botlists import DISCORDBOTLIST, TOP_GG
from commandsync.simulation.discordapi import DISCORD
from commandsync.simulation.exchange import Service, Simulation

SERVICES: Mapping[str, Service] = {
    service.name: service for service in (TOP_GG, DISCORDBOTLIST, TELEGRAM, DISCORD)
}


def service_named(name: str) -> Service:
    """Return a service that can be simulated; raises `UsageError` if there is none."""
    if name not in SERVICES:
        message = f"{name!r} is not a service that can be simulated"
        raise UsageError(message, hint=f"use {', '.join(SERVICES)}")
    return SERVICES[name]


def simulate(
    service: Service, *, secret: str, bot: str | None = None, choices: Mapping[str, str | None]
) -> Simulation:
    """Return a simulation of a service, with the id of its bot.

    The token contains the `secret`. `choices` are answers to the open questions of the documents;
    None for the default. Raises `UsageError` if there is no such answer.
    """
    given = {question: text for question, text in choices.items() if text is not None}
    for question, text in given.items():
        if text not in service.open.get(question, ()):
            known = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in service.open.items())
            raise UsageError(
                f"{text!r} is not a valid value of {question!r} for {service.name}",
                hint=f"its documents leave open: {known or 'nothing'}",
            )
    answers = {question: default for question, (default, *_) in service.open.items()} | given
    bot = bot or service.bot
    token = service.token.format(bot=bot, secret=secret)
    return Simulation(service=service, answers=answers, bot=bot, token=token)
