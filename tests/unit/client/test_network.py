"""Proxies, certificates and headers are those of the surroundings, and each failure has a hint."""

import gzip
import re
import socket
import ssl
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
import trustme

from commandsync.api.operations import list_records
from commandsync.client.connection import Connection
from commandsync.client.request import LARGEST_BODY
from commandsync.errors import TransportError
from commandsync.records.texts import Resource
from tests.support.rawserver import (
    Act,
    Exchange,
    RawServer,
    SocketServer,
    answer,
    answering,
    closing,
    dripping,
    hanging,
    resetting,
    sending,
)

Connect = Callable[..., Connection]

READ = list_records("42", Resource.COMMAND)
HEAD = b"HTTP/1.1 200 OK\r\n"


def failure(connection: Connection) -> TransportError:
    with pytest.raises(TransportError) as caught:
        connection.call(READ)
    error = caught.value

    assert "Error(" not in str(error)
    assert "object at" not in str(error)
    assert error.__cause__ is None
    assert error.hint
    return error


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def host_of(server: SocketServer) -> str:
    return f"127.0.0.1:{server.port}"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[RawServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with RawServer(tls=context) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "message", "lasting"),
    [
        ("127.0.0.1:{port}", "127.0.0.1:{port} refuses connections", False),
        ("no-such-host.invalid", "the host name of no-such-host.invalid cannot be found", False),
        ("a" * 70 + ".example", ".* is not a valid host name", True),
        ("255.255.255.255", "no connection to 255.255.255.255: .*", False),
    ],
    ids=["refused", "unknown", "none", "unreachable"],
)
def test_a_host_that_cannot_be_reached_sent_nothing(
    connect: Connect, host: str, message: str, *, lasting: bool
) -> None:
    port = free_port()

    error = failure(connect("http://" + host.format(port=port)))

    assert re.fullmatch(message.format(port=port), str(error))
    assert (error.sent, error.lasting) == (False, lasting)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses at once")
def test_a_connection_that_takes_too_long_sent_nothing(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # they fill the queue that nobody empties
        for sock in waiting:
            sock.settimeout(0)
            sock.connect_ex(address)
        error = failure(connect(f"http://127.0.0.1:{address[1]}", timeout=0.2))
        for sock in waiting:
            sock.close()

    assert str(error) == f"no connection to 127.0.0.1:{address[1]} within 0.2 s"
    assert (error.sent, error.lasting) == (False, False)


@pytest.fixture(params=["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def _trusted(
    request: pytest.FixtureRequest,
    authority: trustme.CA,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv(request.param, str(tmp_path / "ca.pem"))


@pytest.mark.promise("certificates")
def test_an_untrusted_certificate_is_not_accepted(secure: RawServer, connect: Connect) -> None:
    error = failure(connect(secure.url))

    assert str(error).startswith(f"the certificate of {host_of(secure)} is not trusted: ")
    assert "REQUESTS_CA_BUNDLE" in str(error.hint)
    assert (error.sent, error.lasting) == (False, True)
    assert secure.requests == []


@pytest.mark.usefixtures("_trusted")
def test_another_hosts_certificate_is_refused(authority: trustme.CA, connect: Connect) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("listing.example").configure_cert(context)

    with RawServer(tls=context) as server:
        error = failure(connect(server.url))

    assert "is not valid for '127.0.0.1'" in str(error)
    assert (error.sent, error.lasting) == (False, True)


@pytest.mark.usefixtures("_trusted")
def test_an_authority_from_the_environment_is_trusted(secure: RawServer, connect: Connect) -> None:
    secure.then(answering({"data": []}), dripping(HEAD, tail=b"x"))
    connection = connect(secure.url, timeout=1.0)

    commands = connection.call(READ)
    error = failure(connection)

    assert commands == ()
    assert str(error).endswith(" complete answer within 1 s")


@contextmanager
def tunnel_to(server: RawServer) -> Iterator[str]:
    """A proxy that connects every host to one server; yields its URL."""
    port = int(server.url.rpartition(":")[2])

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        client, _ = listener.accept()
        clients.append(client)
        with client, socket.create_connection(("127.0.0.1", port)) as inner:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += client.recv(1)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = Thread(target=copy, args=(inner, client))
            back.start()
            copy(client, inner)
            back.join()

    clients: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for client in clients:  # the connection is kept for the next request
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.promise("certificates")
@pytest.mark.parametrize("secured", [True, False], ids=["trusted", "not trusted"])
def test_the_certificate_is_checked_by_ssl_cert_file_behind_a_proxy_too(
    authority: trustme.CA,
    connect: Connect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    secured: bool,
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("listing.example").configure_cert(context)
    known = authority if secured else trustme.CA()
    known.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with RawServer(tls=context) as server, tunnel_to(server) as proxy:
        server.then(answering({"data": []}))
        monkeypatch.setenv("https_proxy", proxy)
        connection = connect("https://listing.example")
        if secured:
            assert connection.call(READ) == ()
        else:
            assert "is not trusted" in str(failure(connection))


def test_the_bundle_of_requests_comes_before_that_of_openssl(
    secure: RawServer,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    authority: trustme.CA,
    tmp_path: Path,
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    secure.then(answering({"data": []}))

    assert connect(secure.url).call(READ) == ()


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_bundle_that_does_not_exist_is_named(
    secure: RawServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/nowhere/ca.pem")

    error = failure(connect(secure.url))

    assert "does not exist" in str(error)
    assert (error.sent, error.lasting) == (False, True)


def test_a_handshake_that_is_never_answered_sent_nothing(connect: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        error = failure(connect(f"https://127.0.0.1:{port}", timeout=0.2))

    assert str(error) == f"no connection to 127.0.0.1:{port} within 0.2 s"
    assert (error.sent, error.lasting) == (False, False)


@pytest.mark.parametrize(
    ("said", "message", "lasting"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "{} does not answer with https", True),
        (b"", ".*{}", False),
    ],
    ids=["plain", "cut off"],
)
def test_a_handshake_that_fails_sent_nothing(
    connect: Connect, said: bytes, message: str, *, lasting: bool
) -> None:
    class Curt(SocketServer):
        def converse(self, sock: socket.socket, _: int) -> None:
            sock.recv(65536)
            sock.sendall(said)

    with Curt() as server:
        error = failure(connect(f"https://{host_of(server)}"))

    assert re.match(message.format(re.escape(host_of(server))), str(error))
    assert (error.sent, error.lasting) == (False, lasting)


@pytest.mark.usefixtures("_trusted")
def test_a_secure_connection_that_breaks_is_unclear(secure: RawServer, connect: Connect) -> None:
    def talk_plainly(exchange: Exchange) -> None:
        socket.socket.sendall(exchange.sock, answer({"data": []}))  # below the encryption
        exchange.close()

    secure.then(talk_plainly)

    error = failure(connect(secure.url))

    assert str(error).startswith(f"the connection to {host_of(secure)} broke")
    assert (error.sent, error.lasting) == (True, False)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (closing, "closed the connection"),
        (resetting, "closed the connection"),
        (sending(HEAD + b"Content-Length: 10\r\n\r\n[]"), "is truncated"),
        (sending(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n[1,"), "is truncated"),
        (sending(b"SSH-2.0-OpenSSH_9.6\r\n"), "is not HTTP"),
        (sending(HEAD + b"X: " + b"x" * 70000), "is not HTTP"),
        (sending(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), "is truncated|is not HTTP"),
    ],
    ids=["closed", "reset", "short", "half a chunk", "ssh", "endless header", "bad chunk"],
)
def test_what_breaks_after_the_request_is_unclear(
    server: RawServer, connect: Connect, act: Act, message: str
) -> None:
    server.then(act)

    error = failure(connect(server.url))

    assert re.search(message, str(error))
    assert host_of(server) in str(error)
    assert (error.sent, error.lasting) == (True, False)


@pytest.mark.parametrize(
    "act",
    [
        hanging,
        dripping(b"HTTP/1.1 200 ", tail=b"x"),
        dripping(HEAD + b"X: ", tail=b"x"),
        dripping(HEAD + b"Content-Length: 9999\r\n\r\n", tail=b" "),
        dripping(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", tail=b"1\r\n \r\n"),
        dripping(HEAD + b"\r\n", tail=b" "),
    ],
    ids=["silence", "status line", "header", "body", "chunks", "until closed"],
)
def test_a_request_ends_with_its_time(server: RawServer, connect: Connect, act: Act) -> None:
    server.then(act)

    error = failure(connect(server.url, timeout=0.3))

    assert str(error).startswith(f"{host_of(server)} did not send")
    assert str(error).endswith(" within 0.3 s")
    assert (error.sent, error.lasting) == (True, False)


@pytest.mark.parametrize("is_bomb", [True, False], ids=["bomb", "endless"])
def test_a_too_large_answer_ends(server: RawServer, connect: Connect, *, is_bomb: bool) -> None:
    bomb = gzip.compress(b" " * (LARGEST_BODY + 1), 1)
    endless = dripping(HEAD + b"\r\n" + b" " * LARGEST_BODY, tail=b" " * 65536)
    zipped = sending(answer(bomb, headers={"Content-Encoding": "gzip"}))
    server.then(zipped if is_bomb else endless)

    error = failure(connect(server.url))

    assert str(error) == f"the answer of {host_of(server)} is larger than 32 MiB"
    assert (error.sent, error.lasting) == (True, True)


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
def test_netrc_changes_no_header(server: RawServer, connect: Connect, token: str | None) -> None:
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
