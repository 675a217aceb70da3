"""How much processor time and memory the service needs to create 100,000 bots, and to search them.

The queries are of every kind that people type: frequent and rare words, several words, beginnings,
misspelt words, Chinese, single letters, numbers. Each is read in another order than the one before.
"""

from __future__ import annotations

import json
import random
from functools import partial
from itertools import accumulate, cycle
from statistics import median
from typing import TYPE_CHECKING

from commandsync.server import storage
from commandsync.server.database import opened
from commandsync.server.search import Wanted, find
from commandsync.server.tables import SORTED
from tests.benchmarks.budgets import PYTHON, Row, best, peak_memory, work
from tests.benchmarks.growth import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from commandsync.server.database import Database

_BOTS, _WORDS = 100_000, 20_000
_SYLLABLE = ("bcdfghjklmnpqrstvwz", "aeiou", "nrstlm-")
_SORTS = ("", "-totalVotes", "username", "-monthlyVotes", "description", "-servers", "tags")
_PLACES = {"page 1": (1, 12), "offset 988": (77, 13)}  # the page, and the bots on it

_CREATE = """
import sys
from pathlib import Path
from commandsync.server.service import running
with running(sys.argv[2], seed=Path(sys.argv[1])):
    pass
"""


class _Texts:
    """Words of which a few are in most texts and most are in few, as in every language."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        syllables = (_SYLLABLE * rng.randint(1, 3) for _ in range(_WORDS))
        spelt = ("".join(map(rng.choice, letters)).replace("-", "") for letters in syllables)
        self.words = list(dict.fromkeys(spelt))
        self.characters = [chr(0x4E00 + number) for number in rng.sample(range(8_000), 3_000)]
        self._weights = {
            id(choices): list(accumulate(1 / (place + 10) for place in range(len(choices))))
            for choices in (self.words, self.characters)
        }

    def some(self, choices: Sequence[str], count: int) -> list[str]:
        return self.rng.choices(choices, cum_weights=self._weights[id(choices)], k=count)

    def bot(self, number: int) -> dict[str, object]:
        """Return a bot: of 20, one is Chinese; most have numbers in their names and texts."""
        rng = self.rng
        if number % 20:
            name, overview, description = (self.some(self.words, count) for count in (2, 10, 100))
            name[-1] += str(rng.randrange(100_000)) if rng.random() < 2 / 3 else ""
            for words in (overview, description):
                words[rng.randrange(10)] += str(rng.randrange(10_000))
        else:
            sentences = ["".join(self.some(self.characters, 10)) for _ in range(9)]
            name, overview, description = sentences[:1], sentences[1:2], sentences[2:]
        return {
            "id": str(10**17 + number),
            "profile": {"username": " ".join(name)},
            "information": {
                "overview": " ".join(overview),
                "description": " ".join(description),
                "tags": [*dict.fromkeys(self.some(self.words, 3))],
            },
            "statistics": {
                "servers": int(rng.paretovariate(0.7)),
                "totalVotes": int(rng.paretovariate(0.8)),
            },
            "certificate": int(rng.random() < 1 / 10),
        }

    def queries(self) -> dict[str, str]:
        """Return 200 different queries, each with its kind."""
        rng, words = self.rng, self.words
        frequent, rare = words[:60], words[3_000:]

        def misspelt() -> str:
            word = rng.choice(words[:2_000])
            place = rng.randrange(len(word))
            return word[:place] + rng.choice("aeiounst") + word[place + 1 :]

        makers: dict[str, tuple[int, Callable[[], str]]] = {
            "frequent": (30, lambda: rng.choice(frequent)),
            "rare": (30, lambda: rng.choice(rare)),
            "2 to 4": (35, lambda: " ".join(rng.sample(frequent, rng.randint(2, 4)))),
            "mixed": (25, lambda: " ".join([rng.choice(frequent), *rng.sample(words[:4_000], 2)])),
            "beginning": (30, lambda: rng.choice(words[:2_000])[: rng.randint(2, 5)]),
            "misspelt": (20, misspelt),
            "CJK": (15, lambda: "".join(rng.sample(self.characters[:500], rng.randint(1, 2)))),
            "letter": (10, lambda: rng.choice("abcdefghijklmnopqrstuvwz0123456789")),
            "number": (5, lambda: str(rng.randrange(3_000))),
        }
        found: dict[str, str] = {}
        for kind, (count, make) in makers.items():
            while sum(known == kind for known in found.values()) < count:
                found.setdefault(make(), kind)
        return found


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    texts = _Texts(random.Random(1))  # noqa: S311 - always the same bots
    seed, database = folder / "bots.json", str(folder / "bots.db")
    seed.write_text(json.dumps({"bots": [*map(texts.bot, range(_BOTS))]}), encoding="utf-8")
    create = (PYTHON, "-c", _CREATE, str(seed))
    memory = peak_memory(*create, str(folder / "other.db"))
    created = work(*create, database)()
    asked = [*zip(texts.queries(), cycle(_SORTS), strict=False), *(("", sort) for sort in SORTED)]
    measured = [
        Row("to create 100,000 bots", created, 45, "s"),
        Row("the memory of creating 100,000 bots", memory, 1_300, "MB"),
    ]
    with opened(database) as handle:
        for place, (page, limit) in _PLACES.items():
            searches = {
                f"{query!r} sorted by {sort!r}": timed(
                    partial(_search, handle, Wanted(page=page, limit=limit, q=query, sort=sort))
                )
                for query, sort in asked
            }
            found = best(searches, rounds=3)
            slowest = max(found, key=found.__getitem__)
            name = f"the slowest of {len(found)} searches of 100,000 bots, {place}"
            seen = f"{slowest}; median {median(found.values()) * 1_000:.1f} ms"
            measured.append(Row(name, found[slowest] * 1_000, 25, "ms", seen=seen))
    return measured


def _search(database: Database, wanted: Wanted) -> None:
    with database.reading() as connection:
        storage.bots_of(connection, find(connection, wanted).keys)
