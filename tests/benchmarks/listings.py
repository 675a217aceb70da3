"""What more listings cost, and what a plan of Discord's commands costs beside a script."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import requests

from tests.benchmarks.budgets import COMMANDSYNC, PYTHON, Row, command, compared, environment
from tests.benchmarks.manifests import records, write_manifest
from tests.benchmarks.planning import LATENCY
from tests.benchmarks.service import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMANDS = 100  # the most that Telegram accepts
_LOSSY = "    lossy: [description, category, syntax, options]\n"
_TELEGRAM = f"  - service: telegram\n    base_url: {{}}\n{_LOSSY}"
_UNREAD = "".join(f"  - service: {name}\n{_LOSSY}" for name in ("top.gg", "discordbotlist.com"))
_TELEGRAM_TOKEN = "COMMANDSYNC_TOKEN_TELEGRAM"
_DISCORD_TOKEN = "COMMANDSYNC_TOKEN_DISCORD"
_SCRIPT = """
import json, sys
import requests

url, application, token, path = sys.argv[1:]
session = requests.Session()
session.headers["Authorization"] = f"Bot {token}"
api = f"{url}/api/v10/applications"
assert session.get(f"{api}/@me", timeout=30).json()["id"] == application
listed = session.get(f"{api}/{application}/commands?with_localizations=true", timeout=30).json()
with open(path, encoding="utf-8") as file:
    wanted = json.load(file)
shown = [{key: command[key] for key in wanted[0]} for command in listed]
changed = [one["name"] for one, other in zip(wanted, shown, strict=True) if one != other]
assert changed == [], changed
"""


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    listed = [{**record, "name": f"command_{n}"} for n, record in enumerate(records(_COMMANDS))]
    return [_plans(folder, listed), _registered(folder, listed)]


def _plans(folder: Path, listed: list[dict[str, str]]) -> Row:
    """Compare a plan of a page with one of that page and three lists, of which one is read."""
    telegram_slowly = _slow("telegram", _TELEGRAM_TOKEN)
    with running(listed, folder, delay=LATENCY) as page, telegram_slowly as (telegram, token):
        base_url = f"base_url: {page}\n"
        lists = f"{base_url}listings:\n{_TELEGRAM.format(telegram)}{_UNREAD}"
        one = write_manifest(folder / "one.yaml", listed, more=base_url)
        four = write_manifest(folder / "four.yaml", listed, more=lists)
        plan = (*COMMANDSYNC, "plan", "-q", "-f")
        return compared(
            "`plan` of four listings, two of them read at 50 ms / of one",
            command(*plan, four, **{_TELEGRAM_TOKEN: token}),
            command(*plan, one),
            1.3,
            rounds=10,
        )


def _registered(folder: Path, listed: list[dict[str, str]]) -> Row:
    """Compare a plan of Discord's commands with a script that makes the same two requests."""
    commands = [_command(record) for record in listed]
    wanted = folder / "commands.json"
    wanted.write_text(json.dumps(commands), encoding="utf-8")
    with _slow("discord", _DISCORD_TOKEN, "--bucket", "none") as (url, token):
        api, headers = f"{url}/api/v10/applications", {"Authorization": f"Bot {token}"}
        bot = requests.get(f"{api}/@me", headers=headers, timeout=30).json()["id"]
        path = f"{api}/{bot}/commands"
        requests.put(path, json=commands, headers=headers, timeout=30).raise_for_status()
        manifest = folder / "discord.yaml"
        manifest.write_text(_manifest(commands, bot, url), encoding="utf-8")
        plan = (*COMMANDSYNC, "plan", "-q", "--detailed-exitcode", "-f", str(manifest))
        return compared(
            "no-op `plan` of 100 commands at Discord at 50 ms / a script with its two requests",
            command(*plan, **{_DISCORD_TOKEN: token}),
            command(PYTHON, "-c", _SCRIPT, url, bot, token, str(wanted)),
            2.5,
            rounds=10,
        )


def _command(record: dict[str, str]) -> dict[str, Any]:
    """Return an object of Discord with the name and the description of a record."""
    texts = {"name_localizations": None, "description_localizations": None}
    options = [
        {"type": 3, "name": f"option_{n}", "description": f"Option {n}.", **texts} for n in range(3)
    ]
    description = " ".join(record["description"].split())[:100]
    return {"type": 1, "name": record["name"], "description": description, "options": options}


def _manifest(commands: list[dict[str, Any]], bot: str, url: str) -> str:
    entries = [
        {
            "name": node["name"],
            "description": node["description"],
            "syntax": f"/{node['name']}",
            "discord": node,
        }
        for node in commands
    ]
    listing = f"listings:\n  - service: discord\n    base_url: {url}\n"
    return (
        f'version: 1\nbot: "{bot}"\n{listing}commands: {json.dumps(entries, ensure_ascii=False)}\n'
    )


@contextmanager
def _slow(name: str, variable: str, *options: str) -> Iterator[tuple[str, str]]:
    """Run a simulation whose answers are late, and yield its URL and a token."""
    latency = f"{LATENCY * 1000:g}"
    serve = (*COMMANDSYNC, "serve", "--as", name, "--port", "0", "--latency", latency)
    with subprocess.Popen(
        (*serve, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        try:
            output = ""
            while "base_url: " not in output and (line := process.stdout.readline()):
                output += line
            url = re.search(r"base_url: (\S+)", output)
            token = re.search(rf"{variable}=(\S+)", output)
            if url is None or token is None:
                raise RuntimeError(f"the simulation did not start: {output}")
            yield url[1], token[1]
        finally:
            process.terminate()
