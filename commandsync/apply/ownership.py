"""Which listed records that a plan takes away were never the manifest's own.

A record that some version of the manifest had, in all fields, was put on the page by an apply, and
a later version took it away. A record that no version had was put there by somebody else.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from commandsync.plan.changes import Delete, Replace
from commandsync.plan.matching import GROUP_LIMIT, starts_of
from commandsync.plan.plan import Plan
from commandsync.records.rewrites import folded, folded_start, text_agrees
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource, Text

Removal = Delete | Replace


def unexplained(plan: Plan, *, versions: Iterable[Snapshot]) -> list[Removal]:
    """Return the deletes and replaces of records that no version of the manifest had.

    A version had a record if it had one with all its fields: exactly, folded or cut, as services
    change texts. A name alone explains nothing. A record that has ended, or an exact copy of one
    that stays, needs no explanation. The versions, the newest first, are read as far as necessary.
    """
    left = [
        change
        for change in plan.changes
        if isinstance(change, Delete | Replace) and not change.exempt
    ]
    seen: set[tuple[Resource, Text]] = set()
    for version in versions if left else ():
        texts = dict.fromkeys(text for text in _texts(version) if text not in seen)
        seen.update(texts)
        left = [each for each in left if (each.resource, each.before) not in texts]
        left = _not_rewritten(left, texts)
        if not left:
            break
    return left


def _texts(version: Snapshot) -> Iterator[tuple[Resource, Text]]:
    for resource, entries in version.collections.items():
        yield from ((resource, entry.text) for entry in entries)


def _not_rewritten(
    removals: Sequence[Removal], texts: Iterable[tuple[Resource, Text]]
) -> list[Removal]:
    """Return the removals of records that a service cannot have made of one of these texts."""
    by_name: defaultdict[str, list[tuple[Resource, Text]]] = defaultdict(list)
    if removals:
        for resource, text in texts:
            by_name[folded(text[0])].append((resource, text))
    starts = dict.fromkeys(folded_start(each.before[0]) for each in removals)
    by_start: defaultdict[str, list[tuple[Resource, Text]]] = defaultdict(list)
    for whole, cuts in starts_of(by_name, starts):
        for cut in cuts:
            by_start[cut] += by_name[whole]
    return [
        each
        for each in removals
        if not any(
            resource == each.resource and text_agrees(each.before, sent=text)
            for group in (by_name[folded(each.before[0])], by_start[folded_start(each.before[0])])
            for resource, text in islice(group, GROUP_LIMIT)
        )
    ]
