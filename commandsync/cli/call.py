"""Calls of the service without a plan: a client, records on standard output, single writes."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from commandsync.api.policy import may_have_happened
from commandsync.cli.output import ResultLostError, announce_stop
from commandsync.client.library import Client
from commandsync.document import failure_kind
from commandsync.errors import CommandsyncError, ListingError, UsageError
from commandsync.report.escape import visible
from commandsync.report.records import document, record_table, records_table
from commandsync.sync import DEFAULT_MANIFEST, exits
from commandsync.sync.job import calls_of, load
from commandsync.sync.settings import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commandsync.cli.output import Output
    from commandsync.manifest import Manifest
    from commandsync.records.models import Queries, Record
    from commandsync.records.texts import Resource
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals
    from commandsync.sync.site import Site

T = TypeVar("T")

_WAIT = 0.2  # seconds: a wait that a signal cannot break (Windows) is never longer than this


class _AbandonedError(Exception):
    """A second signal came before the end."""


def one_manifest(settings: Settings, *, known: bool) -> Manifest | None:
    """Load the manifest, if one was given or the settings do not name the listing (`known`).

    Raises:
        ManifestError: It is invalid.
        UsageError: Several are given.
    """
    default = Path(DEFAULT_MANIFEST)  # empty: the file of `pull > commands.yaml`
    empty = not default.exists() or (default.is_file() and default.stat().st_size == 0)
    if not settings.files and (known or empty):
        return None
    manifests = load(settings)
    if len(manifests) != 1:
        raise UsageError("this works on one listing", hint="name one manifest")
    return manifests[0]


@contextmanager
def open_client(
    settings: Settings, *, of_bot: bool = True, with_token: bool = False
) -> Iterator[tuple[Client, Site]]:
    """Open a client for the listing that the settings or a manifest name.

    Without `of_bot` no bot is needed; with `with_token` the bot's own token is.
    """
    known = bool(settings.base_url and (settings.bot or not of_bot))
    site = site_of(settings, one_manifest(settings, known=known), of_bot=of_bot)
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


@contextmanager
def open_writer(
    settings: Settings, signals: Signals, output: Output, of: Resource
) -> Iterator[Writer]:
    """Open what makes single writes of records of one kind, with the bot's own token."""
    with open_client(settings, with_token=True) as (client, site):
        yield Writer(client, site, signals, output, check=f"{of.collection} list")


def show_records(
    collection: str,
    records: Sequence[Any],
    *,
    site: Site,
    output: Output,
    page: Queries | None = None,
) -> None:
    """Print records: a page with the service's figures of it, or all."""
    paging = {} if page is None else {"page": page}
    keys = {collection: records} | paging
    _show(lambda **form: records_table(collection, records, **form), keys, site, output)
    if output.format == "json":
        return
    if not records:
        output.talk(f"no {collection}")
    if page is not None and page.max_page is not None and page.max_page > 1:
        output.talk(f"page {page.page or '?'} of {page.max_page}; --all shows all")


def show_record(name: str, record: Record, *, site: Site, output: Output) -> None:
    """Print every field of one record."""
    _show(lambda **form: record_table(record, **form), {name: record}, site, output)


def show_call(sentence: str, *, site: Site, output: Output, **keys: object) -> None:
    """Print the result of a call: a sentence, or a JSON document with these keys."""
    _show(lambda **_: sentence, keys, site, output)


def quoted(name: str, identifier: str) -> str:
    """Return a record's name for a message, with its id, since names are not unique."""
    shown = visible(identifier)
    if not name:
        return shown
    return f'"{visible(name)}"' + (f" ({shown})" if shown else "")


def _show(
    render: Callable[..., str], keys: Mapping[str, object], site: Site, output: Output
) -> None:
    """Print what `render` returns, or a JSON document of the listing and these keys."""
    if output.format == "json":
        bot = {"bot": site.bot} if site.bot else {}
        output.result(document({**bot, "base_url": site.address.base_url, **keys}))
    else:
        output.result(render(screen=output.screen(sys.stdout)))


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes single writes; `check` is the command that shows whether one was made."""

    client: Client
    site: Site
    signals: Signals
    output: Output
    check: str

    def write(
        self, call: Callable[[], T], describe: Callable[[T], tuple[str, dict[str, Any]]]
    ) -> int:
        """Write, and print the result; return the exit code.

        `describe` returns the result as a sentence, and as keys of a JSON document.

        Raises:
            ListingError: It was certainly not written.
        """
        try:
            sentence, keys = describe(self._result_of(call))
            show_call(sentence, site=self.site, output=self.output, **keys)
        except ResultLostError as error:
            self.output.failure(error.after_writing())
            return exits.Exit.INCOMPLETE
        except _AbandonedError:
            return self._unknown("interrupted", "interrupted")
        except ListingError as error:
            if not may_have_happened(error):
                raise
            return self._unknown(error.message, failure_kind(error))
        return exits.Exit.DONE

    def _unknown(self, message: str, kind: str) -> int:
        error = CommandsyncError(
            f"{message}; the result is unknown, it may have been written",
            hint=f"check before you repeat it: commandsync {self.check}",
        )
        self.output.failure(error, kind=kind)
        return exits.Exit.INCOMPLETE

    def _result_of(self, call: Callable[[], T]) -> T:
        """Call on a thread that never keeps the program alive, and wait for the result."""
        results: SimpleQueue[T | BaseException] = SimpleQueue()

        def run() -> None:
            try:
                results.put(call())
            except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
                results.put(error)

        def answer(count: int) -> None:
            if count > 1:
                results.put(_AbandonedError())
            else:
                self.client.close()
                announce_stop()

        with self.signals.answered_by(answer):
            Thread(target=run, name="commandsync-write", daemon=True).start()
            while True:
                with suppress(Empty):
                    result = results.get(timeout=_WAIT)
                    if isinstance(result, BaseException):
                        raise result
                    return result
