"""Take the pictures of the pages in docs/images again, with a real browser and the real service.

    python -m tests.e2e.screenshots

The days on them are those of the run.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser

from commandsync.server.runner import RunningService, running
from tests.support.browser import started

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
EDITS = (
    ("Ask the magic 8ball a question.", "Answers a question with yes, no or maybe."),
    ("name: message id|message\n", "name: pin\n    formerly: [message id|message]\n"),
    (
        "Shows the help menu, or explains one command in detail.",
        "Lists all commands, or explains one.",
    ),
    ("  - name: ping\n", "  - name: invite\n"),
    ("Shows how long the bot and its gateway take to answer.", "Sends the link to your server."),
    ('ping"\n', 'invite"\n'),
)
VOTERS = ("Ann", "Ben", "Chiara", "Dmitri", "Élodie", "فاطمة")


def main() -> None:
    """Write every picture."""
    listed = bots()
    with tempfile.TemporaryDirectory() as name, started() as browser:
        folder = Path(name)
        with running(seed=_seed(folder, listed)) as service:
            for number, bot in enumerate(service.bots):
                _vote(service, bot.id, bot.token, VOTERS[: 6 - number])
            page = f"{service.url}/bot/{service.bots[0].id}"
            _take(browser, service.url, "list-820.png", width=820, height=900)
            _take(browser, page, "bot-1440.png", width=1440, height=1000)
            _take(browser, page, "bot-390-dark.png", width=390, height=844, scheme="dark")
        listed[0]["information"]["description"] = ""  # its commands are what the preview is about
        listed[0]["announcements"] = []
        with running(seed=_seed(folder, listed)) as service:
            preview = _previewed(service, folder).as_uri()
            _take(browser, preview, "preview-1440.png", width=1440, height=1000)


def _seed(folder: Path, listed: list[dict[str, Any]]) -> Path:
    path = folder / "seed.json"
    path.write_text(json.dumps({"bots": listed}), encoding="utf-8")
    return path


def bots() -> list[dict[str, Any]]:
    """Return the example's bot and a few others, as in a seed."""
    content = json.loads((ROOT / "examples" / "seed.json").read_text(encoding="utf-8"))
    others = (
        ("Harbor", "Welcome texts, roles and a little order.", "#0f766e", "#5eead4", ("roles",)),
        ("Quill", "Writes down what your team decides.", "#7c3aed", "#c4b5fd", ("notes", "teams")),
        ("Dice Tower", "Rolls dice for tabletop games.", "#be123c", "#fda4af", ("games", "fun")),
        ("بوت الموسيقى", "يشغل الموسيقى في كل قناة صوتية.", "#0369a1", "#7dd3fc", ("music",)),
        ("Tally", "Polls, votes and counts.", "#4d7c0f", "#bef264", ("polls",)),
    )
    return [content["bots"][1], *(_bot(n, *fields) for n, fields in enumerate(others, 1))]


def _bot(
    number: int, name: str, overview: str, colour: str, lighter: str, tags: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "id": str(number),
        "profile": {"username": name},
        "information": {"overview": overview, "tags": tags},
        "statistics": {"servers": 7_000 // number, "totalVotes": 31 * number},
        "ratings": {"average": 4.9 - number / 10, "total": 60 - number},
        "certificate": number % 2,
        "theme": {"enabled": True, "automatic": False, "color": colour, "colorLighter": lighter},
    }


def _vote(service: RunningService, bot: str, token: str, users: tuple[str, ...]) -> None:
    for number, name in enumerate(users):
        body = json.dumps({"user": {"id": str(number), "username": name}}).encode()
        headers = {"Authorization": f"Bot {token}", "Content-Type": "application/json"}
        urlopen(Request(f"{service.url}/v1/bot/{bot}/votes", body, headers)).close()  # noqa: S310 - loopback


def _previewed(service: RunningService, folder: Path) -> Path:
    """Write the page of a changed manifest, as `commandsync preview --html` does; return it."""
    environment = {
        **os.environ,
        "COMMANDSYNC_BASE_URL": service.url,
        "COMMANDSYNC_BOT": service.bots[0].id,
    }
    run = partial(subprocess.run, check=True, cwd=folder, env=environment, capture_output=True)
    program = (sys.executable, "-m", "commandsync")
    run([*program, "init"])
    manifest = folder / "commands.yaml"
    text = manifest.read_text(encoding="utf-8")
    for old, new in EDITS:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    manifest.write_text(text, encoding="utf-8")
    run([*program, "preview", "--html", "site"])
    return folder / "site" / "index.html"


def _take(
    browser: Browser, address: str, name: str, *, width: int, height: int, scheme: str = "light"
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.evaluate(
        "for (const details of document.querySelectorAll('.changes')) details.open = true"
    )
    page.screenshot(path=str(IMAGES / name))
    context.close()
    sys.stdout.write(f"wrote docs/images/{name}\n")


if __name__ == "__main__":
    main()
