"""Commands from a bot's JavaScript and TypeScript code, read and never run.

Builders and objects of discord.js, the frameworks for it, the objects and classes of the bot's own
command handler, and the handlers and menus of Telegram's frameworks.

The statements of each file that may declare commands are followed (`program`) as far as their
values (`value`) are certain: expressions and statements (`expression`), functions and classes
(`function`), calls and other files (`program`). The `CommandInventory` takes what a framework
declares (`framework`), what calls register, and what is exported and is a command (`handler`); each
becomes a command of Discord's, or one with a prefix (`document`). Last, `candidate` finds what
declares a command and is none of these: it is not read.

What a framework declares is certain. An object of the bot's own command handler is one of several:
its kind, if its members do not tell, is that of the commands in its folder, and it may be a
sub-command of another one. What is certain about none of this is not read.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from commandsync.diagnostics import Location, Notice
from commandsync.sources.entry import PartlyRead, SourceEntry, SourceReading, as_list
from commandsync.sources.javascript import handler as handlers
from commandsync.sources.javascript.candidate import BELOW, candidates_in, frameworks_in
from commandsync.sources.javascript.document import (
    BROKEN,
    Documents,
    has_open_sub_commands,
    sub_commands,
)
from commandsync.sources.javascript.framework import decorated, unclaimed
from commandsync.sources.javascript.function import is_piece
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.telegram import TelegramScripts
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    ImportedValue,
    ObjectValue,
    Value,
    fields_of,
    is_known,
)
from commandsync.sources.sourcefile import (
    SCRIPTS,
    code_files,
    code_reading,
    declaring,
    without_collector,
)

_TESTS = {"tests", "test", "__tests__"}
_DECLARING = re.compile(
    rb"[cC]ommand|telegraf|grammy|description|aliases|usage|args|\.setName\(|@Slash|onText"
    rb"|\bextends\b|\bexport\s*[*{]|exports\s*=\s*require"
)
_BUILT = re.compile(r"[/\\](dist|build|out|coverage)[/\\]|\.min\.[cm]?js$|\.d\.[cm]?ts$")
_GENERATED, _HEAD = b"@generated", 1000
_SHAPE = re.compile(
    rb"\.setName\(|CommandBuilder|extends\s+\w*Command|\b(aliases|execute|setMyCommands)\b|\.command\("
)
_REST = "the rest of the file is read, and no command of it is removed"
_LONGEST_LINE = 5000  # bytes, of code that is not minified


@without_collector()
def read(
    path: str,
    inside: Sequence[Path] | None = None,
    *,
    locale: str = "",
    texts: Mapping[str, str] | None = None,
    form: str = "",
) -> SourceReading:
    """Read the commands that a file, or the files of a folder, declare.

    `inside` are the files of the folder, by default all without those in hidden folders, tests and
    installed packages. The `locale` is the language of Discord's texts, such as `de`, and `texts`
    are the bot's own by their keys. The `form`, `slash` or `prefix`, is how commands are called if
    the code does not say it. The commands are in the order of the files and their lines. The
    notes name the parts that cannot be read without running the code. Raises `FileError` if the
    path cannot be read.
    """
    root = Path(path) if Path(path).is_dir() else Path(path).parent
    scripts = list(code_files(Path(path), inside, SCRIPTS, _TESTS))
    files = [file for file in scripts if not _BUILT.search(f"/{Path(file).relative_to(root)}")]
    program, generated = Program(files, texts), {*scripts} - {*files}

    def may_declare(file: str, data: bytes) -> bool:
        if not _DECLARING.search(data) and not BELOW.search(file):
            return False
        longest = max(map(len, data.split(b"\n")))
        if _GENERATED in data[:_HEAD] or longest > max(_LONGEST_LINE, len(data) // 2):
            generated.add(file)
            return False
        return True

    inventory = CommandInventory(program, locale=locale, form=form)
    wanted = program.keep(declaring(files, Path(path).as_posix(), may_declare))
    entries = list(inventory.of(wanted))
    telegram, documents = TelegramScripts(program), inventory.documents
    covered = documents.read | telegram.covered | inventory.others
    candidates = candidates_in(program, covered, with_handlers=not telegram.menus.is_closed)
    missed = [*documents.unread, *telegram.unread, *candidates]
    known = {part.place for part in missed}
    broken = (Notice(BROKEN, _REST, place) for place in program.errors if place not in known)
    reading = code_reading(
        root,
        files,
        entries=entries,
        menus=telegram.menus,
        unread=missed,
        notes=[*broken, *documents.notes()],
        problems=program.notes,
        partly=[
            *documents.partly,
            *telegram.partly,
            *(PartlyRead(place, reason) for place, reason in program.partly),
            *(PartlyRead(place, BROKEN) for place in program.errors),
            *(PartlyRead(Location(file), "it was generated") for file in generated & {*files}),
        ],
        shape=_SHAPE,
        frameworks=frameworks_in(program.files),
    )
    modules = {f"{root.as_posix()}/node_modules"} if (root / "node_modules").is_dir() else set()
    return replace(
        reading,
        generated=tuple(sorted(modules | generated)),
        text_keys=tuple(sorted(documents.text_keys)) if texts is None else (),
    )


_ADDING = re.compile(r"(set|add|build|apply|register)(Slash)?(Command)?Options", re.IGNORECASE)
_FOLDER = re.compile(r"dir(?!ect)|folder|categor|group|path", re.IGNORECASE)
_OPEN_KIND = "cannot tell whether this is a slash command or a prefix command"


@dataclass(frozen=True, eq=False)
class _Found:
    """A command of a command handler, before its kind is known for certain."""

    handler: ObjectValue
    data: ObjectValue | Computed  # the command as Discord has it, or the handler itself
    kind: str  # slash, prefix, or empty

    @property
    def at(self) -> Computed:
        return self.data if isinstance(self.data, Computed) else self.data.at

    @property
    def name(self) -> Value:
        return fields_of(self.data).get("name")

    @property
    def parent(self) -> str:
        """Why it is a command below another one; empty if nothing of it says so."""
        is_builder = isinstance(self.data, Builder)
        return "" if is_builder else handlers.parent_of(self.handler, self.data)

    @cached_property  # its folder is compared with those of all others, several times
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.handler.at.scope.file.path)


_DEEPEST_LIST = -3  # lists are followed three levels down: one may contain itself


class CommandInventory:
    """The commands of all files; `documents` has the unread and the unfollowed parts."""

    def __init__(self, program: Program, *, locale: str, form: str) -> None:
        self._program = program
        self._form = form  # slash, prefix, or empty
        self._found: dict[Computed, _Found] = {}
        self._framed: set[Computed] = set()  # classes that a framework decorates
        self.documents = Documents(program, locale)
        self.others: set[Computed] = set()  # exported objects that are not commands

    def of(self, files: Sequence[str]) -> Iterator[SourceEntry]:
        """Yield the commands that files of a bot declare."""
        program, documents = self._program, self.documents
        exported = {path: program.exports(path) for path in files}
        program.notes |= {value for value in exported.values() if isinstance(value, Notice)}
        program.finish()
        yield from self._decorated()
        for path, value in exported.items():
            self._exported(value, path)
        for owner in program.classes:
            if owner not in self._framed and owner.node not in program.above:
                yield from self._of_class(owner)
        for value in program.handlers:
            self._add(value)
        yield from self._declared()
        for value, arguments in program.registered:
            yield from documents.slash(value, arguments)
        for builder in program.built:
            yield from documents.slash(builder, builder)
        yield from self._of_eris()

    def _decorated(self) -> Iterator[SourceEntry]:
        """Yield the commands of classes that the decorators of a framework declare."""
        program, documents = self._program, self.documents
        for owner in [*program.classes]:
            commands = decorated(program, owner)
            if commands is not None:
                self._framed.add(owner)
            for command in commands or ():
                yield from documents.slash(command, command)
        documents.read |= self._framed
        for owner in program.classes:
            below = unclaimed(program, owner, documents.read)
            if below is not None:
                documents.skip(handlers.PARENT, below.at, below.get("name"))

    def _exported(self, value: Value, path: str, deep: int = 2) -> None:
        """Add the commands that are exported, in objects or lists as well."""
        match value:
            case list():
                for part in value if deep > _DEEPEST_LIST else ():
                    self._exported(part, path, min(deep, 1) - 1)
            case ObjectValue() if not self._add(value) and deep > 0:
                for part in value.values():
                    self._exported(part, path, deep - 1)
            case ImportedValue(is_file=True):
                reason = f"{value.module!r} is not found"
                self.documents.partly.append(PartlyRead(Location(path), reason))
            case Computed() if not isinstance(value, (Function, ImportedValue)):
                self._open_export(value, path)
            case _:
                pass

    def _open_export(self, value: Computed, path: str) -> None:
        """Name what is exported, is computed, and may have commands."""
        inside = re.findall(r"[\w$]+(?=\s*[(:=])", value.text)
        if value.node.type == "spread_element":
            reason = "a part of this list is not followed"
            self.documents.partly.append(PartlyRead(value.place, reason))
        elif value.node.type != "call_expression" or not BELOW.search(path):
            return
        elif any(map(handlers.RUN.fullmatch, inside)) and value not in self.documents.read:
            reason = "the effect of this call on a command is not followed"
            self.documents.skip(reason, value, PurePosixPath(path).stem)

    def _add(self, value: ObjectValue) -> bool:
        """Add the commands of an object, and return whether it is one, or has them."""
        handler = handlers.described(value)
        data = handlers.data_of(handler)
        for command in data:
            at = command if isinstance(command, Computed) else command.at
            self._found.setdefault(at, _Found(handler, command, "slash"))
        if data or handler.at in self._found or isinstance(handler, Builder):
            return True
        name = handler.get("name", handler.get(REST))
        is_command = handlers.is_command(handler)
        if is_command and isinstance(name, (str, list)):
            self._found[handler.at] = _Found(handler, handler, handlers.kind_of(handler))
        elif is_command and isinstance(name, Computed):
            self.documents.read.add(handler.at)
            self.documents.skip("the name of this command is computed at run time", name)
        elif BELOW.search(handler.at.scope.file.path):
            self._miss(handler, is_command=is_command)
        elif {"name", "description"} <= {*handler}:
            self.others.add(handler.at)
        return is_command

    def _miss(self, handler: ObjectValue, *, is_command: bool) -> None:
        """Count an object in a folder of commands that lacks a name, or a description."""
        stem = PurePosixPath(handler.at.scope.file.path).stem
        if handler.at in self.documents.read:
            return
        if is_command or handlers.names_its_file(handler):
            self.documents.skip("it has no name: is it that of its file?", handler.at, stem)
        elif handlers.lacks_text(handler):
            self.documents.skip("it has no description", handler.at, handler.get("name"))
        elif {"name", "description"} <= {*handler}:
            self.others.add(handler.at)

    def _of_class(self, owner: Function) -> Iterator[SourceEntry]:
        """Yield the commands of a class of a framework; add further ones to the inventory."""
        documents, fields = self.documents, self._program.fields(owner)
        last = fields.bases[-1] if fields.bases else None
        if last and is_piece(last):
            yield from self._of_piece(fields)
            documents.read.add(owner)
        elif isinstance(fields, Builder):
            is_named = {"name", REST} & {*fields}
            yield from documents.slash(fields, fields) if is_named else ()
        elif last or isinstance(fields.get("name"), str):
            self._add_options(fields)
            is_read = self._add(fields) or handlers.is_other(fields)
            if not is_read and last and handlers.runs(fields):
                self._miss_class(owner, last)

    def _miss_class(self, owner: Function, last: Computed) -> None:
        """Count a class in a folder of commands whose base class is not followed."""
        is_open = not (isinstance(last, Function) or is_known(last))
        if is_open and owner not in self.documents.read and BELOW.search(owner.place.path):
            stem = PurePosixPath(owner.place.path).stem
            self.documents.skip("no command is recognised in this class", owner, stem)

    def _add_options(self, fields: ObjectValue) -> None:
        """Add the options that a method of a class adds to the builder that it is given."""
        method = next((fields[key] for key in fields if _ADDING.fullmatch(key)), None)
        if isinstance(method, Function) and "options" not in fields:
            builder = Builder({}, fields.at)
            self._program.called(method, [builder])
            fields.update({key: builder[key] for key in ("options", REST) if key in builder})

    def _of_piece(self, fields: ObjectValue) -> Iterator[SourceEntry]:
        """Yield the prefix commands of a class of Sapphire; its commands at Discord register."""
        above, (entries, is_whole) = fields.get("name"), _below(fields.get("subcommands"))
        if not is_whole:
            reason = "a part of its sub-commands is not followed"
            self.documents.partly.append(PartlyRead(fields.at.place, reason))
        if any("messageRun" in part for part in entries) and isinstance(above, str):
            for part in entries:
                about = {"description": fields.get("description"), **part}
                if "messageRun" in part:
                    yield from self.documents.prefix(ObjectValue(about, part.at), above)
        elif "messageRun" in fields:
            yield from self.documents.prefix(fields)

    def _declared(self) -> Iterator[SourceEntry]:
        """Yield the commands of the command handler.

        An open kind is the kind of the others in the folder, else of all others, else the given
        form.
        """
        documents, found = self.documents, list(self._found.values())
        parents = self._parents()
        below = _beside(found) | _of_one_name(found) | _of_folders(found, parents)
        kinds = _kinds(found)
        for each in (each for each in found if each.at not in documents.read):
            kind = each.kind or kinds[each.path.parent] or kinds[None] or self._form
            if reason := each.parent or below.get(each.at, "") or ("" if kind else _OPEN_KIND):
                documents.read.add(each.handler.at)
                documents.skip(reason, each.at, each.name)
            elif kind == "slash":
                yield from documents.slash(each.data, each.handler)
            else:
                yield from documents.prefix(each.handler)

    def _parents(self) -> list[Value]:
        """Return the objects that may be commands with sub-commands, and pass over the latter."""
        program = self._program
        made: list[Value] = [each.data for each in self._found.values()]
        made += [*program.built, *(value for value, _ in program.registered)]
        for value in made:  # the objects that are exported, and are sub-commands of others
            self.documents.read.update(sub_commands(value))
        return [*made, *program.pushed]

    def _of_eris(self) -> Iterator[SourceEntry]:
        """Yield the commands with a prefix that a bot of eris registers."""
        for name, given, at, owner in self._program.calls:
            is_top = name == "registerCommand"
            if not (is_top or name == "registerSubcommand") or not given or given[0] is None:
                continue
            if "eris" not in self._program.packages or isinstance(given[0], ObjectValue):
                continue
            above = "" if is_top else fields_of(owner).get("name")
            if isinstance(above, str):
                about = ObjectValue({"name": given[0], **fields_of(given[-1])}, at)
                yield from self.documents.prefix(about, above)
            else:
                self.documents.skip(handlers.PARENT, at, given[0])


def _below(listed: Value) -> tuple[list[ObjectValue], bool]:
    """Return the sub-commands that a list of Sapphire names, and whether these are all."""
    parts = [] if listed is None else as_list(listed)
    known = [part for part in parts if isinstance(part, ObjectValue)]
    return [part for part in known if part.get("type") != "group"], len(known) == len(parts)


def _kinds(found: Iterable[_Found]) -> dict[PurePosixPath | None, str]:
    """Return the kind of the commands in each folder, and of all; empty if there are several."""
    kinds: dict[PurePosixPath | None, set[str]] = defaultdict(set)
    for each in found:
        for folder in (each.path.parent, None):
            kinds[folder] |= {each.kind} - {""}
    return {folder: "".join(of) if len(of) == 1 else "" for folder, of in kinds.items()}


def _beside(found: Iterable[_Found]) -> dict[Computed, str]:
    """Return the objects that may be sub-commands of a command that is beside their folder."""
    own = [each for each in found if isinstance(each.name, str)]
    parents = {each.path.with_suffix(""): each for each in own}
    parents |= {each.path.parent: each for each in own if each.path.stem == "index"}
    return {
        each.at: f"it may be a sub-command of {above.name!r}, as its folder says"
        for each in own
        if (above := parents.get(each.path.parent))
        and above.at != each.at
        and above.name == each.path.parent.name
        and not isinstance(each.data, Builder)
    }


def _of_folders(found: Iterable[_Found], made: Iterable[Value]) -> dict[Computed, str]:
    """Return the objects that may be sub-commands of their folder.

    So it is where the code gives the sub-commands of a command computed names. The command has the
    name of the folder, or a computed one that says so.
    """
    parents = [
        part for part in made if isinstance(part, ObjectValue) and has_open_sub_commands(part)
    ]
    below: dict[Computed, str] = {}
    for each in (each for each in found if not isinstance(each.data, Builder)):
        for parent in (parent for parent in parents if parent.at != each.at):
            if parent.get("name") == each.path.parent.name or _is_by_folder(parent, each):
                reason = f"it may be a sub-command of its folder: {parent.at.place} makes these"
                below.setdefault(each.at, reason)
    return below


def _is_by_folder(parent: ObjectValue, each: _Found) -> bool:
    """Whether the code names a command by a folder, and another one is in a folder of commands."""
    name = parent.get("name")
    is_by_folder = isinstance(name, Computed) and _FOLDER.search(name.text) is not None
    return is_by_folder and BELOW.search(each.path.parent.as_posix()) is not None


def _of_one_name(found: Iterable[_Found]) -> dict[Computed, str]:
    """Return the different commands of one name in several folders: they may be sub-commands."""
    by_name: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    for each in found:
        if isinstance(each.name, str) and not isinstance(each.data, Builder):
            by_name[each.name, each.kind].append(each)
    return {
        each.at: f"several folders have a command {name!r}: is it a sub-command of its folder?"
        for (name, _), same in by_name.items()
        for each in same
        if len({other.path.parent for other in same}) > 1
        and len({str(fields_of(other.data).get("description")) for other in same}) > 1
    }
