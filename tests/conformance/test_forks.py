"""A forked child has a client that works, and shares nothing with its parent."""

import os
import subprocess
import sys
import threading

import pytest

from tests.support.clients import LONGEST
from tests.support.gateway import Gateway, Guest, vote
from tests.support.rawserver import Exchange, RawServer, SocketServer, answering

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

FOUND = answering({"data": {"id": "1"}})


def started(program: str, server: SocketServer) -> subprocess.Popen[str]:
    threads = "ignore:This process:DeprecationWarning"  # Python 3.12 warns of forks beside threads
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-W", threads, "-c", program, server.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process: subprocess.Popen[str]) -> str:
    """Let a program go on, and return what it prints; it ends well, and without a warning."""
    try:
        out, err = process.communicate("\n", timeout=LONGEST)
    finally:
        process.kill()

    assert (process.returncode, err) == (0, "")
    return out


BLOCKING = """
import os, sys
from commandsync import Client

with Client("marked-token-7f3a9c1e", sys.argv[1], bot="42", retries=0) as client:
    client.get_bot("parent")
    child = os.fork()
    if child == 0:
        client.get_bot("child")
        client.get_bot("child")
        client.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    client.get_bot("parent")
"""
ASYNCHRONOUS = """
import asyncio, os, sys
from commandsync import AsyncClient

async def ask(client, name):
    await client.get_bot(name)
    await client.get_bot(name)
    await client.close()

async def main():
    async with AsyncClient("marked-token-7f3a9c1e", sys.argv[1], bot="42", retries=0) as client:
        await client.get_bot("parent")
        child = os.fork()
        if child == 0:
            asyncio.events._set_running_loop(None)
            asyncio.run(ask(client, "child"))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        await client.get_bot("parent")

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "program",
    [pytest.param(BLOCKING, id="blocking"), pytest.param(ASYNCHRONOUS, id="asynchronous")],
)
def test_a_child_never_uses_its_parents_sockets(program: str) -> None:
    with RawServer() as server:
        server.then(*[FOUND] * 5)
        done(started(program, server))

    used = {"parent": set[int](), "child": set[int]()}
    for request in server.requests:
        used[request.target.rpartition("/")[2]].add(request.connection)
    assert len(used["parent"]) == 1
    assert used["parent"].isdisjoint(used["child"])


IN_FLIGHT_BLOCKING = """
import os, sys, threading
from commandsync import Client

with Client("marked-token-7f3a9c1e", sys.argv[1], bot="42", concurrency=1, retries=0) as client:
    asking = threading.Thread(target=client.get_bot, args=("parent",))
    asking.start()
    sys.stdin.readline()  # the request has arrived
    child = os.fork()
    if child == 0:
        client.get_bot("child")
        client.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    asking.join()
    client.get_bot("parent")
"""
IN_FLIGHT_ASYNCHRONOUS = """
import asyncio, os, sys
from commandsync import AsyncClient

async def ask(client):
    async with client:
        await client.get_bot("child")

async def main():
    settings = {"bot": "42", "concurrency": 1, "retries": 0}
    async with AsyncClient("marked-token-7f3a9c1e", sys.argv[1], **settings) as client:
        asking = asyncio.create_task(client.get_bot("parent"))
        await asyncio.to_thread(sys.stdin.readline)  # the request has arrived
        child = os.fork()
        if child == 0:
            asyncio.events._set_running_loop(None)
            asyncio.run(ask(client))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        await asking
        await client.get_bot("parent")

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(IN_FLIGHT_BLOCKING, id="blocking"),
        pytest.param(IN_FLIGHT_ASYNCHRONOUS, id="asynchronous"),
    ],
)
def test_a_child_that_is_forked_during_a_request_has_all_places(program: str) -> None:
    child_over = threading.Event()

    def held(exchange: Exchange) -> None:
        child_over.wait(LONGEST)
        FOUND(exchange)

    def release(exchange: Exchange) -> None:
        FOUND(exchange)
        child_over.set()

    with RawServer() as server:
        server.then(held, release, FOUND)
        process = started(program, server)
        server.wait_for(1, writes=False)
        done(process)

    assert [request.path.rpartition("/")[2] for request in server.requests] == [
        "parent",
        "child",
        "parent",
    ]


LISTENING = """
import gc, os, sys
from commandsync import Client, Vote

with Client("marked-token-7f3a9c1e", sys.argv[1], bot="42") as client:
    events = client.events()
    next(events)
    client.has_voted("7")
    child = os.fork()
    if child == 0:
        assert list(events) == []
        print("child", client.wait_for(Vote, timeout=20).user.id, client.has_voted("1"), flush=True)
        client.close()
        del events
        gc.collect()
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    print("parent", next(events).user.id, flush=True)
    events.close()
"""


def test_a_child_listens_by_itself_and_its_parent_goes_on() -> None:
    child_over = threading.Event()

    def parent(guest: Guest) -> None:
        guest.welcome()
        child_over.wait(LONGEST)
        guest.say(vote(8))
        guest.stay()

    def child(guest: Guest) -> None:
        guest.welcome()
        guest.say(vote(1))
        guest.stay()
        child_over.set()

    with Gateway() as gateway:
        gateway.then(parent, child)
        out = done(started(LISTENING, gateway))

    assert out == "child 1 True\nparent 8\n"
    assert len(gateway.guests) == 2
