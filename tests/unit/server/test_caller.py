import json
import logging
import signal
from base64 import urlsafe_b64decode, urlsafe_b64encode

import jwt
import pytest

from commandsync.server.protocol import BadTokenError, owner_of_header, sign
from commandsync.server.service import running, serve
from tests.support.callers import Caller

SECRET = "a secret of this test, as long as the service's own"
DEEP = urlsafe_b64encode(b"[" * 45_000).decode()  # deeper than the interpreter goes
OTHER = "another secret of this test, as long as the service's"


def part(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_carries_the_id_the_time_and_the_key_and_no_more() -> None:
    payload = sign("7", issued_at=1_700_000_000, secret=SECRET, key="k").split(".")[1]
    claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))

    assert claims == {"id": "7", "iat": 1_700_000_000, "jti": "k"}


def test_a_token_from_the_future_is_good_since_clocks_are_set_back() -> None:
    token = sign("7", issued_at=9_000_000_000, secret=SECRET, key="k")

    assert owner_of_header(f"bot {token}", secret=SECRET).bot == "7"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        *((header, "a token is needed") for header in (None, "")),
        *((header, "must be `Bot <token>`") for header in ("Bearer x.y.z", "Bot", "x.y.z")),
    ],
)
def test_a_header_without_a_token_names_what_is_needed(header: str | None, message: str) -> None:
    with pytest.raises(BadTokenError, match=message):
        owner_of_header(header, secret=SECRET)


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        sign("7", issued_at=1, secret=OTHER, key="k"),
        sign("7", issued_at=1, secret=SECRET, key="k")[:-2],
        jwt.encode({"id": "7"}, SECRET, algorithm="HS256"),
        jwt.encode({"iat": 1}, SECRET, algorithm="HS256"),
        jwt.encode({"id": 7, "iat": 1}, SECRET, algorithm="HS256"),
        jwt.encode({"id": "7", "iat": 1}, SECRET * 2, algorithm="HS512"),
        f"{part({'alg': 'none', 'typ': 'JWT'})}.{part({'id': '7', 'iat': 1})}.",
        f"{DEEP}.{part({'id': '7', 'iat': 1})}.AAAA",
        f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{DEEP}.AAAA",
    ],
    ids=[
        *("no-jwt", "other-secret", "cut", "no-iat", "no-id", "number-id", "HS512", "unsigned"),
        *("deep-head", "deep-claims"),
    ],
)
def test_what_was_not_signed_here_is_invalid(token: str) -> None:
    with pytest.raises(BadTokenError, match="the bot token is invalid"):
        owner_of_header(f"Bot {token}", secret=SECRET)


@pytest.mark.parametrize(
    ("query", "logged"),
    [
        ("token=secret", "token=***"),
        ("transport=websocket&token=secret&EIO=3", "transport=websocket&token=***&EIO=3"),
        ("Token=secret&token=secret", "Token=***&token=***"),
        ("t%6Fken=secret", "t%6Fken=***"),
        ("token=%73ecret?token=secret", "token=***"),
        ("tokens=3&q=token", "tokens=3&q=token"),
        ("token", "token=***"),
    ],
)
def test_the_log_of_requests_shows_no_token_of_a_query(
    caplog: pytest.LogCaptureFixture, query: str, logged: str
) -> None:
    log = logging.getLogger("uvicorn.access")
    log.addHandler(caplog.handler)

    def ask_and_stop(url: str, _bots: object) -> None:
        Caller(url, "1", "").raw("GET", f"/v1/gateway/?{query}")
        signal.raise_signal(signal.SIGINT)

    serve(host="127.0.0.1", port=0, database=":memory:", access_log=True, on_ready=ask_and_stop)
    log.removeHandler(caplog.handler)

    assert {message.split('"')[1] for message in caplog.messages} == {
        f"GET /v1/gateway/?{logged} HTTP/1.1"
    }


def test_other_records_are_logged_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    with running():
        log = logging.getLogger("uvicorn.error")
        log.warning("no arguments?token=1")
        log.warning("%(name)s", {"name": "by name"})

    assert caplog.messages == ["no arguments?token=1", "by name"]
