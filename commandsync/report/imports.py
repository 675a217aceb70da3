"""An import as text and JSON; for the Action, as Markdown and annotations, too."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from commandsync.diagnostics import Hint, Location, Notice
from commandsync.document import VERSION
from commandsync.document.change import change_view
from commandsync.document.part import notice_document, place_document
from commandsync.manifest.yamltext import entry_lines
from commandsync.plan.changes import Add, Change, Delete, Edit, FieldChange, field_changes
from commandsync.plan.changes import object_changes as changes_of_objects
from commandsync.records.snapshot import ImportedCommand, Override, levels_of
from commandsync.records.texts import CommandText, Resource
from commandsync.report.github import Annotation, notice_annotations
from commandsync.report.json import dumped
from commandsync.report.lines import (
    DIM,
    PLAIN,
    YELLOW,
    Screen,
    Value,
    code,
    cut,
    edit_lines,
    fenced,
    joined,
    paint,
    path,
    visible,
)
from commandsync.report.text import change_lines, in_brackets
from commandsync.sources.changeset import Import, ImportDifference, is_public
from commandsync.sources.entry import UnreadPart

_NAMED = re.compile(r"'[^']*'|\"[^\"]*\"")
_MANY = 5  # further notices with one cause, which are counted
_READ = "write it as literals, or acknowledge it with unread: in import: of the manifest"
_RENAME = "» is a rename: the old name is under formerly:, so that the id and the uses are kept."
_MEND = "run commandsync import, and commit the result"


def counts(result: Import) -> str:
    """Return the counts of an import: the last line of its text, which scripts may rely on."""
    of = _counts(result)
    todo = ", ".join(f"{of[verb]} to {verb}" for verb in ("add", "edit", "remove"))
    rest = f"{of['unchanged']} unchanged, {of['left_out']} left out"
    kept = f", {of['kept']} kept" if of["kept"] else ""
    unread = f", {of['unread']} not read" if of["unread"] else ""
    return f"Import: {todo}, {rest}{kept}{unread}."


def _counts(result: Import) -> dict[str, int]:
    public = result.after.public
    return {
        "add": result.added,
        "edit": result.edited,
        "remove": result.removed,
        "unchanged": len(public) - result.added - result.edited,
        "left_out": len(result.left_out),
        "kept": sum(1 for command in result.after.commands if command.kept),
        "unread": len(result.unread) + len(result.acknowledged),
    }


def changes(result: Import) -> Iterator[tuple[Change, ImportDifference]]:
    """Yield the changes of the public commands as a plan has them."""
    for difference in result.differences:
        before, after = difference
        kind, place = Resource.COMMAND, result.place_of(difference)
        was, is_now = is_public(before), is_public(after)
        if after and is_now and not was:
            yield Add(resource=kind, location=place, after=_text(after)), difference
        elif before and was and not is_now:
            yield Delete(resource=kind, location=place, id="", before=_text(before)), difference
        elif before and after and is_now and difference.is_shown:
            texts = {"before": _text(before), "after": _text(after)}
            fields = _field_changes(before, after)
            yield Edit(resource=kind, location=place, id="", fields=fields, **texts), difference


def _field_changes(before: ImportedCommand, after: ImportedCommand) -> tuple[FieldChange, ...]:
    fields = field_changes(_text(before), _text(after))
    if before.source == after.source:
        return fields
    return (*fields, FieldChange("from", old=before.source, new=after.source))


def _text(command: ImportedCommand) -> CommandText:
    return CommandText(command.name, command.description, command.syntax, command.category)


def object_changes(difference: ImportDifference) -> str:
    """Name the differences of the platform's objects of a command; empty for none."""
    before, after = difference
    if not (before and after) or before.discord == after.discord:
        return ""
    if not (before.discord and after.discord):
        return "known now" if after.discord else "not known any more"
    old, new = (tuple(levels_of(node))[-1] for node in (before.discord, after.discord))
    return ", ".join(changes_of_objects(old, new))


def render_left_out(result: Import, *, screen: Screen = PLAIN) -> str:
    """Show each part and each file that is knowingly left out, with the reason."""
    known = (f"not read: {_unread(part)}: acknowledged" for part in result.acknowledged)
    files = (f"not read: {path(name)}: it was generated" for name in result.generated)
    return joined((*known, *files), screen)


def by_cause(notes: Iterable[Notice], *, each: bool) -> Iterator[Notice]:
    """Yield notices; without `each`, many with one cause are one notice with their number."""
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
    """Yield all candidates that are not read, grouped by the reason."""
    by_reason: dict[str, list[UnreadPart]] = {}
    for part in result.unread:
        by_reason.setdefault(part.reason, []).append(part)
    for reason, parts in by_reason.items():
        first, *more = map(_unread, parts)
        yield f"{paint('not read', YELLOW)}: {first}: {visible(reason)}"
        for place in more:
            yield f"    {place}"


def _unread(part: UnreadPart) -> str:
    name = f" {visible(cut(part.name))}" if part.name else ""
    return f"{visible(str(part.place))}{name}"


def text(result: Import, *, screen: Screen) -> str:
    """Return the changes as a plan shows them, then the rest; the last line has the counts."""
    if screen.quiet:
        return joined([counts(result)], screen)
    lines = [*edit_lines([result.manifest] if result.manifest else ()), *_changed(result, screen)]
    rest = [*_notes(result, screen)]
    lines += [*rest, *([""] if rest else [])]
    if result.refusal:
        lines.append(f"{paint('refused', YELLOW)}: {visible(result.refusal.message)}")
    lines.append(counts(result))
    return joined(lines, screen)


def _changed(result: Import, screen: Screen) -> Iterator[str]:
    """Yield the changes of the imported file as a plan has them."""
    shown = list(changes(result))
    if result.imported:
        is_new = result.imported.before is None
        rest = "new" if is_new else "no command changes that public lists show"
        yield path(result.imported.path) + ("" if shown else f": {rest}")
        yield ""
    for change, difference in shown:
        yield from change_lines(change_view(change), screen)
        if parts := object_changes(difference):
            yield f"      {paint('discord:', DIM)} {visible(parts)}"
    if shown:
        yield ""
    if any(isinstance(change, Edit) and change.renames for change, _ in shown):
        yield from (_RENAME, "")


def _notes(result: Import, screen: Screen) -> Iterator[str]:
    for each in result.left_out:
        name, place = visible(cut(each.name)), in_brackets(each.place)
        yield f"left out: {name}{place}: {visible(each.reason)}"
    for kept in result.kept:
        place = in_brackets(kept.place)
        yield f"{paint('kept', YELLOW)}: {visible(cut(kept.name))}: {visible(kept.reason)}{place}"
    yield from unread_lines(result)
    for override in result.overrides:
        for key, (theirs, ours) in override.fields.items():
            both = (visible(each if screen.full else cut(each)) for each in (ours, theirs))
            here, there = both
            yield f"wins: {visible(override.name)}, {key}{in_brackets(override.place)}"
            yield Value(f'    {paint("here:  ", DIM)} "{here}"')
            yield Value(f'    {paint("source:", DIM)} "{there}"')
    if repeats := [each for each in result.overrides if each.only_repeats]:
        yield f"only repeats the import, and can go: {_named(repeats)}"
    if result.was_edited:
        yield "edited by hand; these entries of the manifest would keep that:"
        for values in result.edits:
            yield from map(visible, entry_lines(dict(values)))


def _named(overrides: Iterable[Override]) -> str:
    return ", ".join(f"{visible(each.name)} ({visible(str(each.place))})" for each in overrides)


def markdown(result: Import, *, screen: Screen) -> str:  # noqa: ARG001 - as every format
    """Return the changes as a block, and the remaining tasks as a list."""
    views = [change_view(change) for change, _ in changes(result)]
    shown = [line for view in views for line in change_lines(view, PLAIN)]
    parts = [f"**{counts(result)}**"]
    if shown:
        parts.append(fenced(joined(shown, PLAIN).splitlines(), ""))
    parts += [f"- Kept: {code(each.name)}, {code(each.reason)}" for each in result.kept]
    parts += [f"- Not read: {code(str(part.place))}, {code(part.reason)}" for part in result.unread]
    parts += [f"- Not imported any more: {code(name)}" for name, _ in result.strays]
    return "\n\n".join(parts) + "\n"


def import_annotations(result: Import) -> Iterator[Annotation]:
    """Return an error for each difference at its place, and for each part that is not read."""
    differences = [_difference(change, result) for change, _ in changes(result)]
    if result.imported and not differences:
        message = f"{result.imported.path} is not up to date"
        differences = [(message, Location(result.imported.path))]
    for message, place in differences:
        yield Annotation("error", "Import", message, _MEND, place)
    for part in result.unread:
        name = f"{part.name}: " if part.name else ""
        yield Annotation("error", "Not read", f"{name}{part.reason}", _READ, part.place)
    for name, place in result.strays:
        message = f"{name} is not imported any more"
        yield Annotation("error", "Import", message, "remove the entry, or write own: true", place)
    yield from notice_annotations(result.notes)


def _difference(change: Change, result: Import) -> tuple[str, Location | None]:
    """Return a change in words, and its place in the source."""
    file = result.imported.path if result.imported else result.path
    if isinstance(change, Add):
        return f"{change.name} is not in {file}", change.location
    if isinstance(change, Delete):
        return f"{change.name} is not public any more in its source", Location(file)
    fields = [field.field for field in change.fields] or ["its object"]
    return f"{change.name}: {' and '.join(fields)} changed in the source", change.location


def json(result: Import, *, screen: Screen) -> str:
    """Return one document of all changes and of the remaining tasks."""
    document: dict[str, Any] = {
        "version": VERSION,
        "manifest": result.path,
        "sources": result.sources,
        "files": [edit.path for edit in result.files],
        "summary": _counts(result),
        "changes": [_change(*each) for each in changes(result)],
        "left_out": [_part(each.name, each.reason, each.place) for each in result.left_out],
        "kept": [_part(each.name, each.reason, each.place) for each in result.kept],
        "overrides": [_override(each) for each in result.overrides],
        "strays": [_part(name, "not imported any more", place) for name, place in result.strays],
        "edited": [dict(values) for values in result.edits] if result.was_edited else [],
        "unread": [
            _part(
                part.name,
                part.reason,
                part.place,
                acknowledged=part in result.acknowledged,
            )
            for part in (*result.unread, *result.acknowledged)
        ],
        "problems": [
            {
                "message": problem.message,
                "hint": str(problem.hint),
                "location": place_document(problem.location),
            }
            for problem in result.problems
        ],
        "warnings": [notice_document(note, screen.words) for note in result.notes],
    }
    return dumped(document)


def _part(name: str, reason: str, place: Location | None, **more: object) -> dict[str, object]:
    return {"name": name, "reason": reason, **more, "location": place_document(place)}


def _override(override: Override) -> dict[str, object]:
    return {
        "name": override.name,
        "fields": {
            key: {"source": theirs, "here": ours} for key, (theirs, ours) in override.fields.items()
        },
        "only_repeats": override.only_repeats,
        "location": place_document(override.place),
    }


def _change(change: Change, difference: ImportDifference) -> dict[str, object]:
    action = "remove" if isinstance(change, Delete) else change.action
    fields: dict[str, dict[str, str]] = {}
    if isinstance(change, Add):
        fields = {key: {"old": "", "new": value} for key, value in change.after._asdict().items()}
    elif isinstance(change, Edit):
        fields = {each.field: {"old": each.old, "new": each.new} for each in change.fields}
    after = difference.after
    return {
        "action": action,
        "name": change.name,
        "fields": fields,
        "location": place_document(change.location),
        **({"formerly": after.formerly} if after and after.formerly else {}),
        **({"left_out": after.left_out} if after and after.left_out else {}),
    }
