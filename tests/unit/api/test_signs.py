import json
from collections.abc import Callable
from functools import partial
from itertools import product

import pytest

from commandsync.api import operations
from commandsync.errors import DecodeError, Invalid, Reply
from commandsync.records.texts import Resource
from tests.support.ways import HTTP, SIGNS, Manner, manners

COMMANDS = partial(operations.read_records, Resource.COMMAND)
ANNOUNCEMENTS = partial(operations.read_records, Resource.ANNOUNCEMENT)
RECORDS = [{"id": f"c{n}", "name": f"command {n}"} for n in range(5)]
POSTS = [{"id": f"a{n}", "title": f"v{n}"} for n in range(5)]
LISTS: list[Callable[[Reply], object]] = [
    COMMANDS,
    ANNOUNCEMENTS,
    partial(operations.read_page, "bots"),
    partial(operations.read_page, "voters"),
]
EVERY_SIGN = pytest.mark.parametrize("sign", [*SIGNS, *HTTP])


def reply(content: object, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(200, json.dumps(content).encode(), named)


def of(sign: str) -> list[Manner]:
    return [manner for manner in manners() if manner.sign == sign]


@EVERY_SIGN
def test_a_part_of_a_list_is_never_a_listing_however_that_is_said(sign: str) -> None:
    collections = [("commands", RECORDS, COMMANDS), ("announcements", POSTS, ANNOUNCEMENTS)]
    for manner, (own, records, read), shown in product(of(sign), collections, (0, 5)):
        with pytest.raises(DecodeError, match=rf"only a part of the {own} \(see its "):
            pytest.fail(f"{manner}: {read(manner.answer(records[:shown], count=11, own=own))}")


@EVERY_SIGN
def test_a_service_in_pages_is_readable_while_one_page_is_enough(sign: str) -> None:
    for manner in of(sign):
        for count in (0, 5):
            listed = COMMANDS(manner.answer(RECORDS[:count], count=count))

            assert len(listed) == count, str(manner)


@EVERY_SIGN
def test_voters_and_bots_are_read_page_by_page(sign: str) -> None:
    for manner in of(sign):
        voters = operations.read_page("voters", manner.answer([{"id": "7"}], count=3, own="voters"))
        bots = operations.read_page("bots", manner.answer([{"id": "42"}], count=3, own="bots"))

        assert len(voters.voters) == len(bots.bots) == 1, str(manner)


@pytest.mark.parametrize(
    "beside",
    [
        {"count": 99, "size": 99, "limit": 99, "perPage": 99, "page_size": 99, "offset": 0},
        {"total": "nobody knows", "hasMore": False, "maxPage": 0},
        {"total": None, "queries": []},
        {"page": 0, "totalPages": 1},
        {"page": 0, "maxPage": 0},
        {"page": {"size": 20, "number": 0, "totalPages": 1, "totalElements": 1}},
        {"pageInfo": {"hasNextPage": False, "endCursor": "abc"}},
        {"links": {"self": "/1", "prev": "/0", "next": None, "last": "/1"}},
        {"_links": {"self": {"href": "/1"}, "next": {"href": None}}},
        {"links": [{"rel": "self", "href": "/1"}, {"rel": "next", "href": None}, "next"]},
        {"total": True, "pages": [1, 2, 3], "last": 9, "more": 0, "next": "null"},
        {"nextUpdate": "2027-01-01", "totalUses": 5_000, "pagesVisited": 9},
        {"bot": {"id": "42", "status": 500, "pages": 9, "ratings": {"total": 12}}},
        {"id": "42", "status": 500, "ratings": {"total": 12}, "statistics": {"total": 9}},
        {"announcements": {"data": [], "total": 12}, "meta": {"links": []}},
    ],
    ids=json.dumps,
)
def test_what_concerns_this_page_is_not_a_sign(beside: dict[str, object]) -> None:
    assert len(COMMANDS(reply({**beside, "commands": [RECORDS[0]]}))) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"link": '</1>; rel="prev first", </2>; title="see; rel=next"'},
        {"link": "<https://listing.example/;rel=next>; rel=prev"},
        {"link": '</style.css>; rel=preload; as="style"'},
        {"content_range": "items 0-0/*"},
        {"content_range": "bytes 0-99/100"},
        {"x_total_count": "1", "x_page": "1", "x_next_page": "", "x_total_pages": "1"},
        {"x_pagination": '{"TotalCount": 1, "TotalPages": 1, "HasNext": false}'},
        {"nel": '{"report_to": "cdn", "max_age": 604800', "age": "99"},
    ],
    ids=json.dumps,
)
def test_headers_that_say_that_all_is_here_are_no_obstacle(headers: dict[str, str]) -> None:
    assert len(COMMANDS(reply([RECORDS[0]], **headers))) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"link": "</2>; rel=next"},
        {"link": '</0>; rel=prev, </2>; foo=bar; REL="last next"'},
        {"content_range": "0-0/2"},
        {"x_wp_totalpages": "2"},
        {"x_pagination_page_count": "2"},
        {"x_pagination": '{"TotalCount": 2}'},
        {"x_next_page": "2"},
        {"total_count": "2"},
    ],
    ids=json.dumps,
)
def test_headers_of_known_services_are_understood(headers: dict[str, str]) -> None:
    with pytest.raises(DecodeError, match="only a part of the commands"):
        COMMANDS(reply([RECORDS[0]], **headers))


@pytest.mark.parametrize(
    "beside",
    [
        {"page": 0, "lastPage": 1},
        {"totalCommands": 2},
        {"hasMoreCommands": True},
        {"meta": {"page": {"cursors": {"next": "abc"}}}},
        {"@odata.nextLink": "/2"},
        {"__next": "/2"},
        {"next": {"page": 2, "limit": 10}},
        {"complete": "false"},
    ],
    ids=json.dumps,
)
def test_other_words_for_more_are_understood(beside: dict[str, object]) -> None:
    with pytest.raises(DecodeError, match="only a part of the commands"):
        COMMANDS(reply({**beside, "data": [RECORDS[0]]}))


FAILURES: dict[str, list[object]] = {
    "success": [False, "false", 0, "0", None, "", "no", "we failed", 2, [], {}],
    "ok": [False, "false", 0, "0", None, "", "no", 2],
    "status": [
        *("error", "fail", "failed", "ERROR", "failure", "500", "500 Oh."),
        *(False, 400, 404, 503.0),
    ],
    "status code": [400, "502"],
    "error": [True, 1, "no", "Oh.", ["Oh."], {"code": 7}, {"message": "Oh."}],
    "errors": [["Oh."], [{"message": "Oh."}], {"name": ["Oh."]}, "Oh."],
}
FINE: dict[str, list[object]] = {
    "success": [True, "true", "True", 1, "1"],
    "ok": [True, "true", 1],
    "status": ["success", "ok", "200 OK", 200, "200", 0, 1, 399, True, None, "errorless"],
    "status code": [200, 0],
    "error": [None, False, "", 0, "false", "null", [], {}, {"code": 0, "message": ""}],
    "errors": [None, [], {}, [None], ""],
}
SPELLED = {
    "success": ["success", "Success", "SUCCESS"],
    "ok": ["ok", "OK", "Ok"],
    "status": ["status", "Status"],
    "status code": ["statusCode", "status_code", "Status-Code"],
    "error": ["error", "Error"],
    "errors": ["errors", "Errors"],
}


def with_values(values: dict[str, list[object]], word: str) -> list[dict[str, object]]:
    return [{name: value} for value in values[word] for name in SPELLED[word]]


def around(said: dict[str, object], own: str) -> list[object]:
    return [
        {**said, "data": []},
        {**said, own: []},
        {"success": True, "message": "Done.", "data": {**said, "data": []}},
        {"meta": said, "data": []},
        {"data": {own: [], "meta": {"result": said}}},
    ]


OWN = ("commands", "announcements", "bots", "voters")


@pytest.mark.parametrize("word", FAILURES)
def test_an_answer_that_says_it_failed_is_never_an_empty_list(word: str) -> None:
    for said, (own, read) in product(with_values(FAILURES, word), zip(OWN, LISTS, strict=True)):
        for content in around(said, own):
            with pytest.raises(Invalid, match=r"^the service reports a failure"):
                read(reply(content))
        if "we failed" not in said.values():  # to a write, `success` may be a sentence
            with pytest.raises(Invalid, match=r"^the service reports a failure"):
                operations.acknowledged(reply(said))


@pytest.mark.parametrize("word", FINE)
def test_an_answer_that_says_all_is_well_is_read(word: str) -> None:
    for said, (own, read) in product(with_values(FINE, word), zip(OWN, LISTS, strict=True)):
        for content in around(said, own):
            assert read(reply(content)) is not None


@pytest.mark.parametrize("read", LISTS)
@pytest.mark.parametrize(
    ("status", "body"), [(202, "[]"), (202, ""), (200, ""), (204, ""), (206, "")]
)
def test_no_result_is_an_error(read: Callable[[Reply], object], status: int, body: str) -> None:
    with pytest.raises(DecodeError):
        read(Reply(status, body.encode()))


def test_an_answer_nested_to_the_limit_is_looked_through() -> None:
    deep = '{"meta":' * 400 + '{"hasMore": true}' + "}" * 400
    error = '{"error":' + "[" * 400 + "1" + "]" * 400 + "}"

    with pytest.raises(DecodeError, match="hasMore"):
        COMMANDS(Reply(200, f'{{"data": [], "meta": {deep}}}'.encode()))
    with pytest.raises(Invalid):
        COMMANDS(Reply(200, f'{{"data": [], "meta": {error}}}'.encode()))
