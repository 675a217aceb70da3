"""The value of an expression, if the code states it: literals, names of them, and builders."""

import re
from abc import ABC, abstractmethod
from collections import ChainMap, Counter
from collections.abc import Callable, Sequence
from functools import partial
from operator import add, lshift, or_

from commandsync.diagnostics import Location, Notice
from commandsync.sources.code import NOT_IMPORTED
from commandsync.sources.javascript.builders import Builder, apply, created, fields_of, flat
from commandsync.sources.javascript.parsedfile import Node, decoded, field, parts
from commandsync.sources.javascript.value import REST, Computed, Function, Record, Scope, Value

DECLARING = re.compile(
    r"CommandBuilder|\.\s*(add|set)[A-Z]|\.push\(|register\w*Command|pplicationCommands"
    r"|\bcommands\."
)
"""In what may declare a command, or change one."""

_MOST_STEPS = 50_000  # for one file
_DEEPEST = 120  # expressions in each other
_MOST_PARTS = 1000
_LONGEST = 10_000  # characters
_LONGEST_NUMBER = 20  # digits
_LARGEST = 100  # of bits that are joined or shifted
_TYPE = re.compile(r"(?:\w+\.)*(?:Application)?(?:Command|Option|CommandOption)Types?\.(\w+)")
_PERMISSION = re.compile(r"(?:\w+\.)*(?:PermissionFlagsBits|Flags|FLAGS)\.(\w+)")
_ADMINISTRATOR, _OTHER = 8, 2  # of the other permissions it does not matter which
_MAKER = re.compile("command", re.IGNORECASE)
_REGISTERING = {"registerChatInputCommand", "registerContextMenuCommand"}
_COMMANDS = re.compile(r"\bcommands\s*\.\s*(set|create)\s*\(")
_EITHER = {"&&", "||", "??"}
_OPERATORS: dict[str, Callable[[int, int], int]] = {"|": or_, "<<": lshift, "+": add}


class Expressions(ABC):
    """Evaluates each kind of expression by the method with its name."""

    def __init__(self) -> None:
        self.built: list[Record] = []  # each command that a builder has begun
        self.registered: list[tuple[Value, Record]] = []  # with what else its call says
        self.notes: set[Notice] = set()
        self.depth = self.level = 0
        self._steps: Counter[str] = Counter()  # in each file

    @abstractmethod
    def call(self, function: Function, given: list[Value]) -> Value:
        """Return what a function of the bot returns for some values."""

    @abstractmethod
    def module(self, source: Value, at: Computed) -> Value:
        """Return what another file of the bot exports."""

    def value(self, node: Node | None, scope: Scope, of: str = "") -> Value:
        """Return the value of an expression, or of a field of it; None without it.

        It is `Computed` if the code does not state it.
        """
        node, path = field(node, of) if of else node, scope.file.path
        if node is None:
            return None
        self._steps[path] += 1
        if self.depth > _DEEPEST or self._steps[path] > _MOST_STEPS:
            message = "the file is too complex to be read in full"
            self.notes.add(Notice(message, NOT_IMPORTED, Location(path)))
            return Computed(node, scope)
        self.depth += 1
        value = getattr(self, f"_on_{node.type}", self.other)(node, scope)
        self.depth -= 1
        return value

    def uncertain(self, follow: Callable[[], Value]) -> Value:
        """Follow what may not be reached."""
        self.level += 1
        value = follow()
        self.level -= 1
        return value

    def other(self, node: Node, scope: Scope) -> Value:
        """Follow what is inside of any other expression."""
        if DECLARING.search(scope.text(node)):
            self.uncertain(lambda: [self.value(part, scope) for part in parts(node)])
        return Computed(node, scope)

    def values(self, nodes: Sequence[Node], scope: Scope) -> list[Value]:
        """Return the values of the parts of a list, or of arguments."""
        found: list[Value] = []
        for node in nodes[:_MOST_PARTS]:
            value = self.value(node, scope)
            if node.type == "spread_element":
                found += value if isinstance(value, list) else [Computed(node, scope)]
            else:
                found.append(value)
            del found[_MOST_PARTS:]
        return found

    def _on_true(self, node: Node, _: Scope) -> Value:
        return {"true": True, "false": False}.get(node.type)

    _on_false = _on_null = _on_undefined = _on_true
    _on_field_definition = _on_public_field_definition = _on_true  # without a value

    def _on_string(self, node: Node, scope: Scope) -> Value:
        return decoded(scope.text(node)[1:-1])

    def _on_template_string(self, node: Node, scope: Scope) -> Value:
        if "${" not in scope.text(node):
            return self._on_string(node, scope)
        pieces = [self.value(piece, scope) for piece in node.named_children]
        return self._joined("", pieces, Computed(node, scope))

    def _on_string_fragment(self, node: Node, scope: Scope) -> Value:
        return decoded(scope.text(node))

    _on_escape_sequence = _on_string_fragment

    def _joined(self, separator: str, pieces: list[Value], otherwise: Computed) -> Value:
        whole = separator.join(str(piece) for piece in pieces if _is_plain(piece))
        return whole if all(map(_is_plain, pieces)) and len(whole) <= _LONGEST else otherwise

    def _on_number(self, node: Node, scope: Scope) -> Value:
        try:
            return int(scope.text(node).removesuffix("n")[:_LONGEST_NUMBER], 0)
        except ValueError:  # no other number is needed
            return Computed(node, scope)

    def _on_identifier(self, node: Node, scope: Scope) -> Value:
        return scope.get(scope.text(node), Computed(node, scope))

    _on_this = _on_shorthand_property_identifier = _on_identifier

    def _on_member_expression(self, node: Node, scope: Scope) -> Value:
        owner, text = self.value(node, scope, "object"), scope.text(node)
        if isinstance(owner, Computed):
            kind, permission = _TYPE.fullmatch(text), _PERMISSION.fullmatch(text)
            if permission:
                return _ADMINISTRATOR if permission[1].upper() == "ADMINISTRATOR" else _OTHER
            return kind[1] if kind else Computed(node, scope)
        return self.member(owner, scope.text(node, "property"), Computed(node, scope))

    def member(self, owner: Value, key: str, otherwise: Value) -> Value:
        """Return a member of an object, or of what has names as one."""
        has = isinstance(owner, (Record, ChainMap))
        return owner.get(key, owner.get(REST, otherwise)) if has else otherwise

    def _on_object(self, node: Node, scope: Scope) -> Value:
        found = Record({}, Computed(node, scope), self.level)
        self.add_members(found, parts(node), scope)
        return found

    def add_members(self, found: Record, nodes: Sequence[Node], scope: Scope) -> None:
        """Add the members of an object or a class."""
        for part in nodes[:_MOST_PARTS]:
            value = self.value(field(part, "value") or part, scope)
            if part.type == "spread_element":
                known = isinstance(value, Record)
                found.update(value if known else {REST: Computed(part, scope)})
            else:
                found[self._key(field(part, "key", "name", "property") or part, scope)] = value

    def _key(self, key: Node, scope: Scope) -> str:
        if key.type not in {"string", "computed_property_name"}:
            return scope.text(key)
        value = self.value(key if key.type == "string" else parts(key)[0], scope)
        return value if isinstance(value, str) else REST

    def _on_method_definition(self, node: Node, scope: Scope) -> Value:
        method = self._on_arrow_function(node, scope)
        return self.call(method, []) if any(c.type == "get" for c in node.children) else method

    def _on_arrow_function(self, node: Node, scope: Scope) -> Function:
        return Function(node, scope)

    def _on_array(self, node: Node, scope: Scope) -> Value:
        return self.values(parts(node), scope)

    def _on_as_expression(self, node: Node, scope: Scope) -> Value:
        return self.value(parts(node)[node.type == "type_assertion"], scope)

    _on_await_expression = _on_non_null_expression = _on_parenthesized_expression = (
        _on_as_expression
    )
    _on_satisfies_expression = _on_type_assertion = _on_as_expression
    _on_spread_element = _on_template_substitution = _on_as_expression

    def _on_binary_expression(self, node: Node, scope: Scope) -> Value:
        operator, computed = scope.text(node, "operator"), Computed(node, scope)
        if operator in _EITHER:
            return self.other(node, scope)
        sides = [self.value(node, scope, side) for side in ("left", "right")]
        if operator == "+" and any(isinstance(side, str) for side in sides):
            return self._joined("", sides, computed)
        small = operator in _OPERATORS and all(map(_is_small, sides))
        return _OPERATORS[operator](*sides) if small else computed

    def _on_assignment_expression(self, node: Node, scope: Scope) -> Value:
        value, target = self.value(node, scope, "right"), field(node, "left", "argument")
        if self.level or node.type != "assignment_expression":
            value = Computed(node, scope)
        if target and target.type == "identifier":
            name = scope.text(target)
            maps = (names for names in scope.names.maps if name in names)
            next(maps, scope.names.maps[0])[name] = value
        elif target and isinstance(owner := self.value(target, scope, "object"), Record):
            owner[scope.text(target, "property") or REST] = value
        return value

    _on_augmented_assignment_expression = _on_update_expression = _on_assignment_expression

    def _arguments(self, node: Node, scope: Scope) -> list[Value]:
        return self.values(parts(field(node, "arguments")), scope)

    def _on_call_expression(self, node: Node, scope: Scope) -> Value:
        function, given = field(node, "function"), self._arguments(node, scope)
        owner, at = self.value(function, scope, "object"), Computed(node, scope)
        name = scope.text(function, "property") or scope.text(function)
        if isinstance(owner, Builder):
            if owner.level < self.level:
                owner[REST] = at
            else:
                apply(owner, name, given, at, self.call)
            return owner
        if isinstance(owner, list):
            return self._of_list(owner, name, given, at)
        if name == "require":
            return self.module(given[0] if given else None, at)
        if name == "super" and isinstance(this := scope.get("this", None), Record):
            for each in given:
                this.update(fields_of(each))
        return self._result(name, self.value(function, scope), given, at)

    def _on_new_expression(self, node: Node, scope: Scope) -> Value:
        called, at = self.value(node, scope, "constructor"), Computed(node, scope)
        given = self._arguments(node, scope)
        name = (called.text if isinstance(called, Computed) else "").rpartition(".")[2]
        builder = created(name, given, at, self.level)
        if builder is None:
            return self._result(scope.text(node, "constructor"), called, given, at)
        self.built += [builder] if builder.is_command else []
        return builder

    def _of_list(self, owner: list[Value], name: str, given: list[Value], at: Computed) -> Value:
        """Return what a few methods of lists return."""
        first = given[0] if given else None
        if name == "push":
            owner += [at] if self.level else given
        elif name == "map" and isinstance(first, Function):
            return [self.call(first, [each]) for each in owner]
        elif name == "join" and isinstance(first, str):
            return self._joined(first, owner, at)
        return at

    def _result(self, name: str, called: Value, given: list[Value], at: Computed) -> Value:
        """Return what a function of the bot returns; the object that makes a command, of others."""
        if isinstance(called, Function) and "class" not in called.node.type:
            return self.call(called, given)
        self._register(name, given, at)
        for each in given:
            if isinstance(each, Function) and DECLARING.search(each.text):
                self.uncertain(partial(self.call, each, []))
        objects = [value for value in given if isinstance(value, Record)]
        return objects[0] if objects and _MAKER.search(name) else at

    def _register(self, name: str, given: list[Value], at: Computed) -> None:
        """Remember the commands that a call tells Discord or a framework."""
        first, last = (given[0], given[-1]) if given else (None, None)
        said = Record({**fields_of(at.scope.get("this", None)), **fields_of(last)}, at)
        if name in _REGISTERING:
            builder = Builder({}, at, self.level)
            first = self.call(first, [builder]) if isinstance(first, Function) else first
            self.registered.append((first, said))
        elif name == "put" or (name in {"set", "create"} and _COMMANDS.search(at.text)):
            lists = flat([said.get("body") if name == "put" else first])
            self.registered += [
                (each, Record({}, at)) for each in lists if isinstance(each, Record)
            ]


def _is_small(value: Value) -> bool:
    return type(value) is int and value in range(_LARGEST)


def _is_plain(value: Value) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
