"""The value of an expression, if the code states it, and the names that get one."""

import re
from collections import ChainMap, Counter
from collections.abc import Callable, Sequence

from commandsync.diagnostics import Location, Notice
from commandsync.sources.entry import as_list
from commandsync.sources.javascript.value import (
    REST,
    Computed,
    Node,
    Record,
    Scope,
    Value,
    field,
    parts,
)
from commandsync.sources.sourcefile import NOT_IMPORTED

_MOST_STEPS = 50_000  # for one file
_DEEPEST = 120  # expressions in each other
_MOST_PARTS = 1000
_LONGEST = 10_000  # characters
_INTEGER = re.compile(r"0|[1-9][0-9]{0,19}|0x[0-9a-f]{1,20}", re.IGNORECASE)
# The members of discord.js's enumerations, of which the name is enough.
_LISTED = re.compile(r"[\w.]*(?:(?:Command|Option)Types?|PermissionFlagsBits|Flags|FLAGS)\.(\w+)")
DECLARING = re.compile(  # in code that may declare a command, or change one
    r"CommandBuilder|\.\s*(add|set)[A-Z]|\.push\(|register\w*Command|pplicationCommands"
    r"|\bcommands\.|\.\s*command\(|setMyCommands"
)
_MEMBERS = {"object_pattern", "named_imports", "export_clause"}
_NAMED = re.compile(r"(abstract_class|class|(generator_)?function)_declaration")
_STATEMENT = re.compile(r"(?!expression_).*_(statement|clause|body|case|default|declaration|block)")
_NAMES = ("identifier", "identifier_pattern", "default", "namespace_import")
_NAME = re.compile(r"[\w$]+")
_ESCAPES = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True))
_ESCAPES |= dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), "")
_LIKE = {  # the types of nodes that are read as another one is
    "as_expression": (
        *("await_expression", "non_null_expression", "parenthesized_expression"),
        *("satisfies_expression", "spread_element", "template_substitution"),
        *("computed_property_name", "extends_clause", "expression_statement", "return_statement"),
    ),
    "assignment_expression": ("augmented_assignment_expression", "update_expression"),
    "function": ("arrow_function", "class", "function_expression", "generator_function"),
    "function_declaration": (
        *("abstract_class_declaration", "class_declaration", "generator_function_declaration"),
    ),
    "identifier": ("this", "shorthand_property_identifier"),
    "lexical_declaration": ("enum_declaration", "variable_declaration"),
    "object": ("enum_body",),
    "statement_block": ("try_statement", "finally_clause"),
    "string": ("template_string",),
    "true": ("false", "null", "undefined", "field_definition", "public_field_definition"),
}
_METHODS = {kind: like for like, kinds in _LIKE.items() for kind in kinds}


class Expressions:
    """Evaluates each type of node by the method with its name, or of a similar type."""

    def __init__(self) -> None:
        self.notes: set[Notice] = set()
        self.depth = self.level = 0
        self._steps: Counter[str] = Counter()  # in each file
        self._methods: dict[str, Callable[[Node, Scope], Value]] = {}  # by the type of a node

    def value(self, node: Node | None, scope: Scope, of: str = "") -> Value:
        """Return the value of a node or its field: `Computed` if it is not stated, None without."""
        node, path = field(node, of) if of else node, scope.file.path
        if node is None:
            return None
        self._steps[path] += 1
        if self.depth > _DEEPEST or self._steps[path] > _MOST_STEPS:
            message = "the file is too complex to be read in full"
            self.notes.add(Notice(message, NOT_IMPORTED, Location(path)))
            return Computed(node, scope)
        self.depth += 1
        value = self._method(node.type)(node, scope)
        self.depth -= 1
        return value

    def _method(self, kind: str) -> Callable[[Node, Scope], Value]:
        if kind not in self._methods:
            name = _METHODS.get(kind, kind)
            self._methods[kind] = getattr(self, f"_on_{name}", self._other)
        return self._methods[kind]

    def _on_true(self, node: Node, _: Scope) -> Value:
        return {"true": True, "false": False}.get(node.type)

    def _on_string(self, node: Node, scope: Scope) -> Value:
        pieces = [self.value(piece, scope) for piece in node.named_children]
        return _joined(pieces, Computed(node, scope))

    def _on_string_fragment(self, node: Node, scope: Scope) -> str:
        return scope.text(node)

    def _on_escape_sequence(self, node: Node, scope: Scope) -> str:
        code = scope.text(node)[1:]
        if code[:1] in {"u", "x"}:
            return chr(min(int(code[1:].strip("{}"), 16), 0x10FFFF))
        return _ESCAPES.get(code, code)

    def _on_number(self, node: Node, scope: Scope) -> Value:
        text = scope.text(node).removesuffix("n")
        return int(text, 0) if _INTEGER.fullmatch(text) else Computed(node, scope)

    def _on_identifier(self, node: Node, scope: Scope) -> Value:
        return scope.names.get(scope.text(node), Computed(node, scope))

    def _on_member_expression(self, node: Node, scope: Scope) -> Value:
        return self.member_of(self.value(node, scope, "object"), node, scope)

    def member_of(self, owner: Value, node: Node, scope: Scope) -> Value:
        """Return the member that an expression names of its owner."""
        computed = Computed(node, scope)
        known = _LISTED.fullmatch(computed.text) if isinstance(owner, Computed) else None
        return known[1] if known else member(owner, scope.text(node, "property"), computed)

    def _on_object(self, node: Node, scope: Scope) -> Record:
        found = Record({}, Computed(node, scope), self.level)
        self.add_members(found, parts(node), scope)
        return found

    def add_members(self, found: Record, nodes: Sequence[Node], scope: Scope) -> None:
        """Add the members of an object, a class or an enumeration."""
        for part in nodes:
            value = self.value(field(part, "value") or part, scope)
            if part.type == "spread_element":
                found.update(value if isinstance(value, Record) else {REST: value})
            else:
                found[self._key(field(part, "key", "name", "property") or part, scope)] = value

    def _key(self, node: Node, scope: Scope) -> str:
        is_value = node.type in {"string", "computed_property_name"}
        key = self.value(node, scope) if is_value else scope.text(node)
        return key if isinstance(key, str) else REST

    def _on_array(self, node: Node | None, scope: Scope) -> list[Value]:
        found: list[Value] = []
        for part in parts(node):
            value = self.value(part, scope)
            if part.type != "spread_element":
                value = [value]
            found += value if isinstance(value, list) else [Computed(part, scope)]
            del found[_MOST_PARTS:]
        return found

    def _on_as_expression(self, node: Node, scope: Scope) -> Value:
        inner = parts(node)
        if not inner:
            return None
        return self.value(inner[1] if node.type == "type_assertion" else inner[0], scope)

    def _on_binary_expression(self, node: Node, scope: Scope) -> Value:
        operator, computed = scope.text(node, "operator"), Computed(node, scope)
        if operator not in {"+", "|", "??", "||"}:
            return self._other(node, scope)
        sides = [self.value(node, scope, side) for side in ("left", "right")]
        if operator in {"??", "||"}:
            is_absent = _is_absent(sides[0], operator) or self._lacks(node, scope)
            return sides[1] if is_absent else sides[0]
        if operator == "|":  # of permissions, which are all listed
            return [*as_list(sides[0]), *as_list(sides[1])][:_MOST_PARTS]
        return _joined(sides, computed) if str in map(type, sides) else computed

    def _lacks(self, node: Node, scope: Scope) -> bool:
        """Whether the left side is a member that its object certainly does not have."""
        left = field(node, "left")
        owner = self.value(left, scope, "object") if left and field(left, "property") else None
        key = scope.text(left, "property") if left else ""
        return isinstance(owner, Record) and not {key, REST} & {*owner}

    def _on_lexical_declaration(self, node: Node, scope: Scope) -> None:
        for part in [node] if field(node, "name") else parts(node):
            self.bind(field(part, "name"), self.value(field(part, "value", "body"), scope), scope)

    def bind(self, pattern: Node | None, value: Value, scope: Scope) -> None:
        """Give the names of a pattern, or of the members that a file imports, their values."""
        pattern = field(pattern, "pattern", "left") or pattern  # with a type, or with a default
        if pattern and pattern.type in _MEMBERS and self.depth < _DEEPEST:
            self.depth += 1
            for part in parts(pattern):
                key = field(part, "key", "left", "name") or part
                inner = member(value, scope.text(key), Computed(key, scope))
                self.bind(field(part, "value", "alias", "name") or part, inner, scope)
            self.depth -= 1
        elif pattern:
            names = _NAME.findall(scope.text(pattern))
            known = value if pattern.type.endswith(_NAMES) else Computed(pattern, scope)
            scope.names.update(dict.fromkeys(names, known))

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

    def follow(self, nodes: Sequence[Node], scope: Scope) -> Value:
        """Follow statements, and return their result; None without one."""
        result = None
        for node in sorted(nodes, key=_order):
            returned = self.value(node, scope)
            if result is None and _STATEMENT.fullmatch(node.type):
                result = returned
        return result

    def _other(self, node: Node, scope: Scope) -> Value:
        """Follow the parts of any other statement or expression, which may not be reached."""
        computed, is_statement = Computed(node, scope), _STATEMENT.fullmatch(node.type)
        result = None
        if is_statement or DECLARING.search(computed.text):
            bound = field(node, "left", "initializer", "parameter") if is_statement else None
            inside = scope.inner()
            self.bind(bound, computed, inside)
            self.level += 1
            result = self.follow([part for part in parts(node) if part != bound], inside)
            self.level -= 1
        return None if is_statement and result is None else computed

    def _on_statement_block(self, node: Node, scope: Scope) -> Value:
        return self.follow(parts(node), scope.inner())


def member(owner: Value, key: str, otherwise: Value) -> Value:
    """Return a member of an object or a scope."""
    has = isinstance(owner, (Record, ChainMap))
    return owner.get(key, owner.get(REST, otherwise)) if has else otherwise


def _is_absent(value: Value, operator: str) -> bool:
    """Whether `??` or `||` returns its right side for this left one."""
    return value is None or (operator == "||" and value in (False, "", 0))


def _joined(pieces: list[Value], otherwise: Computed) -> Value:
    """Return texts and numbers as one text; `otherwise` with something else, or if it is long."""
    whole = "".join(map(str, pieces)) if {*map(type, pieces)} <= {str, int} else None
    if whole is None or len(whole) > _LONGEST:
        return otherwise
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins halves


def _order(node: Node) -> int:
    """Return when a statement is followed: functions and classes first, exports of names last."""
    if _NAMED.fullmatch((field(node, "declaration") or node).type):
        return 0
    return 2 if any(part.type == "export_clause" for part in node.named_children[:1]) else 1
