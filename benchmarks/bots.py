"""Generated bots, always the same: names, texts and numbers as unevenly spread as real ones."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from commandsync.server.records import BotFields

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGINS = "b br c ch d dr f fl g gr h j k l m n p pl qu r s sh sl st t th tr v w y z"
_MIDDLES = "a e i o u ai ea ee io ou"
_ENDS = "n r s t l m ck nd ng st x"
_SCRIPTS = ("音楽", "翻訳", "管理", "音乐", "日本語", "ゲーム", "한국어", "музыка")
_WORDS = 20_000


class Vocabulary:
    """Words of one to three syllables, the earlier ones much more frequent (Zipf's law)."""

    def __init__(self, rng: random.Random) -> None:
        words: dict[str, None] = {}
        parts = (_BEGINS.split(), _MIDDLES.split(), ["", *_ENDS.split()])
        while len(words) < _WORDS:
            syllables = rng.choice((1, 1, 2, 2, 2, 3))
            words["".join(map(rng.choice, parts * syllables))] = None
        self.words = list(words)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(_WORDS)))
        self._rng = rng

    def text(self, count: int) -> str:
        """Return so many words."""
        return " ".join(self._rng.choices(self.words, cum_weights=self._weights, k=count))


def generate(count: int) -> Iterator[dict[str, Any]]:
    """Yield bots with their ids, and with every field of the interface but their times."""
    rng = random.Random(1)  # noqa: S311 - always the same bots
    vocabulary = Vocabulary(rng)
    for number in range(count):
        overview = vocabulary.text(10)
        if number % 20 == 0:
            overview += f" {rng.choice(_SCRIPTS)}"
        fields = BotFields.model_validate(
            {
                "profile": {"username": vocabulary.text(rng.choice((1, 1, 2))).title()},
                "information": {
                    "overview": overview,
                    "description": f"<p>{vocabulary.text(rng.randint(30, 120))}</p>",
                    "tags": rng.sample(vocabulary.words[:40], 3),
                },
                "statistics": {
                    "servers": int(min(rng.paretovariate(0.7), 10**6)),
                    "totalVotes": int(min(rng.paretovariate(0.5), 10**6)),
                },
                "certificate": int(rng.random() < 0.1),  # noqa: PLR2004 - one in ten
            }
        )
        yield {"id": str(10**17 + number * 7_919), **fields.model_dump(by_alias=True)}
