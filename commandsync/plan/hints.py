"""Hints about single entries: renames that were not declared, and pinned ids that are lost.

A hint names the exact line to write; nothing is ever applied by itself.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from commandsync.diagnostics import Do, Notice, Renaming
from commandsync.plan.changes import Add, Change, Delete
from commandsync.plan.matching import shared
from commandsync.records.imported import is_imported
from commandsync.records.rewrites import name_key
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Text, object_of, type_of

in_quotes = partial(json.dumps, ensure_ascii=False)
_NEAR = 0.8  # share of words in common
_LONGEST = 2_000  # characters of each field that are compared
_MOST_COMPARISONS = 10_000  # beyond this the changes are not renames but another listing
_SPELLING = "check the spelling of formerly against commandsync pull, upper and lower case too"
_PINS = Do.SHOW_IDS(first="")
_ONE_RENAME = Do.SHOW_IDS(first="only one listed command can be renamed; pin its id to choose: ")
_SEVERAL = (
    "{count} added commands look like deleted ones under new names: as planned, the old ones are "
    "deleted with their {losses}"
)


def likely_renames(changes: Iterable[Change]) -> list[tuple[Add, Delete]]:
    """Pair the added and the deleted records with nearly the same text, in the order of the adds.

    Each is paired once, the most alike first. The changes are of one kind, which can be edited.
    """
    changes = list(changes)
    added = [change for change in changes if isinstance(change, Add)]
    deleted = [change for change in changes if isinstance(change, Delete)]
    usage = next((change.resource.usage for change in changes), "")
    texts = [add.after for add in added], [delete.before for delete in deleted]
    return [(added[a], deleted[d]) for a, d in most_alike(*texts, usage=usage)]


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
    new_words, old_words = ([_words(text, usage) for text in texts] for texts in (new, old))
    pairs = (
        (n, o, max(map(shared, words, others)))
        for n, words in enumerate(new_words)
        for o, others in enumerate(old_words)
        if words[0] and others[0]
    )
    return sorted((pair for pair in pairs if pair[2] >= _NEAR), key=lambda pair: -pair[2])


def rename_hints(changes: Sequence[Change], *, wanted: Sequence[Entry] = ()) -> list[Notice]:
    """Return the line to write for each likely rename: an id where another entry has that name."""
    renames = likely_renames(changes)
    live = {entry.name for entry in (wanted if renames else ())}
    stated = {entry.location: entry.formerly for entry in wanted if entry.formerly}
    return [
        _hint(add, delete, pins=delete.name in live, formerly=stated.get(add.location, ()))
        for add, delete in renames
    ]


def lost_renames(
    wanted: Sequence[Entry], matched: Mapping[int, Entry], deleted: Iterable[Entry]
) -> list[Notice]:
    """Name the declared renames that do not happen while something is deleted.

    `matched` has the listed entry for each wanted index; the manifest does not have the deleted.
    """
    going = {(type_of(entry.text), entry.name): entry for entry in deleted}
    hints = []
    for index, entry in enumerate(wanted) if going else ():
        if index not in matched and entry.formerly:
            names = ", ".join(map(repr, entry.formerly))
            message = f"{entry.name!r} was formerly {names}, but no such command is listed"
            what = "a new id" if type_of(entry.text) else "no uses"
            added = f"{message}: it is added, with {what}"
            hints.append(Notice(added, _SPELLING, entry.location))
        former_names = ((type_of(entry.text), name) for name in entry.formerly)
        for old in (going[key] for key in former_names if key in going):
            message = f"{old.name!r} is deleted with its {uses_of(old)}"
            former = f"{message}, though it is a former name of {entry.name!r}"
            hints.append(Notice(former, _ONE_RENAME, entry.location))
    return hints


def finished_renames(
    wanted: Sequence[Entry], matched: Mapping[int, Entry], listed: Iterable[Entry]
) -> list[int]:
    """Return the indices of the wanted entries whose former names are no longer needed.

    They are `matched`, and no record is listed under a former name, folded, except their own under
    the name itself.
    """
    renamed = [
        n
        for n, entry in enumerate(wanted)
        if entry.formerly
        and n in matched
        # Those of an imported file are kept by the import.
        and not (entry.location and is_imported(entry.location.path))
    ]
    keys = Counter(name_key(entry.text) for entry in (listed if renamed else ()))
    return [n for n in renamed if _is_finished(wanted[n], matched[n], keys)]


def _is_finished(wanted: Entry, matched: Entry, listed: Mapping[str, int]) -> bool:
    """Whether no record but its own has a former name of an entry; `listed` counts name keys."""
    own = name_key(wanted.text) if matched.name == wanted.name else None
    former = {name_key(wanted.text, name) for name in wanted.formerly}
    return all(listed.get(key, 0) == (key == own) for key in former)


def _words(text: Text, usage: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of all but the name, with the name in its usage and without it.

    Often a syntax begins with the name and a rename changes both; sometimes it changes the name
    alone. Whichever is more alike counts. An object has all of its texts and names but its own, and
    words of two types are never equal.
    """
    if (node := object_of(text)) is not None:
        others = {k: v for k, v in node.items() if k != "type" and not k.startswith("name")}
        leaves = {f"{type_of(text)} {word}" for leaf in _leaves(others) for word in leaf.split()}
        return frozenset(leaves), frozenset(leaves)
    fields = {label: field[:_LONGEST].casefold() for label, field in text._asdict().items()}
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


def _hint(add: Add, delete: Delete, *, pins: bool, formerly: Sequence[str]) -> Notice:
    """Return the line to write: a pin where others keep the old name, else all former names."""
    names = ", ".join(map(in_quotes, (*formerly, delete.name)))
    line = f"id: {in_quotes(delete.id)}" if pins else f"formerly: [{names}]"
    where = "in place of its formerly" if formerly and not pins else "below its name"
    is_usual = not (formerly or pins)
    several, losses = Do.WRITE_FORMERLY(line=line), _losses(delete.before)
    return Notice(
        f"{add.name!r} looks like {delete.name!r} under a new name: as planned, the old one is "
        f"deleted with its {uses_of(delete)}",
        f"if it is a rename, write {where}:  {line}",
        add.location,
        renaming=Renaming(
            add.name, delete.name, uses_of(delete), _SEVERAL.replace("{losses}", losses), several
        )
        if is_usual
        else None,
    )


def uses_of(record: Entry | Delete) -> str:
    """Return the loss with a record, as part of a sentence."""
    text = record.text if isinstance(record, Entry) else record.before
    return f"{record.uses:,} uses" if record.uses else _losses(text)


def _losses(text: Text) -> str:
    """Return the values that only a deleted record has."""
    return "id and permissions" if type_of(text) else "uses"


def pinned_by_both(wanted: Sequence[Entry], others: Iterable[Entry]) -> tuple[Entry, ...]:
    """Leave out the pins of entries that another manifest does not have.

    An id that is pinned since then says nothing about the entries of the other manifest.
    """
    known = {"", *(entry.id for entry in others)}
    return tuple(entry if entry.id in known else replace(entry, id="") for entry in wanted)


def lost_pins(entries: Iterable[tuple[Entry, Entry | None]]) -> Iterator[Notice]:
    """Yield a notice for each entry whose pinned id is not listed.

    Each comes with the listed entry that has its text; None for one that is added. Entries of a
    backup know their uses.
    """
    restored = []
    for wanted, listed in entries:
        if listed is None and wanted.uses is not None:
            restored.append(wanted)
        else:
            yield _lost_pin(wanted, listed)
    if restored:
        yield _restored(restored)


def _restored(entries: Sequence[Entry]) -> Notice:
    """Return the notice about entries of a backup that are no longer listed."""
    uses = sum(entry.uses or 0 for entry in entries)
    what = f"{entries[0].name!r} is" if len(entries) == 1 else f"{len(entries):,} entries are"
    message = f"{what} no longer listed, and added with a new id"
    if not uses:
        return Notice(message, location=entries[0].location)
    hint = "after the adds, apply prints the calls of the library that set these uses again"
    return Notice(f"{message} and without {uses:,} uses", hint, entries[0].location)


def _lost_pin(wanted: Entry, listed: Entry | None) -> Notice:
    exact = bool(type_of(wanted.text))
    unlisted = "is not listed for its type" if exact else "is not listed"
    lost = f"{wanted.name!r} is pinned to the id {wanted.id!r}, which {unlisted}"
    if listed is None:
        return Notice(f"{lost}: it is added with a new id", _PINS, wanted.location)
    uses, left = wanted.uses or 0, listed.uses or 0
    if listed.writable and uses > left:
        message = f"{wanted.name!r} has the new id {listed.id!r}, and {left:,} of its {uses:,} uses"
        call = f"client.set_uses({in_quotes(listed.id)}, {uses})"
        return Notice(message, call, wanted.location, runs=True)
    by = "name" if exact else "text"
    return Notice(f"{lost}; it is matched by its {by} instead", _PINS, wanted.location)
