"""The statements of a bot's files, followed as far as they are certain; nothing is run."""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Sequence

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.code import NOT_IMPORTED
from commandsync.sources.files import read_bytes
from commandsync.sources.javascript.expression import DECLARING, Expressions
from commandsync.sources.javascript.parsedfile import Node, ParsedFile, parse, parts
from commandsync.sources.javascript.value import (
    Computed,
    Function,
    Record,
    Scope,
    Value,
    Written,
    member,
)

SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_MOST_STEPS = 50_000  # for one file
_DEEPEST = 40  # expressions around the import of a file
_NAMED = re.compile(r"(abstract_class|class|(generator_)?function)_declaration")
_STATEMENT = re.compile(r".*_(statement|clause|body|case|default|declaration|block)")
_RETURNING = {"return_statement", "statement_block", "try_statement"}
_NAME = re.compile(r"[\w$]+")


class Program(Expressions):
    """The files of a bot, each followed when it is first needed."""

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__()
        self._paths = frozenset(paths)
        self._parsed: dict[str, ParsedFile | Notice] = {}
        self._exports: dict[str, Value] = {}
        self._left: dict[str, int] = {}  # steps
        self._fields: dict[Node, Record] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        self.classes: list[Function] = []
        self.notes: list[Notice] = []

    def parsed(self, path: str, data: bytes | None = None) -> ParsedFile | Notice:
        """Return what a file contains, or why it cannot be read."""
        if path not in self._parsed:
            try:
                self._parsed[path] = parse(path, read_bytes(path) if data is None else data)
            except FileError as error:
                self._parsed[path] = Notice(error.message, error.hint, Location(path))
        return self._parsed[path]

    def module(self, source: Value, at: Written) -> Value:
        """Return what another file of the bot exports."""
        name = source if isinstance(source, str) and source[:1] == "." else "/"
        folder = posixpath.dirname(at.scope.file.path)
        path = posixpath.normpath(posixpath.join(folder, name))
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SUFFIXES))
        found = next((each for each in names if each in self._paths), None)
        file = self.parsed(found) if found and self.depth < _DEEPEST else None
        return self.exports(file) if isinstance(file, ParsedFile) else Computed(at.node, at.scope)

    def exports(self, file: ParsedFile) -> Value:
        """Follow the statements of a file, once, and return what it exports."""
        if file.path not in self._exports:
            scope = Scope(file, ChainMap())
            exported = self._exports[file.path] = Record({}, Written(file.tree, scope))
            scope.names["exports"] = exported
            scope.names["module"] = module = Record({"exports": exported}, exported.at)
            outside = self.left, self.level, self.is_cut
            self.left, self.level, self.is_cut = _MOST_STEPS, 0, False
            self._follow(parts(file.tree), scope)
            for owner in self.classes[:]:
                self.fields(owner)
            self._check(file)
            self.left, self.level, self.is_cut = outside
            self._exports[file.path] = module["exports"]
        return self._exports[file.path]

    def _check(self, file: ParsedFile) -> None:
        self._left[file.path] = self.left
        if self.is_cut:
            message = "the file is too complex to be read in full"
            self.notes.append(Notice(message, NOT_IMPORTED, Location(file.path)))

    def finish(self) -> None:
        """Follow the functions that may declare commands, and that nothing has called."""
        while self._waiting:
            function = self._waiting.popitem()[1]
            file, self.is_cut = function.scope.file, False
            self.left = self._left.get(file.path, _MOST_STEPS)
            self.call(function, [])
            self._check(file)

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
        fields = map(node.child_by_field_name, ("left", "initializer", "parameter"))
        bound = next(filter(None, fields), None)
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
        module = self.module(scope.text(node, "source")[1:-1], Written(node, scope))
        for part in parts(parts(node)[0]):
            if part.type == "identifier":
                default = module if isinstance(module, Record) else Computed(part, scope)
                scope.names[scope.text(part)] = member(module, "default", default)
            elif part.type == "namespace_import":
                scope.names[scope.text(parts(part)[0])] = module
            else:
                self._bind_members(part, module, scope, scope.names)

    def _on_export_statement(self, node: Node, scope: Scope) -> None:
        exported, declared, first = scope.names["exports"], _declared(node), parts(node)[0]
        tokens = {child.type for child in node.children}
        if node.child_by_field_name("value"):
            exported["default"] = self.value(node, scope, "value")
        elif declared is not node:
            self.value(declared, scope)
            named = [declared] if _NAMED.fullmatch(declared.type) else parts(declared)
            for name in (scope.text(part, "name") for part in named):
                exported["default" if "default" in tokens else name] = scope.names.get(name)
        elif first.type == "export_clause":
            source = scope.text(node, "source")[1:-1]
            origin = self.module(source, Written(node, scope)) if source else scope.names
            self._bind_members(first, origin, scope, exported)
        elif "=" in tokens:
            scope.names["module"]["exports"] = self.value(first, scope)

    def _bind_members(self, node: Node, origin: Value, scope: Scope, names: Value) -> None:
        for part in parts(node):
            name, alias = scope.text(part, "name"), scope.text(part, "alias")
            at = Computed(part.child_by_field_name("name") or part, scope)
            names[alias or name] = member(origin, name, at)

    def _bind(self, pattern: Node | None, value: Value, scope: Scope) -> None:
        """Give the names of a pattern their values."""
        if pattern is None:
            return
        for of in ("pattern", "left"):  # of a parameter with a type, or with a default
            pattern = pattern.child_by_field_name(of) or pattern
        if pattern.type == "object_pattern":
            for part in parts(pattern):
                key = part.child_by_field_name("key") or part.child_by_field_name("left") or part
                inner = member(value, scope.text(key), Computed(key, scope))
                self._bind(part.child_by_field_name("value") or part, inner, scope)
        elif pattern.type.endswith(("identifier", "identifier_pattern")):
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
        one = node.child_by_field_name("parameter")
        names = [one] if one else parts(node.child_by_field_name("parameters"))
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
                self._extend(found, part, scope)
            for part in parts(node.child_by_field_name("body")):
                is_method = part.type == "method_definition"
                value = self.value(part, scope, "" if is_method else "value")
                name = scope.text(part, "name") or scope.text(part, "property")
                if name == "constructor":
                    self.call(value, [])
                else:
                    found[name] = value
        return self._fields[node]

    def _extend(self, found: Record, part: Node, scope: Scope) -> None:
        """Add what a base class, or a decorator, gives to a class."""
        inner = next(iter(parts(part)), None)
        if part.type == "class_heritage":
            base, self.depth = self.value(inner, scope), self.depth + 1
            known = isinstance(base, Function) and self.depth < _DEEPEST
            found.update(self.fields(base) if known else {})
            self.depth -= 1
        elif part.type == "decorator" and inner:
            for each in self.values(parts(inner.child_by_field_name("arguments")), scope):
                found.update(each if isinstance(each, Record) else {})


def _declared(node: Node) -> Node:
    return node.child_by_field_name("declaration") or node
