"""Records, and what became of single calls, on standard output: a table or one JSON document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

from commandsync.errors import ListingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from commandsync.cli.output import Output
    from commandsync.records.models import Announcement, Command, Queries, Record
    from commandsync.report.records import Collection
    from commandsync.sync.settings import Site

R = TypeVar("R", "Command", "Announcement")


def tell_records(
    collection: Collection,
    found: Sequence[Any],
    *,
    site: Site,
    output: Output,
    page: Queries | None = None,
) -> None:
    """Print records.

    Args:
        collection: What they are.
        found: The records.
        site: Where they are listed.
        output: How to speak.
        page: What the service said of the page that they are; None where they are all.
    """
    from commandsync.report import records  # noqa: PLC0415 - when there is something to show

    if output.format == "json":
        paging = {} if page is None else {"page": page}
        output.result(records.document(_about(site) | {collection: found} | paging))
        return
    width, color = output.width(sys.stdout), output.colored(sys.stdout)
    output.result(records.records_table(collection, found, width=width, color=color))
    if not found:
        output.talk(f"no {collection}")
    if page is not None and page.max_page is not None and page.max_page > 1:
        output.talk(f"page {page.page or '?'} of {page.max_page}; --all shows all")


def tell_record(name: str, record: Record, *, site: Site, output: Output) -> None:
    """Print all that is known of one record."""
    from commandsync.report import records  # noqa: PLC0415 - as above

    if output.format == "json":
        output.result(records.document(_about(site) | {name: record}))
        return
    width, color = output.width(sys.stdout), output.colored(sys.stdout)
    output.result(records.record_table(record, width=width, color=color))


def tell(said: str, *, site: Site, output: Output, **about: object) -> None:
    """Print what became of a call: a sentence of ours, or a document of what it is about."""
    from commandsync.report import records  # noqa: PLC0415 - as above

    output.result(records.document(_about(site) | about) if output.format == "json" else said)


def called(name: str, identifier: str) -> str:
    """Return how a record is spoken of: by its name, which others may have, and its id."""
    from commandsync.report.escape import visible  # noqa: PLC0415 - as above

    shown = visible(identifier)
    if not name:
        return shown
    return f'"{visible(name)}"' + (f" ({shown})" if shown else "")


def found(identifier: str, records: Iterable[R], *, what: str) -> R:
    """Return the record that an id names.

    Raises:
        ListingError: None is listed under that id.
    """
    for record in records:
        if record.id == identifier:
            return record
    raise ListingError(
        f"no {what} with the id {identifier!r} is listed",
        hint=f"commandsync {what}s list shows the ids",
    )


def _about(site: Site) -> dict[str, object]:
    bot: dict[str, object] = {"bot": site.bot} if site.bot else {}
    return bot | {"base_url": site.address.base_url}
