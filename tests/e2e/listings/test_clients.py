"""The clients of Telegram that bots use read the lists that an apply has sent.

python-telegram-bot and grammY are installed in a pinned version into a folder of the test, which is
skipped where that cannot be done.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.listings.test_audiences import KEYS, PAIRS, of_key, write
from tests.support.destination import Destination


class Client(NamedTuple):
    """A library: how it is installed, how a program of it is run, and the program."""

    install: tuple[str, ...]
    runs: tuple[str, ...]
    program: str


PTB = """\
import asyncio, json, sys
from telegram import *
def scope(name):
    return globals()["BotCommandScope" + name.title().replace("_", "")]()
async def main(token, url, pairs):
    async with Bot(token, base_url=url + "/bot") as bot:
        return [[each.to_dict() for each in await bot.get_my_commands(scope(name), code or None)]
                for name, code in json.loads(pairs)]
print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
"""
GRAMMY = """\
const { Api } = require("grammy");
const [token, apiRoot, pairs] = process.argv.slice(2);
const api = new Api(token, { apiRoot });
const read = ([type, code]) =>
  api.getMyCommands({ scope: { type }, ...(code ? { language_code: code } : {}) });
Promise.all(JSON.parse(pairs).map(read)).then((lists) => console.log(JSON.stringify(lists)));
"""
CLIENTS = {
    "python-telegram-bot": Client(
        (sys.executable, "-m", "pip", "install", "-q", "-t", ".", "python-telegram-bot==22.8"),
        (sys.executable, "program.py"),
        PTB,
    ),
    "grammY": Client(
        ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "grammy@1.46.0"),
        ("node", "program.js"),
        GRAMMY,
    ),
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder in which a client is installed; skips the test if it cannot be."""
    client: Client = request.param
    for name in (client.install[0], client.runs[0]):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not there")
    folder = tmp_path_factory.mktemp("client")
    (folder / "package.json").write_text("{}", encoding="utf-8")
    (folder / client.runs[1]).write_text(client.program, encoding="utf-8")
    try:
        subprocess.run(client.install, cwd=folder, check=True, timeout=120, capture_output=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("the package cannot be installed: the registry is not reached")
    return folder


@pytest.mark.parametrize(
    ("client", "installed"),
    [(client, client) for client in CLIENTS.values()],
    ids=CLIENTS,
    indirect=["installed"],
)
def test_a_client_reads_each_list_as_it_was_applied(
    telegram: Destination, client: Client, installed: Path
) -> None:
    write(telegram, de="", no="")
    telegram.apply(exits=0)

    listing = telegram.listing
    words = (listing.token, listing.base_url, json.dumps(PAIRS))
    read = subprocess.run(
        [*client.runs, *words], cwd=installed, check=True, timeout=60, capture_output=True
    )

    assert json.loads(read.stdout) == [of_key(key) for key in KEYS]
