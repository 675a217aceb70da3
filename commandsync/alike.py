"""What a service that rewrites texts has made of one already, read from the listing alone.

Two questions that plan and resume ask: how many listed records may be a given text, rewritten; and
whether a listed text is what the service makes of a wanted one whenever it is sent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.rewriting import (
    folded,
    folded_start,
    made_of,
    rewrites,
    without_half_entity,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from commandsync.rewriting import Rewrite, Way
    from commandsync.texts import Text

_BEGINNING = 16  # characters of each field by which candidates are found
_MOST_CANDIDATES = 50  # of one beginning; beyond them only wholes are compared


class Alike:
    """A multiset of listed texts, searched for what a service may have made of a sent one.

    Args:
        texts: The texts, each as often as it is listed; less than once is not at all.
    """

    def __init__(self, texts: Counter[Text]) -> None:
        self._counts = +texts
        self._candidates: defaultdict[tuple[str, ...], list[Text]] = defaultdict(list)
        for text in self._counts:
            self._candidates[_beginning(text)].append(text)

    def equal(self, sent: Text) -> int:
        """How many are listed exactly as sent."""
        return self._counts[sent]

    def rewritten(self, sent: Text) -> int:
        """How many others may be this text as a service stored it."""
        return sum(self._counts[text] for text in self._made_of(sent))

    def take(self, sent: Text) -> None:
        """Take one of those listed exactly as sent away."""
        self._counts[sent] -= 1

    def take_rewritten(self, sent: Text) -> Text:
        """Take one of the others away, and return it."""
        taken = self._made_of(sent)[0]
        self._counts[taken] -= 1
        return taken

    def _made_of(self, sent: Text) -> Sequence[Text]:
        found = [
            text
            for text in self._candidates.get(_beginning(sent), ())
            if self._counts[text] and text != sent
        ]
        if len(found) > _MOST_CANDIDATES:
            whole = [folded(part) for part in sent]
            return [text for text in found if [folded(part) for part in text] == whole]
        return [text for text in found if made_of(text, sent=sent)]


class Habits:
    """What a service may be in the habit of doing, as far as nothing it lists speaks against it.

    A service that lower-cases lists no capital, one that cuts lists nothing longer; so a listing
    tells which explanations of a difference are left. Nothing else can tell a text that was
    rewritten from one that its author changed a little.

    Args:
        texts: Every text of one listed collection.
    """

    def __init__(self, texts: Collection[Text]) -> None:
        self._texts = texts
        self._facts: dict[str, _Facts] = {}

    def explain(self, *, sent: Text, stored: Text) -> tuple[Rewrite, ...]:
        """Say what the service made of a text; nothing when it may be another text."""
        found = rewrites(sent=sent, stored=stored)
        habitual = all(one.known and self._usual(one) for one in found)
        return found if habitual else ()

    def _usual(self, rewrite: Rewrite) -> bool:
        """Whether nothing listed in this field lacks what the service is thought to do."""
        if rewrite.field not in self._facts:
            parts = [getattr(text, rewrite.field) for text in self._texts]
            self._facts[rewrite.field] = _facts(parts)
        facts = self._facts[rewrite.field]
        if "cut" in rewrite.ways and not _cut(rewrite, longest=facts.longest):
            return False
        return facts.ways.issuperset({*rewrite.ways} - {"cut"})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is true of one field of every listed record."""

    ways: frozenset[Way]
    longest: int


def _facts(parts: Sequence[str]) -> _Facts:
    true_of: dict[Way, bool] = {
        "escaped": all(map(_escaped, parts)),
        "trimmed": all(part == " ".join(part.split()) for part in parts),
        "cased": all(part == part.lower() for part in parts)
        or all(part == part.upper() for part in parts),
    }
    ways = frozenset(way for way, true in true_of.items() if true)
    return _Facts(ways, max(map(len, parts), default=0))


def _beginning(text: Text) -> tuple[str, ...]:
    return tuple(folded_start(part)[:_BEGINNING].rstrip() for part in text)


def _escaped(text: str) -> bool:
    """Whether no character of HTML stands in a text as itself, a cut-off one at its end aside."""
    parts = without_half_entity(text).split("&")
    return not set("<>") & set(text) and all(_begins_entity(part) for part in parts[1:])


def _begins_entity(text: str) -> bool:
    name, semicolon, _ = text.partition(";")
    return bool(semicolon) and name.removeprefix("#").isalnum()


def _cut(rewrite: Rewrite, *, longest: int) -> bool:
    """Whether a text ends where services cut, at a round number, and nothing listed is longer.

    A blank where it was cut is not compared, so that it may show a little shorter than it was cut.
    """
    length = len(rewrite.stored)
    rest = rewrite.sent[length:]
    blank = len(rest) - len(rest.lstrip()) if rewrite.ways == ("cut",) else 1
    return any(
        longest <= whole and (whole % 50 == 0 or (whole + whole % 2) % 64 == 0)
        for whole in range(length, length + blank + 1)
    )
