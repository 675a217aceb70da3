"""What was imported last, what the sources contain now, and the manifest -> what to change in it.

Each field is merged on its own. The manifest's own text wins wherever somebody edited it, and what
the source says instead is a `Review`, once: the next import compares with what the source says now.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from commandsync.plan.changes import FieldChange
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources import merge
from commandsync.sources.entry import SourceEntry
from commandsync.sources.links import Links, Side, link
from commandsync.sources.listfile import USUAL
from commandsync.sources.merge import Declared, EntryChange, Merge, Review, ReviewReason


def three_way(  # noqa: PLR0913 - the sides, and what decides about them
    *,
    base: Sequence[Declared],
    theirs: Sequence[Declared],
    ours: Sequence[Entry],
    sources: Iterable[str],
    text_of: Callable[[SourceEntry], CommandText],
    writable: Callable[[Sequence[EntryChange]], Collection[EntryChange]] = list,
    is_kept: Callable[[str], bool] = lambda _name: False,
) -> Merge:
    """Merge `theirs`, what sources contain, into `ours`; `base` is what was imported last.

    `sources` are those that were read in full: what was imported from another one stays. `text_of`
    returns the text of a source's command as this manifest would have it; `writable` those of some
    changes that can be written, of which the others are for review, and the next import finds them
    again. `is_kept` tells of a name whether its command stays although its source does not have it
    any more.
    """
    base_side, their_side = (
        Side(side, [text_of(entry) for _, entry in side]) for side in (base, theirs)
    )
    links = link(base=base_side, theirs=their_side, ours=ours)
    merging = _Merging(base_side, their_side, ours, links, frozenset(sources), is_kept)
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
    changes: dict[int, merge.Edited | merge.Removed] = field(default_factory=dict)
    added: list[merge.Added] = field(default_factory=list)
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
        elif self.base.declared[base].source in self.sources:
            if text == self.base.texts[base]:
                self.changes[index] = merge.Removed(index=index)
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
            self.changes[index] = merge.Edited(index=index, entry=entry, fields=tuple(edits))
            self.texts[index] = ours._replace(**{edit.field: edit.new for edit in edits})

    def result(self, writable: Callable[[Sequence[EntryChange]], Collection[EntryChange]]) -> Merge:
        """Return the merge: what cannot be written is for review."""
        changes = (*(self.changes[index] for index in sorted(self.changes)), *self.added)
        written = set(map(id, writable(changes)))
        left = [change for change in changes if id(change) not in written]
        removed = [change.index for change in left if isinstance(change, merge.Removed)]
        gone = (*self.gone, *(self.links.base_of_ours[index] for index in removed))
        return Merge(
            changes=tuple(change for change in changes if id(change) in written),
            reviews=(*self.reviews, *chain.from_iterable(map(self.reviews_of, left))),
            imported=tuple(self.imported(left)),
            gone=tuple(self.base.declared[number] for number in gone),
            unwanted=tuple(self.unwanted),
        )

    def imported(self, left: Iterable[EntryChange]) -> Iterator[Declared]:
        """Yield what the next import compares with.

        That is what the sources have now; what they had before, for the changes that are `left`,
        and for sources that were not read in full.
        """
        pending = {id(change.entry) for change in left if not isinstance(change, merge.Removed)}
        before = {their: base for base, their in self.links.theirs_of_base.items()}
        for number, declared in enumerate(self.theirs.declared):
            if id(declared.entry) not in pending:
                yield declared
            elif number in before:
                yield self.base.declared[before[number]]
        for number, declared in enumerate(self.base.declared):
            if declared.source not in self.sources and number not in self.links.theirs_of_base:
                yield declared

    def reviews_of(self, change: EntryChange) -> Iterator[Review]:
        """Yield what a person has to write for a change."""
        review = partial(Review, reason=ReviewReason.NOT_WRITTEN)
        if isinstance(change, merge.Added):
            values = (
                f"{key}: {json.dumps(value, ensure_ascii=False)}"
                for key, value in change.text._asdict().items()
            )
            item = f"- {{{', '.join(values)}}}"  # of YAML
            yield review(name=change.text.name, entry=change.entry, there=item)
            return
        own = self.ours[change.index]
        if isinstance(change, merge.Removed):
            yield review(name=own.name, index=change.index)
            return
        texts = [(each.field, each.old, each.new) for each in change.fields]
        if change.formerly is not None:
            texts.append(("formerly", ", ".join(own.formerly), ", ".join(change.formerly)))
        for name, here, there in texts:
            left = review(name=own.name, index=change.index, entry=change.entry)
            yield replace(left, field=name, here=here, there=there)

    def leave_deleted(self) -> None:
        """Leave out what somebody deleted from the manifest."""
        kept, there = set(self.links.base_of_ours.values()), set(self.links.theirs_of_ours.values())
        for base, their in self.links.theirs_of_base.items():
            if base in kept or their in there:
                continue
            declared, text = self.theirs.declared[their], self.theirs.texts[their]
            self.unwanted.append(declared)
            if text != self.base.texts[base]:
                self.review(ReviewReason.DELETED, name=text.name, entry=declared.entry)

    def add_new(self) -> None:
        """Add what only the sources have, category by category, each after the last entry of it."""
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
                    merge.Added(entry=entry, text=text, after=last.get(text.category))
                )
        self.added.sort(key=lambda add: categories[add.text.category])

    def correct_former_names(self) -> None:
        """Keep the old name of what is renamed; no name of today is a former one."""
        live = {text.name for text in self.texts.values()} | {add.text.name for add in self.added}
        for index, text in self.texts.items():
            ours = self.ours[index]
            names = ours.formerly if text.name == ours.name else (*ours.formerly, ours.name)
            former = tuple(name for name in dict.fromkeys(names) if name not in live)
            if text.name != ours.name and ours.name in live:
                self.review(ReviewReason.NAME_TAKEN, name=text.name, index=index)
            if former != ours.formerly:
                change = self.changes.get(index)
                edited = change if isinstance(change, merge.Edited) else merge.Edited(index=index)
                self.changes[index] = replace(edited, formerly=former)
