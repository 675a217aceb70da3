"""Repositories of bots, generated in a form of declaring commands, and refactorings of their code.

A `Bot` is what its author has in mind: parts, which are files with commands. A `Form` writes them
as code of one framework. A refactoring changes the bot, or its code. What an import makes of the
code before and after is compared with what the bot declares (`Story`): every declared command is
read, left out or not read; of what the file had, nothing that is still declared disappears, is
renamed, turned, or loses text or options.

Only files below `bot/` are the source. A reader does not find a file that a form writes elsewhere.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any

import yaml

from commandsync.errors import FileError
from commandsync.records.snapshot import Kind, kind_of
from commandsync.sources.entry import NO_DESCRIPTION, SourceReading
from commandsync.sync.files import write_edits
from commandsync.sync.importplan import plan_import
from commandsync.sync.settings import Settings
from tests.support.plans import day

SOURCE = "bot"
MANIFEST = 'version: 1\nprefix: "!"\nimport: {from: bot}\nsync: {max_deletes: 100%}\n'


class Where(StrEnum):
    """Where the code states names and texts, or has the class above its commands."""

    HERE = "here"
    CONSTANT = "in a constant of the file"
    FILE = "in another file"
    PACKAGE = "in a package"
    RENAMED = "in another file, renamed on import"
    OUTSIDE = "outside of the source"
    MISSING = "nowhere"

    @property
    def is_known(self) -> bool:
        """Whether a reader of the source can follow it."""
        return self not in {Where.OUTSIDE, Where.MISSING}


@dataclass(frozen=True)
class Command:
    """A command as its author means it."""

    name: str
    description: str
    options: tuple[str, ...] = ()  # the names of its required options
    is_owner: bool = False  # whether only the bot's owner may use it


@dataclass(frozen=True)
class Part:
    """A file with commands, and how its code is written."""

    stem: str  # of the file, and of its class
    commands: tuple[Command, ...]
    folder: str = "cogs"  # below the source
    names: Where = Where.HERE  # the literals of names
    texts: Where = Where.HERE  # the literals of descriptions
    base: Where = Where.HERE  # the class that declares the commands
    above: int = 1  # files between that class and the part, if it is elsewhere

    @property
    def is_known(self) -> bool:
        return self.names.is_known and self.texts.is_known and self.base.is_known


Files = Mapping[str, str]  # the code by its path in the repository


@dataclass(frozen=True)
class Form:
    """A way to declare commands in a framework."""

    name: str
    write: Callable[[Part], Files]
    syntax: Callable[[Part, Command], str]  # as the manifest writes it
    full_name: Callable[[Part, Command], str] = lambda _part, command: command.name
    # What it can vary: fields of a `Part`. A form without classes has no `base`.
    varies: frozenset[str] = frozenset({"names", "texts", "base"})
    has_options: bool = True
    has_owner: bool = True
    extra: Files = field(default_factory=dict)  # files of the bot beside its parts
    beside: frozenset[str] = frozenset()  # the commands that these files declare
    is_read: bool = True  # whether the commands are read, and not only counted


@dataclass(frozen=True)
class Bot:
    """A bot: its parts, written in one form."""

    form: Form
    parts: tuple[Part, ...]
    others: Files = field(default_factory=dict)  # of another language, or framework
    broken: int = -1  # how often `broken_text` broke a file, or -1
    seed: int = 0

    @property
    def declared(self) -> dict[str, tuple[Part, Command]]:
        """The commands by their full names."""
        return {
            self.form.full_name(part, command): (part, command)
            for part in self.parts
            for command in part.commands
        }

    @property
    def files(self) -> dict[str, str]:
        """The code of the repository."""
        files = {**self.form.extra, **self.others}
        for part in self.parts:
            files |= self.form.write(part)
        if self.broken >= 0:
            paths = sorted(path for path in files if path.startswith(f"{SOURCE}/"))
            path = paths[self.broken % len(paths)]
            files[path] = broken_text(
                files[path],
                Random(self.seed),  # noqa: S311
                keeps_imports=not self.form.is_read,
            )
        return files


_WORDS = (
    *("ping", "roll", "ban", "kick", "play", "stop", "help", "info"),
    *("song", "rank", "quote", "draw", "vote", "tag", "warn"),
)
_ACTS = ("Shows", "Sends", "Removes", "Counts", "Says", "Plays")
_OPTIONS = ("member", "reason", "question", "amount")


def bot(form: Form, draw: Random) -> Bot:
    """Draw a bot of one to three parts."""
    words = draw.sample(_WORDS, draw.randint(2, 6))
    commands = [
        Command(
            word,
            f"{draw.choice(_ACTS)} the {word}.",
            tuple(draw.sample(_OPTIONS, draw.randint(0, 2))) if form.has_options else (),
            is_owner=form.has_owner and draw.random() < 1 / 8,
        )
        for word in words
    ]
    number = draw.randint(1, min(3, len(commands)))
    parts = [Part(f"part{index}", tuple(commands[index::number])) for index in range(number)]
    return Bot(form, tuple(parts), seed=draw.randint(0, 10**6))


def broken_text(text: str, draw: Random, *, keeps_imports: bool = False) -> str:
    """Return code without one of its closing brackets, or with an opening one too many.

    Whether a command that is only counted belongs to a framework is known by the imports.
    """
    places = [
        at
        for at, character in enumerate(text)
        if character in ")]}"
        if not keeps_imports or not text[text.rfind("\n", 0, at) + 1 :].startswith("import ")
    ]
    if not places:
        return text + "\n(\n"
    at = draw.choice(places)
    return text[:at] + text[at + 1 :]


Refactoring = Callable[[Bot, Random], Bot]


def _one(bot: Bot, draw: Random, change: Callable[[Part], Sequence[Part]]) -> Bot:
    at = draw.randrange(len(bot.parts))
    parts = (*bot.parts[:at], *change(bot.parts[at]), *bot.parts[at + 1 :])
    return replace(bot, parts=parts)


def rename(bot: Bot, draw: Random) -> Bot:
    """Rename one command."""

    def change(part: Part) -> list[Part]:
        first, *rest = part.commands
        return [replace(part, commands=(replace(first, name=f"{first.name}x"), *rest))]

    return _one(bot, draw, change)


def move(bot: Bot, draw: Random) -> Bot:
    """Move a file of commands into another folder."""
    return _one(bot, draw, lambda part: [replace(part, folder="modules")])


def rename_file(bot: Bot, draw: Random) -> Bot:
    """Give a file of commands, and its class, another name."""
    return _one(bot, draw, lambda part: [replace(part, stem=f"{part.stem}_new")])


def split(bot: Bot, draw: Random) -> Bot:
    """Split a file of commands into two."""
    unused = f"part{len(bot.parts)}"
    while unused in {part.stem for part in bot.parts}:
        unused += "_more"

    def change(part: Part) -> list[Part]:
        half = len(part.commands) // 2
        if not half:
            return [part]
        return [
            replace(part, commands=part.commands[:half]),
            replace(part, commands=part.commands[half:], stem=unused),
        ]

    return _one(bot, draw, change)


def remove(bot: Bot, _draw: Random) -> Bot:
    """Remove one command."""
    if len(bot.parts[0].commands) == 1:
        return bot
    first, *rest = bot.parts
    return replace(bot, parts=(replace(first, commands=first.commands[1:]), *rest))


def move_base(bot: Bot, draw: Random) -> Bot:
    """Move the class of a part into a file of its own, if the form has classes."""
    above = draw.randint(1, 3)
    base = Where.FILE if "base" in bot.form.varies else Where.HERE
    return _one(bot, draw, lambda part: [replace(part, base=base, above=above)])


def restate(bot: Bot, draw: Random) -> Bot:
    """State names or texts elsewhere, or move the class of a part above it, 1 to 3 files away."""
    what = draw.choice(sorted(bot.form.varies) or ["folder"])
    if what == "folder":
        return bot
    where = draw.choice([each for each in Where if each is not Where.HERE])
    above = draw.randint(1, 3)

    def change(part: Part) -> list[Part]:
        return [
            replace(
                part,
                names=where if what == "names" else part.names,
                texts=where if what == "texts" else part.texts,
                base=where if what == "base" else part.base,
                above=above,
            )
        ]

    return _one(bot, draw, change)


def break_file(bot: Bot, draw: Random) -> Bot:
    """Leave a bracket out of one file."""
    return replace(bot, broken=draw.randint(0, 50))


_OTHERS: tuple[Files, ...] = (
    {"bot/web/index.js": "export function show() { return document.title; }\n"},
    {"bot/web/menu.js": "export const commandsOf = (list) => list.map(show);\n"},
    {"bot/tools/release.py": "import sys\nprint(sys.argv)\n"},
)


def add_language(bot: Bot, draw: Random) -> Bot:
    """Add files of another language, which declare nothing."""
    return replace(bot, others={**bot.others, **draw.choice(_OTHERS)})


REFACTORINGS: dict[str, Refactoring] = {
    each.__name__: each
    for each in (*(rename, move, rename_file, split, remove, restate, break_file, add_language),)
}


MOVES: Sequence[Refactoring] = (move, rename_file, split, move_base)
"""The refactorings after which a command is in another file."""


def of_two_parts(form: Form, draw: Random) -> Bot:
    """Draw a bot of two parts."""
    return next(drawn for drawn in iter(lambda: bot(form, draw), None) if len(drawn.parts) == 2)


def move_unnamed(bot: Bot, draw: Random, change: Refactoring) -> Bot:
    """Move the last part, and state its names outside of the source, where no reader looks."""
    *others, part = bot.parts
    where = draw.choice([Where.OUTSIDE, Where.MISSING])
    alone = replace(bot, parts=(replace(part, names=where),))
    return replace(bot, parts=(*others, *change(alone, draw).parts))


@dataclass
class Story:
    """Imports of one repository, one after another, in a folder of their own."""

    folder: Path  # the current folder
    last: dict[str, dict[str, Any]] = field(default_factory=dict)  # the file before

    def __post_init__(self) -> None:
        (self.folder / "commands.imported.yaml").unlink(missing_ok=True)

    def step(self, bot: Bot) -> dict[str, dict[str, Any]]:
        """Write the code, import it twice, and return the entries of the imported file by name.

        Checks that the second import changes nothing, and what the file before had.
        """
        self._write(bot.files)
        try:
            plan = self._import()
        except FileError:  # nothing can be read: nothing is written
            if bot.broken < 0 and all(part.is_known for part in bot.parts):
                raise
            return self.last
        text = (self.folder / "commands.imported.yaml").read_bytes()
        again = self._import()
        assert again.imported is None, "the second import changes the file"
        assert (self.folder / "commands.imported.yaml").read_bytes() == text
        content = yaml.safe_load(text)
        entries = {each["name"]: each for each in content.get("commands", ())}
        unread = plan.unread
        problems = [*_accounting(bot, entries, unread), *_losses(bot, self.last, entries)]
        assert not problems, "\n".join(
            [*problems, *(f"--- {path}\n{code}" for path, code in bot.files.items()), text.decode()]
        )
        self.last = entries
        return entries

    def _write(self, files: Files) -> None:
        (self.folder / "commands.yaml").write_text(MANIFEST, encoding="utf-8")
        for old in [*self.folder.rglob("*")]:
            if old.is_file() and old.suffix != ".yaml":
                old.unlink()
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def _import(self) -> Any:  # noqa: ANN401
        plan = plan_import(Settings(now=day(1)), [], registered=lambda _: SourceReading())
        write_edits(plan.files)
        return plan


def _accounting(
    bot: Bot, entries: Mapping[str, Mapping[str, Any]], unread: Sequence[Any]
) -> Iterator[str]:
    """Yield the commands that are neither read nor left out nor not read, and those invented."""
    declared, is_whole = bot.declared, bot.broken < 0
    for name, (part, command) in declared.items():
        if not bot.form.is_read:
            if not any(each.name in {"", command.name} for each in unread):
                yield f"{name} is not counted as not read"
        elif name in entries:
            yield from _misread(bot, name, entries[name], unread)
        elif part.is_known and is_whole:
            yield f"{name} is not read: {[each.reason for each in unread]}"
        elif part.base.is_known:  # a class that is not found may declare what nothing shows
            near = [each for each in unread if not each.name or not part.names.is_known]
            if not (near or _missed(name, command, unread)):
                yield f"{name} is neither read nor counted as not read"
    if bot.form.is_read and is_whole and all(part.is_known for part in bot.parts) and unread:
        yield f"places that declare nothing are not read: {unread}"
    for name in entries.keys() - declared.keys() - bot.form.beside:
        if not entries[name].get("kept"):
            yield f"{name} is not declared: {entries[name]}"


def _misread(bot: Bot, name: str, entry: Mapping[str, Any], unread: Sequence[Any]) -> Iterator[str]:
    """Yield what is wrong with a command that is read."""
    part, command = bot.declared[name]
    if command.is_owner and not entry.get("left_out"):
        yield f"{name} is for the owner, and public"
    if not command.is_owner and entry.get("left_out"):
        yield f"{name} is left out: {entry['left_out']}"
    if part.is_known and bot.broken < 0:
        expected = (command.description, bot.form.syntax(part, command))
        if (entry["description"], entry["syntax"]) != expected:
            yield f"{name} is read as {entry}, and not as {expected}"
        if missed := _missed(name, command, unread):
            yield f"{name} is read, and counted as not read: {missed[0].reason}"


def _missed(name: str, command: Command, unread: Sequence[Any]) -> list[Any]:
    """Return the places that are not read and have the name of a command, or of its function."""
    return [each for each in unread if each.name in {name, command.name, f"on_{command.name}"}]


def _losses(
    bot: Bot,
    before: Mapping[str, Mapping[str, Any]],
    after: Mapping[str, Mapping[str, Any]],
) -> Iterator[str]:
    """Yield what the file before had of commands that are still declared, and has no more."""
    renamed = {old: new for new, entry in after.items() for old in entry.get("formerly", ())}
    for name, old in before.items():
        if name not in bot.declared:
            continue
        command = bot.declared[name][1]
        if name not in after:
            yield f"{name} has disappeared, or was renamed to {renamed.get(name)}"
            continue
        new = after[name]
        if _kind(new) != _kind(old):
            yield f"{name} was turned from {old['syntax']} to {new['syntax']}"
        if new["description"] == NO_DESCRIPTION != old["description"]:
            yield f"{name} lost its description"
        lost = [each for each in command.options if each in old["syntax"]]
        if gone := [each for each in lost if each not in new["syntax"]]:
            yield f"{name} lost its options {gone}"


def _kind(entry: Mapping[str, Any]) -> Kind:
    return kind_of(entry["name"], entry["syntax"])
