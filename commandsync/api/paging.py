"""A list that the service returns page by page: the operation for each page, and the list's end."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Generic, TypeVar

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure
from commandsync.errors import ApiError, Invalid, NotFound
from commandsync.records.models import Bot, BotPage, Queries, Voter, VoterPage

R = TypeVar("R", "Bot", "Voter")
P = TypeVar("P", "BotPage", "VoterPage")

_TOO_LARGE = {400, 413, 422}


@dataclass(slots=True)
class Paging(Generic[P, R]):
    """The pages of a list."""

    operation: Operation[P]  # reads the next page
    records: Callable[[P], tuple[R, ...]]  # returns those of a page
    unique: bool = False  # whether a record is listed once; somebody may vote twice
    over: bool = False  # whether the last page was read
    _page: int = 1
    _before: tuple[str, ...] = ()  # the page before
    _pages: set[tuple[str, ...]] = field(default_factory=set)
    _listed: set[str] = field(default_factory=set)

    def take(self, page: P | Failure) -> tuple[R, ...]:
        """Return the new records of a page, and go on to the next one.

        Raises why the page could not be read, unless it does not exist, or is larger than the
        service allows.
        """
        if not isinstance(page, Failure):
            return self._new(self.records(page), page.queries)
        if not (isinstance(page.error, ApiError) and self._refused(page.error)):
            raise page.error
        return ()

    def _new(self, records: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Return the new records of a page.

        The list ends where the service reports it, and with a page that is empty or was read
        before: some services begin again after the last page, or always answer with the whole
        list, whatever they report about its pages. A page of one voter alone may repeat.

        New votes move entries to later pages: a page that begins as the one before ended goes on
        behind that.
        """
        keys, last = self._keys(records, queries), self._last(records, queries)
        if self.unique:
            records = tuple(record for record in records if record.id not in self._listed)
        elif keys in self._pages and (last == inf or len(set(keys)) > 1):
            records = ()
        new = records[self._overlap(keys) :]
        self.over = not records or self._page >= last
        # Without records and pages, the list is empty, or its only page has the number 0.
        is_doubtful = (keys, last) == ((), 0) and () not in self._pages
        self._before = keys
        self._pages.add(keys)
        self._listed.update(record.id for record in new)
        if is_doubtful:
            self._page, self.over = -1, False
        self._page += 1
        self._change(page=self._page)
        return new

    def _refused(self, error: ApiError) -> bool:
        """Go on after a page that does not exist, or is too large; False if it is neither."""
        limit = int(dict(self.operation.query)["limit"])
        if self._page != 1:
            self.over = isinstance(error, NotFound if self._page else NotFound | Invalid)
            return self.over
        is_large = error.status in _TOO_LARGE and limit > 1
        if is_large:
            self._change(limit=limit // 2)
        return is_large

    def _last(self, records: tuple[R, ...], queries: Queries) -> float:
        """Return the number of the last page, where the first one is 1; infinite if unknown."""
        number = self._page if queries.page is None else queries.page
        if queries.max_page is None or (records and queries.max_page < number):
            return inf
        return queries.max_page + (number == self._page - 1)  # where they are reported from 0

    def _keys(self, records: tuple[R, ...], queries: Queries) -> tuple[str, ...]:
        """Return the keys that compare records: whole voters where the service counts its pages.

        The same users may have voted again and again, and only the times of their votes differ.
        """
        if queries.max_page is not None and not self.unique:
            return tuple(repr(record) for record in records)
        return tuple(record.id or repr(record) for record in records)

    def _overlap(self, keys: tuple[str, ...]) -> int:
        """Return how many records at the end of the page before are the beginning of this one.

        They are fewer than a page: a whole one of equal records is somebody who votes again. New
        bots are known by their ids.
        """
        most = 0 if self.unique else min(len(keys), len(self._before) - 1)
        counts = range(most, 0, -1)
        return next((count for count in counts if self._before[-count:] == keys[:count]), 0)

    def _change(self, **query: int) -> None:
        changed = {name: str(value) for name, value in query.items()}
        query_before = dict(self.operation.query)
        self.operation = replace(self.operation, query=tuple((query_before | changed).items()))
