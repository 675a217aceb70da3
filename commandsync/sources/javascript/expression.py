"""The value of an expression, if the code states it, and the names that get one."""

import re
from collections import ChainMap, Counter
from collections.abc import Sequence

from commandsync.diagnostics import Location, Notice
from commandsync.sources.code import NOT_IMPORTED
from commandsync.sources.javascript.parsedfile import Node, decoded, field, parts
from commandsync.sources.javascript.value import REST, Computed, Record, Scope, Value

_MOST_STEPS = 50_000  # for one file
_DEEPEST = 120  # expressions in each other
_MOST_PARTS = 1000
_LONGEST = 10_000  # characters
_LONGEST_NUMBER = 20  # digits
_TYPE = re.compile(r"(?:\w+\.)*(?:Application)?(?:Command|Option|CommandOption)Types?\.(\w+)")
_PERMISSION = re.compile(r"(?:\w+\.)*(?:PermissionFlagsBits|Flags|FLAGS)\.(\w+)")
_MEMBERS = {"object_pattern", "named_imports", "export_clause"}
NAME = re.compile(r"[\w$]+")
_ADMINISTRATOR, _OTHER = 8, 2  # of the other permissions it does not matter which


class Expressions:
    """Evaluates each kind of expression by the method with its name."""

    def __init__(self) -> None:
        self.notes: set[Notice] = set()
        self.depth = self.level = 0
        self._steps: Counter[str] = Counter()  # in each file

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

    def other(self, node: Node, scope: Scope) -> Value:
        """Return the value of what has no method."""
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
        return joined("", pieces, Computed(node, scope))

    def _on_string_fragment(self, node: Node, scope: Scope) -> Value:
        return decoded(scope.text(node))

    _on_escape_sequence = _on_string_fragment

    def _on_number(self, node: Node, scope: Scope) -> Value:
        try:
            return int(scope.text(node).removesuffix("n")[:_LONGEST_NUMBER], 0)
        except ValueError:  # no other number is needed
            return Computed(node, scope)

    def _on_identifier(self, node: Node, scope: Scope) -> Value:
        return scope.names.get(scope.text(node), Computed(node, scope))

    _on_this = _on_shorthand_property_identifier = _on_identifier

    def _on_member_expression(self, node: Node, scope: Scope) -> Value:
        owner, text = self.value(node, scope, "object"), scope.text(node)
        if isinstance(owner, Computed):
            if permission := _PERMISSION.fullmatch(text):
                return _ADMINISTRATOR if permission[1].upper() == "ADMINISTRATOR" else _OTHER
            kind = _TYPE.fullmatch(text)
            return kind[1] if kind else Computed(node, scope)
        return member(owner, scope.text(node, "property"), Computed(node, scope))

    def _on_object(self, node: Node, scope: Scope) -> Record:
        found = Record({}, Computed(node, scope), self.level)
        self.add_members(found, parts(node), scope)
        return found

    def add_members(self, found: Record, nodes: Sequence[Node], scope: Scope) -> None:
        """Add the members of an object, a class or an enumeration."""
        for part in nodes[:_MOST_PARTS]:
            value = self.value(field(part, "value") or part, scope)
            if part.type == "spread_element":
                found.update(value if isinstance(value, Record) else {REST: value})
            else:
                found[self._key(field(part, "key", "name", "property") or part, scope)] = value

    def _key(self, key: Node, scope: Scope) -> str:
        if key.type not in {"string", "computed_property_name"}:
            return scope.text(key)
        value = self.value(key if key.type == "string" else parts(key)[0], scope)
        return value if isinstance(value, str) else REST

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
        operator = scope.text(node, "operator")
        if operator not in {"+", "|"}:
            return self.other(node, scope)
        left, right = (self.value(node, scope, side) for side in ("left", "right"))
        if operator == "+" and (isinstance(left, str) or isinstance(right, str)):
            return joined("", [left, right], Computed(node, scope))
        is_bits = operator == "|" and type(left) is type(right) is int
        return left | right if is_bits else Computed(node, scope)

    def _on_enum_declaration(self, node: Node, scope: Scope) -> None:
        members = scope.names[scope.text(node, "name")] = Record({}, Computed(node, scope))
        self.add_members(members, parts(field(node, "body")), scope)

    def _on_lexical_declaration(self, node: Node, scope: Scope) -> None:
        for part in parts(node):
            self.bind(part.child_by_field_name("name"), self.value(part, scope, "value"), scope)

    _on_variable_declaration = _on_lexical_declaration

    def bind(self, pattern: Node | None, value: Value, scope: Scope) -> None:
        """Give the names of a pattern, or of the members that a file imports, their values."""
        pattern = field(pattern, "pattern", "left") or pattern  # with a type, or with a default
        if pattern is None:
            return
        if pattern.type in _MEMBERS:
            for part in parts(pattern):
                key = field(part, "key", "left", "name") or part
                inner = member(value, scope.text(key), Computed(key, scope))
                self.bind(field(part, "value", "alias", "name") or part, inner, scope)
        elif pattern.type.endswith(("identifier", "identifier_pattern", "default")):
            scope.names[scope.text(pattern)] = value
        else:
            names = NAME.findall(scope.text(pattern))
            scope.names.update(dict.fromkeys(names, Computed(pattern, scope)))

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


def member(owner: Value, key: str, otherwise: Value) -> Value:
    """Return a member of an object, or of what has names as one."""
    has = isinstance(owner, (Record, ChainMap))
    return owner.get(key, owner.get(REST, otherwise)) if has else otherwise


def joined(separator: str, pieces: list[Value], otherwise: Computed) -> Value:
    """Return texts and numbers as one text; `otherwise` with something else, or if it is long."""
    if not all(isinstance(piece, str) or type(piece) is int for piece in pieces):
        return otherwise
    whole = separator.join(map(str, pieces))
    return whole if len(whole) <= _LONGEST else otherwise
