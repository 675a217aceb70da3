"""The functions and classes of a bot: called with values, and made into objects.

A function is called with the values that the code gives it; one that nothing calls is called last,
with unknown ones (`finish`). A class becomes the objects that `new` makes of it: the fields of the
classes above it, then its own, then what its constructor sets. On the way, `Functions` keeps the
classes, which may be commands, and the builders among their objects.

What is not found is not treated as nothing: `partly` has the place of each base class and decorator
that is followed only in part.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from commandsync.diagnostics import Location, Notice
from commandsync.sources.javascript.expression import Expressions
from commandsync.sources.javascript.value import (
    BlockScope,
    Builder,
    Computed,
    Function,
    ImportedValue,
    Node,
    ObjectValue,
    Value,
    builder_of,
    field,
    fields_of,
    first_part,
    is_known,
    parts,
    short,
)
from commandsync.sources.sourcefile import NOT_IMPORTED

_MOST_BASES = 20
_MOST_CALLS = 20
_GOTTEN = ("name", "description", "type", "options", "data", "builder", "command", "category")
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


class Functions(Expressions):
    """Evaluates functions, classes and objects."""

    def __init__(self) -> None:
        super().__init__()
        self.table |= {
            "object": self._object_literal,
            "enum_body": self._object_literal,
            "arrow_function": self._function,
            "function_expression": self._function,
            "generator_function": self._function,
            "method_definition": self._function,
            "class": self._function,
            "function_declaration": self._declared,
            "generator_function_declaration": self._declared,
            "class_declaration": self._declared,
            "abstract_class_declaration": self._declared,
        }
        self.classes: list[Function] = []
        self.above: set[Node] = set()  # classes that others extend
        self.built: list[Builder] = []  # what builders have begun, options and sub-commands apart
        self.partly: list[tuple[Location, str]] = []
        self._fields: dict[Node, ObjectValue] = {}
        self._constructors: dict[Node, Value] = {}
        self._running: set[Node] = set()
        self._waiting: dict[Node, Function] = {}  # may declare commands, and are not called yet
        # Functions that declare nothing and change no command, with how often they were called
        # where it is not certain that the code runs.
        self._quiet: dict[Node, int] = {}

    # Functions

    def _function(self, node: Node, scope: BlockScope) -> Function:
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

    def _declared(self, node: Node, scope: BlockScope) -> None:
        scope.names[scope.text(node, "name")] = self._function(node, scope)

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

    def called_at(
        self, function: Function, given: list[Value], at: Computed, *, this: Value
    ) -> Value:
        """Return the result of a function of the bot that is called at a place.

        One that declares nothing is followed only for its result, and not often where the code may
        not be reached.
        """
        if function.node in self._quiet:
            self._quiet[function.node] += bool(self.level)
            around = at.node.parent
            is_unused = around is not None and "statement" in around.type
            if is_unused or self._quiet[function.node] > _MOST_CALLS:
                return at
        return self.called(
            _bound(function, this) if isinstance(this, ObjectValue) else function, given
        )

    def follow_given(self, given: Iterable[Value]) -> None:
        """Call the functions that another function is given, and may call."""
        self.level += 1
        for argument in given:
            if isinstance(argument, Function) and argument.node in self._waiting:
                self.called(argument, [])
        self.level -= 1

    def finish(self) -> None:
        """Call the functions that nothing has called."""
        while self._waiting:
            function = self._waiting.popitem()[1]
            self.current = function.scope.file.path
            self.called(function, [])

    # Objects and classes

    def _object_literal(self, node: Node, scope: BlockScope) -> ObjectValue:
        found = ObjectValue({}, Computed(node, scope), self.level)
        self.add_members(found, parts(node), scope)
        self._get(found, found)
        return found

    def _get(self, found: ObjectValue, keys: Iterable[str]) -> None:
        """Replace getters of an object by their results."""
        for key in [key for key in keys if key in found]:
            getter = found[key]
            if isinstance(getter, Function) and any(c.type == "get" for c in getter.node.children):
                found[key] = self.called(_bound(getter, found), [])

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

    def instance(self, owner: Function, given: list[Value], at: Computed) -> Value:
        """Return an object of a class, or its argument if the class keeps nothing of a command."""
        alone = self.fields(owner)
        objects = [value for value in given if isinstance(value, ObjectValue)]
        if owner.node in self._running or not (objects or _may_name(given, alone)):
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
        self._get(found, _GOTTEN if at is not owner else found)
        # A command of Sapphire without a name has that of its file; an error may have lost its own.
        if is_piece(last) and not owner.scope.file.error:
            found.setdefault("name", PurePosixPath(owner.scope.file.path).stem)
        return found

    def _add_class(self, found: ObjectValue, owner: Function) -> Value:
        """Add the fields of a class and of its decorators to an object; return its constructor."""
        scope = owner.scope.inner(this=found)
        for decorator in decorators_of(owner.node):
            call = first_part(decorator)
            if _REGISTERS.fullmatch(scope.text(call, "function")):
                self.value(call, scope)
            called = self.value(field(call, "function") or call, scope)
            if isinstance(called, Computed) and not is_known(called):
                what = f"the decorator {short(called.text)} is not followed"
                self.partly.append((scope.file.place(decorator), what))
            for members in self.listed(field(call, "arguments"), scope):
                found.update(fields_of(members))
        members = parts(field(owner.node, "body"))
        if not isinstance(found.at, Function):  # it has been followed for the class itself
            members = [part for part in members if part.type != "class_static_block"]
        self.add_members(found, members, scope)
        return found.pop("constructor", None)

    def extend(self, given: list[Value], at: Computed) -> None:
        """Run the constructor of the class above for an object, as `super(...)` does."""
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
            self.called(_bound(above, this), given)


def _bound(function: Function, this: ObjectValue) -> Function:
    """Return a function in whose scope `this` is an object."""
    return Function(function.node, function.scope.inner(this=this))


def _may_name(given: list[Value], alone: ObjectValue) -> bool:
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
