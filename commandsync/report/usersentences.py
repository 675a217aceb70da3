"""The changes for users between two manifests, as sentences: in text, and in Markdown.

A sentence quotes foreign text in the way of its format, and a line never begins with it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from commandsync.document import VERSION
from commandsync.document.part import notice_document
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
    lines: list[str] = []
    if not screen.quiet:
        sentences = _Sentences(_quoted if screen.full else lambda value: _quoted(cut(value)))
        for title, color, group in (
            ("Breaking", RED, sentences.breaking(changes)),
            ("Other changes", BOLD, sentences.others(changes)),
        ):
            items = [f"  - {sentence}" for sentence in group]
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

    It has at most so many sentences, and one of them so many names; None for all.
    """
    sentences = _Sentences(lambda value: code(cut(value)), most)
    items = [
        *(f"- **Breaking**: {sentence}" for sentence in sentences.breaking(changes)),
        *(f"- {sentence}" for sentence in sentences.others(changes)),
    ]
    if most is not None and len(items) > most:
        items[most:] = [f"- and {len(items) - most:,} more"]
    return "".join(f"{item}\n" for item in items)


def summary(changes: UserChanges) -> str:
    """Return how many commands have changes, and how many of them breaking ones."""
    if not changes.count:
        return NOTHING
    breaking = f"{changes.breaking:,} breaking" if changes.breaking else "none breaking"
    return f"{counted(changes.count, 'command')} with changes that users notice, {breaking}."


@dataclass(frozen=True, slots=True)
class _Sentences:
    """The sentences of a format."""

    quote: Callable[[str], str]  # shows foreign text within a sentence
    most: int | None = None  # how many names a sentence has; None for all

    def breaking(self, changes: UserChanges) -> Iterator[str]:
        """Yield the changes that break a use of the bot."""
        if changes.gone:
            yield f"Gone: {self.names(changes.gone)}."
        yield from self.renames(command for command in changes.changed if command.renamed)
        for command in changes.changed:
            if command.needs:
                name, syntax = call_of(command.after), command.after.syntax
                needed = _enumerated([self.quote(str(argument)) for argument in command.needs])
                yield f"{self.quote(name)} needs {needed} now: {self.quote(syntax)}."
        for command in filter(_is_used_differently, changes.changed):
            if command.accepts_less:
                yield self.usage(command)

    def others(self, changes: UserChanges) -> Iterator[str]:
        """Yield everything else, also of commands with a breaking change."""
        if changes.new:
            yield f"New: {self.names(changes.new)}."
        for command in filter(_is_used_differently, changes.changed):
            if not command.accepts_less:
                yield self.usage(command)
        described = [command.after for command in changes.changed if command.differs("description")]
        if described:
            yield f"New description: {self.names(described)}."
        moved = [command.after for command in changes.changed if command.differs("category")]
        for category, commands in by_category(moved).items():
            to = f"Now in the category {self.quote(category)}" if category else "In no category now"
            yield f"{to}: {self.names(commands)}."

    def renames(self, commands: Iterable[ChangedCommand]) -> Iterator[str]:
        """Yield how commands are called now: in one sentence those that have a new prefix alone."""
        groups: dict[object, list[ChangedCommand]] = {}
        for n, command in enumerate(commands):
            groups.setdefault(n if command.differs("name") else command.leads, []).append(command)
        for command, *others in groups.values():
            if others and command.leads:
                old, new = map(self.quote, distinct(*command.leads))
                names = self.names(each.after for each in (command, *others))
                yield f"Now with {new} instead of {old}: {names}."
                continue
            calls = call_of(command.before), call_of(command.after)
            old, new = map(self.quote, distinct(*calls))
            yield f"{old} is now called {new}."

    def usage(self, command: ChangedCommand) -> str:
        """Return how a command is used now."""
        name = self.quote(call_of(command.after))
        old, new = map(self.quote, distinct(command.before.syntax, command.after.syntax))
        return f"{name} is used differently now: {new}, before: {old}."

    def names(self, commands: Iterable[CommandText]) -> str:
        """Return how commands are called, as a list in a sentence."""
        return _enumerated([self.quote(call_of(command)) for command in commands], self.most)


def _is_used_differently(command: ChangedCommand) -> bool:
    """Whether the syntax has changed beyond the breaking sentences."""
    if command.needs or not command.differs("syntax"):
        return False
    old, new = (text.syntax.removeprefix(call_of(text)) for text in (command.before, command.after))
    return old != new or not command.renamed


def _enumerated(items: Sequence[str], most: int | None = None) -> str:
    """Return `a, b and c`; of more than `most` items the last ones only as a number."""
    shown, left = list(items[:most]), len(items[most:]) if most is not None else 0
    *first, last = [*shown, f"{left:,} more"] if left else shown
    return f"{', '.join(first)} and {last}" if first else last


def _quoted(value: str) -> str:
    """Return foreign text for a sentence of plain text: in quotes where it looks like a word."""
    shown = visible(value)
    return f'"{shown}"' if not shown or shown[0].isalnum() or shown != shown.strip() else shown
