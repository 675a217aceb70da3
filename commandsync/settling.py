"""Which new record is whose, when the answers to adds do not say.

An add's answer seldom carries the new id (wire notes), and after an unclear end there is no answer
at all: only reading the list again can tell. A record whose id was in no earlier read is claimed by
the add it equals, else by the one of the same name, else by one whose name a service may have
made it of, else, when one record and one add are left, by that one.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import islice
from typing import TYPE_CHECKING

from commandsync.rewriting import folded, folded_start, made_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commandsync.snapshot import Identity
    from commandsync.texts import Text


_MOST_CANDIDATES = 50  # of one name that are looked at

_SHORTEST_CUT = 100  # characters: names are not seen to be cut shorter


def claim(
    adds: Mapping[int, Text],
    new: Mapping[Identity, Text],
    *,
    known: Mapping[int, str] | None = None,
) -> dict[int, Identity]:
    """Assign new records to the adds that made them.

    Args:
        adds: The text of every add that was sent and may have happened, those already
            acknowledged included: they claim their own records before others can.
        new: The listed records that were in no read before these adds were sent.
        known: Ids that answers to some of the adds told.

    Returns:
        The record of each add that has one.
    """
    told: dict[Identity, int] = {
        identifier: key for key, identifier in (known or {}).items() if key in adds
    }
    claimed: dict[int, Identity] = {told[one]: one for one in new if one in told}
    free = {one: text for one, text in new.items() if one not in told}
    _claim_by(lambda text: text, adds, free, claimed)
    _claim_made_of(adds, free, claimed)
    _claim_by(lambda text: text[0], adds, free, claimed)
    _claim_by(lambda text: folded(text[0]), adds, free, claimed)
    _claim_by(lambda text: folded(text[0])[:_SHORTEST_CUT], adds, free, claimed)
    _claim_starts(adds, free, claimed)
    left = [key for key in adds if key not in claimed]
    if len(left) == len(free) == 1:
        claimed[left[0]] = next(iter(free))
    return claimed


def _claim_by(
    key_of: Callable[[Text], object],
    adds: Mapping[int, Text],
    free: dict[Identity, Text],
    claimed: dict[int, Identity],
) -> None:
    by_key: defaultdict[object, deque[Identity]] = defaultdict(deque)
    for identity, text in free.items():
        by_key[key_of(text)].append(identity)
    for key, text in adds.items():
        if key not in claimed and (candidates := by_key.get(key_of(text))):
            claimed[key] = candidates.popleft()
            del free[claimed[key]]


def _claim_made_of(
    adds: Mapping[int, Text], free: dict[Identity, Text], claimed: dict[int, Identity]
) -> None:
    """Claim what services are seen to make of a text, before another of its name can."""
    by_name: defaultdict[str, dict[Identity, Text]] = defaultdict(dict)
    for identity, text in free.items():
        by_name[folded(text[0])[:_SHORTEST_CUT]][identity] = text
    for key, text in adds.items():
        candidates = by_name.get(folded(text[0])[:_SHORTEST_CUT], {}) if key not in claimed else {}
        some = islice(candidates.items(), _MOST_CANDIDATES)
        if found := next((one for one, stored in some if made_of(stored, sent=text)), None):
            claimed[key] = found
            del free[found], candidates[found]


def _claim_starts(
    adds: Mapping[int, Text], free: dict[Identity, Text], claimed: dict[int, Identity]
) -> None:
    """Claim names that were escaped before they were cut: folded they are shorter than the cut."""
    starts = {
        identity: folded_start(text[0])
        for identity, text in free.items()
        if len(text[0]) >= _SHORTEST_CUT
    }
    for key, text in adds.items() if starts else ():
        if key in claimed:
            continue
        name = folded(text[0])
        found = next((one for one, start in starts.items() if name.startswith(start)), None)
        if found is not None:
            claimed[key] = found
            del free[found], starts[found]
