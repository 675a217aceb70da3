"""What was imported last, what the sources contain now, and the manifest -> what to change in it.

Each field is merged on its own. The manifest's own text wins wherever somebody edited it, and what
the source says instead is a `Review`, once: the next import compares with what the source says now.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources.links import Links, link
from commandsync.sources.merge import Added, Edited, FieldEdit, Merge, Removed, Review, ReviewReason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from commandsync.sources.entry import SourceEntry
    from commandsync.sources.merge import Declared


def three_way(
    *,
    base: Sequence[Declared],
    theirs: Sequence[Declared],
    ours: Sequence[Entry],
    sources: Iterable[str],
    text_of: Callable[[SourceEntry], CommandText],
) -> Merge:
    """Merge what sources contain into a manifest.

    Args:
        base: What was imported last.
        theirs: What the sources contain now.
        ours: The commands of the manifest, in its order.
        sources: The sources that were read in full. What was imported from another one stays.
        text_of: Returns the text of a source's command as this manifest would have it.
    """
    base_side, their_side = _Side.of(base, text_of), _Side.of(theirs, text_of)
    links = link(base=base_side.entries, theirs=their_side.entries, ours=ours)
    merging = _Merging(base_side, their_side, ours, links, frozenset(sources))
    for index in range(len(ours)):
        merging.merge(index)
    merging.leave_deleted()
    merging.add_new()
    merging.correct_former_names()
    others = (
        declared
        for number, declared in enumerate(base)
        if declared.source not in merging.sources and number not in links.theirs_of_base
    )
    return Merge(
        changes=(*(merging.changes[index] for index in sorted(merging.changes)), *merging.added),
        reviews=tuple(merging.reviews),
        imported=(*theirs, *others),
        unwanted=tuple(merging.unwanted),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One side with the texts that are compared."""

    declared: Sequence[Declared]
    texts: Sequence[CommandText]

    @classmethod
    def of(
        cls, declared: Sequence[Declared], text_of: Callable[[SourceEntry], CommandText]
    ) -> _Side:
        return cls(declared, [text_of(entry) for _, entry in declared])

    @property
    def entries(self) -> list[Entry]:
        """The commands with their keys as ids."""
        sides = zip(self.declared, self.texts, strict=True)
        return [Entry(text, id=declared.entry.key or "") for declared, text in sides]


@dataclass(slots=True)
class _Merging:
    """The merge as far as it is."""

    base: _Side
    theirs: _Side
    ours: Sequence[Entry]
    links: Links
    sources: frozenset[str]
    changes: dict[int, Edited | Removed] = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)
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
                self.changes[index] = Removed(index=index)
                del self.texts[index]
            else:
                self.reviews.append(Review(reason=ReviewReason.KEPT, name=text.name, index=index))

    def merge_fields(self, index: int, their: int, last: CommandText | None = None) -> None:
        """Follow the source in each field that nobody edited since the `last` import.

        Without one, the manifest's own category counts, and is not for review.
        """
        ours, theirs = self.texts[index], self.theirs.texts[their]
        entry = self.theirs.declared[their].entry
        known = last or (None, None, None, theirs.category if ours.category else None)
        edits = []
        for name, here, there, before in zip(ours._fields, ours, theirs, known, strict=True):
            if there in {here, before}:
                continue
            if here == before:
                edits.append(FieldEdit(field=name, old=here, new=there))
                continue
            review = Review(
                reason=ReviewReason.BOTH_CHANGED if last else ReviewReason.DIFFERS,
                name=ours.name,
                index=index,
                entry=entry,
                field=name,
                here=here,
                there=there,
            )
            self.reviews.append(review)
        if edits:
            self.changes[index] = Edited(index=index, entry=entry, fields=tuple(edits))
            self.texts[index] = ours._replace(**{edit.field: edit.new for edit in edits})

    def leave_deleted(self) -> None:
        """Leave out what somebody deleted from the manifest."""
        kept, there = set(self.links.base_of_ours.values()), set(self.links.theirs_of_ours.values())
        for base, their in self.links.theirs_of_base.items():
            if base in kept or their in there:
                continue
            declared, text = self.theirs.declared[their], self.theirs.texts[their]
            self.unwanted.append(declared)
            if text != self.base.texts[base]:
                review = Review(reason=ReviewReason.DELETED, name=text.name, entry=declared.entry)
                self.reviews.append(review)

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
                self.added.append(Added(entry=entry, text=text, after=last.get(text.category)))
        self.added.sort(key=lambda add: categories[add.text.category])

    def correct_former_names(self) -> None:
        """Keep the old name of what is renamed; no name of today is a former one."""
        live = {text.name for text in self.texts.values()} | {add.text.name for add in self.added}
        for index, text in self.texts.items():
            ours = self.ours[index]
            names = ours.formerly if text.name == ours.name else (*ours.formerly, ours.name)
            former = tuple(name for name in dict.fromkeys(names) if name not in live)
            if text.name != ours.name and ours.name in live:
                review = Review(reason=ReviewReason.NAME_TAKEN, name=text.name, index=index)
                self.reviews.append(review)
            if former != ours.formerly:
                change = self.changes.get(index)
                edited = change if isinstance(change, Edited) else Edited(index=index)
                self.changes[index] = replace(edited, formerly=former)
