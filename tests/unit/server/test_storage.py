"""The list of bots, sorted, restricted and cut into pages, on both databases."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.exc import OperationalError

from commandsync.server import search, storage
from commandsync.server.administration import Seed, create_bots
from commandsync.server.database import Database
from commandsync.server.search import BadQueryError, Wanted
from commandsync.server.tables import SORTED, UNINDEXED
from commandsync.server.votes import cast, days, with_counts

NOW = datetime(2026, 4, 15, 12, tzinfo=UTC)  # a Wednesday
# Three of each value, so that ties are everywhere; what is left out has its default.
BOTS: list[dict[str, Any]] = [
    {
        "id": f"b{number}",
        "profile": {"username": ["beta", "Álpha", "alpha", "Zed", "élan"][number % 5]},
        "information": {"tags": [["Music"], ["music", "fun"], ["fun & games"], []][number % 4]},
        "statistics": {"servers": [5, 100, 20][number % 3], "totalVotes": [0, 7][number % 2]},
        "ratings": {"average": [None, 0.0, 4.5][number % 3], "total": number % 3},
        "certificate": [0, 1, 2][number % 3],
        "state": number % 2,
        "status": -(number % 2),
    }
    for number in range(15)
]


@pytest.fixture
def listed(database: Database) -> list[dict[str, Any]]:
    """The bots as the service lists them one by one."""
    create_bots(Seed.model_validate({"bots": BOTS}), database)
    with database.writing() as connection:
        for number in range(30):
            bot, days = f"b{number * number % 15}", number % 20
            cast(connection, bot, {"id": f"{number}"}, at=NOW - timedelta(days=days))
        bots = [storage.bot_of(connection, bot["id"]) for bot in BOTS]
        return with_counts(connection, bots, at=NOW)


def found(database: Database, **wanted: Any) -> list[str]:  # noqa: ANN401 - of any field
    with database.reading() as connection:
        keys, _ = search.find(connection, Wanted(**{"limit": 100, **wanted}), days=days(NOW))
        return [bot["id"] for bot in storage.bots_of(connection, keys)]


def value(bot: Any, path: str) -> Any:  # noqa: ANN401 - of any field
    for step in path.split("."):
        bot = bot[step]
    return {None: -1, "Álpha": "alpha", "Zed": "zed", "élan": "elan"}.get(bot, bot)


@given(path=st.sampled_from([*SORTED, ""]), down=st.booleans(), limit=st.integers(1, 20))
def test_pages_are_the_sorted_list_with_ties_in_the_order_of_additions(
    database: Database, listed: list[dict[str, Any]], path: str, *, down: bool, limit: int
) -> None:
    expected = list(range(len(listed)))
    if path:
        expected.sort(key=lambda number: (value(listed[number], path), number), reverse=down)
    sort = f"-{path}" if path and down else path
    with database.reading() as connection:
        pages = [
            search.find(connection, Wanted(page=page, limit=limit, sort=sort), days=days(NOW))
            for page in range(1, -(-len(listed) // limit) + 2)
        ]

    assert [number for keys, _ in pages for number in keys] == [key + 1 for key in expected]
    assert {number for _, number in pages} == {len(listed)}
    assert pages[-1][0] == []


def test_every_other_field_sorts_by_text(database: Database, listed: list[dict[str, Any]]) -> None:
    def text(bot: Any, path: str) -> str:  # noqa: ANN401 - of any field
        for step in path.split("."):
            bot = bot[step]
        return "" if bot is None else str(bot)

    for path in UNINDEXED:
        expected = sorted(listed, key=lambda bot: text(bot, path))
        certified = [bot["id"] for bot in expected if bot["certificate"]]

        assert found(database, sort=path) == [bot["id"] for bot in expected], path
        assert found(database, sort=path, certified=True) == certified, path


@pytest.mark.usefixtures("listed")
def test_a_field_is_known_with_and_without_its_path(database: Database) -> None:
    for path in {*SORTED, *UNINDEXED} - {"information.creator.id"}:  # `id` is that of the bot
        short = path.rpartition(".")[2]

        assert found(database, sort=f"-{path}") == found(database, sort=f"-{short}"), path


@pytest.mark.parametrize(
    "sort", ["votes", "-", "--servers", "statistics.", "ratings.servers", "\0"]
)
def test_another_field_is_refused_with_the_valid_ones(database: Database, sort: str) -> None:
    with pytest.raises(BadQueryError) as caught:
        found(database, sort=sort)

    assert all(path in str(caught.value) for path in (*SORTED, *UNINDEXED))


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"ids": ("b7", "b1", "none", "\0")}, ["b1", "b7"]),
        ({"ids": ()}, []),
        ({"certified": False}, ["b0", "b3", "b6", "b9", "b12"]),
        ({"certified": True, "ids": ("b0", "b1", "b2")}, ["b1", "b2"]),
        ({"tags": ("MUSIC",)}, ["b0", "b1", "b4", "b5", "b8", "b9", "b12", "b13"]),
        ({"tags": ("fun", "music")}, ["b1", "b5", "b9", "b13"]),
        ({"tags": ("fun games",)}, ["b2", "b6", "b10", "b14"]),
        ({"tags": ("game",)}, []),
        ({"tags": ("*",)}, []),
        ({"q": "zed"}, ["b3", "b8", "b13"]),
        ({"q": "zed", "tags": ("fun",), "certified": True, "sort": "-servers"}, ["b13"]),
    ],
)
@pytest.mark.usefixtures("listed")
def test_bots_are_restricted(
    database: Database, wanted: dict[str, Any], expected: list[str]
) -> None:
    assert found(database, **wanted) == expected


@pytest.mark.usefixtures("listed")
def test_fifty_tags_are_searched_and_more_are_refused(database: Database) -> None:
    tags = [f"t{number}" for number in range(search.MOST_TAGS)]
    with database.writing() as connection:
        texts = {"overview": "Wordy.", "tags": tags}
        record = {"profile": {"username": "many"}, "information": texts}
        storage.add_bots(connection, {"many": record})

    assert found(database, tags=("music", "MUSIC", *["Music"] * 100, "fun")) == [
        *("b1", "b5", "b9", "b13")
    ]
    assert found(database, tags=tuple(tags), q="word") == ["many"]
    assert found(database, tags=(*tags[1:], "music"), q="word") == []
    with pytest.raises(search.BadQueryError, match="at most 50 different ones"):
        found(database, tags=(*tags, "music"))


def test_a_page_far_past_the_end_is_empty(database: Database) -> None:
    assert found(database, page=10**30) == []


def test_numbers_that_no_database_has_are_sorted_as_the_largest(database: Database) -> None:
    most = {"id": "most", "profile": {"username": "m"}, "statistics": {"servers": 10**40}}
    create_bots(Seed.model_validate({"bots": [most, *BOTS]}), database)

    assert found(database, sort="-servers", limit=1) == ["most"]


def test_a_bot_is_sorted_by_the_size_that_it_has_reported(database: Database) -> None:
    create_bots(Seed.model_validate({"bots": BOTS}), database)
    with database.writing() as connection:
        storage.set_statistics(connection, "b0", {"servers": 1_000, "shards": 2})

    assert found(database, sort="-servers", limit=1) == ["b0"]
    assert found(database, q="beta", sort="-servers", limit=1) == ["b0"]


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("path", SORTED)
def test_a_restricted_list_is_sorted_as_the_whole(database: Database, path: str) -> None:
    restrictions: list[dict[str, Any]] = [
        {"q": "a"},
        {"certified": False},
        {"certified": True, "tags": ("music",)},
        {"ids": tuple(f"b{number}" for number in range(1, 15, 2)), "q": "e"},
    ]
    for restriction in restrictions:
        chosen = {*found(database, **restriction)}
        for sort in (path, f"-{path}"):
            expected = [bot for bot in found(database, sort=sort) if bot in chosen]
            pages = [
                found(database, **restriction, sort=sort, page=page, limit=3)
                for page in range(1, 7)
            ]

            assert [bot for page in pages for bot in page] == expected
            assert 0 < len(chosen) < len(BOTS)


def test_what_finds_many_bots_lists_them_as_what_finds_few(
    database: Database, listed: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lists() -> list[list[str]]:
        return [
            found(database, q="a", sort=sign + path, certified=certified, page=page, limit=4)
            for path in SORTED
            for sign in ("", "-")
            for certified in (None, True)
            for page in (1, 2)
        ]

    few = lists()
    monkeypatch.setattr(search, "_FEW", 0)

    assert lists() == few
    assert 4 < len(found(database, q="a")) < len(listed)


def test_a_slow_sort_ends(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = [{"id": f"b{number}", "profile": {"username": "many"}} for number in range(2_000)]
    create_bots(Seed.model_validate({"bots": bots}), database)
    is_file = database._engine.dialect.name == "sqlite"  # noqa: SLF001 - each has its own clock
    for path in UNINDEXED:
        with monkeypatch.context() as patched:
            patched.setattr(search, "LONGEST_QUERY", -1 if is_file else 0.001)
            with pytest.raises(OperationalError):
                pytest.fail(f"{path}: {found(database, sort=path)}")
        assert len(found(database, sort=path)) == 100, path
