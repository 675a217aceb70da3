"""Patterns of names (`*`, `?`, `[...]`), as users write them in a manifest, an option or a file."""

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property, lru_cache

MOST_COMPARED = 1_000  # characters that a wildcard is compared with: of a longer name, both ends
_WILDCARDS = re.compile(r"[*?[]")


@dataclass(frozen=True)
class Patterns:
    """Patterns of whole names, in upper or lower case: a service may change that."""

    texts: tuple[str, ...]

    def match(self, name: str) -> bool:
        """Whether one of the patterns matches a name (canonical)."""
        if not self.texts:
            return False
        names, wild = self._compiled
        if name.casefold() in names:
            return True
        if len(name) > MOST_COMPARED:
            name = name[: MOST_COMPARED // 2] + name[-MOST_COMPARED // 2 :]
        return wild is not None and wild.match(name) is not None

    @cached_property
    def _compiled(self) -> tuple[frozenset[str], re.Pattern[str] | None]:
        """The patterns without a wildcard, case-folded, and the others as one expression."""
        wild = [translate(text) for text in self.texts if has_wildcard(text)]
        names = (text.casefold() for text in self.texts if not has_wildcard(text))
        # To the letter as well: "[!A]" matches an "a", and not where case is ignored.
        either = "|".join(f"{pattern}|(?i:{pattern})" for pattern in wild)
        return frozenset(names), re.compile(either) if wild else None


@lru_cache
def pattern(text: str) -> Patterns:
    """Return one pattern, which many names are compared with."""
    return Patterns((text,))


def has_wildcard(text: str) -> bool:
    """Whether a pattern may match more than one name."""
    return _WILDCARDS.search(text) is not None
