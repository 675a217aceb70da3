"""What python-telegram-bot and aiogram register for the bots of the fixtures, with no network.

Where both are installed, `python tests/support/telegrambots.py` writes the files again.
"""

import asyncio
import json
import runpy
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

BOTS = Path(__file__).parents[1] / "fixtures" / "bots"


def of_telegram(handlers: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield each command with its prefix and the docstring of its function."""
    for each in handlers:
        if type(each).__name__ == "CommandHandler":
            yield from ([name, "/", each.callback.__doc__] for name in sorted(each.commands))
        elif type(each).__name__ == "ConversationHandler":
            states = [handler for state in each.states.values() for handler in state]
            yield from of_telegram([*each.entry_points, *states, *each.fallbacks])


def of_aiogram(filters: Iterable[Any], doc: str | None) -> Iterator[list[Any]]:
    for each in filters:
        yield from ([name, each.prefix, doc] for name in getattr(each, "commands", ()))
        yield from of_aiogram([part.callback for part in getattr(each, "targets", ())], doc)


def telegram() -> dict[str, Any]:
    app = runpy.run_path(str(BOTS / "telegram.txt"))["app"]
    sent: list[Any] = []

    async def caught(*_: object, request_data: Any, **__: object) -> tuple[int, bytes]:  # noqa: ANN401 - of the framework
        sent.extend(request_data.parameters["commands"])
        return 200, b'{"ok": true, "result": true}'

    with patch("telegram.request.HTTPXRequest.do_request", caught):
        asyncio.run(app.post_init(app))
    handlers = [each for group in sorted(app.handlers) for each in app.handlers[group]]
    return {"commands": [*of_telegram(handlers)], "menu": sent}


def aiogram() -> dict[str, Any]:
    dispatcher = runpy.run_path(str(BOTS / "aiogram.txt"))["dp"]
    sent: list[Any] = []

    async def caught(_: object, __: object, method: Any, **___: object) -> bool:  # noqa: ANN401 - of the framework
        sent.extend(each.model_dump(exclude_unset=True) for each in method.commands)
        return True

    with patch("aiogram.client.session.aiohttp.AiohttpSession.make_request", caught):
        asyncio.run(dispatcher.emit_startup(bot=import_module("aiogram").Bot("1:a")))
    observers = [each for part in dispatcher.chain_tail for each in part.observers.values()]
    found = (
        row
        for handler in (each for observer in observers for each in observer.handlers)
        for row in of_aiogram(
            [part.callback for part in handler.filters or ()], handler.callback.__doc__
        )
    )
    return {"commands": [*found], "menu": sent}


if __name__ == "__main__":
    for package, made in (("python-telegram-bot", telegram), ("aiogram", aiogram)):
        output = {"version": version(package), **made()}
        (BOTS / f"{made.__name__}.json").write_text(json.dumps(output, indent=1) + "\n")
