"""The annotation of a parameter: whether it is optional, its choices, and its type at Discord.

An annotation may be written as text, name an alias, or contain the call that describes the
argument. What it states of an option at Discord goes into `AnnotatedType.members`, as Discord's own
keys; a part that only a run can tell is `UNKNOWN` there.
"""

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from commandsync.sources.python.cog import ClassRole, lineage
from commandsync.sources.python.meaning import UNKNOWN, Code, Definition, Value, is_known
from commandsync.sources.python.scope import Scope, last_name

_MOST_PARTS = 200
_OPTIONS = {"Option", "SlashOption"}
_NONE = ast.Constant(None)
_TYPES = {"str": 3, "int": 4, "bool": 5, "User": 6, "Member": 6, "Role": 8, "float": 10}
_TYPES |= {"Attachment": 11}
_CHANNELS = {"TextChannel": 0, "VoiceChannel": 2, "CategoryChannel": 4, "StageChannel": 13}
_OF_VALUES: dict[type, int] = {str: 3, int: 4, float: 10}
LIMITS = ("min_value", "max_value", "min_length", "max_length")
"""Discord's keys for the limits of numbers, and of texts."""


@dataclass(slots=True)
class AnnotatedType:
    """The content of an annotation."""

    optional: bool = False  # whether None is one of several types
    greedy: bool = False  # whether it takes as many as there are (`Greedy[...]`)
    attachment: bool = False  # whether it is a file
    literals: tuple[Value, ...] = ()  # the values of a `Literal`, alone or with None
    # Of an option: its type, its choices and its limits; `UNKNOWN` for what is computed.
    members: dict[str, Value] = field(default_factory=lambda: {"type": UNKNOWN})
    flags: Definition | None = None  # a class of flags in the bot's files
    option: Definition | None = None  # the call that describes it: `Option(str, "...")`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state
    unfollowed: list[Definition] = field(default_factory=list)  # classes that are not in the source


class Annotations:
    """Reads annotations."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def read(
        self, expression: ast.AST | None, scope: Scope, *, inner: bool = False
    ) -> AnnotatedType:
        """Read an annotation, if there is one; of an `inner` one, not its own parts."""
        result = AnnotatedType()
        if expression is None:
            return result
        whole = Definition(expression, scope)
        parts = list(_leaves(whole, partial(self._inside, result=result)))
        types = [part for part in parts if part.node is not _NONE]
        result.optional = len(types) < len(parts) and bool(types)
        if len(types) == 1:
            self._read_type(types[0], result, inner=inner)
        return result

    def _read_type(self, part: Definition, result: AnnotatedType, *, inner: bool) -> None:
        match part.node:
            case ast.Subscript(value=head, slice=inside):
                name = self._code.last_name(head, part.scope)
                if not (inner and name == "Greedy"):
                    self._read_subscript(name, Definition(inside, part.scope), result)
            case ast.Call() if self._code.called(part) in _OPTIONS:
                result.option = part
            case ast.ClassDef():
                self._read_class(part, result)
            case _:
                self._read_name(part, result)

    def _read_name(self, part: Definition, result: AnnotatedType) -> None:
        """Read the name of a type: of Python, or of a framework."""
        name = self._code.framework(part.node, part.scope).rpartition(".")[2]
        if isinstance(part.node, ast.Name) and self._code.meaning(part.node, part.scope) is None:
            name = part.node.id
        meaning = self._code.meaning(part.node, part.scope)
        is_outside = isinstance(meaning, str) and not is_known(meaning)
        if is_outside or (meaning is None and not hasattr(builtins, last_name(part.node))):
            result.unfollowed.append(part)  # it may add options, or be one with choices
        result.attachment = name == "Attachment"
        result.members = {"type": _TYPES.get(name, UNKNOWN)}
        if name in _CHANNELS:
            result.members = {"type": 7, "channel_types": [_CHANNELS[name]]}

    def _read_subscript(self, name: str, inside: Definition, result: AnnotatedType) -> None:
        """Read a type with others in brackets."""
        node, scope = inside.node, inside.scope
        parts = getattr(node, "elts", [node])
        if name == "Literal":
            result.literals = self._literals(node, scope, result)
            types = {_OF_VALUES.get(type(value), UNKNOWN) for value in result.literals}
            choices = [{"name": str(value), "value": value} for value in result.literals]
            result.members = {
                "type": types.pop() if len(types) == 1 else UNKNOWN,
                "choices": choices,
            }
        elif name == "Greedy":
            item = self.read(node, scope, inner=True)
            result.greedy, result.attachment = True, item.attachment
            result.literals = () if item.optional else item.literals
        elif name == "Choice":
            result.members = self.read(node, scope, inner=True).members
        elif name == "Range" and len(parts) == len(("type", "least", "most")):
            result.members = self._range(parts, scope)

    def _range(self, parts: Sequence[ast.expr], scope: Scope) -> dict[str, Value]:
        members = self.read(parts[0], scope, inner=True).members
        keys = LIMITS[2:] if members["type"] == _TYPES["str"] else LIMITS[:2]
        limits = zip(keys, [self._code.value(part, scope) for part in parts[1:]], strict=True)
        return members | {key: value for key, value in limits if value not in (None, ...)}

    def _read_class(self, part: Definition, result: AnnotatedType) -> None:
        ancestry = lineage(part, self._code)
        if ancestry.unfollowed and ancestry.kind is ClassRole.OTHER:
            result.unfollowed.append(part)
        if ancestry.kind is ClassRole.FLAGS:
            result.flags = part
        elif ancestry.kind is ClassRole.ENUM:
            names = _members(ancestry.classes[0][0])
            result.members["choices"] = [{"name": name, "value": UNKNOWN} for name in names]

    def _literals(self, inside: ast.AST, scope: Scope, result: AnnotatedType) -> tuple[Value, ...]:
        values: dict[tuple[type, Value], Value] = {}  # as those of `typing.Literal`, without equals
        for part in _leaves(Definition(inside, scope), self._inside_literal):
            value = self._code.value(part.node, part.scope)
            if isinstance(value, (str, int, type(None))):
                values[type(value), value] = value
            else:
                result.unread.append(part)
        return () if result.unread else tuple(values.values())

    def _inside_literal(self, part: Definition) -> list[Definition] | None:
        """Return the values that a part of a `Literal` is made of, None if it is a value."""
        match part.node:
            case ast.Tuple(elts=elements):
                return [Definition(element, part.scope) for element in elements]
            case ast.Subscript(slice=inside):  # a Literal in a Literal
                return [Definition(inside, part.scope)]
            case _:
                return self._named(part)

    def _named(self, part: Definition) -> list[Definition] | None:
        is_name = isinstance(part.node, (ast.Name, ast.Attribute))
        meaning = self._code.meaning(part.node, part.scope) if is_name else None
        return [meaning] if isinstance(meaning, Definition) else None

    def _inside(self, part: Definition, result: AnnotatedType) -> list[Definition] | None:
        """Return the types that a type is made of, None if it is a single one."""
        node, scope = part.node, part.scope
        match node:
            case ast.Constant(value=None):
                return None if node is _NONE else [Definition(_NONE, scope)]
            case ast.Constant(value=str(text)):
                written = _parsed(text, node)
                return [] if written is None else [Definition(written, scope)]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return [Definition(left, scope), Definition(right, scope)]
            case ast.Subscript(value=head, slice=inner):
                return self._subscripted(self._code.last_name(head, scope), inner, scope, result)
            case _:
                return self._named(part)

    def _subscripted(
        self, name: str, inner: ast.expr, scope: Scope, result: AnnotatedType
    ) -> list[Definition] | None:
        parts = [Definition(part, scope) for part in getattr(inner, "elts", [inner])]
        match name:
            case "Optional":
                return [*parts, Definition(_NONE, scope)]
            case "Union":
                return parts
            case "Annotated":
                return [self._annotated(parts, result)]
            case "Transform":
                return parts[1:2]
            case _:
                return None

    def _annotated(self, parts: list[Definition], result: AnnotatedType) -> Definition:
        """Return the type in an `Annotated`: discord.py takes the first of the metadata."""
        for part in parts[1:]:
            if self._code.called(part) in _OPTIONS:
                result.option = part
                return parts[0]
        return (parts[1:2] or parts)[0]


def _leaves(
    whole: Definition, parts_of: Callable[[Definition], list[Definition] | None]
) -> Iterator[Definition]:
    """Yield the parts, in their order, that have no parts themselves."""
    waiting = [whole]
    for _ in range(_MOST_PARTS):
        if not waiting:
            return
        part = waiting.pop(0)
        inner = parts_of(part)
        if inner is None:
            yield part
        else:
            waiting = [*inner, *waiting]


def _parsed(text: str, node: ast.AST) -> ast.expr | None:
    """Parse an annotation that is written as a string; its place is the string's."""
    try:
        expression = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    for part in ast.walk(expression):
        ast.copy_location(part, node)
    return expression


def _members(node: ast.ClassDef) -> tuple[str, ...]:
    """Return the names of an enumeration; of those with one value, the first."""
    names: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0] != "_":
                written = repr(value.value) if isinstance(value, ast.Constant) else name
                names.setdefault(written, name)
    return tuple(names.values())
