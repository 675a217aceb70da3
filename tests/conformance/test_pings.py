"""Heartbeats on busy streams, odd payloads, what an event keeps, and that no token is shown."""

import json
import logging
import random
from typing import Any

import pytest

from commandsync import Reminder, Vote
from tests.support.clients import LONGEST, TOKEN, Open, begun
from tests.support.gateway import BINARY, Gateway, Guest, closing, event, framed, telling, vote

LAST = vote("last")
BUSY = 200  # votes at most, one every 10 ms, while pings are waited for that are due every 40 ms


@pytest.mark.parametrize("refuses_version_4", [True, False])
def test_a_busy_service_gets_the_clients_pings(
    open_client: Open, gateway: Gateway, *, refuses_version_4: bool
) -> None:
    heard: list[str] = []

    def hear(guest: Guest) -> None:
        while (frame := guest.hear()) is not None:
            heard.append(frame)

    def busy(guest: Guest) -> None:
        guest.welcome(pingInterval=40, pingTimeout=20_000)
        hearing, answered = begun(hear, guest), 0
        for number in range(BUSY):
            guest.say(vote(number))
            guest.exchange.released.wait(0.01)
            asked = heard.count("2") - answered
            guest.say(*["3"] * asked)
            answered += asked
            if answered >= 3:
                break
        guest.say(LAST)
        hearing.result(LONGEST)

    gateway.status = [400] * refuses_version_4
    gateway.then(busy)
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("last")[:-1]

    assert heard.count("2") >= 3
    assert {event.name for event in events} == {"ready", "vote"}
    assert len(gateway.guests) == 1


def odd_votes() -> list[tuple[object, str, str]]:
    """Return payloads, each with the user and the bot that it tells of."""
    rng = random.Random(5)  # noqa: S311 - the same in every run
    votes: list[tuple[object, str, str]] = []
    for _ in range(20):
        user, bot = (str(rng.randrange(10**17, 10**18)) for _ in range(2))
        users = [user, int(user), {"id": user}, {"id": int(user)}, {"_id": user}]
        bots = [bot, int(bot), {"id": bot}]
        votes.append(({"user": rng.choice(users)}, user, ""))
        votes.append(({"user": rng.choice(users), "bot": None}, user, ""))
        votes.append(({"user": rng.choice(users[:2]), "bot": rng.choice(bots)}, user, bot))
        votes.append(({"user": {"id": user}, "bot": rng.choice(bots[:2])}, user, bot))
    return votes


@pytest.mark.parametrize("name", ["vote", "reminder"])
def test_an_odd_vote_keeps_what_was_sent(open_client: Open, gateway: Gateway, name: str) -> None:
    votes = odd_votes()
    gateway.then(telling(*[event(name, payload) for payload, _, _ in votes], LAST))
    client = open_client(TOKEN, gateway.url).listen()

    told = client.take_until("last")[:-1]
    events = [event for event in told if isinstance(event, Vote | Reminder)]

    assert [event.user.id for event in events] == [user for _, user, _ in votes]
    bots = [event.bot.id if bot else "" for event, (_, _, bot) in zip(events, votes, strict=True)]
    assert bots == [bot for _, _, bot in votes]


def unknown(rng: random.Random, depth: int = 0) -> Any:  # noqa: ANN401 - JSON is anything
    """Return some JSON."""
    plain = [None, True, rng.randrange(10**12), rng.random(), f"wörd {rng.randrange(99)}", ""]
    if depth > 2 or rng.random() < 0.5:
        return rng.choice(plain)
    parts = [unknown(rng, depth + 1) for _ in range(rng.randrange(4))]
    return rng.choice([parts, {f"key{n}": part for n, part in enumerate(parts)}])


@pytest.mark.parametrize("folds", [0, 1, 2])
def test_every_event_keeps_its_payload(open_client: Open, gateway: Gateway, folds: int) -> None:
    rng = random.Random(folds)  # noqa: S311 - the same in every run
    payloads: dict[str, list[dict[str, Any]]] = {"ready": [], "vote": [], "reminder": []}
    for n in range(30):
        more = {f"field{k}": unknown(rng) for k in range(rng.randrange(5))}
        account = {"id": str(n), "username": "Ann", "more": unknown(rng)}
        payloads["ready"].append(account | more)
        for name in ("vote", "reminder"):
            payloads[name].append({"user": account, "bot": {"id": "42"}} | more)
    sent = [(name, payload) for name in payloads for payload in payloads[name]]
    frames = [event(name, payload, folds=folds) for name, payload in sent]
    gateway.then(telling(*frames, LAST))
    client = open_client(TOKEN, gateway.url).listen()

    raws: dict[str, list[object]] = {"ready": [], "vote": [], "reminder": []}
    for received in client.take_until("last")[1:-1]:
        raws[received.name].append(received.raw)  # type: ignore[union-attr]  # not there yet

    assert raws == payloads


def spellings() -> list[str]:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in TOKEN)
    return [TOKEN, escaped, escaped.upper().replace("\\U", "\\u"), TOKEN.replace("-", "%2D")]


def readable(text: str) -> str:
    """Return a text with every escape read, as a curious person would."""
    for _ in range(4):
        text = text.replace("%2D", "-").replace("\\\\", "\\")
        for letter in set(TOKEN):
            code = f"{ord(letter):04x}"
            text = text.replace(f"\\u{code}", letter).replace(f"\\u{code.upper()}", letter)
    return text


@pytest.mark.promise("event-gateway")
@pytest.mark.parametrize("folds", [0, 1, 2, 3])
@pytest.mark.parametrize("spelled", spellings())
def test_no_frame_and_no_close_reason_shows_the_token(
    open_client: Open, gateway: Gateway, caplog: pytest.LogCaptureFixture, spelled: str, folds: int
) -> None:
    caplog.set_level(logging.DEBUG)
    said: object = json.loads(f'"{spelled}"')
    account = {"id": "7", "username": f"<{spelled}>", f"key {spelled}": [said], "more": spelled}
    told = {"user": account, "bot": account, "token": said, "other": {"deep": [spelled]}}
    frames = [
        event("ready", account, folds=folds),
        event("vote", told, folds=folds),
        event("reminder", told, folds=folds),
        event(f"news of {spelled}", told, folds=folds),
        event("vote", spelled, folds=folds),
        f'42["other","{spelled}"]',
        f"0{{{spelled}",
        f"43{spelled}",
        f"9{spelled}",
        f"2{spelled}",
    ]

    def act(guest: Guest) -> None:
        guest.welcome()
        guest.say(*frames)
        guest.exchange.send(framed(spelled.encode(), BINARY))
        guest.say(f'44{{"message":"{spelled}"}}')
        guest.leave(1012, f"the token {spelled} is old"[:110])

    def refused(guest: Guest) -> None:
        guest.say("0{}", f'44{{"message":"{spelled}"}}')
        guest.leave(1012, "")

    gateway.then(closing(code=1012, reason=f"bye {spelled}"[:110]), act, refused, telling(LAST))
    client = open_client(TOKEN, gateway.url).listen()

    shown = []
    try:
        for _ in range(50):
            [event_told] = client.take(1)
            shown += [repr(event_told), repr(getattr(event_told, "raw", None))]
            if isinstance(event_told, Vote) and event_told.user.id == "last":
                break
    except Exception as error:  # noqa: BLE001 - how the stream ends is not the point here
        shown.append(f"{error} {error!r}")
    logged = [r.getMessage() for r in caplog.records if r.name.startswith("commandsync")]

    assert len(shown) > 8
    assert TOKEN not in readable("\n".join([*shown, *logged]))
