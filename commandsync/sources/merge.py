"""The three-way merge of an import: the last import, the sources now, and the manifest.

First the commands of the three sides are linked. Names are not unique and change, so the surest
comes first, as in a plan: equal commands, the same key, the same name, a former name; and last
commands that are equal except for their names.

Then each field of a command is merged on its own. The manifest's own text wins wherever somebody
edited it, and the source's other text is a `Review`, once: the next import compares with the text
that the source has now.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from commandsync.plan.changes import FieldChange
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources import changeset
from commandsync.sources.changeset import (
    Declared,
    EntryChange,
    HeldBack,
    Merge,
    Review,
    ReviewReason,
)
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry
from commandsync.sources.listfile import USUAL


@dataclass(frozen=True, slots=True)
class Side:
    """The commands of the last import, or of the sources now, with the texts to compare."""

    declared: Sequence[Declared]
    texts: Sequence[CommandText]

    def entries(self, *, default: str) -> dict[int, Entry]:
        """Return the commands by their numbers, with the default as id of those without a key.

        A key that is not unique is none.
        """
        keys = [declared.entry.key or "" for declared in self.declared]
        counts = Counter(keys)
        unique = (key if counts[key] == 1 else "" for key in keys)
        return {
            number: Entry(text, id=key or default.format(number))
            for number, (key, text) in enumerate(zip(unique, self.texts, strict=True))
        }


@dataclass(frozen=True, slots=True)
class Links:
    """The links between the commands of the sides, by their numbers."""

    theirs_of_base: Mapping[int, int]  # of each that was imported, where the source still has it
    base_of_ours: Mapping[int, int]  # of each of the manifest, where they are not equal now
    theirs_of_ours: Mapping[int, int]  # of each that is equal, or older than the first import


def link(*, base: Side, theirs: Side, ours: Sequence[Entry]) -> Links:
    """Link the sides.

    Equal commands of the source and the manifest are linked first: an import that was interrupted
    has written them already, whatever the last one was.
    """
    numbered, keyed = base.entries(default="#{}"), theirs.entries(default="")
    own = {number: Entry(entry.text, formerly=entry.formerly) for number, entry in enumerate(ours)}
    theirs_of_base = {b: t for t, b in _matched(keyed, numbered).items()}
    theirs_of_ours = _equal(own, keyed)
    done = set(theirs_of_ours.values())
    unneeded = {b for b, t in theirs_of_base.items() if t in done}
    base_of_ours = _matched(_without(own, theirs_of_ours), _without(numbered, unneeded))
    keyless = {number: Entry(text, id=f"#{number}") for number, text in enumerate(theirs.texts)}
    written_by_hand = _matched(
        _without(own, {*theirs_of_ours, *base_of_ours}),
        _without(keyless, {*done, *theirs_of_base.values()}),
        renamed=False,
    )
    return Links(theirs_of_base, base_of_ours, theirs_of_ours | written_by_hand)


def _without(side: Mapping[int, Entry], numbers: Container[int]) -> dict[int, Entry]:
    return {number: entry for number, entry in side.items() if number not in numbers}


def _equal(wanted: Mapping[int, Entry], listed: dict[int, Entry]) -> dict[int, int]:
    numbers = defaultdict(list)
    for number, entry in reversed(listed.items()):
        numbers[entry.text].append(number)
    return {
        number: candidates.pop()
        for number, entry in wanted.items()
        if (candidates := numbers.get(entry.text))
    }


def _matched(
    wanted: Mapping[int, Entry], listed: Mapping[int, Entry], *, renamed: bool = True
) -> dict[int, int]:
    """Match as a plan does; if `renamed`, then by all but the name."""
    left, right = list(wanted), list(listed)
    matching = match(list(wanted.values()), list(listed.values()))
    pairs = {left[a]: right[b] for a, b in matching.pairs.items()}
    for rest in (_without_name, _with_name_in_syntax) if renamed else ():
        new, old = _without(wanted, pairs), _without(listed, set(pairs.values()))
        pairs |= _only_equal(
            {number: rest(entry) for number, entry in new.items()},
            {number: rest(entry) for number, entry in old.items()},
        )
    return pairs


def _only_equal(new: Mapping[int, CommandText], old: Mapping[int, CommandText]) -> dict[int, int]:
    """Pair equal texts, where there is only one on each side."""
    counts = Counter(new.values()), Counter(old.values())
    by_text = {text: number for number, text in old.items()}
    return {
        number: by_text[text]
        for number, text in new.items()
        if text.description != NO_DESCRIPTION and counts[0][text] == counts[1][text] == 1
    }


def _without_name(entry: Entry) -> CommandText:
    text = _with_name_in_syntax(entry)
    group, _, inner = entry.name.partition(" ")
    if inner and text.category == group:  # it follows the name of the group
        text = text._replace(category="\0")
    return text._replace(syntax=text.syntax.replace(entry.name, "\0"))


def _with_name_in_syntax(entry: Entry) -> CommandText:
    return CommandText(*entry.text)._replace(name="")


def three_way(  # noqa: PLR0913 - the three sides, and the rules for them
    *,
    base: Sequence[Declared],
    theirs: Sequence[Declared],
    ours: Sequence[Entry],
    sources: Iterable[str],
    text_of: Callable[[SourceEntry], CommandText],
    writable: Callable[[Sequence[EntryChange]], Collection[EntryChange]] = list,
    is_kept: Callable[[str], bool] = lambda _name: False,
    held_back: Callable[[Declared], str] = lambda _command: "",
) -> Merge:
    """Merge `theirs`, the commands of the sources, into `ours`; `base` is the last import.

    `sources` are those that were read in full: commands from another one stay. `text_of`
    returns the text of a source's command as this manifest would have it; `writable` those of some
    changes that can be written, of which the others are for review, and the next import finds them
    again. `is_kept` tells of a name whether its command stays although its source does not have it
    any more; `held_back` returns why nothing proves that a command is gone, empty with a proof.
    """
    base_side, their_side = (
        Side(side, [text_of(entry) for _, entry, _ in side]) for side in (base, theirs)
    )
    links = link(base=base_side, theirs=their_side, ours=ours)
    merging = _Merging(base_side, their_side, ours, links, frozenset(sources), is_kept, held_back)
    for index in range(len(ours)):
        merging.merge(index)
    merging.leave_deleted()
    merging.add_new()
    merging.correct_former_names()
    return merging.result(writable)


@dataclass(slots=True)
class _Merging:
    base: Side
    theirs: Side
    ours: Sequence[Entry]
    links: Links
    sources: frozenset[str]
    is_kept: Callable[[str], bool]
    proof: Callable[[Declared], str]
    held_back: list[HeldBack] = field(default_factory=list)
    changes: dict[int, changeset.Edited | changeset.Removed] = field(default_factory=dict)
    added: list[changeset.Added] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)  # of base, that stay until a person decides
    reviews: list[Review] = field(default_factory=list)
    unwanted: list[Declared] = field(default_factory=list)
    texts: dict[int, CommandText] = field(default_factory=dict)  # of ours, after the merge

    def merge(self, index: int) -> None:
        """Merge one entry of the manifest."""
        text = self.texts[index] = CommandText(*self.ours[index].text)
        base = self.links.base_of_ours.get(index)
        if (their := self.links.theirs_of_ours.get(index)) is not None:
            self.merge_fields(index, their)
        elif base is None:
            return
        elif (their := self.links.theirs_of_base.get(base)) is not None:
            self.merge_fields(index, their, last=self.base.texts[base])
        elif (command := self.base.declared[base]).source in self.sources:
            if reason := self.proof(command):
                self.held_back.append(HeldBack(index, text.name, reason))
                self.gone.append(base)
            elif text == self.base.texts[base]:
                self.changes[index] = changeset.Removed(index=index)
                del self.texts[index]
            elif not self.is_kept(text.name):
                self.review(ReviewReason.KEPT, name=text.name, index=index)
                self.gone.append(base)

    def review(self, reason: ReviewReason, **values: Any) -> None:  # noqa: ANN401 - of a `Review`
        """Leave something to a person."""
        self.reviews.append(Review(reason=reason, **values))

    def merge_fields(self, index: int, their: int, last: CommandText | None = None) -> None:
        """Follow the source in each field that nobody edited since the `last` import.

        Without one, the manifest's own category counts, and is not for review.
        """
        ours, theirs = self.texts[index], self.theirs.texts[their]
        entry = self.theirs.declared[their].entry
        group = theirs.category if ours.category else None
        edits = []
        for name in USUAL:  # a source declares no other field
            here, there = getattr(ours, name), getattr(theirs, name)
            before = getattr(last, name) if last else group if name == "category" else None
            if there in {here, before}:
                continue
            if here == before:
                edits.append(FieldChange(name, old=here, new=there))
                continue
            reason = ReviewReason.BOTH_CHANGED if last else ReviewReason.DIFFERS
            texts = {"field": name, "here": here, "there": there}
            self.review(reason, name=ours.name, index=index, entry=entry, **texts)
        if edits:
            self.changes[index] = changeset.Edited(index=index, entry=entry, fields=tuple(edits))
            self.texts[index] = ours._replace(**{edit.field: edit.new for edit in edits})

    def result(self, writable: Callable[[Sequence[EntryChange]], Collection[EntryChange]]) -> Merge:
        """Return the merge: changes that cannot be written are for review."""
        changes = (*(self.changes[index] for index in sorted(self.changes)), *self.added)
        written = set(writable(changes))
        left = [change for change in changes if change not in written]
        removed = [change.index for change in left if isinstance(change, changeset.Removed)]
        gone = (*self.gone, *(self.links.base_of_ours[index] for index in removed))
        return Merge(
            changes=tuple(change for change in changes if change in written),
            reviews=(*self.reviews, *chain.from_iterable(map(self.reviews_of, left))),
            held_back=tuple(self.held_back),
            imported=tuple(self.imported(left)),
            gone=tuple(self.base.declared[number] for number in gone),
            unwanted=tuple(self.unwanted),
        )

    def imported(self, left: Iterable[EntryChange]) -> Iterator[Declared]:
        """Yield the commands that the next import compares with.

        They are as the sources have them now; as they were before, for the changes that are `left`
        and for sources that were not read in full.
        """
        pending = {change.entry for change in left if not isinstance(change, changeset.Removed)}
        before = {their: base for base, their in self.links.theirs_of_base.items()}
        for number, declared in enumerate(self.theirs.declared):
            if declared.entry not in pending:
                yield declared
            elif number in before:
                yield self.base.declared[before[number]]
        for number, declared in enumerate(self.base.declared):
            if declared.source not in self.sources and number not in self.links.theirs_of_base:
                yield declared

    def reviews_of(self, change: EntryChange) -> Iterator[Review]:
        """Yield the texts that a person has to write for a change."""
        review = partial(Review, reason=ReviewReason.NOT_WRITTEN)
        if isinstance(change, changeset.Added):
            values = (
                f"{key}: {json.dumps(value, ensure_ascii=False)}"
                for key, value in change.text._asdict().items()
            )
            item = f"- {{{', '.join(values)}}}"  # of YAML
            yield review(name=change.text.name, entry=change.entry, there=item)
            return
        own = self.ours[change.index]
        if isinstance(change, changeset.Removed):
            yield review(name=own.name, index=change.index)
            return
        texts = [(edit.field, edit.old, edit.new) for edit in change.fields]
        if change.formerly is not None:
            texts.append(("formerly", ", ".join(own.formerly), ", ".join(change.formerly)))
        for name, here, there in texts:
            left = review(name=own.name, index=change.index, entry=change.entry)
            yield replace(left, field=name, here=here, there=there)

    def leave_deleted(self) -> None:
        """Leave out commands that somebody deleted from the manifest."""
        kept, there = set(self.links.base_of_ours.values()), set(self.links.theirs_of_ours.values())
        for base, their in self.links.theirs_of_base.items():
            if base in kept or their in there:
                continue
            declared, text = self.theirs.declared[their], self.theirs.texts[their]
            self.unwanted.append(declared)
            if text != self.base.texts[base]:
                self.review(ReviewReason.DELETED, name=text.name, entry=declared.entry)

    def add_new(self) -> None:
        """Add new commands, category by category, each after the last entry of its category."""
        linked = {*self.links.theirs_of_base.values(), *self.links.theirs_of_ours.values()}
        last = {text.category: index for index, text in self.texts.items()}
        known = set(self.texts.values())
        categories: dict[str, int] = {}
        for number, text in enumerate(self.theirs.texts):
            if number not in linked and text not in known:  # a manifest has no equal commands
                known.add(text)
                categories.setdefault(text.category, len(categories))
                entry = self.theirs.declared[number].entry
                self.added.append(
                    changeset.Added(entry=entry, text=text, after=last.get(text.category))
                )
        self.added.sort(key=lambda add: categories[add.text.category])

    def correct_former_names(self) -> None:
        """Keep the old names of renamed commands; no name of today is a former one."""
        live = {text.name for text in self.texts.values()} | {add.text.name for add in self.added}
        for index, text in self.texts.items():
            ours = self.ours[index]
            names = ours.formerly if text.name == ours.name else (*ours.formerly, ours.name)
            former = tuple(name for name in dict.fromkeys(names) if name not in live)
            if text.name != ours.name and ours.name in live:
                self.review(ReviewReason.NAME_TAKEN, name=text.name, index=index)
            if former != ours.formerly:
                change = self.changes.get(index)
                edited = (
                    change
                    if isinstance(change, changeset.Edited)
                    else changeset.Edited(index=index)
                )
                self.changes[index] = replace(edited, formerly=former)
