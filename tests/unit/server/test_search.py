"""Texts and queries become the same words, and every database finds the same bots by them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, delete

from commandsync.server import search, storage
from commandsync.server.database import Database, opened
from commandsync.server.search import (
    LONGEST_PART,
    LONGEST_TAG,
    MOST_PARTS,
    Wanted,
    fold,
    indexed,
    parts,
    plain,
)
from commandsync.server.search import MOST_INDEXED_TAGS as MOST_TAGS
from commandsync.server.tables import bots

SYNTAX = ['"', "'", "*", "(", ")", "-", ":", "^", "+", "|", "&", "!", "<", "%", "_", "\\", "$"]
OPERATORS = ["NEAR(", " OR ", " AND ", " NOT ", "endings:", "/*", "--", ";"]
LETTERS = ["a", "b", "A", "à", "é", "e", "ß", "s", "日", "本", "音", "が", "한", "\U0001f3b5", " "]

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
NEAR_TEXTS = st.lists(st.sampled_from(LETTERS + SYNTAX), max_size=40).map("".join)
PAGES = st.one_of(TEXTS, NEAR_TEXTS)
TAGS = st.one_of(st.lists(st.sampled_from("ab -é\u00b7"), max_size=4).map("".join), PAGES)
TYPED = st.one_of(
    NEAR_TEXTS,
    st.text(st.characters(), max_size=20),
    st.lists(st.sampled_from([*LETTERS, *SYNTAX, *OPERATORS, "\0", "\ud800"])).map("".join),
)


class UndoneError(Exception):
    """Ends a transaction without its writes."""


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with opened(database_url) as opened_database:
        yield opened_database


@contextmanager
def undone(database: Database) -> Iterator[Connection]:
    with suppress(UndoneError), database.writing() as connection:
        yield connection
        raise UndoneError


def record(username: str = "", **information: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"profile": {"username": username}, "information": information}


def add(connection: Connection, *overviews: str) -> None:
    for number, overview in enumerate(overviews):
        storage.add_bots(connection, {str(number): record(overview=overview)})


def found(connection: Connection, query: str = "", *tags: str) -> list[int]:
    wanted = Wanted(q=query, tags=tags, limit=100)
    page = search.find(connection, wanted)
    ids = [int(bot["id"]) for bot in storage.bots_of(connection, page.keys)]
    assert len(ids) == page.number
    return ids


@given(
    texts=st.lists(st.tuples(PAGES, st.lists(TAGS, max_size=4)), max_size=5),
    query=TYPED,
    data=st.data(),
)
def test_a_bot_is_found_if_its_words_contain_every_part_of_the_query_and_it_has_every_tag(
    database: Database, texts: list[tuple[str, list[str]]], query: str, data: st.DataObject
) -> None:
    given_tags = st.sampled_from([tag for _, tags in texts for tag in tags] or [""])
    wanted = data.draw(st.lists(given_tags | given_tags.map(str.upper) | TAGS, max_size=3))
    expected = [
        number
        for number, (page, tags) in enumerate(texts)
        if all(
            any(part in word for word in fold(" ".join([page, *tags])).split())
            for part in parts(query)
        )
        and {fold(tag)[:LONGEST_TAG] for tag in wanted}
        <= {fold(tag)[:LONGEST_TAG] for tag in tags} - {""}
    ]
    with undone(database) as connection:
        for number, (page, tags) in enumerate(texts):
            storage.add_bots(connection, {str(number): record(overview=page, tags=tags)})

        assert found(connection, query, *wanted) == expected


@given(page=PAGES, data=st.data())
def test_beginnings_of_words_find_a_bot(database: Database, page: str, data: st.DataObject) -> None:
    words = fold(plain(page)).split()
    word = data.draw(st.sampled_from(words or [""]))
    begin = 0 if word.isascii() else data.draw(st.integers(0, len(word)))
    part = word[begin : data.draw(st.integers(begin, len(word)))]
    with undone(database) as connection:
        storage.add_bots(connection, {"0": record(description=page)})

        assert found(connection, part) == [0]


@given(page=PAGES, data=st.data())
def test_any_part_of_a_word_finds_a_bot(database: Database, page: str, data: st.DataObject) -> None:
    words = st.sampled_from(fold(page).split() or [""])
    drawn = data.draw(st.lists(words, max_size=3))
    begins = [data.draw(st.integers(0, len(word))) for word in drawn]
    query = " ".join(word[begin:] for word, begin in zip(drawn, begins, strict=True))
    with undone(database) as connection:
        add(connection, page)

        assert found(connection, query) == [0]


@given(words=st.integers(0, 100), bots=st.integers(1, 5), end=st.sampled_from(["", "1", "42"]))
def test_a_part_finds_the_same_bots_however_many_words_begin_with_it(
    database: Database, words: int, bots: int, end: str
) -> None:
    lanterns = [f"lantern{number}" for number in range(words)]
    pages = [lanterns[first::bots] for first in range(bots)]
    part = f"lantern{end}"
    with undone(database) as connection:
        for number, page in enumerate(pages):
            text = {"description": " ".join(["bot", *page])}
            storage.add_bots(connection, {str(number): record(**text)})

        assert found(connection, f"bo {part}") == [
            number for number, page in enumerate(pages) if any(w.startswith(part) for w in page)
        ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("music lantern", [0]),
        ("LANT", [0]),
        ("ntern", [0]),
        ("creme", [1]),
        ("CRÈME", [1]),
        ("楽", [2]),
        ("音楽", [2]),
        ("日本語", [2]),
        ("c++", [3]),
        ("c", [0, 1, 3]),
        ("foo-bar", [3]),
        ('"foo', [3]),
        ("lantern cafe", []),
        ("*", [0, 1, 2, 3]),
        ("NEAR(", []),
        ("a" * 5_000, []),
        ("bot7", []),
        ("lantern420", [0]),
        ("20 lantern", [0]),
        ("foo " * 5_000, [3]),
    ],
)
def test_a_query_means_what_it_says(database: Database, query: str, expected: list[int]) -> None:
    pages = ("Lantern420, the music bot", "Café Crème", "日本語の音楽を再生します", "C++ foo_bar")
    with database.writing() as connection:
        add(connection, *pages)

        assert found(connection, query) == expected


@pytest.mark.parametrize("query", ["lantern", "overview", "described", "tagged"])
def test_all_texts_are_searched_without_markup(database: Database, query: str) -> None:
    texts = {"overview": "Overview.", "description": "<blink>Described</blink>", "tags": ["Tagged"]}
    with database.writing() as connection:
        storage.add_bots(connection, {"0": record("Lantern", **texts)})

        assert found(connection, query) == [0]
        assert found(connection, "blink") == []


def test_the_largest_texts_and_tags_are_searched_at_their_beginning(database: Database) -> None:
    characters = [chr(0x20000 + number) for number in range(20_000)]  # 4 bytes each
    page = " ".join("".join(characters[start : start + 50]) for start in range(0, 20_000, 50))
    tags = ["".join(characters[-number - LONGEST_TAG : -number]) for number in range(1, 1_000)]
    with database.writing() as connection:
        storage.add_bots(connection, {"0": record(overview=page, tags=tags)})

        assert found(connection, "".join(characters[5_000:5_020])) == [0]
        assert found(connection, characters[15_000]) == []
        assert found(connection, "", f"{tags[MOST_TAGS - 1]} and more") == [0]
        assert found(connection, "", tags[MOST_TAGS]) == []


def test_a_deleted_bot_is_not_found(database: Database) -> None:
    with database.writing() as connection:
        add(connection, "words", "words too")
        connection.execute(delete(bots).where(bots.c.id == "0"))

        assert found(connection, "words") == [1]
        assert found(connection) == [1]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café CRÈME", "cafe creme"),
        ("Ünïcödé", "unicode"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Ёлка", "елка"),
        ("Ελλάς", "ελλασ"),
        ("\uff2d\uff35\uff33\uff29\uff23 \ufb01ne", "music fine"),
        ("音楽・翻訳", "音楽 翻訳"),
        ("がぎ ひらがな", "がぎ ひらがな"),
        ("한국어", "한국어"),
        ("हिन्दी", "हिन्दी"),
        ("foo-bar_baz.qux", "foo bar baz qux"),
        ("C++ a|b $", "c++ a|b $"),
        ("Lantern2024 v2b 5$ ٣ح", "lantern 2024 v 2 b 5 $ ٣ ح"),
        ("\u2764\ufe0f\u200d\U0001f525 \u2764", "\u2764\U0001f525 \u2764"),
        ("zero\u200bwidth so\u00adft", "zerowidth soft"),
        ("nul\0l half\ud800pair\t\n", "nul l half pair"),
        ("\"*'NEAR( %)\\", "near"),
        ("", ""),
    ],
)
def test_words_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(st.characters()))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(st.characters()))
def test_folded_words_contain_nothing_that_a_query_language_takes_for_syntax(text: str) -> None:
    assert not set("\"'\\*()&!:%_\0\t\n") & set(fold(text))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One</p><p>two</p>", "one two"),
        ("<a href='x'>link</a> &amp; &eacute;", "link e"),
        ("<style>.a > .b { color: red }</style>Seen", "seen"),
        ("Seen<script>hidden()", "seen"),
        ("<SCRIPT>a</b>c</script >Seen", "seen"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ("I <3 bots", "i < 3 bots"),
        ("**bold** [link](https://a.example)", "bold link https a example"),
        ("<!-- hidden --> seen", "seen"),
    ],
)
def test_markup_is_not_text(markup: str, text: str) -> None:
    assert fold(plain(markup)) == text


@pytest.mark.parametrize("untrusted", ["<style>", "<a", "<", "<style><", "<!--", "&#"])
def test_untrusted_markup_is_read_in_linear_time(untrusted: str) -> None:
    markup = untrusted * 200_000  # a quadratic pattern takes hours

    assert len(plain(markup)) <= len(markup)


def test_every_ending_of_a_word_is_indexed_and_of_a_description_the_beginning() -> None:
    words = indexed("bot Ion", f"music 音楽 {'ab' * 10}", ["a b"], certified=True)

    assert words.split() == [
        *("bot", "ot", "t", "ion", "on", "n"),
        *("music", "音楽", "ab" * 8, "ab" * 2, "楽"),
        *("·a·b", "··1"),
    ]


def test_long_endings_are_cut() -> None:
    words = indexed("a" * 40, "", (), certified=False)

    assert words.split()[:-1] == ["a" * length for length in range(LONGEST_PART, 0, -1)]


WORDS = tuple("w" * number for number in range(LONGEST_PART, 0, -1))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('  Foo-bar "foo', ("foo", "bar")),
        ("ab" * 10, ("ab" * 8, "ab" * 2)),
        (" ".join(WORDS[::-1]), WORDS[:MOST_PARTS]),
        *((nothing, ()) for nothing in ("", " ", "*", '"', "\0", "\ud800", "(-)", "%_")),
    ],
)
def test_a_query_is_its_words_each_once_in_parts(query: str, expected: tuple[str, ...]) -> None:
    assert parts(query) == expected
