"""A session of the caller's lends its settings; nothing else of it is used."""

import ssl
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import requests
import trustme
from requests.adapters import HTTPAdapter

from commandsync import ArgumentError, Client, TransportError, Unauthorized
from tests.support.clients import TOKEN, Either, HastyAsyncClient, HastyClient, LoopThread, Open
from tests.support.gateway import Gateway, telling, vote
from tests.support.rawserver import RawServer, answering

Session = requests.Session | aiohttp.ClientSession
Make = Callable[..., Session]

VOTED = answering({"voted": True})


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


@pytest.fixture
def aio(loop: LoopThread) -> Iterator[Callable[..., aiohttp.ClientSession]]:
    """Make a session of aiohttp, in its loop."""
    made: list[aiohttp.ClientSession] = []

    def make(
        make: Callable[..., aiohttp.ClientSession] = aiohttp.ClientSession,
        connector: Callable[[], aiohttp.BaseConnector] | None = None,
        **settings: Any,  # noqa: ANN401 - passed on
    ) -> aiohttp.ClientSession:
        async def in_loop() -> aiohttp.ClientSession:
            return make(connector=connector() if connector else None, **settings)

        made.append(loop.run(in_loop()))
        return made[-1]

    yield make
    for session in made:
        assert not session.closed, "a client closed a session that is not its own"
        loop.run(session.close())


@pytest.fixture
def make(
    open_client: Open, aio: Callable[..., aiohttp.ClientSession], request: pytest.FixtureRequest
) -> Make:
    """Make a session with headers or a proxy, of the library that the client uses."""
    asynchronous = "asynchronous" in request.node.callspec.id
    del open_client

    def make(headers: dict[str, str] | None = None, *, proxy: str | None = None) -> Session:
        if asynchronous:
            return aio(headers=headers, proxy=proxy)
        session = requests.Session()
        session.headers.update(headers or {})
        session.proxies = {"http": proxy, "https": proxy} if proxy else {}
        return session

    return make


def test_headers_of_a_session_are_added(open_client: Open, make: Make, server: RawServer) -> None:
    server.then(VOTED, VOTED)
    session = make({"X-Mine": "bot 7", "user-agent": "mine", "Accept": "text/plain"})
    client = open_client(TOKEN, server.url, bot="42", session=session)

    client.check_vote(7)
    client.with_options(timeout=5).check_vote(7)

    for request in server.requests:
        assert request.headers["x-mine"] == "bot 7"
        assert request.headers["user-agent"].startswith("commandsync/")
        assert request.headers["accept"] == "application/json"
        assert request.headers["authorization"] == f"Bot {TOKEN}"


def test_a_gateway_gets_a_sessions_headers(open_client: Open, make: Make, gateway: Gateway) -> None:
    gateway.then(telling(vote(7)))
    client = open_client(TOKEN, gateway.url, session=make({"X-Mine": "bot 7"}))

    client.listen()
    client.take(2)

    [handshake] = [request for request in gateway.requests if "gateway" in request.path]
    assert handshake.headers["x-mine"] == "bot 7"


def test_a_sessions_proxy_is_used(open_client: Open, make: Make, server: RawServer) -> None:
    server.then(VOTED)
    session = make(proxy=server.url.replace("//", "//user:pass@"))
    url = "http://listing.example"
    client = open_client(TOKEN, url, bot="42", session=session, insecure_http=True)

    client.check_vote(7)
    [request] = server.requests

    assert request.target == "http://listing.example/v1/bot/42/voters/7"
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert request.headers["proxy-authorization"].startswith("Basic ")


def test_loopback_needs_no_proxy(open_client: Open, make: Make, server: RawServer) -> None:
    server.then(VOTED)
    session = make(proxy="http://127.0.0.1:9")

    assert open_client(TOKEN, server.url, bot="42", session=session).check_vote(7)


def test_a_session_can_leave_out_the_environment(
    open_client: Open, make: Make, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    session = make()
    if isinstance(session, requests.Session):
        session.trust_env = False  # as aiohttp's sessions are from the start
    settings: dict[str, Any] = {"bot": "42", "insecure_http": True, "retries": 0}
    client = open_client(TOKEN, "http://listing.invalid", session=session, **settings)

    with pytest.raises(TransportError, match="cannot be found"):
        client.check_vote(7)

    assert server.connections == 0


def test_a_close_leaves_the_session(open_client: Open, make: Make, server: RawServer) -> None:
    server.then(VOTED, VOTED)
    session = make({"X-Mine": "a"})
    for _ in range(2):
        client = open_client(TOKEN, server.url, bot="42", session=session)
        client.check_vote(7)
        client.close()

    assert [request.connection for request in server.requests] == [1, 2]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[RawServer]:
    """Serve with a certificate, and require one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    with RawServer(tls=context) as running:
        yield running


@pytest.mark.parametrize("open_client", [Client], indirect=True, ids=["blocking"])
def test_the_certificates_of_a_session_are_used(
    open_client: Open, authority: trustme.CA, secure: RawServer, tmp_path: Path
) -> None:
    bundle, own = tmp_path / "ca.pem", tmp_path / "own.pem"
    authority.cert_pem.write_to_path(bundle)
    authority.issue_cert("bot.example").private_key_and_cert_chain_pem.write_to_path(own)
    session = requests.Session()
    session.verify, session.cert = str(bundle), str(own)
    secure.then(VOTED, answering({"error": "no"}, status=401))

    client = open_client(TOKEN, secure.url, bot="42", session=session)
    assert client.check_vote(7)
    client.listen()  # by the asynchronous connection below it

    assert isinstance(client.ended(), Unauthorized)
    assert len(secure.requests) == 2


def test_the_context_of_a_connector_is_used(
    authority: trustme.CA, secure: RawServer, aio: Callable[..., aiohttp.ClientSession]
) -> None:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    authority.issue_cert("bot.example").configure_cert(context)
    session = aio(connector=lambda: aiohttp.TCPConnector(ssl=context))
    secure.then(VOTED)

    client = Either(HastyAsyncClient(TOKEN, secure.url, bot="42", session=session))
    assert client.check_vote(7)
    client.end()


def having(**settings: Any) -> requests.Session:  # noqa: ANN401 - of any kind
    session = requests.Session()
    for name, value in settings.items():
        setattr(session, name, value)
    return session


class OwnAdapter(HTTPAdapter):
    def send(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - as requests has it
        raise AssertionError("an adapter of the session was used")


def mounted() -> requests.Session:
    session = requests.Session()
    session.mount("http://", OwnAdapter(max_retries=3))
    return session


def with_cookie() -> requests.Session:
    session = requests.Session()
    session.cookies.set("a", "b", domain="127.0.0.1")
    return session


def never(*_: object, **__: object) -> None:
    raise AssertionError("a hook of the session was called")


async def never_async(*_: object) -> Any:  # noqa: ANN401 - as aiohttp has it
    raise AssertionError("a middleware of the session was called")


NOT_USED: dict[str, Callable[[], requests.Session]] = {
    "auth": lambda: having(auth=("a", "b")),
    "hooks": lambda: having(hooks={"response": [never]}),
    "params": lambda: having(params={"a": "b"}),
    "cookies": with_cookie,
    "adapter": mounted,
    **{
        name: partial(having, headers={name: "x"})
        for name in ("Authorization", "cookie", "Host", "Content-Length")
    },
}

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of aiohttp 3.14
    BASIC = aiohttp.BasicAuth("a", "b")

AIO_NOT_USED: dict[str, dict[str, Any]] = {
    "auth": {"auth": BASIC},
    "middlewares": {"middlewares": [never_async]},
    "cookies": {"cookies": {"a": "b"}},
    "header": {"headers": {"Authorization": "Bot x"}},
    "header of cookies": {"headers": {"Cookie": "a=b"}},
    "connector": {"connector": lambda: aiohttp.UnixConnector("/nowhere")},
}


def check_untouched(client: Either, server: RawServer) -> None:
    """Send a request, and check that a session has changed nothing of it."""
    server.then(VOTED)

    assert client.check_vote(7)

    [request] = server.requests
    assert request.target == "/v1/bot/42/voters/7"
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert request.headers["host"] in server.url
    assert not {"cookie", "proxy-authorization"} & request.headers.keys()


@pytest.mark.promise("library-session")
@pytest.mark.parametrize("session", NOT_USED.values(), ids=NOT_USED.keys())
def test_nothing_else_of_a_session_is_used(
    session: Callable[[], requests.Session], server: RawServer
) -> None:
    client = Either(HastyClient(TOKEN, server.url, bot="42", session=session()))
    check_untouched(client, server)
    client.end()


@pytest.mark.promise("library-session")
@pytest.mark.filterwarnings("ignore:The '.*auth' parameter:DeprecationWarning")  # aiohttp 3.14
@pytest.mark.parametrize("settings", AIO_NOT_USED.values(), ids=AIO_NOT_USED.keys())
def test_nothing_else_of_a_session_of_aiohttp_is_used(
    aio: Callable[..., aiohttp.ClientSession], settings: dict[str, Any], server: RawServer
) -> None:
    client = Either(HastyAsyncClient(TOKEN, server.url, bot="42", session=aio(**settings)))
    check_untouched(client, server)
    client.end()


def unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@pytest.mark.promise("library-session")
@pytest.mark.parametrize("bad", [False, unchecked()], ids=["false", "context"])
def test_certificates_are_checked_whatever_a_session_says(
    secure: RawServer,
    aio: Callable[..., aiohttp.ClientSession],
    bad: Any,  # noqa: ANN401 - what aiohttp takes
) -> None:
    session = aio(connector=lambda: aiohttp.TCPConnector(ssl=bad))
    settings: dict[str, Any] = {"bot": "42", "retries": 0}
    clients = (
        Either(HastyAsyncClient(TOKEN, secure.url, session=session, **settings)),
        Either(HastyClient(TOKEN, secure.url, session=having(verify=False), **settings)),
    )
    for client in clients:
        with pytest.raises(TransportError, match="certificate"):
            client.check_vote(7)
        client.end()

    assert secure.requests == []


def test_what_is_not_a_session_or_has_a_header_that_is_not_valid_is_refused() -> None:
    url = "https://listing.example"
    with pytest.raises(ArgumentError, match="but str"):
        Client(TOKEN, url, session="a")  # type: ignore[arg-type]  # a mistake
    with pytest.raises(ArgumentError, match="header 'X-A' is not valid"):
        Client(TOKEN, url, session=having(headers={"X-A": "a\nb"}))
