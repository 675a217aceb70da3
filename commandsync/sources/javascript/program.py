"""The statements of a bot's files, followed as far as they are certain; nothing is run."""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable

from commandsync.diagnostics import Notice
from commandsync.sources.javascript.expression import DECLARING, Expressions, member
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    Node,
    ParsedFile,
    Record,
    Scope,
    Value,
    field,
    fields_of,
    parse,
    parts,
)
from commandsync.sources.jsonfile import listed
from commandsync.sources.sourcefile import SCRIPTS, parsed

_DEEPEST = 40  # expressions around the import of a file
_BUILDER = re.compile(
    r"(?:\w+\.)*(?:SlashCommand|ChatInputCommand|(\w*)ContextMenuCommand)"
    r"(Subcommand(?:Group)?|\w+(?=Option))?(?:Option)?(?:Builder)?"
)
_MAKER = re.compile("command", re.IGNORECASE)
_KEEPING = re.compile(  # names of functions that do not change a builder
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
        self._exports: dict[str, Value] = {}
        self._fields: dict[Node, Record] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        self.classes: list[Function] = []
        self.registered: list[tuple[Value, Record]] = []  # commands, with the arguments beside them
        self.built: list[tuple[Value, Record]] = []  # the commands that builders have begun

    def _module(self, source: Value, at: Computed) -> Value:
        """Return the exports of another file of the bot."""
        name = source if isinstance(source, str) and source[:1] == "." else "/"
        path = posixpath.normpath(posixpath.join(at.scope.file.path, "..", name))
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SCRIPTS))
        found = next((name for name in names if name in self._paths), None)
        exported = self.exports(found) if found and self.depth < _DEEPEST else at
        return at if isinstance(exported, Notice) else exported

    def exports(self, path: str) -> Value:
        """Follow the statements of a file, once, and return its exports, or why it has none."""
        file = None if path in self._exports else parsed(path, parse)
        self._exports.setdefault(path, file)
        if isinstance(file, ParsedFile):
            scope = Scope(file, ChainMap())
            exported = self._exports[path] = Record({}, Computed(file.tree, scope))
            module = Record({"exports": exported}, exported.at)
            scope.names.update(exports=exported, module=module)
            outside, self.level = self.level, 0
            self.follow(parts(file.tree), scope)
            for owner in self.classes[:]:
                self.fields(owner)
            self.level = outside
            self._exports[path] = module["exports"]
        return self._exports[path]

    def finish(self) -> None:
        """Call the functions that nothing has called."""
        while self._waiting:
            self._call(self._waiting.popitem()[1], [])

    def _on_import_statement(self, node: Node, scope: Scope) -> None:
        module = self._module(scope.text(node, "source")[1:-1], Computed(node, scope))
        for part in parts(parts(node)[0]):
            is_default = part.type == "identifier"
            self.bind(part, member(module, "default", module) if is_default else module, scope)

    def _on_export_statement(self, node: Node, scope: Scope) -> None:
        exported, declared = fields_of(self._exports[scope.file.path]), field(node, "declaration")
        tokens, first = {child.type for child in node.children}, parts(node)[0]
        source = scope.text(node, "source")[1:-1]
        origin = self._module(source, Computed(node, scope)) if source else scope.names
        if declared:
            self.value(declared, scope)
            named = [declared] if field(declared, "name") else parts(declared)
            for name in (scope.text(part, "name") for part in named):
                exported["default" if "default" in tokens else name] = scope.names.get(name)
        elif first.type == "export_clause":
            self.bind(first, origin, Scope(scope.file, ChainMap(exported)))
        elif source:
            exported.update(fields_of(origin))
        else:
            exported["default"] = self.value(parts(node)[-1], scope)

    def _on_function(self, node: Node, scope: Scope) -> Function:
        function = Function(node, scope)
        if "class" in node.type:
            self.classes.append(function)
        elif DECLARING.search(function.text):
            self._waiting[node] = function
        return function

    def _on_function_declaration(self, node: Node, scope: Scope) -> None:
        scope.names[scope.text(node, "name")] = self._on_function(node, scope)

    def _on_method_definition(self, node: Node, scope: Scope) -> Value:
        method = self._on_function(node, scope)
        return self._call(method, []) if any(c.type == "get" for c in node.children) else method

    def _call(self, function: Value, given: list[Value]) -> Value:
        """Return the result of a function of the bot for some values; another value as it is."""
        if not isinstance(function, Function):
            return function
        node, scope = function.node, function.scope.inner()
        unknown = Computed(node, scope)
        self._waiting.pop(node, None)
        if node in self._running:
            return unknown
        self._running.add(node)
        single = field(node, "parameter")
        names = [single] if single else parts(field(node, "parameters"))
        for number, name in enumerate(names):
            self.bind(name, given[number] if number < len(given) else unknown, scope)
        result = self.value(node, scope, "body")
        self._running.remove(node)
        return unknown if result is None else result

    def fields(self, owner: Function) -> Record:
        """Return the members of the objects of a class: fields, methods, arguments of `super`."""
        node = owner.node
        if node not in self._fields:
            found = self._fields[node] = Record({}, owner)
            scope = owner.scope.inner(this=found)
            inherited = [
                self.value(part, scope) for part in parts(node) if part.type == "class_heritage"
            ]
            for around in (node.parent or node, node):
                for decorator in around.children_by_field_name("decorator"):
                    inherited += self._given(parts(decorator)[0], scope)
            for members in inherited:
                found.update(fields_of(members))
            self.add_members(found, parts(field(node, "body")), scope)
            self._call(found.pop("constructor", None), [])
        return self._fields[node]

    def _on_class_heritage(self, node: Node, scope: Scope) -> Value:
        base = self.value(parts(node)[0], scope)
        return self.fields(base) if isinstance(base, Function) else base

    def _given(self, node: Node, scope: Scope) -> list[Value]:
        return self._on_array(field(node, "arguments"), scope)

    def _on_call_expression(self, node: Node, scope: Scope) -> Value:
        function, at = field(node, "function"), Computed(node, scope)
        given, owner = self._given(node, scope), self.value(function, scope, "object")
        name = scope.text(function, "property") or scope.text(function)
        if isinstance(owner, Builder):
            flat = [part for argument in given for part in listed(argument)]
            built = [self._call(part, [Builder({}, part, self.level)]) for part in flat]
            owner.apply(name if owner.level >= self.level else "", built, at)
            return owner
        if isinstance(owner, list) and name == "push":
            owner += [at] if self.level else given
        if name == "require":
            return self._module(next(iter(given), None), at)
        return self._result(name, self.value(function, scope), given, at)

    def _on_new_expression(self, node: Node, scope: Scope) -> Value:
        called, given = self.value(node, scope, "constructor"), self._given(node, scope)
        at = Computed(node, scope)
        name = called.text if isinstance(called, Computed) else ""  # imported ones as well
        match = _BUILDER.fullmatch(name)
        if match is None:
            return self._result(scope.text(node, "constructor"), called, given, at)
        builder = Builder(fields_of(next(iter(given), None)), at, self.level)
        builder["type"] = match[1] or match[2] or "ChatInput"
        if not match[2]:
            self.built.append((builder, builder))
        return builder

    def _result(self, name: str, called: Value, given: list[Value], at: Computed) -> Value:
        """Return the result of a function of the bot; of another one, the object it is given."""
        if isinstance(called, Function) and "class" not in called.node.type:
            return self._call(called, given)
        self._register(name, given, at)
        self.level += 1
        for argument in given:
            if isinstance(argument, Function) and argument.node in self._waiting:
                self._call(argument, [])
        self.level -= 1
        first = next(filter(fields_of, given), at)
        if isinstance(first, Builder) and not _KEEPING.fullmatch(name):
            first[REST] = at  # it may change the builder
            return first
        return first if _MAKER.search(name) else at

    def _register(self, name: str, given: list[Value], at: Computed) -> None:
        """Remember the arguments for Discord, a framework, or the class above."""
        first, last = (given[0], fields_of(given[-1])) if given else (None, {})
        this = fields_of(at.scope.names.get("this"))
        for argument in given if name == "super" else ():
            this.update(fields_of(argument))
        if name in _REGISTERING:
            command = self._call(first, [Builder({}, at, self.level)])
            self.registered.append((command, Record({**this, **last}, at)))
        elif name == "put" or (name in {"set", "create"} and _COMMANDS.search(at.text)):
            commands = listed(last.get("body") if name == "put" else first)
            self.registered += [(item, item) for item in commands if isinstance(item, Record)]
