"""The difference of two texts, word by word: what is unchanged, removed and added."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The space belongs to the word before it: words that differ one after the other are one piece.
_WORDS = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")
_MOST = 200  # words of both texts that are compared closely: at worst the time grows with its cube


class Piece(NamedTuple):
    """A part of a difference: its text, which is `same`, `old` or `new`."""

    kind: str
    text: str


def difference(old: str, new: str) -> list[Piece]:
    """Return the pieces of both texts, in their order."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    middle = before[start : len(before) - end], after[start : len(after) - end]
    pieces = [
        Piece("same", "".join(before[:start])),
        *_compared(*middle),
        Piece("same", "".join(before[len(before) - end :])),
    ]
    return [piece for piece in pieces if piece.text]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the number of words that two texts begin with alike."""
    pairs = zip(before, after, strict=False)
    return next(
        (n for n, (old, new) in enumerate(pairs) if old != new), min(len(before), len(after))
    )


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[Piece]:
    if max(len(before), len(after)) > _MOST:
        yield Piece("old", "".join(before))
        yield Piece("new", "".join(after))
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            yield Piece("same", "".join(before[i:j]))
        else:
            yield Piece("old", "".join(before[i:j]))
            yield Piece("new", "".join(after[k:m]))
