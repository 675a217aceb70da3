"""A list that the service returns page by page: the operation for each page, and the list's end."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
    _before: tuple[str, ...] = ()  # the page before, as it was read
    _behind: int = 0  # how many records that were read follow it
    _tail: tuple[str, ...] = ()  # the end of what was read: two pages
    _pages: set[tuple[str, ...]] = field(default_factory=set)
    _listed: set[str] = field(default_factory=set)
    _moves: bool = False  # whether new votes have moved entries
    _held: tuple[tuple[Any, ...], Queries] | None = None

    def take(self, records: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Return the new records of a page, and go on to the next one.

        The list ends where the service reports it, and with a page that is empty or was read
        before: some services begin again after the last page, or always answer with the whole
        list, whatever they report about its pages. A page of one voter alone may repeat.

        If a page begins as the one before ended, either somebody voted twice, or new votes have
        moved entries to it. The page before is then read again: it shows how many have moved, if
        they are fewer than a page.
        """
        keys = self._keys(records, queries)
        if self._held is not None:
            moved = self._moved(keys)
            self._moves = self._moves or moved > 0
            (records, queries), self._held = self._held, None
            return self._taken(records, queries, moved)
        unclear = not self.unique and (self._moves or keys not in self._pages)
        if keys and unclear and self._overlap(keys, len(self._tail)) > self._behind:
            self._held = records, queries
            self._change(page=self._page - 1)
            return ()
        return self._taken(records, queries, 0)

    def _taken(self, records: tuple[Any, ...], queries: Queries, moved: int) -> tuple[Any, ...]:
        keys = self._keys(records, queries)
        last = queries.max_page
        if not moved and self._repeats(keys, last):
            records = ()
        elif self.unique:
            records = tuple(record for record in records if record.id not in self._listed)
        overlap = self._overlap(keys, self._behind + moved)
        self.over = not records or (last is not None and self._page >= last)
        self._before = keys
        self._behind = max(overlap - len(keys), 0)
        self._tail = (self._tail + keys[overlap:])[-2 * len(keys) :]
        self._pages.add(keys)
        self._listed.update(record.id for record in records)
        self._page += 1
        self._change(page=self._page)
        return records[overlap:]

    def refused(self, error: ApiError) -> None:
        """Go on after a refused page: it is past the end, or larger than the service allows.

        Raises:
            ApiError: It is neither.
        """
        limit = int(dict(self.operation.query)["limit"])
        if isinstance(error, NotFound) and self._page > 1 and self._held is None:
            self.over = True
        elif error.status in _TOO_LARGE and self._page == 1 and limit > 1:
            self._change(limit=limit // 2)
        else:
            raise error

    def _keys(self, records: tuple[R, ...], queries: Queries) -> tuple[str, ...]:
        """Return what records are compared by: whole voters where the service counts its pages.

        The same users may have voted again and again, and only the times of their votes differ.
        """
        if queries.max_page is not None and not self.unique:
            return tuple(repr(record) for record in records)
        return tuple(record.id or repr(record) for record in records)

    def _repeats(self, keys: tuple[str, ...], last: int | None) -> bool:
        return keys in self._pages and (last is None or len(set(keys)) > 1)

    def _overlap(self, keys: tuple[str, ...], most: int) -> int:
        """Return how many records before its end what was read has the beginning of a page."""
        counts = range(min(most, len(self._tail)), self._behind, -1)
        parts = ((count, self._tail[-count:][: len(keys)]) for count in counts)
        return next((count for count, part in parts if part == keys[:count]), self._behind)

    def _moved(self, keys: tuple[str, ...]) -> int:
        """Return by how many records the page before has moved when it is read again."""
        count = len(keys)
        moves = (move for move in range(count) if keys[move:] == self._before[: count - move])
        return next(moves, len(self._tail))

    def _change(self, **query: int) -> None:
        changed = {name: str(value) for name, value in query.items()}
        query_before = dict(self.operation.query)
        self.operation = replace(self.operation, query=tuple((query_before | changed).items()))
