"""The vote button, as a browser sends it to a real service."""

import re
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import jwt
import pytest
from fastapi import Request, Response
from starlette.datastructures import Headers

from commandsync.server import protocol
from commandsync.server.page_routes import COOKIE, is_from_own_page, remember, voter_of
from tests.support.bots import Bot, Service
from tests.support.inside import told

OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


@dataclass
class Visitor:
    """A browser that keeps cookies and follows nothing."""

    bot: Bot
    cookies: dict[str, str] = field(default_factory=dict)
    set_cookie: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str = "", **headers: str) -> tuple[int, str]:
        kept = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        with closing(HTTPConnection(urlsplit(self.bot.url).netloc, timeout=30)) as connection:
            sent = {**({"Cookie": kept} if kept else {}), **headers}
            connection.request(method, f"/bot/{self.bot.id}{path}", headers=sent)
            answer = connection.getresponse()
            self.headers = {name.lower(): value for name, value in answer.getheaders()}
            self.set_cookie = answer.msg.get_all("set-cookie") or []
            for line in self.set_cookie:
                self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
            return answer.status, answer.read().decode()

    def vote(self, **headers: str) -> tuple[int, str]:
        return self.ask("POST", "/vote", **(headers or OWN_PAGE))

    @property
    def user(self) -> str:
        user: str = jwt.decode(self.cookies[COOKIE], options={"verify_signature": False})["voter"]
        return user


@pytest.fixture
def visitor(service: Service) -> Visitor:
    return Visitor(service.bot())


def test_a_vote_leads_back_to_a_page_with_the_next_time(visitor: Visitor) -> None:
    assert "disabled" not in visitor.ask("GET")[1]
    status, _ = visitor.vote()
    location = visitor.headers["location"]
    _, page = visitor.ask("GET")

    assert (status, location) == (303, f"/bot/{visitor.bot.id}")
    assert re.search(r"<button[^>]* disabled>Voted</button>", page)
    assert re.search(
        r"You can vote again on <time [^>]+>\d+ \w+ \d{4} at \d\d:\d\d UTC</time>", page
    )
    assert ">Guest " in page


def test_a_vote_is_one_as_any_other(visitor: Visitor) -> None:
    visitor.vote()
    (voter,) = visitor.bot.voters()

    assert (voter["id"], voter["username"]) == (visitor.user, f"Guest {visitor.user[6:10]}")
    assert visitor.bot.statistics()["totalVotes"] == 1
    assert ("vote", visitor.user) in told(visitor.bot.database)


def test_a_second_vote_is_refused_by_a_page_that_says_when_it_is_possible(visitor: Visitor) -> None:
    visitor.vote()
    status, page = visitor.vote()

    assert (status, visitor.headers["content-type"]) == (409, "text/html; charset=utf-8")
    assert 43_000 < int(visitor.headers["retry-after"]) <= 43_200
    assert "voted already" in page
    assert re.search(r" again on \d+ \w+ \d{4} at \d\d:\d\d UTC", page)
    assert f'href="/bot/{visitor.bot.id}"' in page
    assert visitor.bot.statistics()["totalVotes"] == 1


def test_only_a_vote_sets_a_cookie_and_only_the_first_one(visitor: Visitor) -> None:
    lines = list[str]()
    for path in ("", "/voters", "/none"):
        visitor.ask("GET", path)
        lines += visitor.set_cookie
    visitor.vote(**{"Sec-Fetch-Site": "cross-site"})
    lines += visitor.set_cookie
    visitor.vote()
    first = visitor.set_cookie
    visitor.vote()

    assert (lines, len(first), visitor.set_cookie) == ([], 1, [])
    assert "Secure" not in first[0]


def test_a_cookie_of_https_is_sent_over_nothing_else(visitor: Visitor) -> None:
    address = urlsplit(visitor.bot.url).netloc
    visitor.vote(Origin=f"https://{address}")

    assert "; Secure" in visitor.set_cookie[0]


def test_the_voter_is_the_same_for_every_bot(service: Service, visitor: Visitor) -> None:
    visitor.vote()
    user = visitor.user
    other = Visitor(service.bot(), visitor.cookies)

    assert other.vote()[0] == 303
    assert [voter["id"] for voter in other.bot.voters()] == [user]


@pytest.mark.promise("pages-votes")
@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://other.example"}, {"X-None": ""}],
)
def test_a_form_of_another_site_is_refused(visitor: Visitor, headers: dict[str, str]) -> None:
    status, page = visitor.vote(**headers)

    assert (status, visitor.set_cookie) == (403, [])
    assert "not counted" in page
    assert visitor.bot.statistics()["totalVotes"] == 0


def test_an_unknown_bot_cannot_be_voted_for(service: Service) -> None:
    bot = service.bot()
    visitor = Visitor(bot)
    visitor.bot = type(bot)("%22%3E", bot.token, bot.url, bot.database)
    status, page = visitor.vote()

    assert (status, visitor.set_cookie) == (404, [])
    assert "not known" in page


SECRET = "a secret of this test, as long as the service's own"
OTHER = "another secret of this test, as long as the service's"


def cookie(user: str, *, secret: str = SECRET, is_secure: bool = False) -> SimpleCookie:
    response = Response()
    remember(response, user, secret=secret, is_secure=is_secure)
    return SimpleCookie(response.headers["set-cookie"])


def reads(value: str | None, *, secret: str = SECRET) -> str | None:
    """Return the user that a request with this cookie has."""
    headers = [] if value is None else [(b"cookie", f"{COOKIE}={value}".encode("latin-1"))]
    return voter_of(Request({"type": "http", "headers": headers}), secret=secret)


@pytest.mark.promise("voter-cookie")
@pytest.mark.parametrize("is_secure", [False, True])
def test_no_script_and_no_other_page_reads_the_cookie(*, is_secure: bool) -> None:
    kept = cookie("guest-1", is_secure=is_secure)[COOKIE]

    assert (kept["httponly"], kept["samesite"], kept["path"]) == (True, "lax", "/")
    assert kept["domain"] == ""
    assert bool(kept["secure"]) is is_secure
    assert int(kept["max-age"]) == 365 * 24 * 3600


GOOD = cookie("guest-1")[COOKIE].value
CONTENT, _, SIGNATURE = GOOD.rpartition(".")
ANOTHER, _, _ = cookie("guest-2")[COOKIE].value.rpartition(".")


@pytest.mark.promise("voter-cookie")
@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        ".",
        "guest-1",
        f"{CONTENT}.",
        f"{ANOTHER}.{SIGNATURE}",
        f"guest-1{GOOD}",
        f".{SIGNATURE}",
        SIGNATURE,
        GOOD[:-1],
        f"{CONTENT}.{'0' if SIGNATURE[0] != '0' else '1'}{SIGNATURE[1:]}",
        f"{GOOD}0",
        jwt.encode({"voter": "guest-1"}, "", "none"),
        "guest-1.\xff\xfe",
        cookie("guest-1", secret=OTHER)[COOKIE].value,
        protocol.sign("guest-1", issued_at=1, secret=SECRET, key="k"),
        "x" * 100_000,
    ],
)
def test_what_was_not_signed_here_is_nobody(value: str | None) -> None:
    assert reads(value) is None


def test_a_cookie_is_not_a_token() -> None:
    with pytest.raises(protocol.BadTokenError):
        protocol.owner_of_header(f"Bot {GOOD}", secret=SECRET)


OWN = (
    {"sec-fetch-site": "same-origin"},
    {"sec-fetch-site": "same-origin", "origin": "null"},
    {"origin": "http://127.0.0.1:8000"},
    {"origin": "https://127.0.0.1:8000"},
)


@pytest.mark.parametrize(
    "headers",
    [
        *OWN,
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of this machine
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8000"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "http://127.0.0.1"},
        {"origin": "http://127.0.0.1:8000.example"},
        {"origin": "http://", "host": ""},
        {"origin": "null", "host": ""},
    ],
)
def test_only_a_page_of_the_service_may_send_a_form(headers: dict[str, str]) -> None:
    is_own = is_from_own_page(Headers({"host": "127.0.0.1:8000", **headers}))

    assert is_own is (headers in OWN)
