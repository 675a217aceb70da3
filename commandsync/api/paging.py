"""A list that the service returns page by page: the operation for each page, and the list's end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from commandsync.errors import ApiError, NotFound

if TYPE_CHECKING:
    from commandsync.api.operations import Operation
    from commandsync.records.models import Bot, BotPage, Queries, Voter, VoterPage

R = TypeVar("R", "Bot", "Voter")
P = TypeVar("P", "BotPage", "VoterPage")

_TOO_LARGE = {400, 413, 422}


@dataclass(slots=True)
class Paging(Generic[P]):
    """The pages of a list.

    Attributes:
        operation: Reads the next page.
        unique: Whether a record is listed once; somebody may vote twice.
        over: Whether the last page was read.
    """

    operation: Operation[P]
    unique: bool = False
    over: bool = False
    _page: int = 1
    _before: tuple[str, ...] = ()
    _pages: set[tuple[str, ...]] = field(default_factory=set)
    _listed: set[str] = field(default_factory=set)

    def take(self, records: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Return the new records of a page, and go on to the next one.

        The list ends where the service reports it, and with a page that is empty or was read
        before: some services begin again after the last page, or always answer with the whole
        list, whatever they report about its pages. A page of one voter alone may repeat. A page
        that begins as the one before ended was shifted by new records.
        """
        last = queries.max_page
        keys = self._keys(records, counted=last is not None)
        if keys in self._pages and (last is None or len(set(keys)) > 1):
            records = ()
        elif self.unique:
            records = tuple(record for record in records if record.id not in self._listed)
        else:
            records = records[self._shift(keys) :]
        self.over = not records or (last is not None and self._page >= last)
        self._before = keys
        self._pages.add(keys)
        self._listed.update(record.id for record in records)
        self._page += 1
        self._change(page=self._page)
        return records

    def refused(self, error: ApiError) -> None:
        """Go on after a refused page: it is past the end, or larger than the service allows.

        Raises:
            ApiError: It is neither.
        """
        limit = int(dict(self.operation.query)["limit"])
        if isinstance(error, NotFound) and self._page > 1:
            self.over = True
        elif error.status in _TOO_LARGE and self._page == 1 and limit > 1:
            self._change(limit=limit // 2)
        else:
            raise error

    def _keys(self, records: tuple[R, ...], *, counted: bool) -> tuple[str, ...]:
        """Return what records are compared by; whole voters where the pages are `counted`.

        The same users may have voted again and again, and only the times of their votes differ.
        """
        if counted and not self.unique:
            return tuple(repr(record) for record in records)
        return tuple(record.id or repr(record) for record in records)

    def _shift(self, keys: tuple[str, ...]) -> int:
        """Return how many records at the beginning of a page were at the end of the one before."""
        if len(set(keys)) == 1:
            return 0
        sizes = range(len(keys), 0, -1)
        return next((size for size in sizes if self._before[-size:] == keys[:size]), 0)

    def _change(self, **query: int) -> None:
        changed = {name: str(value) for name, value in query.items()}
        query_before = dict(self.operation.query)
        self.operation = replace(self.operation, query=tuple((query_before | changed).items()))
