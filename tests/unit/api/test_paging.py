"""Lists in pages are read whole, and each entry once, on services that page in any way.

That both clients read page after page is tested over HTTP, in `conformance`.
"""

import json
import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from commandsync.api.operations import list_bots, list_voters
from commandsync.api.policy import Failure, Paging
from commandsync.errors import ApiError, Invalid, NotFound, Reply

Records = list[dict[str, Any]]
Serve = Callable[[int, int], "Records | dict[str, Any] | int"]
Pages = Callable[[Records, int], Serve]

MOST = 60  # requests after which a reader does not come to an end
LISTS: dict[str, Callable[[], Paging[Any, Any]]] = {
    "bots": lambda: Paging(list_bots(limit=100, page=1), lambda page: page.bots, unique=True),
    "voters": lambda: Paging(list_voters("42", limit=100, page=1), lambda page: page.voters),
}


def records(rng: random.Random, count: int) -> Records:
    return [{"id": str(number)} for number in rng.sample(range(10**17, 10**18), count)]


def identifiers(which: str, serve: Serve) -> list[str]:
    """Return the ids of a list whose pages a function returns, for a page and a limit."""
    paging, found = LISTS[which](), list[str]()
    for _ in range(MOST):
        query = {key: int(value) for key, value in paging.operation.query}
        shown = serve(query["page"], query["limit"])
        data = shown if isinstance(shown, dict) else {"data": shown}
        status = shown if isinstance(shown, int) else 200
        body = {"success": True, "data": data} if status == 200 else {"error": f"HTTP {status}"}
        try:
            page = paging.operation.read(Reply(status, json.dumps(body).encode()))
        except ApiError as error:
            page = Failure(error)
        found += [record.id for record in paging.take(page)]
        if paging.over:
            return found
    pytest.fail("it asked without end")


def wrapping(listed: Records, size: int) -> Serve:
    """After the last page comes the first one again."""
    return lambda page, _: listed[(begin := (page - 1) * size % len(listed)) : begin + size]


def repeating(listed: Records, size: int) -> Serve:
    """After the last page it comes again."""
    last = len(listed) // size
    return lambda page, _: listed[(min(page, last) - 1) * size :][:size]


def ending(listed: Records, size: int) -> Serve:
    """After the last page comes a 404."""
    return lambda page, _: listed[(page - 1) * size :][:size] or 404


def from_zero(*, asked: int, told: bool) -> Pages:
    """Count pages from 0: in the request (then `asked` is 1), or in the report about them."""

    def pages(listed: Records, size: int) -> Serve:
        def serve(page: int, _limit: int) -> dict[str, Any] | int:
            number = page - 1 + asked
            shown = listed[number * size : (number + 1) * size] if number >= 0 else []
            queries = {"maxPage": (len(listed) - 1) // size} | ({"page": number} if told else {})
            return {"queries": queries, "data": shown}

        return serve

    return pages


def promising(**queries: int) -> Pages:
    """Tell the same of every page."""

    def pages(listed: Records, size: int) -> Serve:
        def serve(page: int, _limit: int) -> dict[str, Any] | int:
            shown = listed[(page - 1) * size : page * size]
            return {"queries": queries, "data": shown} if page else 400

        return serve

    return pages


def refusing(listed: Records, most: int) -> Serve:
    """Refuse larger pages."""
    return lambda page, limit: 400 if limit > most else listed[(page - 1) * limit : page * limit]


def shortening(listed: Records, most: int) -> Serve:
    """Show smaller pages than those that are asked for."""
    return lambda page, limit: listed[(page - 1) * min(limit, most) :][: min(limit, most)]


def cases() -> Iterator[Any]:
    """Return each way of paging, with numbers of records and sizes of pages."""
    rng = random.Random(6)  # noqa: S311 - the same in every run
    sizes = rng.sample(range(1, 10), 3)
    whole = [(size * rng.randint(1, 6), size) for size in sizes]
    begun = [(size * n - rng.randrange(size), size) for n in (1, 2, 7) for size in sizes]
    single, few = [(0, 9), (1, 9), (9, 9)], [(0, 7), (5, 7), (30, 7)]
    large = [(130, most) for most in (50, *rng.sample(range(5, 100), 3))]
    ways: dict[str, tuple[Pages, list[tuple[int, int]]]] = {
        "the first page after the last": (wrapping, whole),
        "the last page again": (repeating, whole),
        "a 404 after the last page": (ending, whole),
        "numbers told from zero": (from_zero(asked=0, told=True), begun),
        "the only page, told as zero": (from_zero(asked=1, told=True), single),
        "the only page, not told": (from_zero(asked=1, told=False), single),
        "zero pages": (promising(maxPage=0), few),
        "page one of zero": (promising(page=1, maxPage=0), few),
        "large pages are refused": (refusing, large),
        "pages are smaller than asked for": (shortening, large),
    }
    for name, (pages, lists) in ways.items():
        yield pytest.param(pages, lists, id=name)


@pytest.mark.parametrize("which", LISTS)
@pytest.mark.parametrize(("pages", "lists"), list(cases()))
def test_a_list_is_read_whole_and_once_however_it_is_paged(
    which: str, pages: Pages, lists: list[tuple[int, int]]
) -> None:
    for count, size in lists:
        listed = records(random.Random(count), count)  # noqa: S311 - the same in every run

        shown = identifiers(which, pages(listed, size))
        assert shown == [record["id"] for record in listed], (count, size)


@pytest.mark.parametrize("which", LISTS)
@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (400, Invalid)])
def test_a_refusal_of_the_first_page_is_an_error(
    which: str, status: int, error: type[ApiError]
) -> None:
    with pytest.raises(error, match=f"HTTP {status}"):
        identifiers(which, lambda _page, _limit: status)


@pytest.mark.parametrize("which", LISTS)
@pytest.mark.parametrize("seed", range(5))
def test_pages_that_shift_while_they_are_read_list_nobody_twice(which: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    size = rng.randint(2, 9)
    listed = records(rng, size * rng.randint(3, 6))
    before = [record["id"] for record in listed]

    def serve(page: int, _limit: int) -> Records:
        shown = listed[(page - 1) * size : page * size]
        listed[:0] = records(rng, rng.randint(1, size // 2) if page < 4 else 0)
        return shown

    read = identifiers(which, serve)

    assert len(read) == len(set(read))
    assert set(before) <= set(read)


@pytest.mark.parametrize("seed", range(5))
def test_the_votes_of_two_users_are_distinct_by_their_times(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    size = rng.randint(2, 9)
    votes = [{"id": rng.choice("ab"), "at": number} for number in range(size * 8)]
    listed = votes[: size * 5]
    coming = iter(votes[size * 5 :])
    before = [vote["id"] for vote in listed]
    shown: set[int] = set()

    def serve(page: int, _limit: int) -> dict[str, Any]:
        if shown and page not in shown:
            new = [next(coming, None) for _ in range(rng.randint(0, size // 2))]
            listed[:0] = [vote for vote in new if vote is not None]
        shown.add(page)
        queries = {"maxPage": math.ceil(len(listed) / size)}
        return {"queries": queries, "data": listed[(page - 1) * size : page * size]}

    assert identifiers("voters", serve) == before


def test_two_votes_without_times_are_one() -> None:
    pages: list[Records | int] = [[{"id": "1"}, {"id": "2"}], [{"id": "2"}, {"id": "3"}], 404]

    assert identifiers("voters", lambda _page, _limit: pages.pop(0)) == ["1", "2", "3"]
