"""The statements of a bot's files, followed as far as they are certain; nothing is run.

A file is followed when it is first needed: its imports, then its statements. Functions of the bot
are called with the values that the code gives them; one that nothing calls is called last, with
unknown ones (`finish`). Classes become the objects that `new` makes of them. On the way, `Program`
keeps what may declare commands: builders, classes, and what calls register or are given.

What is not found is not treated as nothing: `partly` has the place of each base class, decorator,
wrapper and list that is followed only in part.
"""

import posixpath
import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from commandsync.diagnostics import Location, Notice
from commandsync.sources.javascript.call import Calls, FunctionCall, builder_of, is_known, short
from commandsync.sources.javascript.expression import member
from commandsync.sources.javascript.value import (
    REST,
    Aliases,
    BlockScope,
    Builder,
    Computed,
    Function,
    ImportedValue,
    Node,
    ObjectValue,
    ScriptFile,
    Value,
    aliased,
    aliases_of,
    field,
    fields_of,
    first_part,
    last_part,
    parse,
    parts,
)
from commandsync.sources.sourcefile import NOT_IMPORTED, SCRIPTS, parsed

_DEEPEST = 40  # expressions around the import of a file
_MOST_BASES = 20
_GOTTEN = ("name", "description", "type", "options", "data", "builder", "command", "category")
_MOST_CALLS = 20
_PACKAGE = re.compile(  # in the name of a module of Deno, or of the registry of JavaScript
    r"(?:npm:|jsr:|https://(?:deno\.land/x|esm\.sh|cdn\.skypack\.dev|lib\.deno\.dev/x)/)"
    r"(@?[^@]+?)(?:@[^/]*)?(?:/.*)?"
)
_OF_FILE = re.compile(r"[./#~]|@/|src/")  # in the name of a module
_CLASS = re.compile(r"class|(abstract_)?class_declaration")
_DECLARES = [  # in a function that may declare a command; not of the builders of messages
    re.compile(text)
    for text in (
        r"\.\s*(set(Name|NSFW|Default|DM|Contexts|Integration|Type)|push\()",
        r"\.\s*add(\w+Option|Subcommand|Choices)",
        r"new\s+[\w.]*Command",
        r"commands(?<!\wcommands)\.",
        r"CommandBuilder",
        r"pplicationCommands",
        r"ommands?\(",
        r"\.(hears|onText)\(",
    )
]
_SETS = re.compile(r"\bthis\.(name|description|options|data)\s*=")
_REGISTERS = re.compile(r"[rR]egister(ChatInput|ContextMenu)?Command")  # as a decorator of Sapphire


class Program(Calls):
    """The files of a bot, each followed when it is first needed."""

    def __init__(self, paths: Iterable[str], texts: Mapping[str, str] | None = None) -> None:
        super().__init__(None if texts is None else dict(texts))
        self._paths = frozenset(paths)
        self._aliases = aliases_of(min(self._paths, default="."))
        self._exports: dict[str, Value] = {}
        self.contents: dict[str, bytes] = {}  # of files that were read to be searched
        self.files: list[ScriptFile] = []
        self.scopes: dict[str, BlockScope] = {}  # the names of each file
        self._fields: dict[Node, ObjectValue] = {}
        self._constructors: dict[Node, Value] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        # Functions that declare nothing and change no command, with how often they were called
        # where it is not certain that the code runs.
        self._quiet: dict[Node, int] = {}
        self.classes: list[Function] = []
        self.above: set[Node] = set()  # classes that others extend
        self.packages: set[str] = set()  # that the files import

    # Files

    def exports(self, path: str) -> Value:
        """Follow the statements of a file, once, and return its exports, or why it has none."""
        data = self.contents.pop(path, None)
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

    def finish(self) -> None:
        """Call the functions that nothing has called."""
        while self._waiting:
            function = self._waiting.popitem()[1]
            self.current = function.scope.file.path
            self.called(function, [])

    def module(self, source: Value, at: Computed) -> Value:
        """Return the exports of another file of the bot, or the package that is imported."""
        if not isinstance(source, str) or not source:
            return at
        if package := _PACKAGE.fullmatch(source):
            source = package[1]
        aliases = aliased(source, self._aliases)
        if source[0] == ".":
            near = posixpath.join(at.scope.file.path, "..", source)
            aliases = [(".", posixpath.normpath(near))]
        files = (self._file(path) for _, path in aliases if self.depth < _DEEPEST)
        exported = next((self.exports(file) for file in files if file), None)
        if isinstance(exported, Notice) or exported is None:
            return self._imported(source, aliases, at)
        return exported

    def _imported(self, source: str, aliases: Aliases, at: Computed) -> ImportedValue:
        """Return a module that is not followed: a package, or a file that is not found."""
        is_file = {alias for alias, _ in aliases} - {"*"} or _OF_FILE.match(source)
        self.packages |= set() if is_file else {source}
        return ImportedValue(at.node, at.scope, source, "", bool(is_file))

    def _file(self, path: str) -> str | None:
        starts = (re.sub(r"\.[cm]?js$", "", path), path, f"{path}/index")
        names = (path, *(f"{start}{suffix}" for start in starts for suffix in SCRIPTS))
        return next((name for name in names if name in self._paths), None)

    def imports(self, node: Node, scope: BlockScope) -> None:
        """Give the names that a file imports their values."""
        module = self.module(scope.text(node, "source")[1:-1], Computed(node, scope))
        for part in parts(first_part(node)):
            at = Computed(part, scope)
            if part.type == "import_require_clause":  # import name = require("...")
                module = self.module(scope.text(part, "source")[1:-1], at)
                self.bind(first_part(part), module, scope)
            else:
                is_default = part.type == "identifier"
                self.bind(part, member(module, "default", at) if is_default else module, scope)

    def export(self, node: Node, scope: BlockScope) -> None:
        """Add to the exports of a file."""
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
        origin = self.module(source, Computed(node, scope)) if source else scope.names
        if first.type == "export_clause":
            self.bind(first, origin, BlockScope(scope.file, ChainMap(exported)))
        elif first.type == "namespace_export":
            exported[scope.text(first_part(first))] = origin
        elif source:
            exported.update(fields_of(origin) or {REST: origin})
        else:
            exported["default"] = self.value(last_part(node), scope)

    # Functions and classes

    def function(self, node: Node, scope: BlockScope) -> Value:
        """Return a function or a class."""
        function = Function(node, scope)
        if "class" in node.type:
            self.classes.append(function)
        else:
            text = scope.text(node)
            if any(declares.search(text) for declares in _DECLARES):
                self._waiting[node] = function
            elif not _SETS.search(text):
                self._quiet[node] = 0
        return function

    def called(self, function: Value, given: list[Value]) -> Value:
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
        for number, part in enumerate([single] if single else parts(field(node, "parameters"))):
            value = given[number] if number < len(given) else unknown
            if value is None or (number >= len(given) and field(part, "value", "right")):
                value = self.value(field(part, "value", "right"), scope)  # the default
            self.bind(part, value, scope)
            if any(child.type in {"accessibility_modifier", "readonly"} for child in part.children):
                name = scope.text(field(part, "pattern"))
                fields_of(scope.names.get("this"))[name] = scope.names.get(name)
        result = self.value(node, scope, "body")
        self._running.remove(node)
        return unknown if result is None else result

    def lineage(self, owner: Computed) -> list[Computed]:
        """Return the classes above a class; the last one may be a library's, or not found."""
        found: list[Computed] = []
        while isinstance(owner, Function) and len(found) < _MOST_BASES:
            heritage = next((part for part in parts(owner.node) if "heritage" in part.type), None)
            extended = (part for part in parts(heritage) if part.type != "implements_clause")
            if (first := next(extended, None)) is None:
                return found
            base = self.value(first, owner.scope)
            owner = base if isinstance(base, Computed) else Computed(first, owner.scope)
            found.append(owner)
        if isinstance(owner, Function):
            message = "the file is too complex to be read in full"
            self.notes.add(Notice(message, NOT_IMPORTED, Location(owner.scope.file.path)))
        return found

    def fields(self, owner: Function) -> ObjectValue:
        """Return the members of the objects of a class, as far as it alone tells them."""
        if owner.node not in self._fields:
            bases = self.lineage(owner)
            self.above |= {base.node for base in bases if isinstance(base, Function)}
            last = bases[-1] if bases else None
            if last and not isinstance(last, Function) and not is_known(last):
                what = f"the base class {short(last.text)} is not found"
                self.partly.append((owner.place, what))
            self._fields[owner.node] = ObjectValue({}, owner)  # until it is known
            self._fields[owner.node] = self._object(owner, bases, [], owner)
        return self._fields[owner.node]

    def _object(
        self, owner: Function, bases: list[Computed], given: list[Value], at: Computed
    ) -> ObjectValue:
        """Return an object of a class: the fields of the classes above it, then its own."""
        last = bases[-1] if bases else at
        found = ObjectValue({}, at, self.level)
        if built := builder_of(last):
            found = Builder({"type": built[1] or built[2] or "ChatInput"}, at, self.level)
        found.bases = bases
        constructor: Value = None
        for each in (*reversed(bases), owner):
            if isinstance(each, Function):
                constructor = self._add_class(found, each) or constructor  # its own, or one above
                self._constructors[each.node] = constructor
        if constructor:
            self.called(constructor, given)
        self.get(found, _GOTTEN if at is not owner else found)
        self._name_piece(found, owner, last)
        return found

    def _name_piece(self, found: ObjectValue, owner: Function, last: Computed) -> None:
        """Give a command of Sapphire without a name the name of its file, as the framework does."""
        if is_piece(last) and not owner.scope.file.error:  # an error may have lost its name
            found.setdefault("name", PurePosixPath(owner.scope.file.path).stem)

    def _add_class(self, found: ObjectValue, owner: Function) -> Value:
        """Add the fields of a class to an object, and return its constructor."""
        scope = owner.scope.inner(this=found)
        self._add_decorators(found, owner.node, scope)
        members = parts(field(owner.node, "body"))
        if not isinstance(found.at, Function):  # it has been followed for the class itself
            members = [part for part in members if part.type != "class_static_block"]
        self.add_members(found, members, scope)
        return found.pop("constructor", None)

    def get(self, found: ObjectValue, keys: Iterable[str]) -> None:
        """Replace getters of an object by their results."""
        for key in [key for key in keys if key in found]:
            getter = found[key]
            if isinstance(getter, Function) and any(c.type == "get" for c in getter.node.children):
                found[key] = self.called(Function(getter.node, getter.scope.inner(this=found)), [])

    def _add_decorators(self, found: ObjectValue, node: Node, scope: BlockScope) -> None:
        """Add the members of the objects that the decorators of a class are given."""
        for decorator in decorators_of(node):
            call = first_part(decorator)
            if _REGISTERS.fullmatch(scope.text(call, "function")):
                self.value(call, scope)
            called = self.value(field(call, "function") or call, scope)
            if isinstance(called, Computed) and not is_known(called):
                what = f"the decorator {short(called.text)} is not followed"
                self.partly.append((scope.file.place(decorator), what))
            for members in self.listed(field(call, "arguments"), scope):
                found.update(fields_of(members))

    def extend(self, call: FunctionCall) -> None:
        """Run the constructor of the class above for an object, as `super(...)` does."""
        given, at = call.given, call.at
        this = at.scope.names.get("this")
        if not isinstance(this, ObjectValue):
            return
        for argument in given:
            this.update(fields_of(argument))
        owner: Node | None = at.node
        while owner and not _CLASS.fullmatch(owner.type):
            owner = owner.parent
        bases = self.lineage(Function(owner, this.at.scope)) if owner else []
        above = self._constructors.get(bases[0].node) if bases else None
        if isinstance(above, Function):
            self.called(Function(above.node, above.scope.inner(this=this)), given)

    def instance(self, owner: Function, given: list[Value], at: Computed) -> Value:
        """Return an object of a class, or its argument if the class keeps nothing of a command."""
        alone = self.fields(owner)
        objects = [value for value in given if isinstance(value, ObjectValue)]
        if owner.node in self._running or not (objects or _names_itself_by(given, alone)):
            return alone
        self._running.add(owner.node)
        found = self._object(owner, alone.bases, given, at)
        self._running.remove(owner.node)
        if isinstance(found, Builder):
            self.above.add(owner.node)
            self.built.append(found)
            return found
        is_kept = isinstance(found.get("name"), str) or any(map(fields_of, found.values()))
        return found if is_kept or not objects else objects[0]

    def own(self, function: Function, call: FunctionCall) -> Value:
        """Return the result of a call of a function of the bot.

        One that declares nothing is followed only for its result, and not often where the code may
        not be reached.
        """
        if function.node in self._quiet:
            self._quiet[function.node] += bool(self.level)
            around = call.at.node.parent
            is_unused = around is not None and "statement" in around.type
            if is_unused or self._quiet[function.node] > _MOST_CALLS:
                return call.at
        if isinstance(call.owner, ObjectValue):
            function = Function(function.node, function.scope.inner(this=call.owner))
        return self.called(function, call.given)

    def follow_given(self, given: list[Value]) -> None:
        """Call the functions that another function is given, and may call."""
        self.level += 1
        for argument in given:
            if isinstance(argument, Function) and argument.node in self._waiting:
                self.called(argument, [])
        self.level -= 1


def _names_itself_by(given: list[Value], alone: ObjectValue) -> bool:
    """Whether the name of a command may be among the arguments of its class."""
    if isinstance(alone.get("name"), str):
        return False
    kinds = {str if isinstance(value, str) else type(value) for value in given}
    return isinstance(alone, Builder) or {str, Function} <= kinds


def is_piece(base: Computed) -> bool:
    """Whether a class is one for commands of Sapphire."""
    return isinstance(base, ImportedValue) and base.is_of("@sapphire/") and "ommand" in base.name


def decorators_of(node: Node) -> list[Node]:
    """Return the decorators of a class, which may be before its export."""
    around = [each for each in (node.parent, node) if each]
    return [each for part in around for each in part.children_by_field_name("decorator")]
