"""A list that the service returns page by page: the operation for each page, and the list's end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from commandsync.api.operations import Operation
    from commandsync.records.models import Bot, BotPage, Queries, Voter, VoterPage

R = TypeVar("R", "Bot", "Voter")
P = TypeVar("P", "BotPage", "VoterPage")


@dataclass(slots=True)
class Paging(Generic[P]):
    """The pages of a list: the operation reads the next one, until it is `over`."""

    operation: Operation[P]
    over: bool = False
    _page: int = 1
    _before: tuple[str, ...] = ()

    def take(self, records: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Return the new records of a page, and go on to the next one.

        The list ends where the service reports it, and with a page that is empty or has the same
        records as the one before: some services have no pages and always answer with the whole
        list, whatever they report about its pages. A page of one voter alone may repeat: somebody
        may vote twice.
        """
        last = queries.max_page
        same = tuple(record.id or repr(record) for record in records)
        repeated = same == self._before and (last is None or len(set(same)) > 1)
        self.over = not records or repeated or (last is not None and self._page >= last)
        self._before = same
        self._page += 1
        query = {**dict(self.operation.query), "page": str(self._page)}
        self.operation = replace(self.operation, query=tuple(query.items()))
        return () if repeated else records
