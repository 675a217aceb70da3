"""What the commands of a listing share, and a manifest says once: a prefix and a category."""

import re
from collections import Counter
from itertools import starmap
from typing import NamedTuple

from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource, Text

_NOT = r"\s{}<>\[\]()\"'|,;"
_PREFIX = re.compile(rf"[^{_NOT}]{{0,9}}[^\w{_NOT}]")  # / or !! or m!
_SIGNS = re.compile(rf"[^\w{_NOT}]{{1,5}}(?=\w)")
_LONGEST_CATEGORY = 100  # as the manifest's model has it
_LINES = 2  # that `defaults:` takes up


class Shared(NamedTuple):
    """The `prefix:` and the `defaults.category` of a manifest; empty for none."""

    prefix: str = ""
    category: str = ""


def shared_of(snapshot: Snapshot) -> Shared:
    """Return what shortens a manifest of these records.

    A prefix is the beginning of more than half of the syntaxes, and of two at least. A category is
    the default if fewer lines are needed with it: commands of none need a line then.
    """
    texts = [
        (kind, text)
        for kind, entries in snapshot.collections.items()
        for text in dict.fromkeys(entry.text for entry in entries)
    ]
    syntaxes = [(getattr(text, kind.usage), text[0]) for kind, text in texts if kind.usage]
    prefixes = Counter(filter(None, starmap(_prefix, syntaxes)))
    categories = Counter(getattr(text, kind.group) for kind, text in texts if kind.group)
    uncategorized = categories.pop("", 0)
    prefix, uses = max(prefixes.items(), key=lambda item: item[1], default=("", 0))
    category, members = max(categories.items(), key=lambda item: item[1], default=("", 0))
    if uses <= max(1, len(syntaxes) // 2):
        prefix = ""
    if members - uncategorized <= _LINES or len(category) > _LONGEST_CATEGORY:
        category = ""
    return Shared(prefix, category)


def fields_of(text: Text, shared: Shared, kind: Resource) -> dict[str, str]:
    """Return the keys and values of an entry, as a manifest with these shared values has them.

    An optional field that is empty is left out; a group only if it is the shared one.
    """
    kept = (*kind.required, kind.group)
    values = {name: value for name, value in text._asdict().items() if value or name in kept}
    if kind.usage:
        prefix, usage = "", values[kind.usage]
        if shared.prefix and usage.startswith(shared.prefix):
            prefix, usage = "{prefix}", usage.removeprefix(shared.prefix)
        values[kind.usage] = prefix + usage.replace("{prefix}", "{{prefix}}")
    if kind.group and values[kind.group] == shared.category:
        del values[kind.group]
    return values


def _prefix(syntax: str, name: str) -> str:
    """Return what is before the name in a syntax, or its first signs; empty for nothing."""
    before = syntax[: max(0, syntax.find(name))]
    if _PREFIX.fullmatch(before):
        return before
    signs = _SIGNS.match(syntax)
    return signs[0] if signs else ""
