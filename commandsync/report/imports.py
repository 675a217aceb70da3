"""An import as text and JSON; for the Action, as Markdown and annotations, too."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from commandsync.diagnostics import Hint, Location, Notice
from commandsync.document import VERSION
from commandsync.document.part import notice_document, place_document
from commandsync.report.change import in_brackets
from commandsync.report.github import Annotation, notice_annotations
from commandsync.report.json import dumped
from commandsync.report.linediff import cut, edit_lines, file_lines
from commandsync.report.lines import (
    DIM,
    PLAIN,
    YELLOW,
    Screen,
    Value,
    code,
    fenced,
    joined,
    paint,
    path,
    visible,
)
from commandsync.sources.changeset import (
    Added,
    Edited,
    EntryChange,
    Import,
    Removed,
    Review,
    ReviewReason,
)
from commandsync.sources.entry import Excluded, Unread

_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"")
_MANY = 5  # further notices with one cause, which are counted
_MEND = "run commandsync import, and commit what it writes"
_READ = "write it as literals, or acknowledge it with unread: in import: of the manifest"
_IMPORTED_CHANGES = "only the record of the last import changes"
_ACTIONS = {Added: "add", Edited: "edit", Removed: "remove"}
_NEXT = {
    ReviewReason.KEPT: "remove it from the manifest, or keep it: write its name under exclude: "
    "of import:",
    ReviewReason.DELETED: "write it into the manifest if it is to be listed",
    ReviewReason.NAME_TAKEN: "pin both by id to keep their uses: commandsync pull --pin shows "
    "the ids",
}


def counts(result: Import) -> str:
    """Return the counts of an import: the last line of its text, which scripts may rely on."""
    of = _counts(result)
    todo = ", ".join(f"{of[verb]} to {verb}" for verb in (*_ACTIONS.values(), "review"))
    held = f", {of['held_back']} held back" if of["held_back"] else ""
    unread = f", {of['unread']} not read" if of["unread"] else ""
    return f"Import: {todo}, {of['unchanged']} unchanged, {of['left_out']} left out{held}{unread}."


def _counts(result: Import) -> dict[str, int]:
    of = {verb: len(result.merge.of(kind)) for kind, verb in _ACTIONS.items()}
    return {
        **of,
        "review": len(result.merge.reviews),
        "unchanged": len(result.ours) - of["edit"] - of["remove"],
        "left_out": len(_left_out(result)),
        "held_back": len(result.merge.held_back),
        "unread": len(result.unread) + len(result.acknowledged),
    }


def _left_out(result: Import) -> list[Excluded]:
    deleted = "it was deleted from the manifest"
    return [*result.excluded, *(Excluded(entry, deleted) for _, entry, _ in result.merge.unwanted)]


def render_left_out(result: Import, *, screen: Screen = PLAIN) -> str:
    """Show each command and each file that is left out, with the reason."""
    commands = (
        f"left out: {visible(entry.name)}{in_brackets(entry.place)}: {visible(reason)}"
        for entry, reason in _left_out(result)
    )
    known = (f"not read: {_unread(part)}: acknowledged" for part in result.acknowledged)
    files = (f"not read: {path(name)}: it was generated" for name in result.generated)
    return joined((*commands, *known, *files), screen)


def by_cause(notes: Iterable[Notice], *, each: bool) -> Iterator[Notice]:
    """Yield notices; without `each`, of many with one cause the first, with their number."""
    causes: dict[tuple[str, str | Hint], list[Notice]] = {}
    for note in notes:
        cause = _NAMED.sub("", note.message), note.hint
        causes.setdefault(cause, []).append(note)
    for first, *more in causes.values():
        if each or len(more) < _MANY:
            yield from (first, *more)
        else:
            yield replace(first, message=f"{first.message}; {len(more):,} more like it")


def unread_lines(result: Import) -> Iterator[str]:
    """Yield the candidates that are not read: all of them, those of one reason together."""
    by_reason: dict[str, list[Unread]] = {}
    for part in result.unread:
        by_reason.setdefault(part.reason, []).append(part)
    for reason, parts in by_reason.items():
        first, *more = map(_unread, parts)
        yield f"{paint('not read', YELLOW)}: {first}: {visible(reason)}"
        for place in more:
            yield f"    {place}"


def _unread(part: Unread) -> str:
    name = f" {visible(cut(part.name))}" if part.name else ""
    return f"{visible(str(part.place))}{name}"


def text(result: Import, *, screen: Screen) -> str:
    """Return the changes of the files, and the tasks that remain; the last line has the counts."""
    if screen.quiet:
        return joined([counts(result)], screen)
    lines = [*edit_lines(result.edits)]
    for review in result.merge.reviews:
        lines += _review_lines(review, result, screen)
    for held in result.merge.held_back:
        place = in_brackets(result.place(held.index))
        reason = f"its source has it no more, but {visible(held.reason)}"
        lines.append(f"{paint('held back', YELLOW)}: {visible(cut(held.name))}: {reason}{place}")
    lines += unread_lines(result)
    if result.merge.reviews or result.merge.held_back or result.unread:
        lines.append("")
    if result.refusal:
        lines.append(f"{paint('refused', YELLOW)}: {visible(result.refusal.message)}")
    if result.imported and not result.merge.changes:
        lines += (f"{path(result.imported.path)}: {_IMPORTED_CHANGES}", "")
    lines.append(counts(result))
    return joined(lines, screen)


def _review_lines(review: Review, result: Import, screen: Screen) -> Iterator[str]:
    place = in_brackets(_here(review, result))
    yield f"{paint('review', YELLOW)}: {visible(_what(review))}: {review.reason}{place}"
    if review.field:
        there = review.entry.place if review.entry else None
        here, source = (
            visible(text if screen.full else cut(text)) for text in (review.here, review.there)
        )
        yield Value(f'    {paint("here:  ", DIM)} "{here}"')
        yield Value(f'    {paint("source:", DIM)} "{source}"{in_brackets(there)}')
    else:
        todo = f"add {review.there}" if review.entry else "remove it from the manifest"
        yield Value(f"    {paint('next:', DIM)} {visible(_NEXT.get(review.reason, todo))}")


def _what(review: Review) -> str:
    return f"{cut(review.name)}, {review.field}" if review.field else cut(review.name)


def _here(review: Review, result: Import) -> Location | None:
    """Return the place of a review: in the manifest, else in the source."""
    if review.index is not None:
        return result.place(review.index, review.field)
    return review.entry.place if review.entry else None


def markdown(result: Import, *, screen: Screen) -> str:  # noqa: ARG001 - as every format
    """Return the changes of the files as blocks, and the tasks that remain as a list."""
    parts = [f"**{counts(result)}**"]
    for edit in result.edits:
        diff = joined(file_lines(edit), PLAIN).splitlines()
        parts.append(fenced(diff, ""))
    for review in result.merge.reviews:
        texts = f": {code(review.here)} here, {code(review.there)} there" if review.field else ""
        parts.append(f"- Review: {code(_what(review))}, {review.reason}{texts}")
    parts += [f"- Held back: {code(held.name)}, {held.reason}" for held in result.merge.held_back]
    parts += [f"- Not read: {code(str(part.place))}, {part.reason}" for part in result.unread]
    return "\n\n".join(parts) + "\n"


def import_annotations(result: Import) -> Iterator[Annotation]:
    """Return an error for each difference, and a warning for each review."""
    differences = [_difference(change, result) for change in result.merge.changes]
    if result.imported and not differences:
        differences = [(_IMPORTED_CHANGES, Location(result.imported.path))]
    for message, place in differences:
        yield Annotation("error", "Import", message, _MEND, place)
    for review in result.merge.reviews:
        texts = f': "{review.here}" here, "{review.there}" there' if review.field else ""
        message = f"{_what(review)}: {review.reason}{texts}"
        yield Annotation("warning", "Review", message, location=_here(review, result))
    for part in result.unread:
        name = f"{part.name}: " if part.name else ""
        yield Annotation("error", "Not read", f"{name}{part.reason}", _READ, part.place)
    yield from notice_annotations(result.notes)


def _difference(change: EntryChange, result: Import) -> tuple[str, Location | None]:
    """Return a change in words, and its place: a new command's in the source."""
    if isinstance(change, Added):
        return f"{change.text.name} is not in {result.path}", change.entry.place
    name = result.ours[change.index].name
    if isinstance(change, Removed):
        return f"{name} is gone from its source", result.place(change.index)
    fields = [edit.field for edit in change.fields] or ["formerly"]
    message = f"{name}: {' and '.join(fields)} changed in the source"
    return message, result.place(change.index, fields[0])


def json(result: Import, *, screen: Screen) -> str:
    """Return one document of all changes, and of all that is left to do."""
    document = {
        "version": VERSION,
        "manifest": result.path,
        "sources": result.sources,
        "files": [edit.path for edit in result.files],
        "summary": _counts(result),
        "changes": [_change(change, result) for change in result.merge.changes],
        "reviews": [
            {
                "reason": review.reason.name.lower().replace("_", "-"),
                "name": review.name,
                "field": review.field,
                "here": review.here,
                "there": review.there,
                "location": place_document(_here(review, result)),
                "source": place_document(review.entry.place) if review.entry else None,
            }
            for review in result.merge.reviews
        ],
        "excluded": [_part(entry.name, reason, entry.place) for entry, reason in _left_out(result)],
        "held_back": [
            _part(held.name, held.reason, result.place(held.index))
            for held in result.merge.held_back
        ],
        "unread": [
            _part(
                part.name,
                part.reason,
                part.place,
                acknowledged=part in result.acknowledged,
            )
            for part in (*result.unread, *result.acknowledged)
        ],
        "warnings": [notice_document(note, screen.words) for note in result.notes],
    }
    return dumped(document)


def _part(name: str, reason: str, place: Location | None, **more: object) -> dict[str, object]:
    return {"name": name, "reason": reason, **more, "location": place_document(place)}


def _change(change: EntryChange, result: Import) -> dict[str, object]:
    entry = None if isinstance(change, Removed) else change.entry
    if isinstance(change, Added):
        name, place = change.text.name, None
    else:
        name, place = result.ours[change.index].name, result.place(change.index)
    formerly = change.formerly if isinstance(change, Edited) else None
    return {
        "action": _ACTIONS[type(change)],
        "name": name,
        "fields": _differences(change),
        "location": place_document(place),
        "source": place_document(entry.place) if entry else None,
        **({} if formerly is None else {"formerly": formerly}),
    }


def _differences(change: EntryChange) -> dict[str, dict[str, str]]:
    if isinstance(change, Added):
        return {field: {"old": "", "new": text} for field, text in change.text._asdict().items()}
    edits = change.fields if isinstance(change, Edited) else ()
    return {edit.field: {"old": edit.old, "new": edit.new} for edit in edits}
