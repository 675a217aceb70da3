"""Answers are read by their meaning: `voted` decides, `success` only where nothing else does."""

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api import operations
from commandsync.errors import (
    ApiError,
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    RateLimited,
    Redirected,
    Reply,
    ServerError,
    Unauthorized,
)
from commandsync.records.texts import CommandText, Resource

HELP = {"id": "c1", "name": "help"}
COMMANDS = partial(operations.read_records, Resource.COMMAND)
ANNOUNCEMENTS = partial(operations.read_records, Resource.ANNOUNCEMENT)
READERS: list[Callable[[Reply], object]] = [
    COMMANDS,
    ANNOUNCEMENTS,
    operations.read_bot,
    partial(operations.read_page, "bots"),
    partial(operations.read_page, "voters"),
    operations.read_vote,
    operations.acknowledged,
]
LISTS = READERS[:2]


def reply(content: object, status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(content).encode(), headers)


def test_announcements_are_found_under_their_own_name() -> None:
    found = ANNOUNCEMENTS(reply({"announcements": [{"_id": "a1", "title": "v2"}]}))

    assert [(one.id, one.title) for one in found] == [("a1", "v2")]


@pytest.mark.promise("strict-reading")
@pytest.mark.parametrize("read", LISTS)
@pytest.mark.parametrize(
    "content",
    [
        {"success": True, "data": None},
        {"success": True, "data": {}},
        {"success": True, "data": {"data": None}},
        {"success": True, "data": {"c1": HELP}},
        {"success": True, "data": "none"},
        {"success": True},
        {},
        None,
        0,
        "[]",
    ],
    ids=json.dumps,
)
def test_what_is_no_list_is_an_error(read: Callable[[Reply], object], content: object) -> None:
    with pytest.raises(DecodeError, match="contains no list") as caught:
        read(reply(content))

    assert "base URL" in str(caught.value.hint)


def test_a_200_that_says_no_without_words_says_so() -> None:
    with pytest.raises(Invalid, match=r"^the service reports a failure$"):
        COMMANDS(reply({"success": False}))


@pytest.mark.parametrize("item", [None, 1, "help", [], {}, {"name": ""}, {"name": None}])
def test_a_record_without_a_name_spoils_the_list(item: object) -> None:
    with pytest.raises(DecodeError, match="the answer has a malformed command"):
        COMMANDS(reply([HELP, item]))


def test_what_is_malformed_is_named() -> None:
    with pytest.raises(
        DecodeError, match=r"malformed command: description: Input should be a valid str"
    ):
        COMMANDS(reply([{"name": "help", "description": []}]))


def test_a_number_beyond_all_numbers_is_no_paging() -> None:
    body = b'{"total": 1' + b"0" * 400 + b', "data": []}'

    assert COMMANDS(Reply(200, body)) == ()


@pytest.mark.parametrize(
    "content",
    [
        {"id": "42"},
        {"_id": "42"},
        {"success": True, "data": {"id": "42"}},
        {"bot": {"id": "42"}},
        {"data": {"bot": {"id": "42"}}},
        {"data": {"data": {"id": "42"}}},
        {"data": [{"id": "42"}]},
        {"data": {"data": [{"id": "42"}]}},
    ],
    ids=json.dumps,
)
def test_a_bot_is_found_in_every_envelope(content: object) -> None:
    assert operations.read_bot(reply(content)).id == "42"


@pytest.mark.parametrize("content", [{"data": None}, {"data": []}, {"data": [{}, {}]}, [], None])
def test_what_is_no_bot_is_an_error(content: object) -> None:
    with pytest.raises(DecodeError, match="the answer has a malformed bot"):
        operations.read_bot(reply(content))


def test_pages_are_read_with_their_paging() -> None:
    queries = {"page": 2, "limit": 1, "maxPage": 9, "isSafety": True, "certified": "false"}

    bots = operations.read_page(
        "bots", reply({"data": {"data": [{"id": "42"}], "queries": queries}})
    )
    voters = operations.read_page(
        "voters", reply({"data": {"data": [{"id": "7"}], "queries": queries}})
    )
    own = operations.read_page("voters", reply({"voters": [], "maxPage": 3}))

    assert [bot.id for bot in bots.bots] == ["42"]
    assert [voter.id for voter in voters.voters] == ["7"]
    assert bots.queries.max_page == voters.queries.max_page == 9
    assert own.queries.max_page == 3


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply({"error": "unknown bot"}, 404), NotFound),
        (Reply(404, b"<html>Not found</html>"), NotFound),
        (reply({"success": False, "error": "no"}), Invalid),
    ],
)
def test_a_vote_check_that_fails_is_no_answer(answer: Reply, kind: type[ApiError]) -> None:
    with pytest.raises(kind):
        operations.read_vote(answer)


@pytest.mark.parametrize(
    ("content", "identifier"),
    [
        ({"success": True, "message": "ok"}, ""),
        ({"success": True, "data": None}, ""),
        ({"success": "a certificate was applied"}, ""),
        ({"success": True, "data": {"id": "c1"}}, "c1"),
        ({"success": True, "data": {"_id": "c1"}}, "c1"),
        ({"success": True, "command": {"id": "c1"}}, "c1"),
        ({"data": {"announcement": {"id": 7}}}, "7"),
        ({"id": "c1"}, "c1"),
        ({"id": True}, ""),
        ({"id": None}, ""),
        (["c1"], ""),
        (None, ""),
    ],
)
def test_a_write_is_acknowledged_with_its_id(content: object, identifier: str) -> None:
    assert operations.acknowledged(reply(content, 201)) == identifier


@pytest.mark.parametrize("body", [b"", b" \r\n"])
def test_an_empty_answer_acknowledges_a_write(body: bytes) -> None:
    assert operations.acknowledged(Reply(204, body)) == ""


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, Redirected),
        (307, Redirected),
        (400, Invalid),
        (401, Unauthorized),
        (403, Forbidden),
        (408, ServerError),
        (409, Invalid),
        (422, Invalid),
        (429, RateLimited),
        (500, ServerError),
        (502, ServerError),
        (599, ServerError),
    ],
)
def test_a_status_that_is_no_success_speaks_first(status: int, kind: type[ApiError]) -> None:
    bodies = (b"", b"<html>", b'{"data": [], "voted": true, "success": true}', b"[]")
    for read, body in product(READERS, bodies):
        with pytest.raises(kind) as caught:
            read(Reply(status, body))

        assert type(caught.value) is kind
        assert str(status) in str(caught.value)


@pytest.mark.parametrize("status", [301, 401, 403, 404, 429, 500])
def test_a_refusal_tells_what_to_do(status: int) -> None:
    with pytest.raises(ApiError) as caught:
        COMMANDS(Reply(status, b""))

    assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"error": "The token\n is   invalid"}, "401: The token is invalid"),
        ({"success": False, "message": "No."}, "401: No."),
        ({"error": {"code": 1}, "message": "No."}, "401: No."),
        ({"error": ["no"]}, "401: no"),
        ({"error": [7, {}]}, "HTTP 401"),
        (["no"], "HTTP 401"),
        ({"error": "x" * 9999}, "401: " + "x" * 500),
        ({"success": False, "error": {"code": 1013, "message": "No."}}, "401: No."),
        ({"success": False, "errors": ["No."]}, "401: No."),
        ({"errors": ["No.", "Never."]}, "401: No.; Never."),
        ({"errors": [{"message": "No."}, {"message": "Never."}]}, "401: No.; Never."),
        ({"errors": [{"field": "name", "message": "No."}]}, "401: No."),
    ],
)
def test_the_services_own_words_are_passed_on_in_one_line(content: object, words: str) -> None:
    with pytest.raises(Unauthorized) as caught:
        COMMANDS(reply(content, 401))

    assert str(caught.value).endswith(f" the token ({words})")


@pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
def test_the_services_own_words_are_passed_on_with_any_status(status: int) -> None:
    with pytest.raises(ApiError, match="No way; never"):
        COMMANDS(reply({"success": False, "errors": ["No way", {"message": "never"}]}, status))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"data": [', "not valid JSON"),
        (b"\xff\xfe\xff", "not valid JSON"),
        (b"[" * 200_000, "not valid JSON"),
        (b"1" * 10_000, "not valid JSON"),
        (b"OK", "not valid JSON"),
        (b"\n <!DOCTYPE html><title>x", "an HTML page"),
        (b"<HTML>", "an HTML page"),
    ],
    ids=["cut", "bytes", "deep", "long", "text", "doctype", "html"],
)
def test_what_is_no_json_is_distinct(body: bytes, kind: str) -> None:
    for read in READERS:
        with pytest.raises(DecodeError, match=kind):
            read(Reply(200, body))


SENT = {"date": "Wed, 21 Oct 2015 07:28:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": " 0 "}, 0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "9" * 400}, float("inf")),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"} | SENT, 30),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"} | SENT, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 -0000"} | SENT, None),
        ({"retry-after": "1 Jan 99999999999999999999 00:00:00 GMT"} | SENT, None),
        ({"retry-after": "Mon, 06 Jan 2025 10:00:00 +99999999999"} | SENT, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    with pytest.raises(RateLimited) as caught:
        COMMANDS(Reply(429, b"", headers))

    assert caught.value.retry_after == seconds


FIELDS = ["success", "error", "message", "data", "commands", "bot", "queries", "voted"]
FIELDS += ["maxPage", "total", "page", "id", "_id", "name", "title"]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
    ),
    max_leaves=12,
)


VALUES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-1, 9)
    | st.just([])
    | st.sampled_from(["", " ", "\x1f", "a", " a ", "5", "1,000", "\ud83d", "é"])
)
ITEM = st.dictionaries(
    st.sampled_from([*CommandText._fields, "id", "_id", "title", "uses", "more"]), VALUES
)


@given(ITEM | VALUES, st.sampled_from([Resource.COMMAND, Resource.ANNOUNCEMENT]))
def test_a_listed_record_is_as_its_model_reads_it(item: object, resource: Resource) -> None:
    answer = reply([item])
    try:
        (record,) = operations.read_records(resource, answer)
    except DecodeError as error:
        with pytest.raises(DecodeError, match=re.escape(error.message)):
            operations.read_listed(resource, answer)
        return

    (listed,) = operations.read_listed(resource, answer)

    assert listed.id == record.id
    assert listed.fields == tuple(getattr(record, name) for name in resource.fields)
    assert listed.uses == getattr(record, "uses", None)


@given(content=JSON, status=st.sampled_from([200, 201, 400, 404, 429, 500]))
def test_whatever_json_comes_is_a_value_or_an_error_of_ours(content: object, status: int) -> None:
    for read in READERS:
        try:
            value = read(reply(content, status))
        except ListingError as error:
            value = error

        assert value is not None


@pytest.mark.promise("large-decoded")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[" + b"{}," * 600_000 + b"{}]", "it contains more than 1,000,000 values"),
        (b"[" + b"0," * 100_000 + b"0]", "more than 100,000 commands"),
        (b'["' + b"a" * 17_000_000 + "😀".encode() + b'"]', "more than 64 MiB of memory"),
    ],
    ids=["values", "records", "memory"],
)
def test_an_answer_that_would_fill_the_memory_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        COMMANDS(Reply(200, body))


Body = dict[str, Any]

SPELLINGS: list[tuple[object, bool]] = [(True, True), (1, True), (False, False), (0, False)]
NEITHER: tuple[object, ...] = (
    *(None, "true", "false", "yes", "", "1", 2, -1, 0.5),
    *([], [True], {}, {"voted": True}),
)


def placed(said: Body, depth: int, rng: random.Random) -> Body:
    """Return an answer with `voted` so deep, `success` beside it or not, and other fields."""
    body = said
    for level in range(depth + 1):
        noise: Body = {"passingTime": f"{rng.randint(1, 99)}ms", "user": str(rng.randrange(10**9))}
        body = {name: noise[name] for name in noise if rng.random() < 0.5} | body
        if level < depth:
            body = {"data": body}
    return rng.choice([{}, {"success": True}, {"success": False}]) | body


def generated(spellings: list[tuple[object, bool]]) -> Iterator[tuple[Body, bool]]:
    rng = random.Random(7)  # noqa: S311 - the same in every run
    for depth in range(3):
        for word, voted in spellings:
            for _ in range(6):
                yield placed({"voted": word}, depth, rng), voted


def checked(body: object, status: int = 200) -> bool:
    return operations.read_vote(Reply(status, json.dumps(body).encode()))


def test_voted_decides_wherever_it_is() -> None:
    wrong = [body for body, voted in generated(SPELLINGS) if checked(body) is not voted]

    assert wrong == []


@pytest.mark.parametrize("depth", range(3))
def test_voted_with_another_value_is_neither_yes_nor_no(depth: int) -> None:
    rng = random.Random(depth)  # noqa: S311 - the same in every run
    for word in NEITHER:
        with pytest.raises(DecodeError, match="neither yes nor no"):
            checked(placed({"voted": word}, depth, rng) | {"success": True})


@pytest.mark.parametrize("data", [False, True, None, 0, 1, "no", []], ids=json.dumps)
def test_data_that_says_nothing_of_a_vote_is_neither_yes_nor_no(data: object) -> None:
    with pytest.raises(DecodeError, match="neither yes nor no"):
        checked({"success": True, "data": data})


@pytest.mark.parametrize("body", [{}, {"data": []}, [], True])
def test_an_answer_that_says_nothing_is_neither_yes_nor_no(body: object) -> None:
    with pytest.raises(DecodeError, match="neither yes nor no"):
        checked(body)


@pytest.mark.parametrize(
    ("body", "status", "voted"),
    [
        ({"success": True}, 200, True),
        ({"success": True, "message": "ok"}, 200, True),
        ({"success": True, "error": None}, 200, True),
        ({"success": True, "message": "odd"}, 404, False),
        *(
            ({"success": False} | words, status, False)
            for status in (200, 404)
            for words in ({}, {"message": "User has not voted in the last 12 hours"})
        ),
        ({"voted": False}, 404, False),
    ],
)
def test_success_decides_without_voted(body: object, status: int, *, voted: bool) -> None:
    assert checked(body, status) is voted


@pytest.mark.parametrize(
    "words",
    [
        "The entered bot token is invalid",
        "Invalid bot token.",
        "TOKEN EXPIRED",
        "No token was provided",
    ],
)
def test_a_token_that_is_refused_in_words_is_an_error_and_never_no(words: str) -> None:
    with pytest.raises(Invalid, match=words):
        checked({"success": False, "message": words})
