"""Calls of the service without a plan: a client, records on standard output, single writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from commandsync.api.credentials import check_call, known_tokens
from commandsync.api.operations import Operation
from commandsync.api.policy import Doubt, Failure
from commandsync.cli.options import Run
from commandsync.cli.output import Output, ResultLostError
from commandsync.client.library import Client
from commandsync.client.threads import LONGEST_WAIT, in_thread
from commandsync.errors import CommandsyncError, Exit, Invalid, ListingError
from commandsync.report.records import document
from commandsync.sync.job import calls_of
from commandsync.sync.process import Signals, announce_stop
from commandsync.sync.setting import BOT
from commandsync.sync.settings import Settings, Site, default_manifest, load_single
from commandsync.sync.sites import site_of

if TYPE_CHECKING:
    from commandsync.client.connection import Connection
    from commandsync.manifest import Manifest


def one_manifest(settings: Settings, *, of_bot: bool = True) -> Manifest | None:
    """Load the manifest, if one was given or is needed to know the listing, or to check its bot.

    A bot from the environment may be left over: it must not contradict the manifest that is here.
    Without `of_bot` no bot is needed.
    """
    chosen = settings.bot and settings.bot_from != BOT.variable
    known = settings.base_url and (chosen or not of_bot)
    path = Path(default_manifest())
    empty = not path.exists() or (path.is_file() and path.stat().st_size == 0)
    if not settings.files and (known or empty):  # such as the file that pull > commands.yaml makes
        return None
    return load_single(settings, "this works on one listing", hint="name one manifest")


@contextmanager
def open_client(
    settings: Settings, *, of_bot: bool = True, with_token: bool = False
) -> Iterator[tuple[Client, Site]]:
    """Open a client for the listing that the settings or a manifest name.

    Without `of_bot` no bot is needed; with `with_token` the bot's own token is.
    """
    site = site_of(settings, one_manifest(settings, of_bot=of_bot), of_bot=of_bot)
    if with_token:
        site.check_token()
    with Client(
        site.token,
        site.address.base_url,
        bot=site.bot or None,
        timeout=settings.timeout,
        retries=settings.retries,
        insecure_http=settings.insecure_http,
    ) as client:
        client.connection.on_wait = calls_of(settings, site)
        yield client, site


def show_call(
    shown: str | Callable[..., str], *, site: Site, output: Output, **keys: object
) -> None:
    """Print the result of a call: text, or a JSON document of the listing and these keys."""
    if output.format == "json":
        bot = {"bot": site.bot} if site.bot else {}
        shown = document({**bot, "base_url": site.address.base_url, **keys})
    elif not isinstance(shown, str):
        shown = shown(screen=output.screen())
    output.result(shown)


def write_alone(  # noqa: PLR0913 - a call, and the words about it
    operation: Operation[Any],
    connection: Connection,
    site: Site,
    run: Run,
    *,
    bot: str,
    check: str,
    sentence: str,
    **keys: object,
) -> int:
    """Make a single write of a bot, and print the result: as a sentence, or as keys of JSON.

    `check` names the place that shows whether it was made. Returns the exit code. Raises
    `ListingError` if it was certainly not written: it was never sent, or refused.
    """
    check_call(operation, site.token, bot=bot, others=known_tokens())
    try:
        if failure := _failure_of(operation, connection, run.signals):
            error = failure.error
            redirected = isinstance(error, Invalid) and error.status in range(300, 400)
            if not (failure.doubt or redirected):
                raise error
            unknown = CommandsyncError(
                f"{error.message}; the result is unknown, it may have been written",
                hint=f"check before you repeat it: {check}",
                kind=error.kind,
            )
            run.output.failure(unknown)
            return Exit.INCOMPLETE
        show_call(sentence, site=site, output=run.output, **keys)
    except ResultLostError as error:
        run.output.failure(error.after_writing())
        return Exit.INCOMPLETE
    return Exit.DONE


def _failure_of(
    operation: Operation[Any], connection: Connection, signals: Signals
) -> Failure | None:
    """Send a call, and wait for the result, or until a second signal; return its failure."""
    abandoned = Event()

    def answer(count: int) -> None:
        if count > 1:
            abandoned.set()
        else:
            connection.close()
            announce_stop()

    with signals.answered_by(answer):
        call = in_thread(partial(connection.attempt, operation), name="commandsync-write")
        while not call.done():
            wait([call], LONGEST_WAIT)
            if abandoned.is_set():
                return Failure(ListingError("interrupted", kind="interrupted"), Doubt.SILENT)
        result = call.result()
        return result if isinstance(result, Failure) else None
