"""The gateway of the embedded service, as clients on plain sockets see it."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import jwt
import pytest

from commandsync.server import gateway as product
from commandsync.server import protocol
from commandsync.server.database import opened
from commandsync.server.service import running
from commandsync.server.tables import outbox
from tests.support.bots import Bot, Service, serving
from tests.support.callers import Caller
from tests.support.gateway import BINARY, CLOSE, PING, Closed, Listener, masked

VERSIONS = ("", "3", "4")
LARGE = "x" * 50_000  # a name; a hundred fill what the system keeps for a client


@pytest.fixture
def bot(service: Service) -> Bot:
    return service.bot()


def listening(bot: Bot, version: str = "", *, receives: int = 0) -> Listener:
    query = {"transport": "websocket", "token": bot.token}
    if version:
        query["EIO"] = version
    return Listener(bot.url, query, receives=receives)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", ["/v1/gateway/", "/v1/gateway"])
def test_the_bot_is_sent_at_once_and_unasked(bot: Bot, version: str, path: str) -> None:
    query = {"token": bot.token, "EIO": version}
    with Listener(bot.url, query, path=path) as listener:
        opened, connected, ready = listener.text(), listener.text(), listener.event()

    session = json.loads(opened.removeprefix("0"))
    assert session["sid"]
    assert session["upgrades"] == []
    assert (session["pingInterval"], session["pingTimeout"]) == (25_000, 20_000)
    assert connected.startswith("40")
    data = {"id": bot.id, "username": f"Bot {bot.id}", "avatar": ""}
    assert ready == {"event": "ready", "data": data}


def test_a_vote_is_an_event_with_its_user_and_its_bot(bot: Bot) -> None:
    user = {"id": "7", "username": "Ann", "avatar": "a1"}
    caller = Caller(bot.url, bot.id, bot.token)
    with listening(bot) as listener:
        listener.greeted()
        for _ in range(2):  # the second one is too early
            caller.ask("POST", "/votes", {"user": user})
        bot.cast("8")

        assert listener.event() == {
            "event": "vote",
            "data": {
                "user": user,
                "bot": {"id": bot.id, "username": f"Bot {bot.id}", "avatar": ""},
            },
        }
        assert listener.users(1) == ["8"]


def test_each_client_gets_the_events_of_its_own_bot(service: Service) -> None:
    one, other = service.bot(), service.bot()
    with listening(one) as first, listening(one) as second, listening(other) as third:
        for listener in (first, second, third):
            listener.greeted()
        one.cast("1")
        other.cast("2")
        one.cast("3")

        assert (first.users(2), second.users(2), third.users(1)) == (["1", "3"], ["1", "3"], ["2"])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ping_is_answered_with_what_it_carries(bot: Bot, version: str) -> None:
    with listening(bot, version) as listener:
        listener.greeted().say("2", "2probe")

        assert [listener.text(), listener.text()] == ["3", "3probe"]


@pytest.mark.parametrize("frame", ["41", "1"])
def test_a_client_can_end_the_session(bot: Bot, frame: str) -> None:
    with listening(bot) as listener:
        listener.greeted().say(frame)

        assert listener.hear() == Closed(1000)


def test_a_bad_token_is_told_before_anything_else(service: Service) -> None:
    elsewhere = jwt.encode({"id": "1", "iat": 1}, "another secret " * 3)
    gone = jwt.encode({"id": "gone", "iat": 1}, service.database.secret)
    for token, reason in (
        ("", "a bot token is needed"),
        ("nonsense", "the bot token is invalid"),
        (elsewhere, "the bot token is invalid"),
        (gone, "the bot is not known"),
    ):
        with Listener(service.url, {"transport": "websocket", "token": token}) as listener:
            assert listener.hear() == Closed(3000, reason)


def test_without_a_database_try_again(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving(database_url) as started:
        bot = started.bot()
        with started.database.writing() as connection:
            outbox.drop(connection)
        with listening(bot) as early:
            sent_away = early.hear()
        with started.database.writing() as connection:
            outbox.create(connection)
        with listening(bot) as late:
            late.greeted()

    assert isinstance(sent_away, Closed)
    assert (sent_away.code, "try again" in sent_away.reason) == (1013, True)
    (words,) = [record.getMessage() for record in caplog.records]
    assert "refused: " in words


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"transport": "polling"}, "transport"), ({"EIO": "2"}, "EIO"), ({"EIO": "x"}, "EIO")],
)
def test_another_protocol_is_refused_at_the_handshake(
    bot: Bot, wrong: dict[str, str], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Listener(bot.url, {"token": bot.token, **wrong}) as listener:
        refused = listener.refused

    assert refused is not None
    assert refused.status == 400
    assert words in json.loads(refused.body)["error"]
    assert caplog.text == ""


def _unmasked() -> bytes:
    return bytes([0x81, 1]) + b"x"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (masked(b"\xff\xfe"), 1007),
        (masked(b"\xff", final=False) + masked(b"\xfe", 0), 1007),
        (masked(b"2" * 65_537), 1009),
        (masked(b"2" * 65_536, final=False) + masked(b"2", 0), 1009),
        (masked(b"x", 3), 1002),
        (_unmasked(), 1002),
        (b"\xff" * 100, 1002),
        (masked(b"", CLOSE), 1005),
        (masked((4999).to_bytes(2) + b"bye", CLOSE), 4999),
    ],
)
def test_a_broken_frame_ends_its_own_connection_alone(
    bot: Bot, sent: bytes, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    with listening(bot) as listener, listening(bot) as other:
        listener.greeted().send(sent)
        other.greeted()
        ended = listener.ended()
        bot.cast("1")

        assert ended.code in {code, 0 if code == 1005 else code}
        assert other.users(1) == ["1"]
    assert caplog.text == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_not_understood_is_ignored(bot: Bot, version: str) -> None:
    with listening(bot, version) as listener:
        listener.greeted()
        listener.say(
            "", "0", "3", "40", "40/other,", '42["message","x"]', "44", "5", "6", "9", "{}"
        )
        listener.send(masked(b"\xff\x00", BINARY) + masked(b"", BINARY) + masked(b"ping", PING))
        listener.send(masked(b"2pr", final=False) + masked(b"obe", 0))
        pong = listener._read(6)  # noqa: SLF001 - a frame that is neither text nor close
        bot.cast("1")

        assert pong == b"\x8a\x04ping"
        assert listener.text() == "3probe"
        assert listener.users(1) == ["1"]


def test_a_flood_of_frames_holds_up_no_other_client(bot: Bot) -> None:
    with listening(bot) as flooding, listening(bot) as listener:
        flooding.greeted()
        listener.greeted()
        flooding.send(masked(b"nonsense") * 50_000)
        bot.cast("1")

        assert listener.users(1) == ["1"]
        assert flooding.users(1) == ["1"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a silent client be dropped at once."""
    monkeypatch.setattr(product, "PING_INTERVAL", 0.02)
    monkeypatch.setattr(product, "PING_TIMEOUT", 0.02)


@pytest.mark.usefixtures("hasty")
def test_only_a_client_that_keeps_a_heartbeat_is_dropped_when_it_stops(bot: Bot) -> None:
    """A client of version 4 is asked for it; one of version 3 shows with a ping that it does."""
    with (
        listening(bot) as silent,
        listening(bot, "3") as old,
        listening(bot, "3") as stopped,
        listening(bot, "4") as mute,
    ):
        for listener in (silent, old, stopped, mute):
            listener.greeted()
        stopped.say("2")
        ends = [stopped.ended().code, mute.ended().code]
        bot.cast("1")

        assert ends == [1008, 1008]
        assert (silent.users(1), old.users(1)) == (["1"], ["1"])


def test_a_client_that_answers_pings_stays(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "PING_INTERVAL", 0.01)
    with listening(bot, "4") as listener:
        listener.greeted()
        for _ in range(5):
            assert listener.text() == "2"
            listener.say("3")


@pytest.mark.parametrize(("version", "seconds"), [("3", 45.0), ("4", 20.0)])
def test_a_heartbeat_is_waited_for_as_the_first_frame_says(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, version: str, seconds: float
) -> None:
    waits: list[float] = []

    async def note(_event: object, seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) < 4

    monkeypatch.setattr(product, "_is_set", note)
    if version == "4":  # only here the service waits between two pings
        monkeypatch.setattr(product, "PING_INTERVAL", 0.0)
    with listening(bot, version) as listener:
        listener.greeted().say("2")

        assert listener.ended().code == 1008
    assert waits == [seconds] * 4


def _overrun(bot: Bot, reader: Listener) -> list[str]:
    """Send more events than the system keeps for a client that does not read; one reads them."""
    users = [str(number) for number in range(200)]
    for first in range(0, len(users), 10):
        batch = users[first : first + 10]
        bot.remind(*batch, name=LARGE)
        assert reader.users(len(batch)) == batch
    return users


def test_a_slow_client_is_closed_with_a_reason_and_holds_up_nobody(bot: Bot) -> None:
    with listening(bot, receives=4_096) as slow, listening(bot) as reader:
        slow.greeted()
        users = _overrun(bot, reader.greeted())
        received = []
        while isinstance(frame := slow.hear(), str):
            received.append(frame)

    assert tuple(frame) == product.TOO_SLOW
    assert 0 < len(received) < len(users)


def test_a_client_that_never_reads_is_cut_off(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "LONGEST_CLOSE", 0.0)
    with listening(bot, receives=4_096) as stuck, listening(bot) as reader:
        stuck.greeted()
        _overrun(bot, reader.greeted())

        assert stuck.ended() == Closed(1006)


def test_a_restart_is_told_to_every_client_and_waits_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(protocol, "LONGEST_SHUTDOWN", 0.2)
    path = str(tmp_path / "listing.db")
    with ExitStack() as stack:
        with running(path) as started, opened(path) as database:
            bots = Service(started.url, database)
            bot, busy = bots.bot(), bots.bot()
            listeners = [stack.enter_context(listening(bot, version)) for version in VERSIONS]
            listeners.append(stack.enter_context(listening(busy)))
            stuck = stack.enter_context(listening(busy, receives=4_096)).greeted()
            for listener in listeners:
                listener.greeted()
            refused = stack.enter_context(Listener(started.url, {}))  # its close is not answered
            end = refused.hear()
            assert isinstance(end, Closed)
            assert end.code == 3000
            _overrun(busy, listeners[-1])

        assert [listener.ended() for listener in listeners] == [
            Closed(1012, "the service restarts")
        ] * len(listeners)
        assert stuck.ended() == Closed(1006)
    assert caplog.text == ""


def test_a_crowd_gets_every_vote_once_and_in_one_order(database_url: str) -> None:
    """Every client of a crowd gets each vote once and in order."""
    users = [str(number) for number in range(120)]
    with ExitStack() as stack:
        started = stack.enter_context(serving(database_url))
        bot = started.bot()
        stack.enter_context(listening(bot, receives=4_096))  # never reads
        crowd = [stack.enter_context(listening(bot, VERSIONS[n % 3])) for n in range(15)]
        for listener in crowd:
            listener.greeted()
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(bot.vote, user, f"u{user}") for user in users]:
                done.result()
        orders = {tuple(listener.users(len(users))) for listener in crowd}
        bot.cast("last")

        assert [sorted(order, key=int) for order in orders] == [users]
        assert {listener.users(1)[0] for listener in crowd} == {"last"}


@pytest.mark.parametrize("path", ["/v1/gateway", "/v1/gateway/"])
def test_a_request_that_is_not_for_a_websocket_is_told_so(service: Service, path: str) -> None:
    status, content, headers = Caller(service.url, "", "").raw("GET", path)

    assert (status, headers["upgrade"]) == (426, "websocket")
    assert "WebSocket" in json.loads(content)["error"]
