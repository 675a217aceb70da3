"""The statements of a bot's files, followed as far as they are certain; nothing is run."""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from commandsync.diagnostics import Notice
from commandsync.sources.entry import as_list
from commandsync.sources.javascript.expression import Expressions, member
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    MissingText,
    Node,
    ParsedFile,
    Record,
    Scope,
    Value,
    aliased,
    aliases_of,
    field,
    fields_of,
    first_part,
    parse,
    parts,
)
from commandsync.sources.sourcefile import SCRIPTS, parsed

_HEAD = re.compile(r"^\s*extends\s+|\s*[({<].*", re.DOTALL)  # around the name of a base class
_DEEPEST = 40  # expressions around the import of a file
_BUILDER = re.compile(
    r"(?:\w+\.)*(?:SlashCommand|ChatInputCommand|(\w*)ContextMenuCommand)"
    r"(Subcommand(?:Group)?|\w+(?=Option))?(?:Option)?(?:Builder)?"
)
_CLASS = re.compile(r"class|(abstract_)?class_declaration")
_ADDING = re.compile(r"(set|add|build|apply|register)(Slash)?(Command)?Options", re.IGNORECASE)
_DECLARES = [  # in a function that may declare a command; not of the builders of messages
    re.compile(text)
    for text in (
        r"\.\s*(set(Name|NSFW|Default|DM|Contexts|Integration|Type)|push\()",
        r"\.\s*add(\w+Option|Subcommand|Choices)",
        r"new\s+[\w.]*Command",
        r"register\w*Command",
        r"commands(?<!\wcommands)\.",
        r"CommandBuilder",
        r"pplicationCommands",
        r"\.\s*command\(",
        r"setMyCommands",
    )
]
_MAKER = re.compile("command", re.IGNORECASE)
_KEEPING = re.compile(  # names of functions that do not change a builder
    r".*command.*|(set|push|put|create|add|log|stringify|(define|register|deploy)\w*)",
    re.IGNORECASE,
)
_REGISTERING = {"registerChatInputCommand", "registerContextMenuCommand"}
_OF_TELEGRAM = {"command", "Command", "setMyCommands", "start", "help", "settings"}
_COMMANDS = re.compile(r"\bcommands\s*\.\s*(set|create)\s*\(")


class Program(Expressions):
    """The files of a bot, each followed when it is first needed."""

    def __init__(self, paths: Iterable[str], texts: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._paths = frozenset(paths)
        self._texts = texts
        self._aliases = aliases_of(min(self._paths, default="."))
        self._exports: dict[str, Value] = {}
        self.contents: dict[str, bytes] = {}  # of files that were read to be searched
        self.files: list[ParsedFile] = []
        self.bases: set[Node] = set()  # classes that others extend
        self._fields: dict[Node, Record] = {}
        self._constructors: dict[Node, Value] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        self.classes: list[Function] = []
        self.registered: list[tuple[Value, Record]] = []  # commands, with the arguments beside them
        self.calls: list[tuple[str, list[Value], Computed]] = []  # perhaps of Telegram's frameworks
        self.built: list[tuple[Value, Record]] = []  # the commands that builders have begun

    def _module(self, source: Value, at: Computed) -> Value:
        """Return the exports of another file of the bot."""
        name = source if isinstance(source, str) else "/"
        if name[:1] == ".":
            paths = [posixpath.normpath(posixpath.join(at.scope.file.path, "..", name))]
        else:
            paths = aliased(name, self._aliases)
        found = next(filter(None, map(self._file, paths)), None)
        exported = self.exports(found) if found and self.depth < _DEEPEST else at
        return at if isinstance(exported, Notice) else exported

    def _file(self, path: str) -> str | None:
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SCRIPTS))
        return next((name for name in names if name in self._paths), None)

    def exports(self, path: str) -> Value:
        """Follow the statements of a file, once, and return its exports, or why it has none."""
        data = self.contents.pop(path, None)
        file = None if path in self._exports else parsed(path, parse, data)
        self._exports.setdefault(path, file)
        if isinstance(file, ParsedFile):
            self.files.append(file)
            scope = Scope(file, ChainMap())
            exported = self._exports[path] = Record({}, Computed(file.tree, scope))
            module = Record({"exports": exported}, exported.at)
            scope.names.update(exports=exported, module=module)
            outside, self.level = self.level, 0
            self.follow(parts(file.tree), scope)
            for owner in [owner for owner in self.classes if owner.scope.file is file]:
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
        for part in parts(first_part(node)):
            is_default = part.type == "identifier"
            self.bind(part, member(module, "default", module) if is_default else module, scope)

    def _on_export_statement(self, node: Node, scope: Scope) -> None:
        exported, declared = fields_of(self._exports[scope.file.path]), field(node, "declaration")
        tokens, first = {child.type for child in node.children}, first_part(node)
        source = scope.text(node, "source")[1:-1]
        origin = self._module(source, Computed(node, scope)) if source else scope.names
        if declared:
            self.value(declared, scope)
            named = [declared] if field(declared, "name") else parts(declared)
            for name in (scope.text(part, "name") for part in named):
                exported["default" if "default" in tokens else name] = scope.names.get(name)
        elif first is None:
            return
        elif first.type == "export_clause":
            self.bind(first, origin, Scope(scope.file, ChainMap(exported)))
        elif source:
            exported.update(fields_of(origin))
        else:
            exported["default"] = self.value(parts(node)[-1], scope)

    def _on_function(self, node: Node, scope: Scope) -> Function:
        function, text = Function(node, scope), scope.text(node)
        if "class" in node.type:
            self.classes.append(function)
        elif any(declares.search(text) for declares in _DECLARES):
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
            name, base = self._base_of(node, owner.scope)
            built = _BUILDER.fullmatch(name) if isinstance(base, Computed) else None
            made = Builder if built or isinstance(base, Builder) else Record
            found = self._fields[node] = made({}, owner)
            scope = owner.scope.inner(this=found)
            if built:
                found["type"] = built[1] or built[2] or "ChatInput"
            found.bases = f"{name} {getattr(base, 'bases', '')}"
            found.update(fields_of(base))
            self._add_decorators(found, node, scope)
            if b"@sapphire/" in owner.scope.file.data and "ommand" in name:
                found["name"] = PurePosixPath(owner.scope.file.path).stem
            self.add_members(found, parts(field(node, "body")), scope)
            self._constructors[node] = found.pop("constructor", None)
            self._call(self._constructors[node], [])
        return self._fields[node]

    def _base_of(self, node: Node, scope: Scope) -> tuple[str, Value]:
        """Return the name and the value of the class that a class extends."""
        heritage = next((part for part in parts(node) if part.type == "class_heritage"), None)
        return _HEAD.sub("", scope.text(heritage)), self.value(heritage, scope)

    def _add_decorators(self, found: Record, node: Node, scope: Scope) -> None:
        """Add the members of the objects that the decorators of a class are given."""
        for around in (node.parent or node, node):
            for decorator in around.children_by_field_name("decorator"):
                for members in self._given(first_part(decorator), scope):
                    found.update(fields_of(members))

    def add_options(self, command: Record) -> None:
        """Add the options that a method of a class adds to the builder that it is given."""
        method = next((command[key] for key in command if _ADDING.fullmatch(key)), None)
        if isinstance(method, Function) and "options" not in command:
            builder = Builder({}, command.at)
            self._call(method, [builder])
            command.update({key: builder[key] for key in ("options", REST) if key in builder})

    def _on_class_heritage(self, heritage: Node, scope: Scope) -> Value:
        """Return the members of the class that another one extends, or the class of a library."""
        base = self.value(first_part(heritage), scope)
        if isinstance(base, Function):
            self.bases.add(base.node)
            return self.fields(base)
        return base

    def _construct(self, this: Record, given: list[Value], at: Computed) -> None:
        """Run the constructor of the class above for an object, as `super(...)` at a place does."""
        owner: Node | None = at.node
        while owner and not _CLASS.fullmatch(owner.type):
            owner = owner.parent
        heritage = next((part for part in parts(owner) if part.type == "class_heritage"), None)
        base = self.value(first_part(heritage), this.at.scope)
        above = self._constructors.get(base.node) if isinstance(base, Function) else None
        if isinstance(above, Function):
            self._call(Function(above.node, above.scope.inner(this=this)), given)

    def _given(self, node: Node | None, scope: Scope) -> list[Value]:
        return self._on_array(field(node, "arguments"), scope)

    def _on_call_expression(self, node: Node, scope: Scope) -> Value:
        function, at = field(node, "function"), Computed(node, scope)
        given, owner = self._given(node, scope), None
        name = scope.text(function, "property") or scope.text(function)
        if function and field(function, "property"):
            owner = self.value(function, scope, "object")
            called = self.member_of(owner, function, scope)
        else:
            called = self.value(function, scope)
        if isinstance(owner, Builder) and not isinstance(called, Function):
            return self._built(owner, name, given, at)
        if isinstance(owner, list) and given and name in {"push", "map"}:
            return self._of_list(owner, name, given, at)
        if name == "require":
            return self._module(next(iter(given), None), at)
        result = self._result(name, called, given, at)
        return self._text(given, result) if isinstance(result, Computed) else result

    def _of_list(self, owner: list[Value], name: str, given: list[Value], at: Computed) -> Value:
        """Return the list that `map` makes of another; `push` adds to it."""
        if name == "map":
            return [self._call(given[0], [part]) for part in owner]
        owner += [at] if self.level else given
        return at

    def _built(self, owner: Builder, name: str, given: list[Value], at: Computed) -> Builder:
        """Return a builder after a call of one of its methods."""
        flat = [part for argument in given for part in as_list(argument)]
        built = [self._call(part, [Builder({}, part, self.level)]) for part in flat]
        owner.apply(name if owner.level >= self.level else "", built, at)
        return owner

    def _text(self, given: list[Value], computed: Computed) -> Value:
        """Return the text of the bot for a call with one literal, such as `t("ping.text")`."""
        literals = [value for value in given if isinstance(value, str)]
        if self._texts is None or len(literals) != 1:
            return computed
        missing = MissingText(computed.node, computed.scope)
        return self._texts.get(literals[0], missing)

    def text_of(self, key: str) -> str:
        """Return the text of the bot with this key; the key itself if it is none."""
        return (self._texts or {}).get(key, key)

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
        self.calls += [(name, given, at)] if name in _OF_TELEGRAM else []
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

    def _extend(self, this: Record, given: list[Value], at: Computed) -> None:
        """Give an object the arguments of `super`, and run the constructor above it."""
        if len(given) > 1 and isinstance(given[0], str):  # the id of discord-akairo
            this.setdefault("name", given[0])
        for argument in given:
            this.update(fields_of(argument))
        self._construct(this, given, at)

    def _register(self, name: str, given: list[Value], at: Computed) -> None:
        """Remember the arguments for Discord, a framework, or the class above."""
        first, last = (given[0], fields_of(given[-1])) if given else (None, {})
        this = fields_of(at.scope.names.get("this"))
        if name == "super" and isinstance(this, Record):
            self._extend(this, given, at)
        if name in _REGISTERING:
            command = self._call(first, [Builder({}, at, self.level)])
            self.registered.append((command, Record({**this, **last}, at)))
        elif name == "put" or (name in {"set", "create"} and _COMMANDS.search(at.text)):
            commands = as_list(last.get("body") if name == "put" else first)
            self.registered += [(item, item) for item in commands if isinstance(item, Record)]
