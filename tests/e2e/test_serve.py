"""`serve` prints what to paste: the service, and each bot with its token."""

import json
import re
import shutil
import sys

import pytest

from tests.support.home import Home, fields, lines
from tests.support.terminal import POSIX, Terminal
from tests.support.wording import Wording

on_posix = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
SHELL = shutil.which("sh") or ""
TOKEN = r"eyJ[\w-]+\.[\w-]+\.[\w-]+"
LISTED = ["help", "ping", "8ball", "247", "play", "ban", "afk", "afk", "message id|message"]


@on_posix
def test_a_new_database_has_bots_to_play_with_and_a_restart_prints_their_lines_again(
    home: Home,
) -> None:
    with Terminal.running(home, "serve", "--port", "0") as terminal:
        first = terminal.until("in a browser to see its pages")
        set_there = dict(re.findall(r"export (\w+)=(\S+)$", first, re.MULTILINE))
        for name, value in set_there.items():
            home.variable(name, value)
        listed = home.run("pull", "--format", "json")
        terminal.child.terminate()
        code, _, _ = terminal.ended()

    assert (code, first.count("  # ")) == (0, 2)
    assert f"\n\nopen {set_there['COMMANDSYNC_BASE_URL']} in a browser" in first
    assert re.fullmatch(TOKEN, set_there["COMMANDSYNC_TOKEN"])
    assert [command["name"] for command in listed.document["commands"]] == LISTED
    for name in set_there:
        home.forget(name)
    child = home.started("serve", "--port", "0")
    again = "".join(lines(child, 7))
    program = home.write(f'#!/bin/sh\nexec "{sys.executable}" -m commandsync "$@"\n', "commandsync")
    program.chmod(0o755)
    pasted = again.partition("\n")[2].replace("# Lantern:", "")
    script = f'{pasted}\ncommandsync pull --format json\necho "$COMMANDSYNC_TOKEN"'
    ran = home.child_of([SHELL, "-c", script], PATH=f"{home.path}:{home.environment()['PATH']}")
    child.terminate()

    assert not re.search(TOKEN, again)  # a pipe may be a log
    assert (
        json.loads(ran.out.rpartition("\n}\n")[0] + "}")["commands"]
        == (listed.document["commands"])
    )
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == set_there["COMMANDSYNC_TOKEN"]


def test_a_seed_creates_its_bots_alone(home: Home, wording: Wording) -> None:
    seed = {"bots": [{"id": str(n), "profile": {"username": f"Bot {n}"}} for n in range(12)]}
    home.write(json.dumps(seed), "seed.json")
    child = home.started("serve", "--port", "0", "--database", "here.db", "--seed", "seed.json")
    printed = lines(child, 15)
    home.write(fields(("help",)))
    home.variable("COMMANDSYNC_TOKEN", home.run("bots", "token", "11", "--database", "here.db").out)

    ran = home.run("apply", "--yes", "--base-url", printed[0].split()[-1])

    child.terminate()
    _, err = child.communicate()
    assert ran.code == 0, ran.said
    assert [line.partition(":")[0].strip() for line in printed if "#" in line] == [
        f"# Bot {n}" for n in range(10)
    ]
    assert "COMMANDSYNC_BOT" not in "".join(printed)
    wording(err.decode())
