"""Calls of the service without a plan: a client, records on standard output, single writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass
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
from commandsync.sync.process import announce_stop
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
    if not settings.files and (known or empty):  # such as that of pull > commands.yaml
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


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes single writes of a bot; `check` names the place that shows whether one was made."""

    connection: Connection
    site: Site
    run: Run
    bot: str
    check: str

    def write(self, operation: Operation[Any], sentence: str, **keys: object) -> int:
        """Write, and print the result: as a sentence, or as keys of a JSON document.

        Returns the exit code. Raises `ListingError` if it was certainly not written: it was never
        sent, or refused.
        """
        try:
            if failure := self._failure_of(operation):
                return self._failed(failure)
            show_call(sentence, site=self.site, output=self.run.output, **keys)
        except ResultLostError as error:
            self.run.output.failure(error.after_writing())
            return Exit.INCOMPLETE
        return Exit.DONE

    def _failed(self, failure: Failure) -> int:
        error = failure.error
        redirected = isinstance(error, Invalid) and error.status in range(300, 400)
        if not (failure.doubt or redirected):
            raise error
        unknown = CommandsyncError(
            f"{error.message}; the result is unknown, it may have been written",
            hint=f"check before you repeat it: {self.check}",
            kind=error.kind,
        )
        self.run.output.failure(unknown)
        return Exit.INCOMPLETE

    def _failure_of(self, operation: Operation[Any]) -> Failure | None:
        """Send it, and wait for the result, or until a second signal; return its failure."""
        check_call(operation, self.site.token, bot=self.bot, others=known_tokens())
        abandoned = Event()

        def answer(count: int) -> None:
            if count > 1:
                abandoned.set()
            else:
                self.connection.close()
                announce_stop()

        with self.run.signals.answered_by(answer):
            call = in_thread(partial(self.connection.attempt, operation), name="commandsync-write")
            while not call.done():
                wait([call], LONGEST_WAIT)
                if abandoned.is_set():
                    return Failure(ListingError("interrupted", kind="interrupted"), Doubt.SILENT)
            result = call.result()
            return result if isinstance(result, Failure) else None
