"""Match wanted records with listed ones, as multisets: nothing is ever collapsed.

A name is not unique, so names alone decide nothing. The surest tier comes first: the pinned id,
equality in all fields, the same name, a former name, the name as a service may have rewritten it,
and last its beginning. Within a name the most similar are paired first. The result depends on the
two sides only, and the time grows with their length: groups past `GROUP_LIMIT` are paired in their
order. In an exact kind a name is unique for a type and is never rewritten: there the tiers are the
pinned id, the name, and a former name.

`near_texts` finds texts that are alike under different names: renames that nobody has declared.
"""

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, Self

from commandsync.records.rewrites import (
    SHORTEST_CUT,
    agrees,
    folded,
    folded_start,
    name_key,
    start_key,
    unescaped,
)
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Text, object_of, type_of

GROUP_LIMIT = 50  # groups with more members on a side are paired in order, not by similarity
_COMPARED = 2_000  # characters of a field whose words are compared
_NEAR = 0.8  # share of words in common, of texts that are alike
_MOST_COMPARISONS = 10_000  # beyond this the changes are not renames but another listing
_MOST_STARTS = 20  # beginnings of a wanted name that are tried, the longest first


class Matching(NamedTuple):
    """How the wanted and the listed entries of one collection belong together."""

    pairs: dict[int, int]  # the listed index of each matched wanted one, in the wanted order
    wanted: tuple[int, ...]  # indices of the unmatched wanted entries
    listed: tuple[int, ...]  # indices of the unmatched listed entries
    lost_pins: tuple[int, ...]  # indices of wanted entries whose pinned id is not listed
    # Pairs whose listed entry has no usable id, so that it cannot be made as wanted.
    unwritable: dict[int, int]


@dataclass(slots=True)
class _Open:
    """The entries that are not matched yet; both dicts keep their side's order, as ordered sets."""

    wanted: dict[int, Entry]
    listed: dict[int, Entry]
    pairs: dict[int, int] = field(default_factory=dict)

    def pair(self, wanted: int, listed: int) -> None:
        self.pairs[wanted] = listed
        del self.wanted[wanted]
        del self.listed[listed]

    def take(self, part: Self) -> None:
        """Take over the pairs of a part of this."""
        for wanted, listed in part.pairs.items():
            self.pair(wanted, listed)


def match(
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    *,
    pins_first: bool = True,
    not_renamed: Container[int] = (),
    exact: bool = False,
) -> Matching:
    """Match one collection's wanted entries with its listed ones.

    A listed entry that cannot be written to (no usable id) is matched by equality only; its
    other matches are `unwritable`: an add would make a second one of it. A pinned id comes
    before equality (`pins_first`), unless records cannot be edited: a successor has another id.
    `not_renamed` are the indices of listed entries that no former name means. The names of an
    `exact` kind are compared as they are, within a type.
    """
    if exact:
        return _match_exact(wanted, listed, not_renamed)
    rest = _Open(dict(enumerate(wanted)), dict(enumerate(listed)))
    if not pins_first:
        _match_equal(rest)
    lost_pins = _match_pins(rest)
    _match_equal(rest)
    unwritable = {n: entry for n, entry in rest.listed.items() if not entry.writable}
    for n in unwritable:
        del rest.listed[n]
    _match_names(rest, not_renamed)
    out_of_reach = _Open(rest.wanted, unwritable)
    _match_names(out_of_reach, not_renamed)
    return Matching(
        pairs=dict(sorted(rest.pairs.items())),
        wanted=tuple(rest.wanted),
        listed=tuple(sorted([*rest.listed, *unwritable])),
        lost_pins=lost_pins,
        unwritable=dict(sorted(out_of_reach.pairs.items())),
    )


def _match_exact(
    wanted: Sequence[Entry], listed: Sequence[Entry], not_renamed: Container[int]
) -> Matching:
    """Match entries of a kind whose names are unique for a type: by pin, name, and former name.

    A type cannot be changed, so a pin to a record of another type is lost.
    """
    rest = _Open(dict(enumerate(wanted)), dict(enumerate(listed)))
    lost_pins = _match_exact_pins(rest)
    by_name: dict[str, int] = {}
    for n, entry in rest.listed.items():
        by_name.setdefault(name_key(entry.text), n)
    for n, entry in list(rest.wanted.items()):
        named = by_name.pop(name_key(entry.text), None)
        if named is not None:
            rest.pair(n, named)
    for n, entry in list(rest.wanted.items()):
        keys = (name_key(entry.text, name) for name in entry.formerly)
        renamed = next((k for k in keys if k in by_name and by_name[k] not in not_renamed), None)
        if renamed is not None:
            rest.pair(n, by_name.pop(renamed))
    return _written_to(rest.pairs, wanted, listed, lost_pins)


def _match_exact_pins(rest: _Open) -> tuple[int, ...]:
    by_id = {(type_of(each.text), each.id): n for n, each in rest.listed.items() if each.writable}
    lost = []
    for n, entry in [(n, entry) for n, entry in rest.wanted.items() if entry.id]:
        pinned = by_id.pop((type_of(entry.text), entry.id), None)
        if pinned is None:
            lost.append(n)
        else:
            rest.pair(n, pinned)
    return tuple(lost)


def _written_to(
    pairs: Mapping[int, int],
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    lost_pins: tuple[int, ...],
) -> Matching:
    """Return a matching in which no pair needs a write to a record without a usable id."""
    unwritable = {
        w: n
        for w, n in pairs.items()
        if not (listed[n].writable or listed[n].text == wanted[w].text)
    }
    pairs = {w: n for w, n in pairs.items() if w not in unwritable}
    reached = set(pairs.values())
    return Matching(
        pairs=dict(sorted(pairs.items())),
        wanted=tuple(w for w in range(len(wanted)) if w not in pairs and w not in unwritable),
        listed=tuple(n for n in range(len(listed)) if n not in reached),
        lost_pins=lost_pins,
        unwritable=dict(sorted(unwritable.items())),
    )


def pinned_by_both(wanted: Sequence[Entry], others: Iterable[Entry]) -> tuple[Entry, ...]:
    """Leave out the pins of entries that another manifest does not have.

    An id that is pinned since then says nothing about the entries of the other manifest.
    """
    known = {"", *(entry.id for entry in others)}
    return tuple(entry if entry.id in known else replace(entry, id="") for entry in wanted)


def count_same_name(added: Collection[Text], others: Iterable[Text]) -> dict[Text, tuple[int, int]]:
    """Count for each text that a plan adds how many records equal it, and how many have its name.

    A record has a text's name if it is the same, folded, or cut, or exactly the same in an exact
    kind; records that equal any of the texts are not among those. The others are the listed records
    that the plan does not touch.
    """
    known = set(added)
    if not known:
        return {}
    counts = Counter(others)
    unknown = [text for text in counts.elements() if text not in known]
    names, starts = Counter(map(name_key, unknown)), Counter(map(start_key, unknown))
    keys = {text: name_key(text) for text in known}
    wholes = set(keys.values())
    beginnings = {
        whole: sum(starts[start] for start in cuts) for whole, cuts in starts_of(wholes, starts)
    }
    return {text: (counts[text], names[key] + beginnings[key]) for text, key in keys.items()}


def _match_pins(rest: _Open) -> tuple[int, ...]:
    pins = {n: entry.id for n, entry in rest.wanted.items() if entry.id}
    listed = rest.listed.items() if pins else ()
    by_id = {entry.id: n for n, entry in listed if entry.writable}
    lost = []
    for n, pin in pins.items():
        if pin in by_id:
            rest.pair(n, by_id.pop(pin))
        else:
            lost.append(n)
    return tuple(lost)


def _match_equal(rest: _Open) -> None:
    by_text: defaultdict[Text, list[int]] = defaultdict(list)  # a tenth of a deque's memory each
    for n, entry in _most_used_last(rest.listed):
        by_text[entry.text].append(n)
    for n, entry in list(rest.wanted.items()):
        if candidates := by_text.get(entry.text):
            rest.pair(n, candidates.pop())


def _most_used_last(listed: dict[int, Entry]) -> list[tuple[int, Entry]]:
    """Return listed entries, the last first, but those with more uses after those with fewer."""
    return sorted(listed.items(), key=lambda item: item[1].uses or 0, reverse=True)[::-1]


def _match_names(rest: _Open, not_renamed: Container[int]) -> None:
    if not rest.wanted or not rest.listed:  # pragma: no mutate - nothing can match
        return
    _match_rewritten(rest)
    _match_groups(rest, lambda entry: (entry.name,), lambda entry: entry.name)
    _match_former(rest, not_renamed)
    _match_groups(rest, lambda entry: (folded(entry.name),), lambda entry: folded(entry.name))
    _match_former(rest, not_renamed)
    _match_cut(rest)


def _match_rewritten(rest: _Open) -> None:
    """Pair records that are equal after rewriting, where a name is not listed as it is.

    Of two entries `a & b` and `a &amp; b`, a service that escapes lists the first under the name of
    the second, which would be matched with its record. Names decide where all of them are listed.
    """
    names = {entry.name for entry in rest.listed.values()}
    changed = {folded(entry.name) for entry in rest.wanted.values() if entry.name not in names}
    if not changed:
        return
    rewritten = _Open(_named(changed, rest.wanted), _named(changed, rest.listed))
    _match_groups(rewritten, lambda entry: (_folded_text(entry),), _folded_text)
    rest.take(rewritten)


def _named(names: Container[str], entries: Mapping[int, Entry]) -> dict[int, Entry]:
    """Return the entries that have one of these names, folded."""
    return {n: entry for n, entry in entries.items() if folded(entry.name) in names}


def _folded_text(entry: Entry) -> str:
    return "\n".join(map(folded, entry.text))  # pragma: no mutate - a folded text has no line break


def _match_former(rest: _Open, not_renamed: Container[int]) -> None:
    """Pair by former names, unless a listed record may have the name itself, rewritten."""
    if not any(entry.formerly for entry in rest.wanted.values()):
        return
    listed = {folded(entry.name) for entry in rest.listed.values()}
    renamed = _Open(
        {n: entry for n, entry in rest.wanted.items() if folded(entry.name) not in listed},
        {n: entry for n, entry in rest.listed.items() if n not in not_renamed},
    )
    _match_groups(renamed, lambda entry: entry.formerly, lambda entry: entry.name)
    _match_groups(
        renamed, lambda entry: map(folded, entry.formerly), lambda entry: folded(entry.name)
    )
    rest.take(renamed)


def _match_groups(
    rest: _Open, wanted_keys: Callable[[Entry], Iterable[str]], listed_key: Callable[[Entry], str]
) -> None:
    """Pair within each key, keys in the order in which the manifest first has them."""
    listed_of: defaultdict[str, list[int]] = defaultdict(list)
    if any(True for entry in rest.wanted.values() for _ in wanted_keys(entry)):
        for n, entry in rest.listed.items():
            listed_of[listed_key(entry)].append(n)
    wanted_of: defaultdict[str, list[int]] = defaultdict(list)
    for n, entry in rest.wanted.items():
        for key in dict.fromkeys(wanted_keys(entry)):
            if key in listed_of:
                wanted_of[key].append(n)
    for key, members in wanted_of.items():
        _match_group(rest, [n for n in members if n in rest.wanted], listed_of[key])


def _match_group(rest: _Open, wanted: list[int], listed: list[int]) -> None:
    if len(wanted) == len(listed) == 1 or max(len(wanted), len(listed)) > GROUP_LIMIT:
        for n in range(min(len(wanted), len(listed))):
            rest.pair(wanted[n], listed[n])
        return
    words = {n: _words(rest.listed[n].text) for n in listed}
    ranked = []
    for w in wanted:
        text = rest.wanted[w].text
        text_words = _words(text)
        for ls in listed:
            equal = sum(map(operator.eq, text, rest.listed[ls].text))
            uses = rest.listed[ls].uses or 0
            ranked.append((-equal, -shared(text_words, words[ls]), w, -uses, ls))
    for _, _, w, _, ls in sorted(ranked):
        if w in rest.wanted and ls in rest.listed:
            rest.pair(w, ls)


def _match_cut(rest: _Open) -> None:
    """Pair a wanted name with a listed one that is its beginning, if their descriptions agree."""
    by_start: defaultdict[str, list[int]] = defaultdict(list)
    for n, entry in _most_used_last(rest.listed):
        by_start[folded_start(entry.name)].append(n)
    names = {n: folded(entry.name) for n, entry in rest.wanted.items()}
    cuts_of = dict(starts_of(set(names.values()), by_start))
    for n, entry in list(rest.wanted.items()):
        for start in cuts_of[names[n]]:
            candidates = reversed(by_start[start][-GROUP_LIMIT:])
            cut = next(
                (c for c in candidates if agrees(rest.listed[c].text[1], sent=entry.text[1])), None
            )
            if cut is not None:
                by_start[start].remove(cut)
                rest.pair(n, cut)
                break


def starts_of(
    wholes: Collection[str], starts: Mapping[str, object]
) -> Iterator[tuple[str, list[str]]]:
    """Find the texts that may be each whole one, cut: the longest first.

    In their order, every text comes right after those that it begins with, so that one pass over
    all of them is enough.
    """
    long_enough = {start for start in starts if len(start) >= SHORTEST_CUT}
    beginnings: list[str] = []
    for text in sorted({*wholes, *long_enough}):
        while beginnings and not text.startswith(beginnings[-1]):
            beginnings.pop()
        if text in wholes:
            yield text, list(islice(reversed(beginnings), _MOST_STARTS))
        if text in long_enough:
            beginnings.append(text)


def _words(text: Text) -> frozenset[str]:
    """Return the words of a text as services store them: unescaped, and in any case."""
    return frozenset(
        word for part in text for word in unescaped(part[:_COMPARED]).casefold().split()
    )


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words in common, 0 to 1."""
    total = len(one) + len(other)
    return 2 * len(one & other) / total if total else 1.0


def most_alike(new: Sequence[Text], old: Sequence[Text], *, usage: str) -> list[tuple[int, int]]:
    """Pair new and old texts that are alike, each once, by their indices, as `near_texts` does."""
    pairs: dict[int, int] = {}
    for n, o, _ in near_texts(new, old, usage=usage):
        if n not in pairs and o not in pairs.values():
            pairs[n] = o
    return sorted(pairs.items())


def near_texts(
    new: Sequence[Text], old: Sequence[Text], *, usage: str
) -> list[tuple[int, int, float]]:
    """Return which new and old texts are alike, the most alike first, and how alike, up to 1.

    `usage` is the field that contains the name too, if any (`Resource.usage`).
    """
    if len(new) * len(old) > _MOST_COMPARISONS:
        return []
    new_words, old_words = ([_usage_words(text, usage) for text in texts] for texts in (new, old))
    pairs = (
        (n, o, max(map(shared, words, others)))
        for n, words in enumerate(new_words)
        for o, others in enumerate(old_words)
        if words[0] and others[0]
    )
    return sorted((pair for pair in pairs if pair[2] >= _NEAR), key=lambda pair: -pair[2])


def _usage_words(text: Text, usage: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of all but the name, with the name in its usage and without it.

    Often a syntax begins with the name and a rename changes both; sometimes it changes the name
    alone. Whichever is more alike counts. An object has all of its texts and names but its own, and
    words of two types are never equal.
    """
    if (node := object_of(text)) is not None:
        others = {k: v for k, v in node.items() if k != "type" and not k.startswith("name")}
        leaves = {f"{type_of(text)} {word}" for leaf in _leaves(others) for word in leaf.split()}
        return frozenset(leaves), frozenset(leaves)
    fields = {label: field[:_COMPARED].casefold() for label, field in text._asdict().items()}
    name = fields.pop(text._fields[0])
    words = _words_in(fields)
    if usage:
        fields[usage] = fields[usage].replace(name, "", 1)
    return words, _words_in(fields)


def _leaves(value: object) -> Iterator[str]:
    """Yield the values in an object, as texts of one case."""
    match value:
        case dict():
            for part in value.values():
                yield from _leaves(part)
        case list():
            for part in value:
                yield from _leaves(part)
        case _:
            yield str(value).casefold()


def _words_in(fields: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for field in fields.values() for word in field.split())
