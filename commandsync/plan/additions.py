"""Additions to a manifest: listed records that it lacks, and former names of its entries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

from commandsync.diagnostics import Notice, Renaming
from commandsync.plan.comparison import match_by_rules
from commandsync.plan.hints import finished_renames, in_quotes, near_texts, uses_of
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Ability, Resource

_MOST_NAMES = 3  # in a message
_SAME = 0.9  # share of words in common, with which two texts are of one command
_SEVERAL = (
    "{count} commands have nearly the same text as a listed one: each pair becomes one command, "
    "with its id and uses kept"
)
_TWO_COMMANDS = "if two are different commands, do not merge: write both into the manifest"


@dataclass(frozen=True, slots=True)
class Missing:
    """The records of one collection that a manifest lacks."""

    added: tuple[Entry, ...]  # the listed entries that it has in no form, in their order
    # By the index of a wanted entry, the listed one that it probably was.
    renamed: Mapping[int, Entry] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()  # what a person should look at
    finished: tuple[int, ...] = ()  # wanted indices whose former names are no longer needed

    def only(self, *, adds: bool, finishes: bool) -> "Missing":
        """Return only the additions and renames, only the finished renames, or both."""
        return replace(self if adds else Missing(()), finished=self.finished if finishes else ())


def missing_from(
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    *,
    resource: Resource,
    rules: SyncRules,
    ability: Ability,
) -> Missing:
    """Find the records that a manifest lacks, by the matching of a plan.

    A wanted and a listed command that match in no other way are one under two names if their texts
    are nearly equal, and neither of them is as much like a third one. Ignored records are left out.
    """
    unmatched, surplus, finished = _unmatched(wanted, listed, rules, ability)
    pairs = []
    if ability.edit:
        olds = [entry for entry in surplus if entry.writable]
        texts = [wanted[w].text for w in unmatched], [entry.text for entry in olds]
        near = near_texts(*texts, usage=resource.usage)
        pairs = [(unmatched[n], olds[old], alike) for n, old, alike in near]
    renamed = _clear_renames(pairs)
    left = [entry for entry in surplus if entry not in renamed.values()]
    added, refused = _expressible(left, wanted, resource, ability)
    notices = [_renamed(wanted[w], entry) for w, entry in renamed.items()]
    notices += _doubtful(added, [(wanted[w], old) for w, old, _ in pairs])
    return Missing(tuple(added), renamed, (*notices, *refused), tuple(finished))


def _unmatched(
    wanted: Sequence[Entry], listed: Sequence[Entry], rules: SyncRules, ability: Ability
) -> tuple[list[int], list[Entry], list[int]]:
    """Return the indices of the wanted entries that match nothing, and the listed ones.

    The third are the indices of the wanted entries whose former names are no longer needed.
    """
    entries, ignored, matching = match_by_rules(wanted, listed, rules=rules, ability=ability)
    known = ignored.union(matching.unwritable.values())
    return (
        [w for w in matching.wanted if w not in matching.unwritable],
        [entries[n] for n in matching.listed if n not in known],
        finished_renames(wanted, {w: entries[n] for w, n in matching.pairs.items()}, listed),
    )


def _clear_renames(pairs: Sequence[tuple[int, Entry, float]]) -> dict[int, Entry]:
    """Return the pairs of nearly equal texts of which neither is as much like a third one.

    The pairs begin with the most alike: what these contain is not a candidate of any other.
    """
    renamed: dict[int, Entry] = {}
    settled: set[tuple[str, int | str]] = set()
    same = (pair for pair in pairs if pair[2] >= _SAME)
    for _, equally in groupby(same, key=itemgetter(2)):
        sides = [((("wanted", w), ("listed", old.id)), w, old) for w, old, _ in equally]
        candidates = [each for each in sides if settled.isdisjoint(each[0])]
        times = Counter(side for both, _, _ in candidates for side in both)
        renamed |= {w: old for both, w, old in candidates if times[both[0]] == times[both[1]] == 1}
        settled.update(times)
    return renamed


def _expressible(
    listed: Iterable[Entry], wanted: Iterable[Entry], resource: Resource, ability: Ability
) -> tuple[list[Entry], list[Notice]]:
    """Return the listed records that a manifest can contain, and notices about the others."""
    added, notices = [], []
    seen = {entry.text for entry in wanted}
    for entry in listed:
        which = f"the listed {resource} {entry.name!r} (id {entry.id!r})"
        if empty := [name for name in resource.required if not getattr(entry.text, name)]:
            message = f"{which} has no {' and no '.join(empty)}: it is not added"
            notices.append(
                Notice(message, "add it by hand to keep it: a manifest needs all fields")
            )
        elif not ability.posts and entry.text in seen:
            message = f"{which} is listed once more, equal in all fields: it is not added"
            notices.append(Notice(message, "a manifest can contain it only once"))
        else:
            seen.add(entry.text)
            added.append(entry)
    return added, notices


def _renamed(wanted: Entry, listed: Entry) -> Notice:
    return Notice(
        f"{wanted.name!r} and the listed {listed.name!r} have nearly the same text: they become "
        "one command, with its id and uses kept",
        "if they are two commands, do not merge: write both into the manifest",
        wanted.location,
        renaming=Renaming(wanted.name, listed.name, uses_of(listed), _SEVERAL, _TWO_COMMANDS),
    )


def _doubtful(added: Iterable[Entry], pairs: Iterable[tuple[Entry, Entry]]) -> Iterator[Notice]:
    """Name the added records that may be old names of wanted ones: which of them is not clear."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for wanted, old in pairs:
        names[old.id].append(repr(wanted.name))
    for entry in added:
        if alike := names.get(entry.id):
            shown = alike if len(alike) <= _MOST_NAMES else [*alike[:_MOST_NAMES], "others"]
            new = alike[0] if len(alike) == 1 else "the new one"
            yield Notice(
                f"the listed {entry.name!r} may be an old name of {' or '.join(shown)}: it is "
                "added as a separate command",
                f"if it is an old name, remove the entry {entry.name!r}, and write below the name "
                f"of {new}:  formerly: [{in_quotes(entry.name)}]",
            )
