"""No run deletes more than the limit allows, whatever it adds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bots import Service
from tests.support.home import Home, fields
from tests.support.proxy import Proxy

LIMITS = (
    st.none() | st.integers(0, 9).map(str) | st.integers(0, 100).map("{}%".format) | st.just("all")
)
SIZES = st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 2))  # stay, go, new


def _allowed(limit: str | None, deleted: list[int], listed: list[int]) -> bool:
    """Say anew what the documentation says of the limits."""
    if limit == "all":
        return True
    if any(gone and gone == there for gone, there in zip(deleted, listed, strict=True)):
        return False
    if limit is None and sum(deleted) <= 3:
        return True
    if limit is not None and limit.isdigit():
        return sum(deleted) <= int(limit)
    percent = int(limit.removesuffix("%")) if limit else 30
    return all(100 * n <= percent * of for n, of in zip(deleted, listed, strict=True))


@pytest.mark.promise("limited-deletes")
@settings(max_examples=40)
@given(commands=SIZES, announcements=SIZES, ignored=st.integers(0, 3), limit=LIMITS)
def test_deletes_are_limited_over_the_listing_and_over_each_collection(
    service: Service,
    home: Home,
    proxy: Proxy,
    *,
    commands: tuple[int, int, int],
    announcements: tuple[int, int, int],
    ignored: int,
    limit: str | None,
) -> None:
    stay, go, new = ([f"{kind} {n}" for n in range(count)] for kind, count in _named(commands))
    kept, gone, fresh = ([f"{k} {n}" for n in range(c)] for k, c in _named(announcements))
    left = [f"beta-{n}" for n in range(ignored)]
    bot = service.bot([*left, *stay, *go], [*kept, *gone])
    home.knows(bot, url=proxy.url)
    posts = [{"title": title, "description": "News."} for title in (*kept, *fresh)]
    home.write(
        fields(*((name,) for name in (*stay, *new)))
        + f"announcements: {json.dumps(posts)}\n"
        + 'sync: {announcements: mirror, ignore: ["beta-*"]}\n'
    )
    proxy.requests.clear()

    ran = home.run("apply", "--yes", *(["--max-deletes", limit] if limit else []))

    deleted, listed = [len(go), len(gone)], [len(stay + go), len(kept + gone)]
    if _allowed(limit, deleted, listed):
        assert ran.code == 0, ran.said
        assert bot.names() == [*left, *stay, *new]
    else:
        assert ran.code == 5
        assert "--max-deletes" in ran.said
        assert proxy.writes == []


def _named(sizes: tuple[int, int, int]) -> list[tuple[str, int]]:
    return list(zip(("stays", "goes", "comes"), sizes, strict=True))
