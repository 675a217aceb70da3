"""The value of an expression, if the code states it, and the statements that give names a value.

`value` is the only way in. By the type of a node it is a literal, an expression or a statement, and
any other node is looked through for what it may change. A statement that may not be reached (in a
condition, a loop, a function that a library calls) is followed one `level` deeper: what it changes
of a value from a level above is not certain.
"""

import re
from collections import ChainMap, Counter
from collections.abc import Iterable, Sequence

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

_MOST_STEPS = 50_000  # for one file
_DEEPEST = 120  # expressions in each other
_MOST_PARTS = 1000
_LONGEST = 10_000  # characters
_INTEGER = re.compile(r"0|[1-9][0-9]{0,19}|0x[0-9a-f]{1,20}", re.IGNORECASE)
# The members of discord.js's enumerations, of which the name is enough.
_LISTED = re.compile(r"[\w.]*(?:(?:Command|Option)Types?|PermissionFlagsBits|Flags|FLAGS)\.(\w+)")
DECLARING = re.compile(  # in code that may declare a command, or change one
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
    """Evaluates nodes; `Program` has the files, functions and calls."""

    def __init__(self) -> None:
        self.notes: set[Notice] = set()
        self.depth = self.level = 0
        self.current = ""  # the file that is followed, perhaps into functions of others
        self._steps: Counter[str] = Counter()  # for each file

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
        value = self._expression(node, scope)
        self.depth -= 1
        return value

    def _expression(self, node: Node, scope: BlockScope) -> Value:  # noqa: PLR0911 - one for each type
        match node.type:
            case "identifier" | "this" | "shorthand_property_identifier":
                return scope.names.get(scope.text(node), Computed(node, scope))
            case "member_expression":
                return self.member_of(self.value(node, scope, "object"), node, scope)
            case "subscript_expression":
                key = self.value(node, scope, "index")
                owner = self.value(node, scope, "object")
                computed = Computed(node, scope)
                return member(owner, key, computed) if isinstance(key, str) else computed
            case "call_expression":
                return self.call(node, scope)
            case "new_expression":
                return self.made(node, scope)
            case "object" | "enum_body":
                found = ObjectValue({}, Computed(node, scope), self.level)
                self.add_members(found, parts(node), scope)
                self.get(found, found)
                return found
            case "array":
                return self.listed(node, scope)
            case "binary_expression":
                return self._operation(node, scope)
            case "assignment_expression" | "augmented_assignment_expression" | "update_expression":
                return self._assigned(node, scope)
            case _:
                return self._literal(node, scope)

    def _literal(self, node: Node, scope: BlockScope) -> Value:  # noqa: PLR0911 - one for each type
        match node.type:
            case "string" | "template_string":
                pieces = [self._piece(piece, scope) for piece in node.named_children]
                return _joined(pieces, Computed(node, scope))
            case "string_fragment":
                return scope.text(node)
            case "escape_sequence":
                code = scope.text(node)[1:]
                if code[:1] in {"u", "x"}:
                    return chr(min(int(code[1:].strip("{}"), 16), 0x10FFFF))
                return _ESCAPES.get(code, code)
            case "number":
                text = scope.text(node).removesuffix("n")
                return int(text, 0) if _INTEGER.fullmatch(text) else Computed(node, scope)
            case "true" | "false":
                return node.type == "true"
            case "null" | "undefined" | "field_definition" | "public_field_definition":
                return None
            case _:
                return self._wrapped(node, scope)

    def _piece(self, node: Node, scope: BlockScope) -> Value:
        """Return the value of a part of a string, which nearly always is a fragment."""
        return scope.text(node) if node.type == "string_fragment" else self.value(node, scope)

    def _wrapped(self, node: Node, scope: BlockScope) -> Value:
        """Return the value of the one expression in a node, or of a function or a class."""
        match node.type:
            case "as_expression" | "satisfies_expression":
                value = self.value(first_part(node), scope)
                _add_type(value, last_part(node), scope)
                return value
            case (
                "parenthesized_expression"
                | "await_expression"
                | "non_null_expression"
                | "spread_element"
                | "template_substitution"
                | "computed_property_name"
                | "extends_clause"
                | "expression_statement"
                | "return_statement"
            ):
                return self.value(first_part(node), scope)
            case "type_assertion":
                return self.value(last_part(node), scope)
            case (
                "arrow_function"
                | "function_expression"
                | "generator_function"
                | "class"
                | "method_definition"
            ):
                return self.function(node, scope)
            case _:
                return self._statement(node, scope)

    def _statement(self, node: Node, scope: BlockScope) -> Value:
        match node.type:
            case "lexical_declaration" | "variable_declaration" | "enum_declaration":
                for part in [node] if field(node, "name") else parts(node):
                    value = self.value(field(part, "value", "body"), scope)
                    _add_type(value, field(part, "type"), scope)
                    self.bind(field(part, "name"), value, scope)
                return None
            case (
                "function_declaration"
                | "class_declaration"
                | "abstract_class_declaration"
                | "generator_function_declaration"
            ):
                scope.names[scope.text(node, "name")] = self.function(node, scope)
                return None
            case "import_statement":
                return self.imports(node, scope)
            case "export_statement":
                return self.export(node, scope)
            case "statement_block" | "try_statement" | "finally_clause":
                return self.follow(parts(node), scope.inner())
            case _:
                return self._other(node, scope)

    def _other(self, node: Node, scope: BlockScope) -> Value:
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

    def member_of(self, owner: Value, node: Node, scope: BlockScope) -> Value:
        """Return the member that an expression names of its owner."""
        computed, key = Computed(node, scope), scope.text(node, "property")
        if isinstance(owner, Computed) and (known := _LISTED.fullmatch(computed.text)):
            return known[1]
        return member(owner, key, computed)

    def add_members(self, found: ObjectValue, nodes: Sequence[Node], scope: BlockScope) -> None:
        """Add the members of an object, a class or an enumeration."""
        for part in nodes:
            value = self.value(field(part, "value") or part, scope)
            if part.type == "spread_element":
                found.update(value if isinstance(value, ObjectValue) else {REST: value})
            else:
                found[self._key(field(part, "key", "name", "property") or part, scope)] = value

    def _key(self, node: Node, scope: BlockScope) -> str:
        is_value = node.type in {"string", "computed_property_name"}
        key = self.value(node, scope) if is_value else scope.text(node)
        return key if isinstance(key, str) else REST

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

    def _operation(self, node: Node, scope: BlockScope) -> Value:
        operator, computed = scope.text(node, "operator"), Computed(node, scope)
        if operator not in {"+", "|", "??", "||"}:
            return self._other(node, scope)
        left, right = (self.value(node, scope, side) for side in ("left", "right"))
        match operator:
            case "??" | "||":
                is_empty = left is None or (operator == "||" and left in (False, "", 0))
                return right if is_empty or self._lacks(node, scope) else left
            case "|":  # of permissions, which are all listed
                return [*as_list(left), *as_list(right)][:_MOST_PARTS]
            case _:
                is_text = str in {type(left), type(right)}
                return _joined([left, right], computed) if is_text else computed

    def _lacks(self, node: Node, scope: BlockScope) -> bool:
        """Whether the left side is a member that its object certainly does not have."""
        left = field(node, "left")
        owner = self.value(left, scope, "object") if left and field(left, "property") else None
        key = scope.text(left, "property") if left else ""
        return isinstance(owner, ObjectValue) and not {key, REST} & {*owner}

    def _assigned(self, node: Node, scope: BlockScope) -> Value:
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

    def follow(self, nodes: Sequence[Node], scope: BlockScope) -> Value:
        """Follow statements, and return their result; None without one."""
        result = None
        for node in sorted(nodes, key=_order):
            returned = self.value(node, scope)
            if result is None and _STATEMENT.fullmatch(node.type):
                result = returned
        return result

    def call(self, node: Node, scope: BlockScope) -> Value:
        """Return the result of a call."""
        raise NotImplementedError

    def made(self, node: Node, scope: BlockScope) -> Value:
        """Return the object that `new` makes."""
        raise NotImplementedError

    def function(self, node: Node, scope: BlockScope) -> Value:
        """Return a function or a class."""
        raise NotImplementedError

    def get(self, found: ObjectValue, keys: Iterable[str]) -> None:
        """Replace getters of an object by their results."""
        raise NotImplementedError

    def imports(self, node: Node, scope: BlockScope) -> None:
        """Give the names that a file imports their values."""
        raise NotImplementedError

    def export(self, node: Node, scope: BlockScope) -> None:
        """Add to the exports of a file."""
        raise NotImplementedError


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


def _order(node: Node) -> int:
    """Return when a statement is followed: functions and classes first, exports of names last."""
    if _NAMED.fullmatch((field(node, "declaration") or node).type):
        return 0
    return 2 if any(part.type == "export_clause" for part in node.named_children[:1]) else 1
