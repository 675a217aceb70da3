"""Each simulated service replaces, shows and refuses lists as its documents say, or as chosen."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from commandsync.testing import SimulatedListing
from tests.support.callers import PATHS, PING, SCHEMES, TELEGRAM_PING, ask, call, pings, send
from tests.support.callers import SimulatedReply as Reply
from tests.support.simulations import SERVICES, serve_simulation


@pytest.fixture(params=PATHS)
def simulated(request: pytest.FixtureRequest) -> Iterator[SimulatedListing]:
    with serve_simulation(request.param) as listing:
        yield listing


def sent(service: str, number: int = 1, *, by: str = "", **choices: Any) -> Reply:  # noqa: ANN401 - as it takes them
    with serve_simulation(service, **choices) as listing:
        return send(listing, pings(service, number), method=by)


def open_at(question: str) -> list[str]:
    return [name for name, service in SERVICES.items() if question in service.open]


@pytest.mark.parametrize("service", open_at("empty"))
def test_an_empty_list_is_accepted_or_refused(service: str) -> None:
    accepted, refused = (sent(service, 0, empty=answer) for answer in ("accepted", "refused"))

    assert accepted.status in {200, 204}
    assert refused.status in {400, 422}


def test_disq_accepts_no_empty_list() -> None:
    assert sent("disq.ink", 0).status == 400


@pytest.mark.parametrize(("answer", "put", "post"), [("put", 204, 405), ("post", 405, 204)])
def test_topgg_takes_put_or_post(answer: str, put: int, post: int) -> None:
    statuses = [sent("top.gg", by=method, method=answer) for method in ("PUT", "POST")]

    assert [reply.status for reply in statuses] == [put, post]


@pytest.mark.parametrize("service", open_at("scheme"))
def test_a_token_has_a_scheme_or_none(service: str) -> None:
    accepted = {}
    for answer in ("documented", "none"):
        with serve_simulation(service, scheme=answer) as listing:
            accepted[answer] = [
                send(listing, pings(service), Authorization=f"{scheme}{listing.token}").status
                == 200
                for scheme in (SCHEMES[service], "")
            ]

    assert accepted == {"documented": [True, False], "none": [False, True]}


@pytest.mark.parametrize("service", open_at("unauthorized"))
@pytest.mark.parametrize("status", [401, 400])
def test_a_missing_or_wrong_token_has_a_status(service: str, status: int) -> None:
    with serve_simulation(service, unauthorized=str(status)) as listing:
        statuses = [send(listing, [], Authorization=token).status for token in ("", "x")]

    assert statuses == [status, status]


def test_a_success_has_a_body_or_none() -> None:
    replies = {name: sent("discordbotlist.com", success=name) for name in ("json", "text", "none")}

    assert {reply.status for reply in replies.values()} == {200}
    assert {name: reply.content for name, reply in replies.items()} == {
        "json": {"success": True},
        "text": "OK",
        "none": "",
    }


@pytest.mark.parametrize("service", open_at("retry_after"))
def test_a_429_says_how_long_in_its_header_or_elsewhere(service: str) -> None:
    for answer in SERVICES[service].open["retry_after"]:
        with serve_simulation(service, retry_after=answer) as listing:
            listing.fail_next(429, retry_after=460)
            reply = send(listing, pings(service))

        assert reply.status == 429
        assert (reply.headers.get("retry-after") == "460") == (answer == "header")
        assert ("460" in str(reply.content)) == (service != "discordbotlist.com")
        assert listing.writes == []


def test_topgg_proves_that_a_token_is_accepted() -> None:
    with serve_simulation("top.gg") as listing:
        path = PATHS["top.gg"].removesuffix("/commands")
        known = ask(listing, "GET", path, Authorization=f"Bearer {listing.token}")
        unknown = ask(listing, "GET", path, Authorization="Bearer x")

    assert (known.status, unknown.status) == (200, 401)
    assert known.content["id"] != listing.bot


SUCCESS = {
    "top.gg": (204, ""),
    "discordbotlist.com": (200, {"success": True}),
    "telegram": (200, {"ok": True, "result": True}),
    "bots.ondiscord.xyz": (204, ""),
    "disq.ink": (200, {"status": 200, "message": "OK"}),
    "radarcord.net": (200, {"message": "Success"}),
}
AS_DISCORD = ["top.gg", "discordbotlist.com", "disq.ink", "radarcord.net"]
BAN = {"name": "ban", "description": "Bans a user.", "type": 1}
SHOW = {"name": "show", "description": "Logs.", "type": 2, "options": [BAN]}
USER = {"name": "user", "description": "Who.", "type": 6, "required": True}
GROUP = {**PING, "name": "mod", "options": [{**BAN, "options": [USER]}, SHOW]}


def test_a_list_is_replaced_and_answered_as_documented(simulated: SimulatedListing) -> None:
    first, second = pings(simulated.service), pings(simulated.service, 2)
    replies = [send(simulated, records)[:2] for records in (first, second)]

    assert replies == [SUCCESS[simulated.service]] * 2
    assert simulated.commands == second
    assert simulated.writes == [("default", first), ("default", second)]


def test_a_list_has_a_limit(simulated: SimulatedListing) -> None:
    most = 200 if simulated.service in {"disq.ink", "bots.ondiscord.xyz"} else 100
    records = pings(simulated.service, most + 1)
    accepted, refused = send(simulated, records[:most]), send(simulated, records)

    assert accepted[:2] == SUCCESS[simulated.service]
    assert refused.status in {400, 422}
    assert len(simulated.commands) == most


@pytest.mark.parametrize("service", AS_DISCORD)
def test_sub_commands_menus_and_names_of_all_scripts_are_accepted(service: str) -> None:
    names = [{**PING, "name": name} for name in ("größe", "खोज", "ค้นหา", "a" * 32)]
    records = [GROUP, {"type": 2, "name": "Report User"}, *names]
    with serve_simulation(service) as listing:
        send(listing, records)

    assert listing.commands == records


WRONG: dict[str, dict[str, Any]] = {
    "no name": {"description": "Says pong."},
    "empty name": {**PING, "name": ""},
    "long name": {**PING, "name": "a" * 33},
    "upper case": {**PING, "name": "Ping"},
    "space": {**PING, "name": "mod ban"},
    "no description": {"name": "ping"},
    "long description": {**PING, "description": "a" * 101},
    "type": {**PING, "type": 5},
    "three levels": {**GROUP, "options": [{**SHOW, "options": [SHOW]}]},
    "26 options": {**PING, "options": [{**USER, "name": f"o{n}"} for n in range(26)]},
}


@pytest.mark.parametrize("entry", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("service", AS_DISCORD)
def test_entries_follow_the_rules_of_discord(service: str, entry: dict[str, Any]) -> None:
    with serve_simulation(service) as listing:
        reply = send(listing, [PING, entry])

    assert reply.status in {400, 422}
    assert listing.writes == []


def test_ondiscord_has_longer_texts_and_no_list() -> None:
    entry = {"name": "Ping", "description": "a" * 1_000, "category": "Fun"}
    with serve_simulation("bots.ondiscord.xyz") as listing:
        bodies = [[entry], [{**entry, "description": "a" * 1_001}], None]
        statuses = [send(listing, body).status for body in bodies]

    assert statuses == [204, 400, 204]
    assert [records for _, records in listing.writes] == [[entry], []]


# Without a token, with a wrong one, of another bot, and of a body that is not valid.
REFUSALS = {
    "top.gg": (401, 401, None, 422),
    "discordbotlist.com": (401, 401, 404, 400),
    "telegram": (None, 401, None, 400),
    "bots.ondiscord.xyz": (401, 401, 404, 400),
    "disq.ink": (401, 403, 404, 400),
    "radarcord.net": (400, 400, 400, 400),
}
NEWS = {"title": "v2 is out", "content": "Slash commands everywhere.", "category": "event"}


def refusal(listing: SimulatedListing, reply: Reply) -> int:
    """Return the status of a refusal, which has a reason and the form of the service."""
    match listing.service, reply.content:
        case "top.gg", {"type": str(), "title": str(), "status": reply.status, "detail": str(why)}:
            assert reply.headers["content-type"] == "application/problem+json"
        case "disq.ink", {"error": {"status": reply.status, "message": str(why)}}:
            pass
        case "telegram", {"ok": False, "error_code": reply.status, "description": str(why)}:
            pass
        case _, {"message": str(why)}:
            pass
        case other:
            raise AssertionError(other)
    assert why
    return reply.status


@pytest.mark.promise("serve-as")
def test_a_caller_without_its_right_token_is_refused(simulated: SimulatedListing) -> None:
    records = pings(simulated.service)
    missing, wrong, unlisted, _ = REFUSALS[simulated.service]
    token, bot = simulated.token, simulated.bot
    if missing is not None:
        assert refusal(simulated, send(simulated, records, Authorization="")) == missing
        reply = send(simulated, records, Authorization=f"Other {token}")
        assert refusal(simulated, reply) == wrong
    simulated.token = token[:-1]
    assert refusal(simulated, send(simulated, records)) == wrong
    simulated.token, simulated.bot = token, f"{bot}0"
    if unlisted is not None:
        assert refusal(simulated, send(simulated, records)) == unlisted

    assert simulated.writes == []


@pytest.mark.parametrize("body", [b"", b"{", b"null", b'"x"', b"[1]", b'{"commands": {}}', b"\xff"])
def test_a_body_without_a_list_is_refused(simulated: SimulatedListing, body: bytes) -> None:
    assert refusal(simulated, send(simulated, body)) == REFUSALS[simulated.service][3]
    assert simulated.writes == []


def test_other_paths_and_methods_are_refused_in_its_form(simulated: SimulatedListing) -> None:
    wrong = send(simulated, [], method="DELETE")

    assert refusal(simulated, ask(simulated, "GET", "/nowhere")) == 404
    assert refusal(simulated, wrong) == 405
    assert wrong.headers["allow"]


def test_ondiscord_accepts_ten_requests_in_an_hour() -> None:
    with serve_simulation("bots.ondiscord.xyz") as listing:
        replies = [send(listing, pings(listing.service)) for _ in range(11)]

    assert [reply.status for reply in replies] == [204] * 10 + [429]
    assert 3_590 < int(replies[10].headers["retry-after"]) <= 3_600
    assert refusal(listing, replies[10]) == 429


def test_over_its_limit_topgg_blocks_for_an_hour() -> None:
    with serve_simulation("top.gg", rate_limit="2/second") as listing:
        replies = [send(listing, pings(listing.service)) for _ in range(20)]

    assert [reply.status for reply in replies[:2]] == [204, 204]
    assert replies[-1].status == 429
    assert 3_590 < replies[-1].content["retry-after"] <= 3_600
    assert "retry-after" not in replies[-1].headers
    assert len(listing.writes) < 20


def test_topgg_posts_one_announcement_in_four_hours() -> None:
    bodies = [{**NEWS, "title": "v2"}, {**NEWS, "content": "Short."}, {**NEWS, "category": "x"}]
    path = "/api/v1/projects/@me/announcements"
    with serve_simulation("top.gg") as listing:
        replies = [
            ask(listing, "POST", path, body, Authorization=f"Bearer {listing.token}")
            for body in (*bodies, NEWS, NEWS)
        ]
        page = ask(listing, "GET", "/", Accept="text/html").content

    assert [reply.status for reply in replies] == [422, 422, 422, 200, 429]
    assert replies[3].content.keys() == {"title", "content", "created_at"}
    assert 14_390 < int(replies[4].headers["retry-after"]) <= 14_400
    assert listing.announcements == [NEWS]
    assert ">v2 is out</a></h4>" in page


HELP = {"command": "help", "description": "Zeigt die Hilfe."}


@pytest.fixture
def telegram() -> Iterator[SimulatedListing]:
    with serve_simulation("telegram") as listing:
        yield listing


def test_a_list_is_set_read_and_deleted(telegram: SimulatedListing) -> None:
    stored = call(telegram, "setMyCommands", commands=[TELEGRAM_PING, HELP])
    read = call(telegram, "getMyCommands")
    deleted = call(telegram, "deleteMyCommands")
    after = call(telegram, "getMyCommands")

    assert stored.content == deleted.content == {"ok": True, "result": True}
    assert read.content == {"ok": True, "result": [TELEGRAM_PING, HELP]}
    assert after.content == {"ok": True, "result": []}
    assert telegram.writes == [("default", [TELEGRAM_PING, HELP]), ("default", [])]


def test_every_scope_and_language_has_a_list_of_its_own(telegram: SimulatedListing) -> None:
    chat = {"type": "chat", "chat_id": 42}
    lists: dict[str, dict[str, Any]] = {
        "default": {"scope": {"type": "default"}, "language_code": ""},
        "default de": {"language_code": "de"},
        "chat 42 de": {"scope": chat, "language_code": "de"},
    }
    for number, parameters in enumerate(lists.values()):
        command = {**TELEGRAM_PING, "command": f"c{number}"}
        call(telegram, "setMyCommands", commands=[command], **parameters)
        assert call(telegram, "getMyCommands", **parameters).content["result"] == [command]

    assert [key for key, _ in telegram.writes] == [*lists]
    assert [command["command"] for command in telegram.commands] == ["c0"]


def test_parameters_may_be_a_query_or_a_form(telegram: SimulatedListing) -> None:
    form = urlencode({"commands": json.dumps([TELEGRAM_PING]), "language_code": "fr"}).encode()
    path = f"/bot{telegram.token}/"
    media_type = "application/x-www-form-urlencoded"
    ask(telegram, "POST", f"{path}setmycommands", form, Content_Type=media_type)
    read = [
        ask(telegram, "GET", f"{path}getMyCommands?language_code={code}", Content_Type="")
        for code in ("fr", "it")
    ]

    assert [reply.content["result"] for reply in read] == [[TELEGRAM_PING], []]


@pytest.mark.parametrize("parameters", [{}, {"commands": [TELEGRAM_PING], "scope": "x"}])
def test_wrong_parameters_are_a_bad_request(
    telegram: SimulatedListing, parameters: dict[str, object]
) -> None:
    reply = call(telegram, "setMyCommands", **parameters)

    assert reply.status == 400
    assert telegram.writes == []


def test_the_bot_describes_itself(telegram: SimulatedListing) -> None:
    me = call(telegram, "getMe").content["result"]

    assert str(me["id"]) == telegram.bot == telegram.token.partition(":")[0]
    assert me["is_bot"] is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": "Ping"},
        {"command": "mod ban"},
        {"command": "a" * 33},
        {"command": None},
        {"description": ""},
        {"description": "a" * 257},
    ],
)
def test_one_wrong_entry_fails_the_call(telegram: SimulatedListing, wrong: dict[str, Any]) -> None:
    reply = send(telegram, [TELEGRAM_PING, TELEGRAM_PING | wrong])

    assert reply.content["description"] == "Bad Request: BOT_COMMAND_INVALID"
    assert telegram.writes == []


def test_telegram_refuses_a_token_of_no_bot_and_other_methods(telegram: SimulatedListing) -> None:
    for path in ("/bot1:x/getMe", "/botnonsense/getMe", f"/bot{telegram.token}/sendMessage"):
        assert refusal(telegram, ask(telegram, "POST", path)) == 404

    assert telegram.requests[1].path == "/bot***/getMe"
    assert telegram.token not in repr(telegram.requests)
