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
from commandsync.server.tables import SORTED
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

VOTES = [(f"b{number**2 % 15}", NOW - timedelta(days=58 - 2 * number)) for number in range(30)]
RECENT = {f"statistics.{name}Votes": name for name in days(NOW)}


@pytest.fixture
def listed(database: Database) -> list[dict[str, Any]]:
    """The bots as the service lists them one by one."""
    create_bots(Seed.model_validate({"bots": BOTS}), database)
    with database.writing() as connection:
        for number, (bot, at) in enumerate(VOTES):
            cast(connection, bot, {"id": f"{number}"}, at=at)
        bots = [storage.bot_of(connection, bot["id"]) for bot in BOTS]
        return with_counts(connection, bots, at=NOW)


def found(database: Database, **wanted: Any) -> list[str]:  # noqa: ANN401 - of any field
    with database.reading() as connection:
        keys = search.find(connection, Wanted(**{"limit": 100, **wanted})).keys
        return [bot["id"] for bot in storage.bots_of(connection, keys)]


def value(bot: Any, path: str) -> Any:  # noqa: ANN401 - of any field
    for step in path.split("."):
        bot = bot[step]
    return bot


def sort_key(bot: Any, path: str) -> Any:  # noqa: ANN401 - of any field
    """Return a value as it sorts: of recent votes, the last ones, even if they are over."""
    if path in RECENT:
        voted = [days(at)[RECENT[path]] for voter, at in VOTES if voter == bot["id"]]
        last = max(voted, default="")
        return last, voted.count(last)
    match value(bot, path):
        case None:
            return -1 if path == "ratings.average" else ""
        case list() as texts:
            return ", ".join(texts)
        case found:
            return {"Álpha": "alpha", "Zed": "zed", "élan": "elan"}.get(found, found)


@given(path=st.sampled_from([*SORTED, ""]), down=st.booleans(), limit=st.integers(1, 20))
def test_pages_are_the_sorted_list_with_ties_in_the_order_of_additions(
    database: Database, listed: list[dict[str, Any]], path: str, *, down: bool, limit: int
) -> None:
    expected = list(range(len(listed)))
    if path:
        expected.sort(key=lambda number: (sort_key(listed[number], path), number), reverse=down)
    sort = f"-{path}" if path and down else path
    with database.reading() as connection:
        pages = [
            search.find(connection, Wanted(page=page, limit=limit, sort=sort))
            for page in range(1, -(-len(listed) // limit) + 2)
        ]

    assert [number for page in pages for number in page.keys] == [key + 1 for key in expected]
    assert {(page.number, page.is_more) for page in pages} == {(len(listed), False)}
    assert pages[-1].keys == []


@pytest.mark.parametrize("path", RECENT)
def test_the_most_recent_votes_are_the_first_ones_of_their_order(
    database: Database, listed: list[dict[str, Any]], path: str
) -> None:
    votes = {bot["id"]: value(bot, path) for bot in listed}

    assert [votes[bot] for bot in found(database, sort=f"-{path}")] == sorted(
        votes.values(), reverse=True
    )
    assert max(votes.values()) > 0


def test_every_field_of_a_bot_sorts_a_list(listed: list[dict[str, Any]]) -> None:
    def paths(record: dict[str, Any], begin: str = "") -> set[str]:
        return {
            path
            for name, field in record.items()
            for path in (
                paths(field, f"{begin}{name}.") if isinstance(field, dict) else {begin + name}
            )
        }

    assert paths(listed[0]) == {*SORTED}


@pytest.mark.usefixtures("listed")
def test_a_field_is_known_with_and_without_its_path(database: Database) -> None:
    for path in {*SORTED} - {"information.creator.id"}:  # `id` is that of the bot
        short = path.rpartition(".")[2]

        assert found(database, sort=f"-{path}") == found(database, sort=f"-{short}"), path


@pytest.mark.parametrize(
    "sort", ["votes", "-", "--servers", "statistics.", "ratings.servers", "\0"]
)
def test_another_field_is_refused_with_the_valid_ones(database: Database, sort: str) -> None:
    with pytest.raises(BadQueryError) as caught:
        found(database, sort=sort)

    assert all(path in str(caught.value) for path in SORTED)


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


WALKS = {longest: dict.fromkeys(("sqlite", "postgresql"), longest) for longest in (0, 4)}
WAYS: dict[str, dict[str, Any]] = {
    "walk": {},
    "a walk that ends too early": {"_LONGEST_WALK": WALKS[4]},
    "filter": {"_LONGEST_WALK": WALKS[0], "_FEW": 0},
    "sort": {"_LONGEST_WALK": WALKS[0]},
}


@pytest.mark.parametrize("constants", WAYS.values(), ids=WAYS)
def test_what_finds_many_bots_lists_them_as_what_finds_few(
    database: Database,
    listed: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    constants: dict[str, Any],
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
    for name, number in {"MOST_COUNTED": 3, **constants}.items():
        monkeypatch.setattr(search, name, number)

    assert lists() == few
    assert 4 < len(found(database, q="a")) < len(listed)


@pytest.mark.usefixtures("listed")
def test_a_search_counts_few_bots_exactly_and_every_other_list_all(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted(**wanted: Any) -> tuple[int, bool]:  # noqa: ANN401 - of any field
        with database.reading() as connection:
            return search.find(connection, Wanted(**wanted))[1:]

    assert counted(q="zed") == (3, False)
    monkeypatch.setattr(search, "MOST_COUNTED", 3)
    assert counted(q="zed") == (3, False)
    assert counted(q="a") == counted(q="a", page=9, sort="servers") == (3, True)
    assert counted(q="a", ids=tuple(f"b{number}" for number in range(8))) == (7, False)
    assert counted() == (15, False)
    assert counted(certified=True) == (10, False)
    assert counted(tags=("music",)) == (8, False)
    assert found(database, q="a", limit=3, page=3) == ["b7", "b9", "b10"]


def test_texts_are_sorted_by_their_first_hundred_characters(database: Database) -> None:
    texts = ("a" * 99 + "c", "a" * 100 + "b", "a" * 100 + "a", "a" * 99 + "b")
    bots = [
        {"id": f"{place}", "profile": {"username": "b"}, "information": {"description": text}}
        for place, text in enumerate(texts)
    ]
    create_bots(Seed.model_validate({"bots": bots}), database)

    assert found(database, sort="description") == ["1", "2", "3", "0"]


def test_a_slow_search_ends(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    bots = [{"id": f"b{number}", "profile": {"username": "many"}} for number in range(2_000)]
    create_bots(Seed.model_validate({"bots": bots}), database)
    is_file = database._engine.dialect.name == "sqlite"  # noqa: SLF001 - each has its own clock
    monkeypatch.setattr(search, "_LONGEST_WALK", WALKS[0])
    for path in ("servers", "description"):
        with monkeypatch.context() as patched:
            patched.setattr(search, "LONGEST_QUERY", -1 if is_file else 0.001)
            with pytest.raises(OperationalError):
                pytest.fail(f"{path}: {found(database, q='many', sort=path, page=20)}")
        assert len(found(database, q="many", sort=path, page=20)) == 100, path
