"""A client that was opened before a fork says so in the child, and goes on in the parent."""

import os
import subprocess
import sys

import pytest

from tests.support.rawserver import RawServer, answering

PROGRAM = """
import asyncio, os, sys
from commandsync import AsyncClient, Client, UsageError

async def first(events):
    return await anext(events)

client, url = Client("marked-token-7f3a9c1e", sys.argv[1], bot="42"), sys.argv[1]
other = AsyncClient("marked-token-7f3a9c1e", url, bot="42")
client.get_bot("parent")
child = os.fork()
if child == 0:
    for call in (
        lambda: client.get_bot("child"),
        lambda: next(client.events()),
        lambda: asyncio.run(other.get_bot("child")),
        lambda: asyncio.run(first(other.events())),
    ):
        try:
            call()
        except UsageError as error:
            print(error, error.hint, sep=": ", flush=True)
    with Client("marked-token-7f3a9c1e", url, bot="42") as own:
        own.get_bot("own")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.get_bot("parent")
client.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_client_from_before_a_fork_says_so_and_the_parent_goes_on() -> None:
    threads = "ignore:This process:DeprecationWarning"  # Python 3.12 warns of forks beside threads
    with RawServer() as server:
        server.then(*3 * [answering({"data": {"id": "1"}})])
        command = [sys.executable, "-W", "error", "-W", threads, "-c", PROGRAM, server.url]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        asked = [request.path.rpartition("/")[2] for request in server.requests]

    message = "the client was opened before this process was forked: open the client after the fork"
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [message] * 4
    assert asked == ["parent", "own", "parent"]
