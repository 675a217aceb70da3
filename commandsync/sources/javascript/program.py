"""The statements of a bot's files, followed as far as they are certain; nothing is run."""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Sequence

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.files import read_bytes
from commandsync.sources.javascript.builders import fields_of
from commandsync.sources.javascript.expression import DECLARING, Expressions
from commandsync.sources.javascript.parsedfile import Node, ParsedFile, field, parse, parts
from commandsync.sources.javascript.value import Computed, Function, Record, Scope, Value

SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_DEEPEST = 40  # expressions around the import of a file
_NAMED = re.compile(r"(abstract_class|class|(generator_)?function)_declaration")
_STATEMENT = re.compile(r".*_(statement|clause|body|case|default|declaration|block)")
_RETURNING = {"return_statement", "statement_block", "try_statement"}
_MEMBERS = {"object_pattern", "named_imports", "export_clause"}
_NAME = re.compile(r"[\w$]+")


class Program(Expressions):
    """The files of a bot, each followed when it is first needed."""

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__()
        self._paths = frozenset(paths)
        self._parsed: dict[str, ParsedFile | Notice] = {}
        self._exports: dict[str, Value] = {}
        self._fields: dict[Node, Record] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        self.classes: list[Function] = []

    def parsed(self, path: str, data: bytes | None = None) -> ParsedFile | Notice:
        """Return what a file contains, or why it cannot be read."""
        if path not in self._parsed:
            try:
                self._parsed[path] = parse(path, read_bytes(path) if data is None else data)
            except FileError as error:
                self._parsed[path] = Notice(error.message, error.hint, Location(path))
        return self._parsed[path]

    def module(self, source: Value, at: Computed) -> Value:
        """Return what another file of the bot exports."""
        name = source if isinstance(source, str) and source[:1] == "." else "/"
        folder = posixpath.dirname(at.scope.file.path)
        path = posixpath.normpath(posixpath.join(folder, name))
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SUFFIXES))
        found = next((each for each in names if each in self._paths), None)
        file = self.parsed(found) if found and self.depth < _DEEPEST else None
        return self.exports(file) if isinstance(file, ParsedFile) else at

    def exports(self, file: ParsedFile) -> Value:
        """Follow the statements of a file, once, and return what it exports."""
        if file.path not in self._exports:
            scope = Scope(file, ChainMap())
            exported = self._exports[file.path] = Record({}, Computed(file.tree, scope))
            scope.names["exports"] = exported
            scope.names["module"] = module = Record({"exports": exported}, exported.at)
            outside, self.level = self.level, 0
            self._follow(parts(file.tree), scope)
            for owner in self.classes[:]:
                self.fields(owner)
            self.level = outside
            self._exports[file.path] = module["exports"]
        return self._exports[file.path]

    def finish(self) -> None:
        """Follow the functions that may declare commands, and that nothing has called."""
        while self._waiting:
            self.call(self._waiting.popitem()[1], [])

    def _follow(self, nodes: Sequence[Node], scope: Scope) -> Value:
        """Follow statements, and return what they return; None if they do not."""
        result = None
        for node in nodes:
            if _NAMED.fullmatch((declared := _declared(node)).type):
                scope.names[scope.text(declared, "name")] = self._on_class(declared, scope)
        last = [node for node in nodes if parts(node) and parts(node)[0].type == "export_clause"]
        for node in (*nodes, *last):
            returned = self.value(node, scope) if _STATEMENT.fullmatch(node.type) else None
            if returned is not None:
                if node.type in _RETURNING and result is None:
                    return returned
                result = Computed(node, scope)
        return result

    def other(self, node: Node, scope: Scope) -> Value:
        """Follow what is inside of any other statement."""
        if not _STATEMENT.fullmatch(node.type):
            return super().other(node, scope)
        if _NAMED.fullmatch(node.type):
            return None
        bound = field(node, "left", "initializer", "parameter")
        names = dict.fromkeys(_NAME.findall(scope.text(bound)), Computed(node, scope))
        inner = [part for part in parts(node) if part != bound]
        return self.uncertain(lambda: self._follow(inner, scope.inner(**names)))

    def _on_statement_block(self, node: Node, scope: Scope) -> Value:
        return self._follow(parts(node), scope.inner())

    _on_try_statement = _on_finally_clause = _on_statement_block

    def _on_return_statement(self, node: Node, scope: Scope) -> Value:
        return self.value(next(iter(parts(node)), None), scope)

    def _on_expression_statement(self, node: Node, scope: Scope) -> None:
        self.value(parts(node)[0], scope)

    def _on_lexical_declaration(self, node: Node, scope: Scope) -> None:
        for part in parts(node):
            self._bind(part.child_by_field_name("name"), self.value(part, scope, "value"), scope)

    _on_variable_declaration = _on_lexical_declaration

    def _on_import_statement(self, node: Node, scope: Scope) -> None:
        module = self.module(scope.text(node, "source")[1:-1], Computed(node, scope))
        for part in parts(parts(node)[0]):
            value = module
            if part.type == "identifier":
                default = module if isinstance(module, Record) else Computed(part, scope)
                value = self.member(module, "default", default)
            self._bind(parts(part)[0] if part.type == "namespace_import" else part, value, scope)

    def _on_export_statement(self, node: Node, scope: Scope) -> None:
        exported, declared, first = scope.names["exports"], _declared(node), parts(node)[0]
        tokens = {child.type for child in node.children}
        if field(node, "value"):
            exported["default"] = self.value(node, scope, "value")
        elif declared is not node:
            self.value(declared, scope)
            named = [declared] if _NAMED.fullmatch(declared.type) else parts(declared)
            for name in (scope.text(part, "name") for part in named):
                exported["default" if "default" in tokens else name] = scope.names.get(name)
        elif first.type == "export_clause":
            source = scope.text(node, "source")[1:-1]
            origin = self.module(source, Computed(node, scope)) if source else scope.names
            self._bind(first, origin, Scope(scope.file, ChainMap(exported)))
        elif "=" in tokens:
            scope.names["module"]["exports"] = self.value(first, scope)

    def _bind(self, pattern: Node | None, value: Value, scope: Scope) -> None:
        """Give the names of a pattern, or of the members that a file imports, their values."""
        pattern = field(pattern, "pattern", "left") or pattern  # with a type, or with a default
        if pattern is None:
            return
        if pattern.type in _MEMBERS:
            for part in parts(pattern):
                key = field(part, "key", "left", "name") or part
                inner = self.member(value, scope.text(key), Computed(key, scope))
                self._bind(field(part, "value", "alias", "name") or part, inner, scope)
        elif pattern.type.endswith(("identifier", "identifier_pattern", "default")):
            scope.names[scope.text(pattern)] = value
        else:
            names = _NAME.findall(scope.text(pattern))
            scope.names.update(dict.fromkeys(names, Computed(pattern, scope)))

    def call(self, function: Function, given: list[Value]) -> Value:
        """Return what a function of the bot returns for some values."""
        node, scope = function.node, function.scope.inner()
        unknown = Computed(node, scope)
        self._waiting.pop(node, None)
        if node in self._running:
            return unknown
        self._running.add(node)
        one = field(node, "parameter")
        names = [one] if one else parts(field(node, "parameters"))
        for number, name in enumerate(names):
            self._bind(name, given[number] if number < len(given) else unknown, scope)
        result = self.value(node, scope, "body")
        self._running.remove(node)
        return unknown if result is None else result

    def _on_arrow_function(self, node: Node, scope: Scope) -> Function:
        function = Function(node, scope)
        if DECLARING.search(function.text):
            self._waiting[node] = function
        return function

    _on_function_expression = _on_generator_function = _on_arrow_function

    def _on_class(self, node: Node, scope: Scope) -> Function:
        if "class" not in node.type:
            return self._on_arrow_function(node, scope)
        self.classes.append(Function(node, scope))
        return self.classes[-1]

    def fields(self, owner: Function) -> Record:
        """Return what the objects of a class have: fields, methods, and what `super` is given."""
        node = owner.node
        if node not in self._fields:
            found = self._fields[node] = Record({}, owner)
            scope = owner.scope.inner(this=found)
            for part in (*parts(node.parent), *parts(node)):
                if part.type in {"class_heritage", "decorator"}:
                    found.update(fields_of(self.value(part, scope)))
            self.add_members(found, parts(field(node, "body")), scope)
            constructor = found.pop("constructor", None)
            if isinstance(constructor, Function):
                self.call(constructor, [])
        return self._fields[node]

    def _on_class_heritage(self, node: Node, scope: Scope) -> Value:
        base = self.value(parts(node)[0], scope)
        return self.fields(base) if isinstance(base, Function) else base

    _on_extends_clause = _on_class_heritage

    def _on_decorator(self, node: Node, scope: Scope) -> Value:
        given = self._arguments(parts(node)[0], scope)
        return Record(dict(ChainMap(*map(fields_of, given))), Computed(node, scope))


def _declared(node: Node) -> Node:
    return node.child_by_field_name("declaration") or node
