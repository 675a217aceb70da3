"""Handlers of the asynchronous client: those of several users at once, those of one in order."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync import AsyncClient, Unauthorized, Vote
from commandsync.client.events import AsyncHandlers
from commandsync.records.models import Account
from tests.support.clients import LONGEST, TOKEN
from tests.support.gateway import Gateway, closing, telling, vote


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


def run(gateway: Gateway, test: Callable[[AsyncClient], Awaitable[None]]) -> None:
    """Run a test with a client that listens to a gateway."""

    async def main() -> None:
        async with asyncio.timeout(LONGEST), AsyncClient(TOKEN, running.url) as client:
            await test(client)

    with gateway as running:
        asyncio.run(main())


def test_a_slow_handler_delays_only_the_events_of_its_own_user(gateway: Gateway) -> None:
    gateway.then(telling(vote(1), vote(1), vote(2), vote(3), vote(2)))

    async def test(client: AsyncClient) -> None:
        begun: list[str] = []
        others = asyncio.Event()

        @client.on(Vote)
        async def thank(event: Vote) -> None:
            begun.append(event.user.id)
            if len(begun) == 1:
                await others.wait()
            elif len(begun) == 4:
                others.set()
            elif len(begun) == 5:
                await client.close()

        await client.listen()

        assert begun == ["1", "2", "3", "2", "1"]

    run(gateway, test)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=20), st.integers(1, 9)
)
def test_each_user_has_events_in_their_order(votes: list[tuple[str, int]], most: int) -> None:
    handled: defaultdict[str, list[int]] = defaultdict(list)
    unfinished = [0]

    async def main() -> None:
        handlers = AsyncHandlers(most)
        naps = iter([turns for _, turns in votes])

        async def handler(event: Vote) -> None:
            unfinished.append(unfinished[-1] + 1)
            for _ in range(next(naps)):
                await asyncio.sleep(0)
            handled[event.user.id].append(int(event.bot.id))
            unfinished.append(unfinished[-1] - 1)

        handlers.add("vote", handler)
        for number, (user, _) in enumerate(votes):
            await handlers.call(Vote(Account(id=user), Account(id=str(number))))
        await handlers.finish()

    asyncio.run(main())

    for user in "abc":
        assert handled[user] == [number for number, (one, _) in enumerate(votes) if one == user]
    assert max(unfinished) <= most


def test_a_failing_handler_ends_nothing(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    gateway.then(telling(vote("fails"), vote("cancels"), vote("cancels"), vote("ends")))

    async def test(client: AsyncClient) -> None:
        called: list[str] = []
        last = asyncio.Event()

        @client.on(Vote)
        async def thank(event: Vote) -> None:
            called.append(event.user.id)
            if len(called) == 4:
                last.set()
            if event.user.id == "fails":
                raise RuntimeError("no thanks")
            if event.user.id == "cancels":
                raise asyncio.CancelledError
            await last.wait()
            await client.close()

        await client.listen()

        assert sorted(called) == ["cancels", "cancels", "ends", "fails"]

    run(gateway, test)

    assert caplog.text.count("thank failed") == caplog.text.count("event 'vote'") == 3


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_a_cancelled_listener_cancels_handlers(gateway: Gateway, *, is_waited_for: bool) -> None:
    gateway.then(telling(vote(1), vote(1), vote(2)))

    async def test(client: AsyncClient) -> None:
        ended: list[str] = []
        begun = asyncio.Semaphore(0)

        @client.on(Vote)
        async def thank(event: Vote) -> None:
            try:
                begun.release()
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append(event.user.id)

        listening = asyncio.create_task(client.listen())
        for _ in "12":
            await begun.acquire()
        if is_waited_for:  # the handlers that run, after a close
            await client.close()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening

        assert sorted(ended) == ["1", "2"]

    run(gateway, test)


def test_a_close_lets_handlers_end(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    gateway.then(telling(vote(1), vote(1), vote(1), vote(2)))

    async def test(client: AsyncClient) -> None:
        ended: list[str] = []
        closed, last = asyncio.Event(), asyncio.Event()

        @client.on(Vote)
        async def thank(event: Vote) -> None:
            if event.user.id == "2":
                last.set()
            await closed.wait()
            ended.append(event.user.id)

        listening = asyncio.create_task(client.listen())
        await last.wait()
        await client.close()
        closed.set()
        await listening

        assert sorted(ended) == ["1", "2"]

    run(gateway, test)

    assert "closed with 2 events not handled" in caplog.text


def test_a_handler_may_wait_for_another_event_of_its_own_user(gateway: Gateway) -> None:
    gateway.then(telling(vote(1), vote(1)))

    async def test(client: AsyncClient) -> None:
        @client.once(Vote)
        async def thank(_: Vote) -> None:
            with pytest.raises(TimeoutError):
                await client.wait_for(Vote, check=lambda event: event.user.id == "2", timeout=0.1)
            await client.close()

        await client.listen()

    run(gateway, test)


def test_a_listener_logs_what_ends_it(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    gateway.then(closing(code=4401, reason="who are you?", welcome=False))

    async def test(client: AsyncClient) -> None:
        listening = asyncio.create_task(client.listen())
        await asyncio.wait([listening])

        (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert str(listening.exception()) in record.getMessage()
        assert isinstance(listening.exception(), Unauthorized)

    run(gateway, test)
