"""A session of the caller's lends its settings; what would break a promise is refused."""

from __future__ import annotations

import ssl
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import requests
import trustme
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from commandsync import ArgumentError, AsyncClient, Client, TransportError, Unauthorized
from tests.support.blocked import LoopThread
from tests.support.clients import Either, HastyAsyncClient
from tests.support.gateway import Gateway, telling, vote
from tests.support.rawserver import RawServer, answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Open = Callable[..., Either]
    Session = requests.Session | aiohttp.ClientSession
    Make = Callable[..., Session]

TOKEN = "marked-token-7f3a9c1e"
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
    open_client: Open,
    aio: Callable[..., aiohttp.ClientSession],
    request: pytest.FixtureRequest,
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


def test_headers_of_a_session_are_sent_beside_those_of_the_client(
    open_client: Open, make: Make, server: RawServer
) -> None:
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


def test_headers_of_a_session_are_sent_to_the_gateway(
    open_client: Open, make: Make, gateway: Gateway
) -> None:
    gateway.then(telling(vote(7)))
    client = open_client(TOKEN, gateway.url, session=make({"X-Mine": "bot 7"}))

    client.listen()
    client.take(2)

    [handshake] = [request for request in gateway.requests if "gateway" in request.path]
    assert handshake.headers["x-mine"] == "bot 7"


def test_the_proxy_of_a_session_is_used_and_cannot_replace_the_token(
    open_client: Open, make: Make, server: RawServer
) -> None:
    server.then(VOTED)
    session = make(proxy=server.url.replace("//", "//user:pass@"))
    url = "http://listing.example"
    client = open_client(TOKEN, url, bot="42", session=session, insecure_http=True)

    client.check_vote(7)
    [request] = server.requests

    assert request.target == "http://listing.example/v1/bot/42/voters/7"
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert request.headers["proxy-authorization"].startswith("Basic ")


def test_loopback_is_reached_without_the_proxy_of_a_session(
    open_client: Open, make: Make, server: RawServer
) -> None:
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


def test_closing_a_client_leaves_the_session_as_it_is(
    open_client: Open, make: Make, server: RawServer
) -> None:
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


class OwnSession(requests.Session):
    pass


class OwnAdapter(HTTPAdapter):
    pass


def having(**settings: Any) -> requests.Session:  # noqa: ANN401 - of any kind
    session = requests.Session()
    for name, value in settings.items():
        setattr(session, name, value)
    return session


def mounted(adapter: HTTPAdapter) -> requests.Session:
    session = requests.Session()
    session.mount("https://", adapter)
    return session


def with_cookie(domain: str) -> requests.Session:
    session = requests.Session()
    session.cookies.set("a", "b", domain=domain)
    return session


URL = "https://listing.example"
REFUSED: dict[str, tuple[Callable[[], requests.Session], str]] = {
    "class": (OwnSession, "it is a OwnSession"),
    "auth": (lambda: having(auth=("a", "b")), "auth would replace the token"),
    "hooks": (lambda: having(hooks={"response": [print]}), "hooks would receive the token"),
    "params": (lambda: having(params={"a": "b"}), "params would change the requests"),
    "cookies": (lambda: with_cookie("listing.example"), "cookies of the service"),
    "adapter": (lambda: mounted(OwnAdapter()), "adapter could send an add twice"),
    "retries": (lambda: mounted(HTTPAdapter(max_retries=3)), "adapter could send an add twice"),
    "retry": (
        lambda: mounted(HTTPAdapter(max_retries=Retry(2))),
        "adapter could send an add twice",
    ),
    "verify": (lambda: having(verify=False), "does not check the certificate"),
    "cert": (lambda: having(cert=("/nowhere/a.pem", "/nowhere/b.pem")), "cert does not exist"),
    **{
        name: (partial(having, headers={name: "x"}), f"it has a header {name}")
        for name in ("Authorization", "cookie", "Host", "Content-Length")
    },
    "header": (lambda: having(headers={"X-A": "a\nb"}), "header 'X-A' is not valid"),
}


@pytest.mark.parametrize(("session", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_session_that_would_break_a_promise_is_refused(
    session: Callable[[], requests.Session], reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason) as caught:
        Client(TOKEN, URL, session=session())

    assert str(caught.value).startswith("the session cannot be used: ")
    assert caught.value.hint


@pytest.mark.parametrize(
    "session",
    [
        lambda: having(cert=None, stream=True, max_redirects=3),
        lambda: with_cookie("other.example"),
        lambda: mounted(HTTPAdapter(pool_maxsize=50)),
        lambda: having(headers={"X-A": b"a", "X-B": "b"}),
    ],
    ids=["no effect", "other cookies", "pool", "headers"],
)
def test_a_session_without_such_a_setting_is_accepted(
    session: Callable[[], requests.Session],
) -> None:
    Client(TOKEN, URL, session=session()).close()


def unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _pass_on(request: Any, handler: Any) -> Any:  # noqa: ANN401 - as aiohttp has them
    return await handler(request)


class OwnConnector(aiohttp.TCPConnector):
    pass


with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of aiohttp 3.14
    BASIC = aiohttp.BasicAuth("a", "b")

AIO_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "auth": ({"auth": BASIC}, "auth would replace the token"),
    "traces": ({"trace_configs": [aiohttp.TraceConfig()]}, "trace_configs would receive"),
    "middlewares": ({"middlewares": [_pass_on]}, "middlewares would receive the token"),
    "proxy": (
        {"proxy": "http://127.0.0.1:9", "proxy_auth": BASIC},
        "its proxy_auth belongs into its proxy",
    ),
    "cookies": ({"cookies": {"a": "b"}}, "cookies of the service"),
    "header": ({"headers": {"Authorization": "Bot x"}}, "it has a header Authorization"),
    "connector": ({"connector": OwnConnector}, "connects in a way of its own"),
    "socket": ({"connector": lambda: aiohttp.UnixConnector("/nowhere")}, "a way of its own"),
    "resolver": (
        {"connector": lambda: aiohttp.TCPConnector(resolver=_Hosts())},
        "a way of its own",
    ),
    "address": (
        {"connector": lambda: aiohttp.TCPConnector(local_addr=("127.0.0.1", 0))},
        "a way of its own",
    ),
    "no check": ({"connector": lambda: aiohttp.TCPConnector(ssl=False)}, "does not check"),
    "bad context": ({"connector": lambda: aiohttp.TCPConnector(ssl=unchecked())}, "does not check"),
}


class _Hosts(aiohttp.abc.AbstractResolver):
    async def resolve(self, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - as aiohttp has it
        return []

    async def close(self) -> None:
        pass


@pytest.mark.filterwarnings("ignore:The '.*auth' parameter:DeprecationWarning")  # aiohttp 3.14
@pytest.mark.parametrize(("settings", "reason"), AIO_REFUSED.values(), ids=AIO_REFUSED.keys())
def test_a_session_of_aiohttp_that_would_break_a_promise_is_refused(
    aio: Callable[..., aiohttp.ClientSession], settings: dict[str, Any], reason: str
) -> None:
    session = aio(**settings)

    with pytest.raises(ArgumentError, match=reason):
        AsyncClient(TOKEN, URL, session=session)


def test_a_session_of_another_class_or_closed_is_refused(loop: LoopThread) -> None:
    async def closed() -> aiohttp.ClientSession:
        async with aiohttp.ClientSession() as session:
            return session

    with pytest.raises(ArgumentError, match="it is closed"):
        AsyncClient(TOKEN, URL, session=loop.run(closed()))
    with pytest.raises(ArgumentError, match="it is a Session, which"):
        AsyncClient(TOKEN, URL, session=requests.Session())  # type: ignore[arg-type]  # a mistake
    with pytest.raises(ArgumentError, match="it is a str, which"):
        Client(TOKEN, URL, session="a")  # type: ignore[arg-type]  # a mistake
