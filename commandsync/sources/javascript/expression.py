"""The value of an expression, if the code states it, and the statements that give names a value.

`value` is the only way in. A table says which method evaluates a node, by the node's type: names
and members, literals, operators, expressions around another one, statements. `function` and
`program` add their own types to the table. Any other node is searched for values it may change.

A statement that may not be reached (in a condition, a loop, a function that a library calls) is
followed one `level` deeper: its changes of a value from a level above are not certain.
"""

import re
from collections import ChainMap, Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from commandsync.diagnostics import Location, Notice
from commandsync.sources.entry import as_list
from commandsync.sources.javascript.value import (
    REST,
    BlockScope,
    Computed,
    ImportedValue,
    Node,
    ObjectValue,
    Value,
    field,
    first_part,
    last_part,
    parts,
)
from commandsync.sources.sourcefile import NOT_IMPORTED

Evaluate: TypeAlias = Callable[[Node, BlockScope], Value]
"""A method that returns the value of a node."""

_MOST_STEPS = 50_000  # for one file
_DEEPEST = 120  # expressions in each other
_MOST_PARTS = 1000
_LONGEST = 10_000  # characters
_INTEGER = re.compile(r"0|[1-9][0-9]{0,19}|0x[0-9a-f]{1,20}", re.IGNORECASE)
# The members of discord.js's enumerations, of which the name is enough.
_LISTED = re.compile(r"[\w.]*(?:(?:Command|Option)Types?|PermissionFlagsBits|Flags|FLAGS)\.(\w+)")
_DECLARING = re.compile(  # in code that may declare a command, or change one
    r"CommandBuilder|\.\s*(add|set)[A-Z]|\.push\(|pplicationCommands|\bcommands\.|ommands?\(|\.hears\("
)
_MEMBERS = {"object_pattern", "named_imports", "export_clause"}
_NAMED = re.compile(r"(abstract_class|class|(generator_)?function)_declaration")
_STATEMENT = re.compile(r"(?!expression_).*_(statement|clause|body|case|default|declaration|block)")
_NAMES = ("identifier", "identifier_pattern", "default", "namespace_import")
_NAME = re.compile(r"[\w$]+")
_ESCAPES = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True))
_ESCAPES |= dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), "")


class Expressions:
    """Evaluates nodes by a table of their types."""

    def __init__(self) -> None:
        self.notes: set[Notice] = set()
        self.depth = self.level = 0
        self.current = ""  # the file that is followed, perhaps into functions of others
        self._steps: Counter[str] = Counter()  # for each file
        self.table: dict[str, Evaluate] = {
            "identifier": self._named,
            "this": self._named,
            "shorthand_property_identifier": self._named,
            "member_expression": self._member,
            "subscript_expression": self._subscript,
            "string": self._text,
            "template_string": self._text,
            "string_fragment": lambda node, scope: scope.text(node),
            "escape_sequence": self._escape,
            "number": self._number,
            "true": lambda _node, _scope: True,
            "false": lambda _node, _scope: False,
            "null": lambda _node, _scope: None,
            "undefined": lambda _node, _scope: None,
            "field_definition": lambda _node, _scope: None,  # without a value
            "public_field_definition": lambda _node, _scope: None,
            "array": self.listed,
            "binary_expression": self._operation,
            "assignment_expression": self._assignment,
            "augmented_assignment_expression": self._assignment,
            "update_expression": self._assignment,
            "as_expression": self._typed,
            "satisfies_expression": self._typed,
            "type_assertion": lambda node, scope: self.value(last_part(node), scope),
            "parenthesized_expression": self._inner,
            "await_expression": self._inner,
            "non_null_expression": self._inner,
            "spread_element": self._inner,
            "template_substitution": self._inner,
            "computed_property_name": self._inner,
            "extends_clause": self._inner,
            "expression_statement": self._inner,
            "return_statement": self._inner,
            "lexical_declaration": self._declaration,
            "variable_declaration": self._declaration,
            "enum_declaration": self._declaration,
            "statement_block": self._block,
            "try_statement": self._block,
            "finally_clause": self._block,
        }

    def value(self, node: Node | None, scope: BlockScope, of: str = "") -> Value:
        """Return the value of a node or its field: `Computed` if it is not stated, None without."""
        node, path = field(node, of) if of else node, self.current or scope.file.path
        if node is None:
            return None
        steps = self._steps[path] = self._steps[path] + 1
        if self.depth > _DEEPEST or steps > _MOST_STEPS:
            message = "the file is too complex to be read in full"
            self.notes.add(Notice(message, NOT_IMPORTED, Location(path)))
            return Computed(node, scope)
        self.depth += 1
        value = self.table.get(node.type, self._other)(node, scope)
        self.depth -= 1
        return value

    # Names and members

    def _named(self, node: Node, scope: BlockScope) -> Value:
        return scope.names.get(scope.text(node), Computed(node, scope))

    def _member(self, node: Node, scope: BlockScope) -> Value:
        return self.member_of(self.value(node, scope, "object"), node, scope)

    def member_of(self, owner: Value, node: Node, scope: BlockScope) -> Value:
        """Return the member that an expression names of its owner."""
        computed, key = Computed(node, scope), scope.text(node, "property")
        if isinstance(owner, Computed) and (known := _LISTED.fullmatch(computed.text)):
            return known[1]
        return member(owner, key, computed)

    def _subscript(self, node: Node, scope: BlockScope) -> Value:
        key = self.value(node, scope, "index")
        owner = self.value(node, scope, "object")
        computed = Computed(node, scope)
        return member(owner, key, computed) if isinstance(key, str) else computed

    # Literals

    def _text(self, node: Node, scope: BlockScope) -> Value:
        pieces = [
            scope.text(piece) if piece.type == "string_fragment" else self.value(piece, scope)
            for piece in node.named_children
        ]
        return _joined(pieces, Computed(node, scope))

    def _escape(self, node: Node, scope: BlockScope) -> Value:
        code = scope.text(node)[1:]
        if code[:1] in {"u", "x"}:
            return chr(min(int(code[1:].strip("{}"), 16), 0x10FFFF))
        return _ESCAPES.get(code, code)

    def _number(self, node: Node, scope: BlockScope) -> Value:
        text = scope.text(node).removesuffix("n")
        return int(text, 0) if _INTEGER.fullmatch(text) else Computed(node, scope)

    def listed(self, node: Node | None, scope: BlockScope) -> list[Value]:
        """Return the members of a list, or the arguments of a call."""
        found: list[Value] = []
        for part in parts(node):
            value = self.value(part, scope)
            if part.type != "spread_element":
                value = [value]
            found += value if isinstance(value, list) else [Computed(part, scope)]
            del found[_MOST_PARTS:]
        return found

    def add_members(self, found: ObjectValue, nodes: Sequence[Node], scope: BlockScope) -> None:
        """Add the members of an object, a class or an enumeration."""
        for part in nodes:
            value = self.value(field(part, "value") or part, scope)
            if part.type == "spread_element":
                found.update(value if isinstance(value, ObjectValue) else {REST: value})
                continue
            named = field(part, "key", "name", "property") or part
            is_value = named.type in {"string", "computed_property_name"}
            key = self.value(named, scope) if is_value else scope.text(named)
            found[key if isinstance(key, str) else REST] = value

    # Operators

    def _operation(self, node: Node, scope: BlockScope) -> Value:
        operator, computed = scope.text(node, "operator"), Computed(node, scope)
        if operator not in {"+", "|", "??", "||"}:
            return self._other(node, scope)
        left, right = (self.value(node, scope, side) for side in ("left", "right"))
        if operator == "|":  # of permissions, which are all listed
            return [*as_list(left), *as_list(right)][:_MOST_PARTS]
        if operator == "+":
            is_text = str in {type(left), type(right)}
            return _joined([left, right], computed) if is_text else computed
        if left is None or (operator == "||" and left in (False, "", 0)):
            return right
        # A member that its object certainly does not have is empty, too.
        stated = field(node, "left")
        owner = self.value(stated, scope, "object") if field(stated, "property") else None
        known = {scope.text(stated, "property"), REST}
        return right if isinstance(owner, ObjectValue) and not known & {*owner} else left

    def _assignment(self, node: Node, scope: BlockScope) -> Value:
        value, target = self.value(node, scope, "right"), field(node, "left", "argument")
        if self.level or node.type != "assignment_expression":
            value = Computed(node, scope)
        if target and target.type == "identifier":
            name = scope.text(target)
            maps = (names for names in scope.names.maps if name in names)
            next(maps, scope.names.maps[0])[name] = value
        elif target and isinstance(owner := self.value(target, scope, "object"), ObjectValue):
            owner[scope.text(target, "property") or REST] = value
        return value

    # Expressions around another one, and statements

    def _inner(self, node: Node, scope: BlockScope) -> Value:
        return self.value(first_part(node), scope)

    def _typed(self, node: Node, scope: BlockScope) -> Value:
        value = self.value(first_part(node), scope)
        _add_type(value, last_part(node), scope)
        return value

    def _declaration(self, node: Node, scope: BlockScope) -> None:
        for part in [node] if field(node, "name") else parts(node):
            value = self.value(field(part, "value", "body"), scope)
            _add_type(value, field(part, "type"), scope)
            self.bind(field(part, "name"), value, scope)

    def bind(self, pattern: Node | None, value: Value, scope: BlockScope) -> None:
        """Give the names of a pattern, or of the members that a file imports, their values."""
        pattern = field(pattern, "pattern", "left") or pattern  # with a type, or with a default
        if pattern is None:
            return
        if pattern.type not in _MEMBERS or self.depth >= _DEEPEST:
            names = _NAME.findall(scope.text(pattern))
            known = value if pattern.type.endswith(_NAMES) else Computed(pattern, scope)
            scope.names.update(dict.fromkeys(names, known))
            return
        self.depth += 1
        for part in parts(pattern):
            key = field(part, "key", "left", "name") or part
            inner = member(value, scope.text(key), Computed(key, scope))
            if part.type == "rest_pattern":
                inner = value if isinstance(value, ImportedValue) else Computed(part, scope)
            self.bind(field(part, "value", "alias", "name") or part, inner, scope)
        self.depth -= 1

    def _block(self, node: Node, scope: BlockScope) -> Value:
        return self.follow(parts(node), scope.inner())

    def follow(self, nodes: Sequence[Node], scope: BlockScope) -> Value:
        """Follow statements, and return their result; None without one."""
        result = None
        for node in sorted(nodes, key=_order):
            returned = self.value(node, scope)
            if result is None and _is_statement(node.type):
                result = returned
        return result

    def _other(self, node: Node, scope: BlockScope) -> Value:
        """Follow the parts of any other statement or expression, which may not be reached."""
        computed, is_statement = Computed(node, scope), _is_statement(node.type)
        result = None
        if is_statement or _DECLARING.search(computed.text):
            bound = field(node, "left", "initializer", "parameter") if is_statement else None
            inside = scope.inner()
            self.bind(bound, computed, inside)
            self.level += 1
            result = self.follow([part for part in parts(node) if part != bound], inside)
            self.level -= 1
        return None if is_statement and result is None else computed


def member(owner: Value, key: str, otherwise: Computed) -> Value:
    """Return a member of an object, a scope or a module."""
    match owner:
        case ImportedValue():
            return owner.member(key, otherwise.node, otherwise.scope)
        case ObjectValue() | ChainMap() if key not in owner and isinstance(
            owner.get(REST), ImportedValue
        ):
            return owner[REST].member(key, otherwise.node, otherwise.scope)
        case ObjectValue() | ChainMap():
            return owner.get(key, owner.get(REST, otherwise))
        case _:
            return otherwise


def _add_type(value: Value, declared: Node | None, scope: BlockScope) -> None:
    """Give an object the name of the type that TypeScript declares for it."""
    if isinstance(value, ObjectValue) and declared:
        value.kind = scope.text(declared).lstrip(": ")


def _joined(pieces: list[Value], otherwise: Computed) -> Value:
    """Return texts and numbers as one text; `otherwise` with something else, or if it is long."""
    whole = "".join(map(str, pieces)) if {*map(type, pieces)} <= {str, int} else None
    if whole is None or len(whole) > _LONGEST:
        return otherwise
    if whole.isascii():  # as nearly always
        return whole
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins halves


@cache
def _is_statement(kind: str) -> bool:
    return _STATEMENT.fullmatch(kind) is not None


def _order(node: Node) -> int:
    """Return when a statement is followed: functions and classes first, exports of names last."""
    if _NAMED.fullmatch((field(node, "declaration") or node).type):
        return 0
    return 2 if any(part.type == "export_clause" for part in node.named_children[:1]) else 1
