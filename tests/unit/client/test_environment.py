from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync.api.operations import list_records
from commandsync.client.connection import Connection
from commandsync.errors import TransportError
from commandsync.records.texts import Resource
from tests.support.rawserver import RawServer, answering, sending

Connect = Callable[..., Connection]

READ = list_records("42", Resource.COMMAND)
LISTED: object = {"data": []}


@pytest.fixture
def _netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".netrc", "_netrc"):
        file = tmp_path / name
        file.write_text("default login mallory password stolen\n")
        file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.promise("netrc", "discord-token-rules")
@pytest.mark.usefixtures("_netrc")
@pytest.mark.parametrize("token", ["marked-token-7f3a9c1e", None])
def test_netrc_neither_replaces_nor_adds_authorization(
    server: RawServer, connect: Connect, token: str | None
) -> None:
    server.then(answering(LISTED))

    connect(server.url, token).call(READ)

    assert server.requests[0].headers.get("authorization") == (f"Bot {token}" if token else None)


@pytest.mark.promise("loopback-proxy")
def test_loopback_is_reached_without_a_proxy(
    server: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(answering(LISTED))
    with RawServer() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        connect(server.url).call(READ)

    assert len(server.requests) == 1
    assert proxy.connections == 0


@pytest.mark.promise("http-proxy")
def test_a_plain_proxy_carries_the_request_and_cannot_replace_the_token(
    server: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(answering(LISTED))
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//user:pass@"))

    connect("http://listing.example").call(READ)
    [request] = server.requests

    assert request.target == "http://listing.example/v1/bot/42/commands"
    assert request.headers["authorization"] == "Bot marked-token-7f3a9c1e"
    assert request.headers["proxy-authorization"] == "Basic " + b64encode(b"user:pass").decode()


def test_a_host_in_no_proxy_is_reached_directly(
    server: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("no_proxy", ".invalid")

    with pytest.raises(TransportError, match="cannot be found"):
        connect("http://listing.invalid").call(READ)

    assert server.connections == 0


def test_a_tunnel_that_is_refused_sent_nothing_and_no_token(
    server: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(answering(b"", status=407))
    monkeypatch.setenv("https_proxy", server.url)

    with pytest.raises(TransportError) as caught:
        connect("https://listing.example").call(READ)
    [request] = server.requests

    assert "listing.example: " in str(caught.value)
    assert "407" in str(caught.value)
    assert not caught.value.sent
    assert (request.method, request.target) == ("CONNECT", "listing.example:443")
    assert "authorization" not in request.headers


def test_a_proxy_that_speaks_no_http_sent_nothing(
    server: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(sending(b"SSH-2.0-OpenSSH_9.6\r\n"))
    monkeypatch.setenv("https_proxy", server.url)

    with pytest.raises(TransportError, match=r"^no connection to listing\.example$") as caught:
        connect("https://listing.example").call(READ)

    assert not caught.value.sent


@pytest.mark.promise("proxy-password")
@pytest.mark.parametrize(
    ("proxy", "why"),
    [("no-such-proxy.invalid:3128", "cannot be found"), ("127.0.0.1:9", "refuses connections")],
)
def test_a_proxy_that_cannot_be_reached_is_named_without_its_password(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, proxy: str, why: str
) -> None:
    monkeypatch.setenv("https_proxy", f"http://user:pass@{proxy}")

    with pytest.raises(TransportError) as caught:
        connect("https://listing.example").call(READ)

    assert str(caught.value) == f"the proxy {proxy} {why}"
    assert "HTTPS_PROXY" in str(caught.value.hint)
    assert not caught.value.sent


@pytest.mark.parametrize("proxy", ["http://", "socks5://127.0.0.1:9", "ftp://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_one_is_named_as_the_cause(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)

    with pytest.raises(TransportError, match="proxy") as caught:
        connect("http://listing.example").call(READ)

    assert not caught.value.sent
    assert caught.value.lasting
