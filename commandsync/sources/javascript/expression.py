"""The value of an expression, if the code states it: literals, names of them, and builders."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from operator import add, lshift, or_

from commandsync.sources.javascript.builders import apply, created, flat, is_command
from commandsync.sources.javascript.parsedfile import Node, decoded, parts
from commandsync.sources.javascript.value import (
    REST,
    Builder,
    Computed,
    Function,
    Record,
    Scope,
    Value,
    Written,
    member,
)

DECLARING = re.compile(
    r"CommandBuilder|\.\s*(add|set)[A-Z]|\.push\(|register\w*Command|pplicationCommands"
    r"|\bcommands\."
)
"""In what may declare a command, or change one."""

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
        self.left = self.depth = self.level = 0
        self.is_cut = False  # whether the file is too complex to be followed in full

    @abstractmethod
    def call(self, function: Function, given: list[Value]) -> Value:
        """Return what a function of the bot returns for some values."""

    @abstractmethod
    def module(self, source: Value, at: Written) -> Value:
        """Return what another file of the bot exports."""

    def value(self, node: Node | None, scope: Scope, of: str = "") -> Value:
        """Return the value of an expression, or of a field of it; None without it.

        It is `Computed` if the code does not state it.
        """
        node = node.child_by_field_name(of) if node and of else node
        self.left -= 1
        if node is None:
            return None
        if self.depth > _DEEPEST or self.left < 0:
            self.is_cut = True
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

    def values(self, nodes: Iterable[Node], scope: Scope) -> list[Value]:
        """Return the values of the parts of a list, or of arguments."""
        return list(islice(self._values(nodes, scope), _MOST_PARTS))

    def _values(self, nodes: Iterable[Node], scope: Scope) -> Iterator[Value]:
        for node in nodes:
            spread = node.type == "spread_element"
            value = self.value(parts(node)[0] if spread else node, scope)
            known = not spread or isinstance(value, list)
            yield from (
                flat([value]) if spread and known else [value if known else Computed(node, scope)]
            )

    def _on_true(self, node: Node, _: Scope) -> Value:
        return {"true": True, "false": False}.get(node.type)

    _on_false = _on_null = _on_undefined = _on_true

    def _on_string(self, node: Node, scope: Scope) -> Value:
        return decoded(scope.text(node)[1:-1])

    def _on_template_string(self, node: Node, scope: Scope) -> Value:
        if "${" not in scope.text(node):
            return self._on_string(node, scope)
        pieces: list[Value] = []
        for piece in node.named_children:
            value = piece.type == "template_substitution"
            pieces.append(
                self.value(parts(piece)[0], scope) if value else decoded(scope.text(piece))
            )
        return self._joined("", pieces, Computed(node, scope))

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
        return member(owner, scope.text(node, "property"), Computed(node, scope))

    def _on_object(self, node: Node, scope: Scope) -> Value:
        found = Record({}, Written(node, scope), self.level)
        for part in parts(node)[:_MOST_PARTS]:
            if part.type == "spread_element":
                spread = self.value(parts(part)[0], scope)
                known = isinstance(spread, Record)
                found.update(spread if known else {REST: Computed(part, scope)})
                continue
            key = part.child_by_field_name("key") or part.child_by_field_name("name") or part
            whole = part.child_by_field_name("value") or part  # a method, or {name}
            found[self._key(key, scope)] = self.value(whole, scope)
        return found

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
        value, target = self.value(node, scope, "right"), node.child_by_field_name("left")
        if self.level or node.type != "assignment_expression":
            value = Computed(node, scope)
        target = target or node.child_by_field_name("argument")  # of x++
        if target and target.type == "identifier":
            name = scope.text(target)
            maps = (names for names in scope.names.maps if name in names)
            next(maps, scope.names.maps[0])[name] = value
        elif target and isinstance(owner := self.value(target, scope, "object"), Record):
            owner[scope.text(target, "property") or REST] = value
        return value

    _on_augmented_assignment_expression = _on_update_expression = _on_assignment_expression

    def _on_call_expression(self, node: Node, scope: Scope) -> Value:
        function = node.child_by_field_name("function")
        given = self.values(parts(node.child_by_field_name("arguments")), scope)
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
                this.update(each if isinstance(each, Record) else {})
        return self._result(name, self.value(function, scope), given, at)

    def _on_new_expression(self, node: Node, scope: Scope) -> Value:
        called, at = self.value(node, scope, "constructor"), Computed(node, scope)
        given = self.values(parts(node.child_by_field_name("arguments")), scope)
        name = (called.text if isinstance(called, Computed) else "").rpartition(".")[2]
        begun = created(name, given)
        if begun is None:
            return self._result(scope.text(node, "constructor"), called, given, at)
        record = Builder(begun, at, self.level)
        self.built += [record] if is_command(name) else []
        return record

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

    def _register(self, name: str, given: list[Value], at: Written) -> None:
        """Remember the commands that a call tells Discord or a framework."""
        first, last = (given[0], given[-1]) if given else (None, None)
        owner = _fields(at.scope.names.get("this"))
        said = Record({**owner, **_fields(last)}, at)
        if name in _REGISTERING:
            builder = Builder({}, at, self.level)
            first = self.call(first, [builder]) if isinstance(first, Function) else first
            self.registered.append((first, said))
        elif name == "put" or (name in {"set", "create"} and _COMMANDS.search(at.text)):
            lists = flat([said.get("body") if name == "put" else first])
            self.registered += [
                (each, Record({}, at)) for each in lists if isinstance(each, Record)
            ]


def _fields(value: Value) -> dict[str, Value]:
    return value if isinstance(value, Record) else {}


def _is_small(value: Value) -> bool:
    return type(value) is int and value in range(_LARGEST)


def _is_plain(value: Value) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)
