"""Type checkers accept a script that calls every method, and find each mistake planted in one."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync import AsyncClient, Client
from tests.e2e.readme_blocks import ROOT
from tests.support.home import LONGEST, MYPY, Home

SCRIPT = '''
from dataclasses import dataclass
from datetime import datetime

import aiohttp

from commandsync import AsyncClient, Bot, Command, Id, RateLimit, Ready, Vote, Voter
from commandsync.api.operations import get_bot


@dataclass
class Member:
    """A user of a library for bots."""

    id: int


async def asynchronous(user: Id) -> list[object]:
    results: list[object] = []
    session = aiohttp.ClientSession()
    async with AsyncClient.from_env(
        timeout=5, retries=1, event_buffer=10, session=session
    ) as client:

        @client.on("vote")
        async def thank(vote: Vote) -> None:
            results.append(vote.user.username)

        @client.once
        def on_ready(ready: Ready) -> None:
            client.off(thank)

        vote: Vote = await client.wait_for(Vote, check=lambda vote: vote.user.id == "7", timeout=60)
        results += [vote, await client.has_voted(user, max_age=60), on_ready]

        bots: list[Bot] = [*(await client.list_bots(limit=5, ids=[7, "8"])).bots]
        bots += [bot async for bot in client.iter_bots(q="a")]
        voters: list[Voter] = [*(await client.get_voters(bot=42)).voters]
        voters += [voter async for voter in client.iter_voters(bot="42")]
        times: list[datetime | None] = [voter.voted_at for voter in voters]
        votes: list[int | None] = [bot.statistics.total_votes for bot in bots]
        voted: bool = await client.check_vote(user) or await client.check_vote(Member(7), bot=42)
        voted = voted or await client.check_vote(voters[0], bot=bots[0])
        added: Command | None = await client.add_command("help", "Shows it.", "/help", "General")
        if added is not None:
            await client.edit_command(added, added.name, added.description, added.syntax)
            await client.set_uses(added.id, 7)
            await client.post_stats(servers=7, shards=None)
            await client.delete_command(added)
        announced = await client.add_announcement("v2", "Out.")
        if announced is not None:
            await client.delete_announcement(announced)
        titles = [announcement.title for announcement in await client.get_announcements()]
        uses: dict[str, int | None] = {
            command.name: command.uses for command in await client.get_commands(bots[0])
        }
        limit: RateLimit | None = client.with_options(deadline=2.5).rate_limit
        bot: Bot = await client.call(get_bot("42"))
        results += [bots, voters, times, votes, voted, titles, uses, limit, bot]
        results += [(await client.get_bot()).raw, client.bot]
        results += [event async for event in client.events()]
        await client.listen()
        await client.close()
    return results
'''
MISTAKES = """
from commandsync import AsyncClient, Client, Command, Ready

client = Client.from_env()
client.check_vote()  # mistake
client.check_vote(1.5)  # mistake
client.check_vote(Command)  # mistake
client.list_bots(limits=5)  # mistake
client.list_bots(tags=7)  # mistake
client.set_uses("c1", "three")  # mistake
client.edit_command("c1", "help")  # mistake
print(client.add_command("help", "Shows it.", "/help").id)  # mistake
client.with_options(timeouts=3)  # mistake
Client.from_env(token="marked")  # mistake
AsyncClient("t", "https://listing.example", session="marked")  # mistake


@client.on("votes")  # mistake
def one(event: object) -> None: ...


@client.on("vote")  # mistake
def two(ready: Ready) -> None: ...


@client.on(Ready)  # mistake
async def three(ready: Ready) -> None: ...


async def main(client: AsyncClient) -> bool:
    for _ in client.get_commands():  # mistake
        pass
    voted: bool = client.check_vote(7)  # mistake
    return voted
"""


Errors = set[tuple[str, int]]


def _mypy(home: Home) -> Errors:
    pytest.importorskip("mypy")
    said = _run(home, [*MYPY, *FILES])
    return {(name, int(line)) for name, line in re.findall(r"(?m)^(\w+\.py):(\d+): error", said)}


def _pyright(home: Home) -> Errors:
    pytest.importorskip("basedpyright")
    home.write(
        json.dumps({"extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}), "pyrightconfig.json"
    )
    said = _run(
        home,
        [
            *(sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable),
            *("--outputjson", *FILES),
        ],
    )
    return {
        (Path(problem["file"]).name, problem["range"]["start"]["line"] + 1)
        for problem in json.loads(said)["generalDiagnostics"]
        if problem["severity"] == "error"
    }


def _run(home: Home, command: list[str]) -> str:
    return subprocess.run(
        command,
        cwd=home.path,
        env=home.environment(MYPYPATH=str(ROOT), PYTHONPATH=os.environ.get("PYTHONPATH", "")),
        capture_output=True,
        encoding="utf-8",
        timeout=3 * LONGEST,
        check=False,
    ).stdout


BLOCKING = {
    "async def": "def",
    "async with": "with",
    "async for": "for",
    "await ": "",
    "AsyncClient": "Client",
}


def _blocking(script: str) -> str:
    """Return the script as it is for the blocking client."""
    for word, other in BLOCKING.items():
        script = script.replace(word, other)
    return script


# In a script without mistakes no expression has Any: not even one that mypy does not look into.
_NO_ANY = "# mypy: disallow-any-expr"
FILES = {
    "blocking.py": _NO_ANY + _blocking(SCRIPT),
    "asynchronous.py": _NO_ANY + SCRIPT,
    "mistakes.py": MISTAKES,
}


@pytest.mark.parametrize(("kind", "script"), [(Client, _blocking(SCRIPT)), (AsyncClient, SCRIPT)])
def test_the_scripts_call_every_method(kind: type, script: str) -> None:
    methods = {name for name in dir(kind) if not name.startswith("_")}

    assert {name for name in methods if f".{name}" not in script} == set()


@pytest.mark.parametrize("check", [_mypy, _pyright])
def test_scripts_are_accepted_and_each_mistake_in_one_is_found(
    home: Home, check: Callable[[Home], Errors]
) -> None:
    for name, script in FILES.items():
        home.write(script, name)
    planted = {
        ("mistakes.py", number)
        for number, line in enumerate(MISTAKES.splitlines(), 1)
        if "# mistake" in line
    }

    assert len(planted) >= 10
    assert check(home) == planted
