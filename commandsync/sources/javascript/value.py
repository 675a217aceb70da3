"""A JavaScript or TypeScript file, parsed by tree-sitter, and the values that its code states.

A value is text, a number, a list, an object (`ObjectValue`), a function or class (`Function`), or
only a run can tell it (`Computed`). A `Builder` is an object that gets its members by method calls.
An import from a package, or from a file that is not found, is an `ImportedValue`: its module and
its name there tell whose it is, whatever the file calls it. So a class, a function or a decorator
is known (`is_known`), and a builder is recognised (`builder_of`).
"""

import re
from codecs import BOM_UTF8
from collections import ChainMap
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from tree_sitter import Language, Node, Parser
from tree_sitter_javascript import language as javascript
from tree_sitter_typescript import language_typescript as typescript

from commandsync.diagnostics import Location
from commandsync.errors import FileError
from commandsync.sources.entry import as_list
from commandsync.sources.objects import spelled_key
from commandsync.sources.sourcefile import NOT_IMPORTED

__all__ = ["Node", "ScriptFile", "field", "parse", "parts"]

MOST_BYTES = 512 * 1024
"""Of a file that is read: a larger one was generated, or is data."""

_TYPED = (".ts", ".mts", ".cts")
_TYPE_ARGUMENTS = re.compile(rb"(?<=[\w)])<[\w\s.,|&\[\]{}:;'\"?]*(?:<[^<>`]*>[^<>`]*)*>(?=`)")
_BRACKET = re.compile(rb"[\[({\])}]")
_MOST_NESTED = 1000  # brackets; the parser needs a part of the stack for each
_MOST_STEPS = 45_000  # of the parser, more than valid code needs: it repairs other code slowly


@dataclass(frozen=True, slots=True, eq=False)
class ScriptFile:
    """A file that was read."""

    path: str  # the file, with `/` between folders
    data: bytes
    tree: Node
    error: Node | None = None  # the first part that the parser cannot read

    def place(self, node: Node) -> Location:
        """Return where a node begins."""
        line, column = node.start_point
        before = self.data[node.start_byte - column : node.start_byte]
        return Location(self.path, line + 1, len(before.decode(errors="replace")) + 1)


def parse(path: str, data: bytes) -> ScriptFile:
    """Parse a file, around the parts that the parser cannot read; `FileError` if it cannot.

    The grammar has no type arguments of a tagged template, as in sql<Row>`...`: they are blanked.
    """
    data = data.removeprefix(BOM_UTF8)
    if problem := _problem(data):
        raise FileError(f"the file {problem}", hint=NOT_IMPORTED)
    grammar = typescript if path.endswith(_TYPED) else javascript
    tree = _tree(data, Language(grammar()))
    plain = data
    if tree.has_error:
        plain = _TYPE_ARGUMENTS.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), data)
    if plain != data:
        data, tree = plain, _tree(plain, Language(grammar()))
    error = tree if tree.has_error else None
    while error and not error.is_error:
        inner = [part for part in error.children if part.has_error]
        if not inner:
            break
        error = inner[0]
    return ScriptFile(path, data, tree, error)


def _tree(data: bytes, language: Language) -> Node:
    steps = count(-_MOST_STEPS)
    try:
        parser = Parser(language)
        return parser.parse(
            lambda at, _: data[at:], progress_callback=lambda *_: next(steps) > 0
        ).root_node
    except ValueError:  # the callback has ended it
        raise FileError("the file is too complex to be parsed", hint=NOT_IMPORTED) from None


def _problem(data: bytes) -> str:
    """Return why a file is not parsed: it may need more time, or more stack, than there is."""
    if len(data) > MOST_BYTES:
        return f"is larger than {MOST_BYTES // 1024} KiB"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "is not UTF-8"
    if sum(map(data.count, (b"[", b"(", b"{"))) <= _MOST_NESTED:
        return ""
    depth = 0
    for bracket in _BRACKET.findall(data):
        depth = depth + 1 if bracket in b"[({" else max(depth - 1, 0)
        if depth > _MOST_NESTED:
            return "is nested too deeply"
    return ""


def is_broken(node: Node) -> bool:
    """Whether the parser met an error in a node; one in a function of it says nothing of it."""
    if node.is_error or node.is_missing:
        return True
    inner = (part for part in node.children if part.has_error and part.type != "statement_block")
    return any(map(is_broken, inner))


_AROUND = {"program", "statement_block", "array", "class_body"}


def whole_of(node: Node) -> Node:
    """Return the statement, or the member of a list or a class, that a node is a part of."""
    while node.parent and node.parent.type not in _AROUND:
        node = node.parent
    return node


def parts(node: Node | None) -> list[Node]:
    """Return the parts of a node without its comments."""
    inner = node.named_children if node else []
    return [part for part in inner if part.type != "comment"]


def first_part(node: Node | None) -> Node | None:
    """Return the first part of a node; None without one."""
    return next(iter(parts(node)), None)


def last_part(node: Node | None) -> Node | None:
    """Return the last part of a node; None without one."""
    return next(iter(reversed(parts(node))), None)


def field(node: Node | None, *names: str) -> Node | None:
    """Return the first of some fields that a node has."""
    if node is not None:
        for name in names:
            if (found := node.child_by_field_name(name)) is not None:
                return found
    return None


REST = "..."  # the key of further members of an object that only a run can tell
Value: TypeAlias = Any
"""Text, a number, a boolean, None, a list, a `ObjectValue`, a `Function` or `Computed`."""

_ADDED = re.compile(r"add(Subcommand(?:Group)?|\w+(?=Option))(?:Option)?s?")
_OTHER = re.compile(r"add(ChannelTypes|Contexts|IntegrationTypes)|toJSON")


@dataclass(frozen=True, slots=True)
class BlockScope:
    """The names of a block and of those around it, in a file."""

    file: ScriptFile
    names: ChainMap[str, Value]

    def text(self, node: Node | None, of: str = "") -> str:
        """Return the text of a node, or of one of its fields; empty without it."""
        part = node.child_by_field_name(of) if node is not None and of else node
        return self.file.data[part.start_byte : part.end_byte].decode() if part is not None else ""

    def inner(self, **names: Value) -> "BlockScope":
        """Return a scope inside of this one."""
        return BlockScope(self.file, self.names.new_child(names))


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """A value that only a run of the code can tell."""

    node: Node
    scope: BlockScope

    @property
    def place(self) -> Location:
        """Where it begins."""
        return self.scope.file.place(self.node)

    @property
    def text(self) -> str:
        """How it is written."""
        return self.scope.text(self.node)


class Function(Computed):
    """A function, a method or a class."""


@dataclass(frozen=True, slots=True, eq=False)
class ImportedValue(Computed):
    """A part of a package, or of a file that is not found; an instance of it ends in `()`."""

    module: str  # the package, or the file as the code names it
    name: str = ""  # the path of its members there; empty for the whole module
    is_file: bool = False  # whether it is the bot's own, and not found

    def member(self, key: str, node: Node, scope: BlockScope) -> "ImportedValue":
        """Return a member of it, which is used at a node."""
        above = self.name.removeprefix("default").removeprefix(".")
        path = f"{above}.{key}" if above else key
        return ImportedValue(node, scope, self.module, path, self.is_file)

    def is_of(self, *packages: str) -> bool:
        """Whether it is from one of some packages; a name that ends in `/` is a scope of them."""
        return not self.is_file and any(
            self.module == package or self.module.startswith(f"{package.removesuffix('/')}/")
            for package in packages
        )


class MissingText(Computed):
    """A text whose key the texts of the bot do not have."""


class ObjectValue(dict[str, Value]):
    """An object."""

    def __init__(self, fields: dict[str, Value], at: Computed, level: int = 0) -> None:
        super().__init__(fields)
        self.at = at
        self.level = level  # how many conditions there are around it
        self.bases: list[Computed] = []  # the classes that its own extends, the nearest first
        self.kind = ""  # the type that TypeScript declares for it


class Builder(ObjectValue):
    """The command that a builder has built so far."""

    def apply(self, method: str, given: list[Value], at: Computed) -> None:
        """Apply a call of a method; the members of lists are given one by one."""
        key, added = spelled_key(method[3:]), _ADDED.fullmatch(method)
        first, second = [*given, at, at][:2]
        if added:
            options = [_option(each, added[1], at) for each in given]
            self["options"] = [*as_list(self.get("options", [])), *options]
        elif key == "choices":
            before = as_list(self.get(key, [])) if method.startswith("add") else []
            self[key] = [*before, *(_choice(each, at) for each in given)]
        elif key.endswith("localization"):
            texts = fields_of(self.get(f"{key}s"))
            self[f"{key}s"] = ObjectValue({**texts, str(first): second}, at)
        elif method.startswith("set"):
            self[key] = given if given[1:] else first
        elif not _OTHER.fullmatch(method):
            self[REST] = at


def _option(value: Value, kind: str, at: Computed) -> ObjectValue:
    """Return an option with its type."""
    option = value if isinstance(value, ObjectValue) else ObjectValue({REST: value}, at)
    option["type"] = kind
    return option


def _choice(value: Value, at: Computed) -> Value:
    """Return a choice, which older versions have as a pair."""
    match value:
        case [str() as name, (str() | int()) as chosen]:
            return ObjectValue({"name": name, "value": chosen}, at)
        case _:
            return value


def fields_of(value: Value) -> dict[str, Value]:
    """Return the members of an object; none of any other value."""
    return value if isinstance(value, ObjectValue) else {}


_BUILDER = re.compile(
    r"(?:\w+\.)*(?:SlashCommand|ChatInputCommand|(User|Message)?Context(?:Menu)?Command)"
    r"(Subcommand(?:Group)?|\w+(?=Option))?(?:Option)?(?:Builder)?"
)
_OF_BUILDERS = ("discord.js", "@discordjs/", "@sapphire/")
_KNOWN = (  # packages whose classes, functions and decorators are known, or declare no command
    *(*_OF_BUILDERS, "discordx", "necord", "@discord-nestjs/", "@nestjs/", "@skyra/", "seyfert"),
    *("slash-create", "eris", "oceanic.js", "commandkit", "telegraf", "grammy", "@grammyjs/"),
    *("node", "events", "node:events"),
)


def is_known(value: Value) -> bool:
    """Whether a class, a function or a decorator is a library's that is known."""
    return isinstance(value, ImportedValue) and value.is_of(*_KNOWN)


def builder_of(value: Value) -> re.Match[str] | None:
    """Return the parts of the name of a builder; None for any other class."""
    if isinstance(value, ImportedValue):
        return _BUILDER.fullmatch(value.name) if value.is_of(*_OF_BUILDERS) else None
    is_class = isinstance(value, Function) or not isinstance(value, Computed)
    return None if is_class else _BUILDER.fullmatch(value.text)


def short(text: str) -> str:
    """Return the name of a function or a class, as a message has it."""
    return repr(text.partition("(")[0].partition("\n")[0][:60])
