"""Lists in pages are read whole, and each entry once, on services that page in any way."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from commandsync import Invalid, NotFound
from tests.support.clients import TOKEN, Either, Open
from tests.support.rawserver import Act, Exchange, RawServer, answer, answering

Records = list[dict[str, Any]]
Serve = Callable[[int, int], "Records | dict[str, Any] | int"]

MOST = 60  # requests after which a reader does not come to an end
LISTS = ("iter_bots", "iter_voters")


def records(rng: random.Random, count: int) -> Records:
    return [{"id": str(number)} for number in rng.sample(range(10**17, 10**18), count)]


def served(serve: Serve) -> list[Act]:
    """Answer so many requests with what a function returns for a page and a limit."""

    def act(exchange: Exchange) -> None:
        query = parse_qs(urlsplit(exchange.request.target).query)
        shown = serve(int(query["page"][0]), int(query["limit"][0]))
        if isinstance(shown, int):
            exchange.send(answer({"error": f"HTTP {shown}"}, status=shown))
        else:
            data = shown if isinstance(shown, dict) else {"data": shown}
            exchange.send(answer({"success": True, "data": data}))

    return [act] * MOST


@pytest.fixture
def play(server: RawServer) -> Iterator[Callable[[Serve], str]]:
    """Serve pages from a function; return the URL."""

    def play(serve: Serve) -> str:
        server.then(*served(serve))
        return server.url

    yield play
    assert server.acts, "it asked without end"
    server.acts.clear()


def identifiers(client: Either, method: str, **arguments: object) -> list[str]:
    return [record.id for record in getattr(client, method)(**arguments)]


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


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("end", [wrapping, repeating, ending])
@pytest.mark.parametrize("seed", range(3))
def test_a_service_is_read_once_whatever_follows_its_last_page(
    open_client: Open,
    play: Callable[[Serve], str],
    method: str,
    end: Callable[[Records, int], Serve],
    seed: int,
) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    size, pages = rng.randint(1, 9), rng.randint(1, 6)
    listed = records(rng, size * pages)

    client = open_client(TOKEN, play(end(listed, size)), bot="42", retries=0)

    assert identifiers(client, method) == [record["id"] for record in listed]


@pytest.mark.parametrize("method", LISTS)
def test_a_404_to_the_first_page_is_an_error(
    open_client: Open, server: RawServer, method: str
) -> None:
    server.then(answering({"error": "unknown bot"}, status=404))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(NotFound):
        getattr(client, method)()


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("seed", range(5))
def test_pages_that_shift_while_they_are_read_list_nobody_twice(
    open_client: Open, play: Callable[[Serve], str], method: str, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    size = rng.randint(2, 9)
    listed = records(rng, size * rng.randint(3, 6))
    before = [record["id"] for record in listed]

    def serve(page: int, _limit: int) -> Records:
        shown = listed[(page - 1) * size : page * size]
        listed[:0] = records(rng, rng.randint(1, size // 2) if page < 4 else 0)
        return shown

    client = open_client(TOKEN, play(serve), bot="42", retries=0)
    read = identifiers(client, method)

    assert len(read) == len(set(read))
    assert set(before) <= set(read)


@pytest.mark.parametrize("seed", range(5))
def test_the_votes_of_two_users_are_distinct_by_their_times(
    open_client: Open, play: Callable[[Serve], str], seed: int
) -> None:
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

    client = open_client(TOKEN, play(serve), bot="42", retries=0)

    assert identifiers(client, "iter_voters") == before


def test_two_votes_of_a_user_at_the_end_of_a_page_are_one_without_their_times(
    open_client: Open, play: Callable[[Serve], str]
) -> None:
    pages: list[Records | int] = [[{"id": "1"}, {"id": "2"}], [{"id": "2"}, {"id": "3"}], 404]
    client = open_client(TOKEN, play(lambda _page, _limit: pages.pop(0)), bot="42", retries=0)

    assert identifiers(client, "iter_voters") == ["1", "2", "3"]


def from_zero(*, asked: int, told: bool) -> Callable[[Records, int], Serve]:
    """Count pages from 0: in what is asked (then `asked` is 1), or in what is told about them."""

    def pages(listed: Records, size: int) -> Serve:
        def serve(page: int, _limit: int) -> dict[str, Any] | int:
            number = page - 1 + asked
            shown = listed[number * size : (number + 1) * size] if number >= 0 else []
            queries = {"maxPage": (len(listed) - 1) // size} | ({"page": number} if told else {})
            return {"queries": queries, "data": shown}

        return serve

    return pages


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("seed", range(3))
def test_pages_that_are_reported_from_zero_are_read_to_the_last(
    open_client: Open, play: Callable[[Serve], str], method: str, count: int, seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    size = rng.randint(1, 9)
    listed = records(rng, size * count - rng.randrange(size))
    client = open_client(
        TOKEN, play(from_zero(asked=0, told=True)(listed, size)), bot="42", retries=0
    )

    assert identifiers(client, method) == [record["id"] for record in listed]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_the_only_page_is_read_whether_its_number_is_0_or_1(
    open_client: Open, play: Callable[[Serve], str], method: str, *, told: bool, count: int
) -> None:
    listed = records(random.Random(count), count)  # noqa: S311 - the same in every run
    pages = from_zero(asked=1, told=told)(listed, 9)
    client = open_client(TOKEN, play(pages), bot="42", retries=0)

    assert identifiers(client, method) == [record["id"] for record in listed]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("queries", [{"maxPage": 0}, {"page": 1, "maxPage": 0}], ids=str)
@pytest.mark.parametrize("count", [0, 5, 30])
def test_a_number_of_pages_that_is_0_ends_no_list_with_records(
    open_client: Open,
    play: Callable[[Serve], str],
    method: str,
    queries: dict[str, int],
    count: int,
) -> None:
    listed = records(random.Random(count), count)  # noqa: S311 - the same in every run

    def serve(page: int, _limit: int) -> dict[str, Any] | int:
        shown = listed[(page - 1) * 7 : page * 7]
        return {"queries": queries, "data": shown} if page else 400

    client = open_client(TOKEN, play(serve), bot="42", retries=0)

    assert identifiers(client, method) == [record["id"] for record in listed]


def largest() -> list[int]:
    return [50, *random.Random(6).sample(range(5, 100), 3)]  # noqa: S311 - the same in every run


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("most", largest())
def test_a_service_that_refuses_large_pages_is_asked_for_smaller_ones(
    open_client: Open, play: Callable[[Serve], str], method: str, most: int
) -> None:
    listed = records(random.Random(most), 130)  # noqa: S311 - the same in every run

    def serve(page: int, limit: int) -> Records | int:
        return 400 if limit > most else listed[(page - 1) * limit : page * limit]

    client = open_client(TOKEN, play(serve), bot="42", retries=0)

    assert identifiers(client, method) == [record["id"] for record in listed]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("most", largest())
def test_a_service_that_shows_smaller_pages_is_read_whole(
    open_client: Open, play: Callable[[Serve], str], method: str, most: int
) -> None:
    listed = records(random.Random(most), 130)  # noqa: S311 - the same in every run

    def serve(page: int, limit: int) -> Records:
        limit = min(limit, most)
        return listed[(page - 1) * limit : page * limit]

    client = open_client(TOKEN, play(serve), bot="42", retries=0)

    assert identifiers(client, method) == [record["id"] for record in listed]


def test_a_list_that_is_refused_whatever_its_pages_is_an_error(
    open_client: Open, play: Callable[[Serve], str]
) -> None:
    client = open_client(TOKEN, play(lambda _page, _limit: 400), bot="42", retries=0)

    with pytest.raises(Invalid, match="HTTP 400"):
        client.iter_bots(sort="nothing")
