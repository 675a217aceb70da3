"""How much processor time the service needs to create 100,000 bots, and to search them."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, product
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from commandsync.server.database import opened
from commandsync.server.runner import running
from commandsync.server.search import Wanted, find
from commandsync.server.votes import days
from tests.benchmarks.budgets import Row, best, milliseconds
from tests.benchmarks.growth import timed

if TYPE_CHECKING:
    from pathlib import Path

    from commandsync.server.database import Database

_BOTS, _WORDS = 100_000, 20_000
_SYLLABLE = ("bcdfghjklmnpqrstvwz", "aeiou", "nrstlm-")


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    rng = random.Random(1)  # noqa: S311 - always the same bots
    weights = list(accumulate(1 / (n + 10) for n in range(_WORDS)))
    words = [
        "".join(rng.choice(letters) for letters in _SYLLABLE * rng.randint(1, 3)).replace("-", "")
        for _ in range(_WORDS)
    ]

    def text(count: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=count))

    def bot(number: int) -> dict[str, object]:
        texts = {"overview": text(10), "description": text(100), "tags": text(3).split()}
        return {"id": str(number), "profile": {"username": text(2)}, "information": texts}

    seed, database = folder / "bots.json", str(folder / "bots.db")
    seed.write_text(json.dumps({"bots": [*map(bot, range(_BOTS))]}), encoding="utf-8")
    begun = process_time()
    with running(database, seed=seed):
        created = process_time() - begun
    frequent = (rng.sample(words[:40], count) for count in (1, 2, 3, 4, 6) for _ in range(6))
    asked = ["", "e", "a e o i", *map(" ".join, frequent)]
    asked += [" ".join(word[:3] for word in words[:count]) for count in (1, 2)]
    wanted = product(asked, ("", "-totalVotes", "profile.username"), (1, 2_000))
    with opened(database) as handle:
        searches = {
            f"{query}, {sort}, {page}": timed(
                partial(_search, handle, Wanted(page=page, q=query, sort=sort))
            )
            for query, sort, page in wanted
        }
        found = best(searches, rounds=3)
    slowest, middle = max(found.values()), median(found.values())
    seen = f"{milliseconds(slowest)} / {milliseconds(middle)}"
    return [
        Row("to create 100,000 bots", created, 30, "s"),
        Row(f"the slowest of {len(found)} searches of frequent words", slowest * 1_000, 50, "ms"),
        Row("the slowest of these searches / the median", slowest / middle, 15, seen=seen),
    ]


def _search(database: Database, wanted: Wanted) -> None:
    with database.reading() as connection:
        find(connection, wanted, days=days(datetime.now(UTC)))
