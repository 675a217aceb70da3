"""Take the pictures of the pages in docs/images again, with a real browser and the real service.

    python -m tests.e2e.screenshots

The days on them are those of the run.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser

from commandsync.server.service import RunningService, running
from tests.support.browser import started

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
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
    page.screenshot(path=str(IMAGES / name))
    context.close()
    sys.stdout.write(f"wrote docs/images/{name}\n")


if __name__ == "__main__":
    main()
