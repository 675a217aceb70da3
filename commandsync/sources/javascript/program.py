"""The statements of a bot's files, followed as far as they are certain; nothing is run."""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Sequence

from commandsync.diagnostics import Notice
from commandsync.sources.code import SCRIPTS, parsed
from commandsync.sources.javascript.expression import NAME, Expressions, member
from commandsync.sources.javascript.parsedfile import Node, ParsedFile, field, parse, parts
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    Record,
    Scope,
    Value,
    fields_of,
    flat,
)

_DEEPEST = 40  # expressions around the import of a file
_DECLARING = re.compile(  # in what may declare a command, or change one
    r"CommandBuilder|\.\s*(add|set)[A-Z]|\.push\(|register\w*Command|pplicationCommands"
    r"|\bcommands\."
)
_NAMED = re.compile(r"(abstract_class|class|(generator_)?function)_declaration")
_STATEMENT = re.compile(r".*_(statement|clause|body|case|default|declaration|block)")
_RETURNING = {"return_statement", "statement_block", "try_statement"}
_MAKER = re.compile("command", re.IGNORECASE)
_KEEPING = re.compile(  # in what does not change a builder that it is given
    r".*command.*|(set|push|put|create|add|log|stringify|(define|register|deploy)\w*)",
    re.IGNORECASE,
)
_REGISTERING = {"registerChatInputCommand", "registerContextMenuCommand"}
_COMMANDS = re.compile(r"\bcommands\s*\.\s*(set|create)\s*\(")


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
        self.built: list[Builder] = []  # each command that a builder has begun
        self.registered: list[tuple[Value, Record]] = []  # with what else its call says

    def parsed(self, path: str) -> ParsedFile | Notice:
        """Return what a file contains, or why it cannot be read."""
        if path not in self._parsed:
            self._parsed[path] = parsed(path, parse)
        return self._parsed[path]

    def _module(self, source: Value, at: Computed) -> Value:
        """Return what another file of the bot exports."""
        name = source if isinstance(source, str) and source[:1] == "." else "/"
        folder = posixpath.dirname(at.scope.file.path)
        path = posixpath.normpath(posixpath.join(folder, name))
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SCRIPTS))
        found = next((each for each in names if each in self._paths), None)
        file = self.parsed(found) if found and self.depth < _DEEPEST else None
        return self.exports(file) if isinstance(file, ParsedFile) else at

    def exports(self, file: ParsedFile) -> Value:
        """Follow the statements of a file, once, and return what it exports."""
        if file.path not in self._exports:
            scope = Scope(file, ChainMap())
            exported = self._exports[file.path] = Record({}, Computed(file.tree, scope))
            module = Record({"exports": exported}, exported.at)
            scope.names.update(exports=exported, module=module)
            outside, self.level = self.level, 0
            statements = parts(file.tree)
            bare = [node for node in statements if not field(node, "declaration", "value")]
            again = [node for node in bare if node.type == "export_statement"]  # of names below it
            self._follow([*statements, *again], scope)
            for owner in self.classes[:]:
                self.fields(owner)
            self.level = outside
            self._exports[file.path] = module["exports"]
        return self._exports[file.path]

    def finish(self) -> None:
        """Follow the functions that may declare commands, and that nothing has called."""
        while self._waiting:
            self._call(self._waiting.popitem()[1], [])

    def _follow(self, nodes: Sequence[Node], scope: Scope) -> Value:
        """Follow statements, and return what they return; None if they do not."""
        result = None
        for node in nodes:
            if _NAMED.fullmatch((declared := field(node, "declaration") or node).type):
                scope.names[scope.text(declared, "name")] = self._on_class(declared, scope)
        for node in filter(_is_statement, nodes):
            returned = self.value(node, scope)
            if returned is not None:
                if node.type in _RETURNING and result is None:
                    return returned
                result = Computed(node, scope)
        return result

    def _uncertain(self, nodes: Sequence[Node], scope: Scope, *given: Value) -> Value:
        """Follow what may not be reached: statements, expressions, and functions."""
        self.level += 1
        result = self._follow(nodes, scope)
        for node in nodes:
            if not _is_statement(node):
                self.value(node, scope)
        for function in given:
            if isinstance(function, Function) and _DECLARING.search(function.text):
                self._call(function, [])
        self.level -= 1
        return result

    def other(self, node: Node, scope: Scope) -> Value:
        """Follow what is inside of any other statement or expression."""
        computed, is_statement = Computed(node, scope), _is_statement(node)
        if _NAMED.fullmatch(node.type):
            return None
        result = None
        if is_statement or _DECLARING.search(computed.text):
            bound = field(node, "left", "initializer", "parameter") if is_statement else None
            names = dict.fromkeys(NAME.findall(scope.text(bound)), computed)
            inner = [part for part in parts(node) if part != bound]
            result = self._uncertain(inner, scope.inner(**names))
        return result if is_statement else computed

    def _on_statement_block(self, node: Node, scope: Scope) -> Value:
        return self._follow(parts(node), scope.inner())

    _on_try_statement = _on_finally_clause = _on_statement_block

    def _on_return_statement(self, node: Node, scope: Scope) -> Value:
        return self.value(next(iter(parts(node)), None), scope)

    def _on_expression_statement(self, node: Node, scope: Scope) -> None:
        self.value(parts(node)[0], scope)

    def _on_import_statement(self, node: Node, scope: Scope) -> None:
        module = self._module(scope.text(node, "source")[1:-1], Computed(node, scope))
        for part in parts(parts(node)[0]):
            value = module
            if part.type == "identifier":
                default = module if isinstance(module, Record) else Computed(part, scope)
                value = member(module, "default", default)
            self.bind(parts(part)[0] if part.type == "namespace_import" else part, value, scope)

    def _on_export_statement(self, node: Node, scope: Scope) -> None:
        exported, declared, first = (
            scope.names["exports"],
            field(node, "declaration"),
            parts(node)[0],
        )
        tokens, source = {child.type for child in node.children}, scope.text(node, "source")[1:-1]
        origin = self._module(source, Computed(node, scope)) if source else scope.names
        if field(node, "value"):
            exported["default"] = self.value(node, scope, "value")
        elif declared:
            self.value(declared, scope)
            named = [declared] if field(declared, "name") else parts(declared)
            for name in (scope.text(part, "name") for part in named):
                exported["default" if "default" in tokens else name] = scope.names.get(name)
        elif first.type == "export_clause":
            self.bind(first, origin, Scope(scope.file, ChainMap(exported)))
        elif "=" in tokens:
            scope.names["module"]["exports"] = self.value(first, scope)
        else:
            exported.update(fields_of(origin))

    def _on_arrow_function(self, node: Node, scope: Scope) -> Function:
        function = Function(node, scope)
        if _DECLARING.search(function.text):
            self._waiting[node] = function
        return function

    _on_function_expression = _on_generator_function = _on_arrow_function

    def _on_method_definition(self, node: Node, scope: Scope) -> Value:
        method = self._on_arrow_function(node, scope)
        return self._call(method, []) if any(c.type == "get" for c in node.children) else method

    def _call(self, function: Function, given: list[Value]) -> Value:
        """Return what a function of the bot returns for some values."""
        node, scope = function.node, function.scope.inner()
        unknown = Computed(node, scope)
        self._waiting.pop(node, None)
        if node in self._running:
            return unknown
        self._running.add(node)
        one = field(node, "parameter")
        for number, name in enumerate([one] if one else parts(field(node, "parameters"))):
            self.bind(name, given[number] if number < len(given) else unknown, scope)
        result = self.value(node, scope, "body")
        self._running.remove(node)
        return unknown if result is None else result

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
                self._call(constructor, [])
        return self._fields[node]

    def _on_class_heritage(self, node: Node, scope: Scope) -> Value:
        base = self.value(parts(node)[0], scope)
        return self.fields(base) if isinstance(base, Function) else base

    _on_extends_clause = _on_class_heritage

    def _on_decorator(self, node: Node, scope: Scope) -> Value:
        given = self._given(parts(node)[0], scope)
        return Record(dict(ChainMap(*map(fields_of, given))), Computed(node, scope))

    def _given(self, node: Node, scope: Scope) -> list[Value]:
        return self.values(parts(field(node, "arguments")), scope)

    def _on_call_expression(self, node: Node, scope: Scope) -> Value:
        function, given, at = (
            field(node, "function"),
            self._given(node, scope),
            Computed(node, scope),
        )
        owner = self.value(function, scope, "object")
        name = scope.text(function, "property") or scope.text(function)
        if isinstance(owner, Builder):
            if owner.level < self.level:
                owner[REST] = at
            else:
                owner.apply(name, given, at, self._call)
            return owner
        if isinstance(owner, list) and name == "push":
            owner += [at] if self.level else given
        if name == "require":
            return self._module(given[0] if given else None, at)
        if name == "super":
            for each in given:
                fields_of(scope.names.get("this")).update(fields_of(each))
        return self._result(name, self.value(function, scope), given, at)

    def _on_new_expression(self, node: Node, scope: Scope) -> Value:
        called, at = self.value(node, scope, "constructor"), Computed(node, scope)
        name, given = scope.text(node, "constructor"), self._given(node, scope)
        written = called.text if isinstance(called, Computed) else ""  # also what is imported as it
        builder = Builder.named(written, given, at, self.level)
        if builder is None:
            return self._result(name, called, given, at)
        self.built += [builder] if builder.is_command else []
        return builder

    def _result(self, name: str, called: Value, given: list[Value], at: Computed) -> Value:
        """Return what a function of the bot returns; the object that makes a command, of others."""
        if isinstance(called, Function) and "class" not in called.node.type:
            return self._call(called, given)
        self._register(name, given, at)
        self._uncertain([], at.scope, *given)
        first = next((value for value in given if isinstance(value, Record)), None)
        if isinstance(first, Builder) and not _KEEPING.fullmatch(name):
            first[REST] = at  # it may change the builder
            return first
        return first if first is not None and _MAKER.search(name) else at

    def _register(self, name: str, given: list[Value], at: Computed) -> None:
        """Remember the commands that a call tells Discord or a framework."""
        first, last = (given[0], given[-1]) if given else (None, None)
        said = Record({**fields_of(at.scope.names.get("this")), **fields_of(last)}, at)
        if name in _REGISTERING:
            builder = Builder({}, at, self.level)
            first = self._call(first, [builder]) if isinstance(first, Function) else first
            self.registered.append((first, said))
        elif name == "put" or (name in {"set", "create"} and _COMMANDS.search(at.text)):
            lists = flat([said.get("body") if name == "put" else first])
            known = (each for each in lists if isinstance(each, Record))
            self.registered += [(each, Record({}, at)) for each in known]


def _is_statement(node: Node) -> bool:
    return _STATEMENT.fullmatch(node.type) is not None
