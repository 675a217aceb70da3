"""The changes for users between two manifests, as sentences: in text, and in Markdown.

A sentence quotes foreign text in the way of its format, and a line never begins with it.
"""

from collections.abc import Iterable, Iterator, Sequence

from commandsync.document import VERSION
from commandsync.document.part import notice_document
from commandsync.document.view import Name, Sentence, laid_out, series
from commandsync.plan.differences import ChangedCommand, UserChanges, call_of
from commandsync.records.texts import CommandText, by_category, counted
from commandsync.report.json import dumped
from commandsync.report.lines import (
    BOLD,
    PLAIN,
    RED,
    Screen,
    code,
    cut,
    distinct,
    joined,
    paint,
    visible,
)

NOTHING = "No change that users notice."


def text(changes: UserChanges, *, screen: Screen = PLAIN) -> str:
    """Return the sentences, breaking ones first; the last line counts the commands."""

    def shown(text: str) -> str:
        return _quoted(text if screen.full else cut(text))

    lines: list[str] = []
    if not screen.quiet:
        for title, color, sentences in (
            ("Breaking", RED, _breaking(changes, None)),
            ("Other changes", BOLD, _others(changes, None)),
        ):
            items = [f"  - {laid_out(sentence, shown)}" for sentence in sentences]
            lines += [paint(f"{title}:", color), *items, ""] if items else []
    return joined([*lines, summary(changes)], screen)


def json(changes: UserChanges, *, screen: Screen) -> str:
    """Return the document of the changes."""
    document = {
        "version": VERSION,
        "since": changes.since,
        "manifest": changes.manifest,
        "count": changes.count,
        "breaking": changes.breaking,
        "gone": [command._asdict() for command in changes.gone],
        "changed": [
            {
                "before": command.before._asdict(),
                "after": command.after._asdict(),
                "fields": {field: {"old": old, "new": new} for field, old, new in command.fields},
                "breaking": command.breaking,
                "renamed": command.renamed,
                "needs": [str(argument) for argument in command.needs],
            }
            for command in changes.changed
        ],
        "new": [command._asdict() for command in changes.new],
        "warnings": [notice_document(notice, screen.words) for notice in changes.notices],
    }
    return dumped(document)


def markdown(changes: UserChanges, *, screen: Screen) -> str:  # noqa: ARG001 - as every format
    """Return the sentences as a list, or a line that nothing changes."""
    return sentence_list(changes) or f"{NOTHING}\n"


def sentence_list(changes: UserChanges, *, most: int | None = None) -> str:
    """Return the sentences as a Markdown list, breaking ones first; empty if nothing changes.

    `most` is the greatest number of sentences, and of names in a sentence; None for all.
    """
    items = [f"- **Breaking**: {_in_code(sentence)}" for sentence in _breaking(changes, most)]
    items += [f"- {_in_code(sentence)}" for sentence in _others(changes, most)]
    if most is not None and len(items) > most:
        items[most:] = [f"- and {len(items) - most:,} more"]
    return "".join(f"{item}\n" for item in items)


def _in_code(sentence: Sentence) -> str:
    return laid_out(sentence, lambda text: code(cut(text)))


def summary(changes: UserChanges) -> str:
    """Return the number of commands with changes, and with breaking ones."""
    if not changes.count:
        return NOTHING
    breaking = f"{changes.breaking:,} breaking" if changes.breaking else "none breaking"
    return f"{counted(changes.count, 'command')} with changes that users notice, {breaking}."


def _breaking(changes: UserChanges, most: int | None) -> Iterator[Sentence]:
    """Yield the changes that break a use of the bot; a sentence has at most so many names."""
    if changes.gone:
        yield ("Gone: ", *_names(changes.gone, most), ".")
    yield from _renames([command for command in changes.changed if command.renamed], most)
    for command in changes.changed:
        if command.needs:
            needed = _enumerated([str(argument) for argument in command.needs])
            name, syntax = Name(call_of(command.after)), Name(command.after.syntax)
            yield (name, " needs ", *needed, " now: ", syntax, ".")
    for command in filter(_is_used_differently, changes.changed):
        if command.accepts_less:
            yield _usage(command)


def _others(changes: UserChanges, most: int | None) -> Iterator[Sentence]:
    """Yield all other changes, even if the command has a breaking one."""
    if changes.new:
        yield ("New: ", *_names(changes.new, most), ".")
    for command in filter(_is_used_differently, changes.changed):
        if not command.accepts_less:
            yield _usage(command)
    described = [command.after for command in changes.changed if command.differs("description")]
    if described:
        yield ("New description: ", *_names(described, most), ".")
    moved = [command.after for command in changes.changed if command.differs("category")]
    for category, commands in by_category(moved).items():
        to = ("Now in the category ", Name(category)) if category else ("In no category now",)
        yield (*to, ": ", *_names(commands, most), ".")


def _renames(commands: Sequence[ChangedCommand], most: int | None) -> Iterator[Sentence]:
    """Yield the new names of commands; a new prefix of several commands is one sentence."""
    groups: dict[object, list[ChangedCommand]] = {}
    for n, command in enumerate(commands):
        groups.setdefault(n if command.differs("name") else command.leads, []).append(command)
    for alike in groups.values():
        first = alike[0]
        if len(alike) > 1 and first.leads:
            old, new = map(Name, distinct(*first.leads))
            names = _names([command.after for command in alike], most)
            yield ("Now with ", new, " instead of ", old, ": ", *names, ".")
        else:
            old, new = map(Name, distinct(call_of(first.before), call_of(first.after)))
            yield (old, " is now called ", new, ".")


def _usage(command: ChangedCommand) -> Sentence:
    """Return the sentence on the new syntax of a command."""
    old, new = map(Name, distinct(command.before.syntax, command.after.syntax))
    name = Name(call_of(command.after))
    return (name, " is used differently now: ", new, ", before: ", old, ".")


def _is_used_differently(command: ChangedCommand) -> bool:
    """Whether the syntax has changed beyond the breaking sentences."""
    if command.needs or not command.differs("syntax"):
        return False
    old, new = (text.syntax.removeprefix(call_of(text)) for text in (command.before, command.after))
    return old != new or not command.renamed


def _names(commands: Iterable[CommandText], most: int | None) -> Sentence:
    """Return the calls of commands as a list in a sentence."""
    return _enumerated([call_of(command) for command in commands], most)


def _enumerated(texts: Sequence[str], most: int | None = None) -> Sentence:
    """Return `a, b and c`; texts beyond the first `most` are only a number."""
    shown: list[str] = [*map(Name, texts[:most])]
    left = len(texts) - len(shown)
    *first, last = [*shown, f"{left:,} more"] if left else shown
    return (*series(first), " and ", last) if first else (last,)


def _quoted(value: str) -> str:
    """Return foreign text for a sentence of plain text: in quotes where it looks like a word."""
    shown = visible(value)
    return f'"{shown}"' if not shown or shown[0].isalnum() or shown != shown.strip() else shown
