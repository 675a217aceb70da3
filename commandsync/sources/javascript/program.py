"""A bot's program: its files, its calls, and the commands that calls register or are given.

The statements of the files are followed as far as they are certain; nothing is run. `Program`
completes the table of `expression`, to which `function` adds functions, classes and objects.

A file is followed when it is first needed: its imports, then its statements. An import may name a
file by an alias: `paths` and `baseUrl` of tsconfig.json, `imports` and `_moduleAliases` of
package.json, in the folder of the code or in a folder above it.

A call of a function of the bot is followed. Methods of builders, lists and objects are known. Any
other function is a library's, or is not found: it may call the functions that it is given, it
registers commands if it is one that does, and it may wrap the object that it is given.
"""

import json
import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import as_list
from commandsync.sources.javascript.expression import member
from commandsync.sources.javascript.function import Functions
from commandsync.sources.javascript.value import (
    MOST_BYTES,
    REST,
    BlockScope,
    Builder,
    Computed,
    Function,
    ImportedValue,
    MissingText,
    Node,
    ObjectValue,
    ScriptFile,
    Value,
    builder_of,
    field,
    fields_of,
    first_part,
    is_known,
    last_part,
    parse,
    parts,
    short,
)
from commandsync.sources.sourcefile import SCRIPTS, parsed, read_bytes

_DEEPEST = 40  # expressions around the import of a file
_PACKAGE = re.compile(  # in the name of a module of Deno, or of the registry of JavaScript
    r"(?:npm:|jsr:|https://(?:deno\.land/x|esm\.sh|cdn\.skypack\.dev|lib\.deno\.dev/x)/)"
    r"(@?[^@]+?)(?:@[^/]*)?(?:/.*)?"
)
_OF_FILE = re.compile(r"[./#~]|@/|src/")  # in the name of a module
_MAKER = re.compile("command", re.IGNORECASE)
_KEEPING = re.compile(  # names of functions that do not change a builder
    r".*command.*|(set|push|put|create|add|log|stringify|(define|register|deploy)\w*)",
    re.IGNORECASE,
)
_TO_REGISTRY = re.compile(r"[rR]egister(ChatInput|ContextMenu)?Command")  # of Sapphire
_REGISTERING = re.compile(
    r"(create|set|put|edit|add|update|upsert|overwrite|bulk|install|register|deploy|publish|sync"
    r"|upload)\w*commands?",
    re.IGNORECASE,
)
_SENDING = {"put", "post", "fetch", "request"}
_SENT = re.compile(r"commands", re.IGNORECASE)  # in the address of a request
_COMMANDS = re.compile(r"\bcommands\s*\??\.\s*(set|create)\s*\(")
_OPTION = re.compile(r"create(\w+)Option")  # of Seyfert
_OF_ERIS = {"registerCommand", "registerSubcommand"}
_OF_LISTS = {"push", "map", "forEach", "concat"}
_WHOLE = {"freeze", "stringify", "from", "structuredClone", "values", "assign"}
_UNKNOWN_PART = "a part of the list of commands is not followed"


_Aliases = list[tuple[str, str]]
"""The beginning of a name, with `*` for its rest, and the path that it stands for."""


class FunctionCall(NamedTuple):
    """A call of a function that is not the bot's, or is not found."""

    name: str
    given: list[Value]
    at: Computed
    owner: Value = None  # of the method; None for a function


class Program(Functions):
    """The files of a bot, each followed when it is first needed."""

    def __init__(self, paths: Iterable[str], texts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.table |= {
            "call_expression": self._call,
            "new_expression": self._made,
            "import_statement": self._import,
            "export_statement": self._export,
        }
        self._paths = frozenset(paths)
        self._texts = texts
        self._aliases = _aliases_of(min(self._paths, default="."))
        self._exports: dict[str, Value] = {}
        self._contents: dict[str, bytes] = {}  # of files that are not followed yet
        self.files: list[ScriptFile] = []
        self.scopes: dict[str, BlockScope] = {}  # the names of each file
        self.packages: set[str] = set()  # that the files import
        self.calls: list[FunctionCall] = []
        self.chained: set[int] = set()  # the calls of builders that are followed, by their nodes
        # Commands, with the arguments beside them.
        self.registered: list[tuple[Value, ObjectValue]] = []
        self.pushed: list[ObjectValue] = []  # objects that lists got
        self.handlers: list[ObjectValue] = []  # objects that calls about commands are given

    def keep(self, searched: Iterable[tuple[str, bytes | None]]) -> list[str]:
        """Return the paths of files, and keep their contents until they are followed.

        A content that is too large to be followed is not kept.
        """
        paths = []
        for path, data in searched:
            paths.append(path)
            if data is not None and len(data) <= MOST_BYTES:
                self._contents[path] = data
        return paths

    @property
    def errors(self) -> list[Location]:
        """Where the parser could not read a part of a file."""
        return [file.place(file.error) for file in self.files if file.error]

    def text_of(self, key: str) -> str | None:
        """Return the text of the bot with this key; None without one."""
        return (self._texts or {}).get(key)

    # Its files: what they import and export

    def exports(self, path: str) -> Value:
        """Follow the statements of a file, once, and return its exports, or why it has none."""
        data = self._contents.pop(path, None)
        file = None if path in self._exports else parsed(path, parse, data)
        self._exports.setdefault(path, file)
        if isinstance(file, ScriptFile):
            self.files.append(file)
            scope = self.scopes[path] = BlockScope(file, ChainMap())
            exported = self._exports[path] = ObjectValue({}, Computed(file.tree, scope))
            module = ObjectValue({"exports": exported}, exported.at)
            scope.names.update(exports=exported, module=module)
            outside, self.level = (self.level, self.current), 0
            self.current = path
            self.follow(parts(file.tree), scope)
            for owner in [owner for owner in self.classes if owner.scope.file is file]:
                self.fields(owner)
            self.level, self.current = outside
            self._exports[path] = module["exports"]
        return self._exports[path]

    def _module(self, source: Value, at: Computed) -> Value:
        """Return the exports of another file of the bot, or the package that is imported."""
        if not isinstance(source, str) or not source:
            return at
        if package := _PACKAGE.fullmatch(source):
            source = package[1]
        aliases = _aliased(source, self._aliases)
        if source[0] == ".":
            near = posixpath.join(at.scope.file.path, "..", source)
            aliases = [(".", posixpath.normpath(near))]
        files = (self._file(path) for _, path in aliases if self.depth < _DEEPEST)
        exported = next((self.exports(file) for file in files if file), None)
        if isinstance(exported, Notice) or exported is None:
            return self._not_followed(source, aliases, at)
        return exported

    def _not_followed(self, source: str, aliases: _Aliases, at: Computed) -> ImportedValue:
        """Return a module that is a package, or a file that is not found."""
        is_file = {alias for alias, _ in aliases} - {"*"} or _OF_FILE.match(source)
        self.packages |= set() if is_file else {source}
        return ImportedValue(at.node, at.scope, source, "", bool(is_file))

    def _file(self, path: str) -> str | None:
        """Return the file of the bot that an import means by a path; None without one."""
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SCRIPTS))
        return next((name for name in names if name in self._paths), None)

    def _import(self, node: Node, scope: BlockScope) -> None:
        """Give the names that a file imports their values."""
        module = self._module(scope.text(node, "source")[1:-1], Computed(node, scope))
        for part in parts(first_part(node)):
            at = Computed(part, scope)
            if part.type == "import_require_clause":  # import name = require("...")
                module = self._module(scope.text(part, "source")[1:-1], at)
                self.bind(first_part(part), module, scope)
            else:
                is_default = part.type == "identifier"
                self.bind(part, member(module, "default", at) if is_default else module, scope)

    def _export(self, node: Node, scope: BlockScope) -> None:
        """Add a declaration to the exports of a file, or anything else."""
        exported, declared = fields_of(self._exports[scope.file.path]), field(node, "declaration")
        if declared:
            self.value(declared, scope)
            key = "default" if any(child.type == "default" for child in node.children) else ""
            for part in [declared] if field(declared, "name") else parts(declared):
                name = scope.text(part, "name")
                exported[key or name] = scope.names.get(name)
        elif first := first_part(node):
            self._export_from(first, node, exported, scope)

    def _export_from(
        self, first: Node, node: Node, exported: dict[str, Value], scope: BlockScope
    ) -> None:
        """Add names, or the exports of another file, to the exports of a file."""
        source = scope.text(node, "source")[1:-1]
        origin = self._module(source, Computed(node, scope)) if source else scope.names
        if first.type == "export_clause":
            self.bind(first, origin, BlockScope(scope.file, ChainMap(exported)))
        elif first.type == "namespace_export":
            exported[scope.text(first_part(first))] = origin
        elif source:
            exported.update(fields_of(origin) or {REST: origin})
        else:
            exported["default"] = self.value(last_part(node), scope)

    # Calls

    def _call(self, node: Node, scope: BlockScope) -> Value:
        """Return the result of a call."""
        function, at = field(node, "function"), Computed(node, scope)
        given = self.listed(field(node, "arguments"), scope)
        key = field(function, "property")
        name, owner = scope.text(key) or scope.text(function), None
        if name == "require" or (function and function.type == "import"):
            return self._module(next(iter(given), None), at)
        if function and key:
            owner = self.value(function, scope, "object")
            called = self.member_of(owner, function, scope)
        else:
            called = self.value(function, scope)
        if name == "super":
            self.extend(given, at)
            return at
        call = FunctionCall(name, given, at, owner)
        self._register(call, is_library=is_known(called))
        if isinstance(called, Function):
            return self.called_at(called, given, at, this=owner)
        return self._result(call, called)

    def _result(self, call: FunctionCall, called: Value) -> Value:
        """Return the result of a method of a value, or of a function that is not the bot's."""
        name, given, _, owner = call
        match owner:
            case Builder():
                self._build(owner, call)
                return owner
            case list() if name in _OF_LISTS and given:
                return self._of_list(owner, call)
            case ObjectValue() if name == "toJSON":
                return owner
        if name in _WHOLE and given and isinstance(given[0], (ObjectValue, list)):
            return _whole(name, given)
        result = self._unknown(call, called)
        return self._translated(given, result) if isinstance(result, Computed) else result

    def _translated(self, given: list[Value], computed: Computed) -> Value:
        """Return the text of the bot for a call with one literal, such as `t("ping.text")`."""
        literals = [value for value in given if isinstance(value, str)]
        if self._texts is None or len(literals) != 1:
            return computed
        return self._texts.get(literals[0], MissingText(computed.node, computed.scope))

    def _build(self, owner: Builder, call: FunctionCall) -> None:
        """Apply a method of a builder; a function that it is given gets a builder of its own."""
        self.chained.add(call.at.node.id)
        # All parts are known before one is called, which may add to the list that it is in.
        given = [part for argument in call.given for part in as_list(argument)]
        built = [
            self.called(part, [Builder({}, part, self.level)])
            if isinstance(part, Function)
            else part
            for part in given
        ]
        owner.apply(call.name if owner.level >= self.level else "", built, call.at)

    def _of_list(self, owner: list[Value], call: FunctionCall) -> Value:
        """Return the result of a method of a list; `push` adds to it."""
        first = call.given[0]
        match call.name:
            case "push":
                self.pushed += [part for part in call.given if isinstance(part, ObjectValue)]
                owner += [call.at] if self.level else call.given
            case "map":
                return [self.called(first, [part]) for part in owner]
            case "concat":
                return [*owner, *(part for each in call.given for part in as_list(each))]
            case _:
                for part in owner:
                    self.called(first, [part])
        return call.at

    def _made(self, node: Node, scope: BlockScope) -> Value:
        """Return the object that `new` makes."""
        called, at = self.value(node, scope, "constructor"), Computed(node, scope)
        given = self.listed(field(node, "arguments"), scope)
        if isinstance(called, Function) and "class" in called.node.type:
            return self.instance(called, given, at)
        match = builder_of(called)
        if match is None:
            call = FunctionCall(scope.text(node, "constructor"), given, at)
            return self._unknown(call, called, is_new=True)
        builder = Builder(fields_of(next(iter(given), None)), at, self.level)
        builder["type"] = match[1] or match[2] or "ChatInput"
        if not match[2]:
            self.built.append(builder)
        return builder

    def _unknown(self, call: FunctionCall, called: Value, *, is_new: bool = False) -> Value:
        """Return the result of a function that is not the bot's: the object that it is given."""
        name, given, at, _ = call
        self.calls.append(call)
        self.follow_given(given)
        first = next(filter(fields_of, given), None)
        if name in _OF_ERIS and given:
            return ObjectValue({"name": given[0], **fields_of(given[-1])}, at)
        if is_known(called) and (option := _OPTION.fullmatch(name)):
            return ObjectValue({**fields_of(first), "type": option[1]}, at)
        if isinstance(first, Builder) and not (_KEEPING.fullmatch(name) or is_new):
            first[REST] = at  # it may change the builder
        if first is not None and self._is_wrapped(first, name, called):
            return first
        return called.member("()", at.node, at.scope) if isinstance(called, ImportedValue) else at

    def _is_wrapped(self, given: ObjectValue, name: str, called: Value) -> bool:
        """Whether a function makes a command of an object; one that is not known may change it."""
        if isinstance(given, Builder):
            return True
        is_maker = _MAKER.search(name) is not None
        if is_known(called):
            return is_maker
        is_command = is_maker or {"name", "description"} <= {*given}
        if is_command:
            self.partly.append((given.at.place, f"{short(name)} is not followed"))
        return is_command

    # The commands that calls register or are given

    def _register(self, call: FunctionCall, *, is_library: bool) -> None:
        """Remember the commands that a call registers with Discord or with a framework."""
        name, given, at, _ = call
        if _TO_REGISTRY.fullmatch(name) and given and self._add_to_registry(given, at):
            return
        is_maker = _MAKER.search(name) and len(given) == 1 and not is_library
        for value in _sent(call, is_maker=bool(is_maker)):
            match value:
                case Builder():
                    pass  # it is known where it begins
                case ObjectValue() if _runs(value) and name != "put":
                    self.handlers.append(value)
                case ObjectValue() if "name" in value:
                    self.registered.append((value, value))
                case Computed() if value is not at:
                    self.partly.append((value.place, _UNKNOWN_PART))

    def _add_to_registry(self, given: list[Value], at: Computed) -> bool:
        """Remember a command that Sapphire registers, and return whether it is one."""
        command = self.called(given[0], [Builder({}, at, self.level)])
        if not isinstance(command, ObjectValue) or _runs(command):
            return False
        around = {**fields_of(at.scope.names.get("this")), **fields_of(given[-1])}
        self.registered.append((command, ObjectValue(around, at)))
        return True


def _sent(call: FunctionCall, *, is_maker: bool) -> Iterator[Value]:
    """Yield the values that a call about commands is given, one by one."""
    name, given, at, _ = call
    last = given[-1] if given else None
    if name == "put" or (name in _SENDING and _SENT.search(at.text)):
        yield from as_list(fields_of(last).get("body", fields_of(last).get("data", last)))
    elif name in {"set", "create"} and _COMMANDS.search(at.text):
        first = next(iter(given), None)
        if isinstance(first, str):  # of a map by names
            fields_of(last).setdefault("name", first)
        yield from as_list(last if isinstance(first, str) else first)
    elif is_maker or _REGISTERING.fullmatch(name):
        for value in given:
            yield from _described(value)


def _described(value: Value) -> Iterator[Value]:
    """Yield the objects of a value that may be commands, and the parts of a list that are open."""
    for part in as_list(value):
        if isinstance(part, ObjectValue):
            yield from [part] if {"name", "description"} & {*part} else []
        elif isinstance(value, list) and isinstance(part, Computed):
            yield part


def _whole(name: str, given: list[Value]) -> Value:
    """Return the result of a function of the language for an object or a list."""
    first, *others = given
    if name == "values" and isinstance(first, ObjectValue):
        return list(first.values())
    if name == "assign" and isinstance(first, ObjectValue):
        for each in others:
            first.update(each if isinstance(each, ObjectValue) else {REST: each})
    return first


def _runs(value: ObjectValue) -> bool:
    return any(isinstance(member, Function) for member in value.values())


_FILES = ("tsconfig.json", "jsconfig.json", "package.json")
_MOST_ABOVE = 6  # folders
_LARGEST = 256 * 1024  # bytes
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def _aliases_of(path: str) -> _Aliases:
    """Return the aliases for a file, from the nearest folders that have a configuration."""
    aliases: _Aliases = []
    for folder in [PurePosixPath(path), *PurePosixPath(path).parents][: _MOST_ABOVE + 1]:
        for name in _FILES:
            content = _content(f"{folder}/{name}")
            options = _object(content.get("compilerOptions"))
            base = posixpath.join(str(folder), str(options.get("baseUrl", ".")))
            for key, value in _object(options.get("paths")).items():
                aliases += _targets(key, value, base)
            if "baseUrl" in options:
                aliases.append(("*", f"{base}/*"))
            for key, value in _object(content.get("imports")).items():
                aliases += _targets(key, value, str(folder))
            for key, value in _object(content.get("_moduleAliases")).items():
                aliases += [*_targets(f"{key}/*", f"{value}/*", str(folder))]
    return aliases


def _aliased(name: str, aliases: _Aliases) -> list[tuple[str, str]]:
    """Return the aliases that fit the name of a module, with the path that each means."""
    paths = []
    for alias, target in aliases:
        start, star, end = alias.partition("*")
        if star and name.startswith(start) and name.endswith(end):
            rest = name[len(start) : len(name) - len(end)]
            paths.append((alias, posixpath.normpath(target.replace("*", rest))))
        elif name == alias:
            paths.append((alias, posixpath.normpath(target)))
    return paths


def _targets(alias: str, value: object, base: str) -> _Aliases:
    values = value if isinstance(value, list) else [value]
    if isinstance(value, dict):  # the conditions of package.json
        values = list(value.values())
    return [(alias, posixpath.join(base, part)) for part in values if isinstance(part, str)]


def _content(path: str) -> dict[str, Any]:
    """Return a configuration, which may have comments; empty if it cannot be read."""
    try:
        text = read_bytes(path, most=_LARGEST).decode()
        return _object(json.loads(_COMMENT.sub(lambda part: part[1] or "", text)))
    except (FileError, ValueError, RecursionError):
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
