"""What the commands of a listing share, and a manifest says once: a prefix and a category."""

from __future__ import annotations

import re
from collections import Counter
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from commandsync.records.texts import Text

_NOT = r"\s{}<>\[\]()\"'|,;"
_PREFIX = re.compile(rf"[^{_NOT}]{{0,9}}[^\w{_NOT}]")  # / or !! or m!
_SIGNS = re.compile(rf"[^\w{_NOT}]{{1,5}}(?=\w)")
_LONGEST_CATEGORY = 100  # as the manifest's model has it
_LINES = 2  # that `defaults:` takes up


class Shared(NamedTuple):
    """The `prefix:` and the `defaults.category` of a manifest; empty for none."""

    prefix: str = ""
    category: str = ""


def shared_of(texts: Collection[Text]) -> Shared:
    """Return what shortens a manifest of these texts.

    A prefix is the beginning of more than half of the syntaxes, and of two at least. A category is
    the default if fewer lines are needed with it: commands of none need a line then.
    """
    entries = [text._asdict() for text in texts]
    syntaxes = [(entry["syntax"], entry["name"]) for entry in entries if "syntax" in entry]
    prefixes = Counter(filter(None, starmap(_prefix, syntaxes)))
    categories = Counter(entry["category"] for entry in entries if "category" in entry)
    uncategorized = categories.pop("", 0)
    prefix, uses = max(prefixes.items(), key=lambda item: item[1], default=("", 0))
    category, members = max(categories.items(), key=lambda item: item[1], default=("", 0))
    if uses <= max(1, len(syntaxes) // 2):
        prefix = ""
    if members - uncategorized <= _LINES or len(category) > _LONGEST_CATEGORY:
        category = ""
    return Shared(prefix, category)


def fields_of(text: Text, shared: Shared) -> dict[str, str]:
    """Return the keys and values of an entry, as a manifest with these shared values has them."""
    values = text._asdict()
    if "syntax" in values:
        prefix, syntax = "", values["syntax"]
        if shared.prefix and syntax.startswith(shared.prefix):
            prefix, syntax = "{prefix}", syntax.removeprefix(shared.prefix)
        values["syntax"] = prefix + syntax.replace("{prefix}", "{{prefix}}")
    if values.get("category") == shared.category:
        del values["category"]
    return values


def _prefix(syntax: str, name: str) -> str:
    """Return what is before the name in a syntax, or its first signs; empty for nothing."""
    before = syntax[: max(0, syntax.find(name))]
    if _PREFIX.fullmatch(before):
        return before
    signs = _SIGNS.match(syntax)
    return signs[0] if signs else ""
