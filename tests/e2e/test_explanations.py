"""The messages of a run are true on services that rewrite, drop and refuse; texts are generated."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from commandsync.records.texts import Text
from tests.support.home import Home, checked
from tests.support.listing import BAD_REQUEST, FaultServer, Listing
from tests.support.runs import command, seed


@pytest.fixture(params=range(3))
def draw(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(request.param)  # noqa: S311 - texts are no secret


@pytest.fixture
def listing() -> Listing:
    return Listing()


@pytest.fixture
def server(listing: Listing, home: Home) -> Iterator[FaultServer]:
    with FaultServer(listing) as server:
        home.variable("COMMANDSYNC_BASE_URL", server.url)
        home.variable("COMMANDSYNC_BOT", listing.bot)
        home.variable("COMMANDSYNC_TOKEN", "an-opaque-token")
        yield server


pytestmark = pytest.mark.usefixtures("server")


def word(draw: random.Random, length: int = 8) -> str:
    return "".join(draw.choice("abcdefghijkmnopqrstuvwxyz") for _ in range(length)).capitalize()


def manifest(*texts: Text, **sync: Any) -> str:  # noqa: ANN401 - what sync: takes
    """Return a manifest of these commands and announcements; JSON is YAML."""
    whole: dict[str, Any] = {"version": 1, "sync": sync}
    for text in texts:
        whole.setdefault("commands" if "name" in text._fields else "announcements", []).append(
            text._asdict()
        )
    return json.dumps(whole, ensure_ascii=False)


def test_only_makes_held_back_deletes(home: Home, listing: Listing, draw: random.Random) -> None:
    listed = [command(f"old-{word(draw)}") for _ in range(5)]
    seed(listing, listed)
    listing.choose = lambda request: BAD_REQUEST if request.kind == "add" else None
    home.write(manifest(listed[0], *(command(word(draw, 7)) for _ in range(4)), max_deletes="all"))

    ran = home.run("apply", "--yes", "--format", "json", exits=1)

    document = checked(ran, "result")
    outcomes = {(change["action"], change["outcome"]) for change in document["changes"]}

    assert outcomes == {("add", "failed"), ("delete", "skipped")}

    assert all(
        "--only" in change["hint"] for change in document["changes"] if change["action"] == "delete"
    )
    assert listing.texts("commands") == [tuple(record) for record in listed]

    alone = home.run("apply", "--yes", "--only", "old-*", exits=0)

    assert "'old-*' is planned: 4 " in alone.said
    assert "Verified: " in alone.out
    nothing = home.run("plan", "--only", "old-*")
    assert "No changes: " in nothing.out
    assert listing.texts("commands") == [tuple(listed[0])]
