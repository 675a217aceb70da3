"""The parameters of a command's function: the arguments that users give, and options at Discord.

The annotation of a parameter, its default and decorators describe an argument. An annotation may be
written as text, name an alias, or contain the call that describes the argument.

All that they state of the option at Discord is in `ParameterArgument.members`, as Discord's own
keys; a part that only a run can tell is `UNKNOWN` there.
"""

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from commandsync.records.snapshot import Node
from commandsync.sources.python.cog import ClassRole, lineage
from commandsync.sources.python.meaning import UNKNOWN, Code, Definition, Value, is_known
from commandsync.sources.python.scope import (
    Function,
    Scope,
    keywords,
    last_name,
    parameters,
)

_MOST_PARTS = 200
_OPTIONS = {"Option", "SlashOption"}
_NONE = ast.Constant(None)
_TYPES = {"str": 3, "int": 4, "bool": 5, "User": 6, "Member": 6, "Role": 8, "float": 10}
_TYPES |= {"Attachment": 11}
_CHANNELS = {"TextChannel": 0, "VoiceChannel": 2, "CategoryChannel": 4, "StageChannel": 13}
_OF_VALUES: dict[type, int] = {str: 3, int: 4, float: 10}
_LIMITS = ("min_value", "max_value", "min_length", "max_length")  # of numbers, and of texts
_DESCRIPTIONS = {"Option", "Param", "SlashOption", "flag", "option", "param", "parameter"}
_DEFAULTS = {  # of discord.ext.commands, as its signatures show them
    "Author": "<you>",
    "CurrentChannel": "<this channel>",
    "CurrentGuild": "<this server>",
}
_POSITIONS = {  # the positional arguments of the calls that describe an argument
    "Option": ("input_type", "description"),
    "SlashOption": ("name", "description", "required"),
    "option": ("name",),
    **dict.fromkeys(("Param", "param"), ("default",)),
}
_RENAMED = {"ge": "min_value", "le": "max_value"}
_STATED = {*_LIMITS, "name", "description", "choices"}  # members of an option
_READ = _STATED | {"required", "input_type", "default"}  # the others may change it in any way


@dataclass(slots=True)
class AnnotatedType:
    """The content of an annotation."""

    optional: bool = False  # whether None is one of several types
    greedy: bool = False  # whether it takes as many as there are (`Greedy[...]`)
    attachment: bool = False  # whether it is a file
    literals: tuple[Value, ...] = ()  # the values of a `Literal`, alone or with None
    # Of an option: its type, its choices and its limits. A computed value is `UNKNOWN`.
    members: dict[str, Value] = field(default_factory=lambda: {"type": UNKNOWN})
    flags: Definition | None = None  # a class of flags in the bot's files
    option: Definition | None = None  # the call that describes it: `Option(str, "...")`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state
    unfollowed: list[Definition] = field(default_factory=list)  # classes that are not in the source


@dataclass(slots=True, kw_only=True)
class ParameterArgument:
    """The argument that users give for a parameter."""

    name: str  # its name in the code
    option: str  # its name in a slash command
    displayed: str  # its name in a prefix command
    annotation: AnnotatedType
    optional: bool = False  # whether it has a default
    default: str = ""  # its default as text; empty if there is none to show
    required: bool | None = None  # None if the code does not say it
    # Of the option at Discord, as far as the code states them. A computed value is `UNKNOWN`.
    members: dict[str, Value]
    rest: bool = False  # whether it is `*arguments`
    keywords: bool = False  # whether it is `**arguments`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of its only values; empty if the code does not state them all."""
        names = tuple(choice["name"] for choice in self.members.get("choices", ()))
        return () if UNKNOWN in names else names

    def option_of(self, *, required: bool) -> Node | None:
        """Return the option at Discord; None if something of it is computed."""
        choices = self.members.get("choices", ())
        parts = [*self.members.values(), *(part for each in choices for part in each.values())]
        if UNKNOWN in parts or self.rest or self.keywords or self.annotation.flags:
            return None
        members = {**self.members, "name": self.option}
        return members | {"required": True} if required else members


class Arguments:
    """Reads the parameters of functions."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._of: dict[Function, list[ParameterArgument]] = {}

    def of(self, function: Function, scope: Scope) -> list[ParameterArgument]:
        """Return the arguments of a command, without `self` and the context."""
        if function not in self._of:
            before = 2 if isinstance(scope.node, ast.ClassDef) else 1
            given = list(parameters(function.args).items())[before:]
            by_name = {node.arg: self._argument(node, default, scope) for node, default in given}
            rest, keywords = function.args.vararg, function.args.kwarg
            for node, _ in given:
                by_name[node.arg].rest, by_name[node.arg].keywords = node is rest, node is keywords
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call):
                    self._decorate(decorator, scope, by_name)
            self._of[function] = [*by_name.values()]
        return self._of[function]

    def flags(self, definition: Definition) -> Iterator[ParameterArgument]:
        """Yield the arguments that a class of flags adds to a slash command, one for each flag."""
        for owner, inside in reversed(lineage(definition, self._code).classes):
            for statement in owner.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    node = ast.copy_location(
                        ast.arg(statement.target.id, statement.annotation), statement
                    )
                    yield self._argument(node, statement.value, inside)

    def _argument(self, node: ast.arg, default: ast.expr | None, scope: Scope) -> ParameterArgument:
        annotation = self._annotated(node.annotation, scope)
        argument = ParameterArgument(
            name=node.arg,
            option=node.arg,
            displayed=node.arg,
            annotation=annotation,
            members=dict(annotation.members),
            unread=[*annotation.unread],
        )
        if annotation.option is not None:
            self._describe(annotation.option, argument)
        if default is None:
            return argument
        meaning = self._code.meaning(default, scope)
        if isinstance(meaning, Definition) and self._code.called(meaning) in _DESCRIPTIONS:
            self._describe(meaning, argument)
        else:
            argument.optional = True
            argument.default = self._shown(default, scope, argument)
        return argument

    def _describe(self, description: Definition, argument: ParameterArgument) -> None:
        """Read a call that describes an argument, such as `parameter(...)` or `Option(...)`."""
        call, scope = description.node, description.scope
        if not isinstance(call, ast.Call):
            return  # pragma: no cover - the callers pass calls
        positions = _POSITIONS.get(self._code.called(description), ())
        given = keywords(call) | dict(zip(positions, call.args, strict=False))
        if "converter" in given:
            argument.annotation = self._annotated(given["converter"], scope)
        if "input_type" in given:
            argument.members |= self._annotated(given["input_type"], scope).members
        argument.members |= self._members(given, scope)
        if len(given) < len(call.args) + len(call.keywords):  # some are not known here
            argument.members["type"] = UNKNOWN
        argument.option = self._text("name", given, scope) or argument.option
        argument.displayed = self._text("displayed_name", given, scope) or argument.displayed
        if "required" in given:
            required = self._code.value(given["required"], scope)
            argument.required = required if isinstance(required, bool) else None
        self._describe_default(given, scope, argument)

    def _members(self, given: dict[str, ast.expr], scope: Scope) -> Iterator[tuple[str, Value]]:
        """Yield the members of an option that a call states which describes it."""
        for key, part in given.items():
            name = _RENAMED.get(key, key)
            value = self._code.value(part, scope)
            if key == "choices":
                yield key, self._choices(part, scope)
            elif name in _STATED or key not in _READ or (key == "required" and value is UNKNOWN):
                yield name, value if name in _STATED else UNKNOWN

    def _text(self, key: str, given: dict[str, ast.expr], scope: Scope) -> str | None:
        return self._code.text(given[key], scope) if key in given else None

    def _describe_default(
        self, given: dict[str, ast.expr], scope: Scope, argument: ParameterArgument
    ) -> None:
        default = given.get("default")
        argument.optional |= "default_factory" in given
        if default is not None and self._code.value(default, scope) is not ...:
            argument.optional = True
            argument.default = self._shown(default, scope, argument)
        if "displayed_default" in given:
            argument.default = self._text("displayed_default", given, scope) or ""
            argument.unread.clear()

    def _decorate(
        self, call: ast.Call, scope: Scope, by_name: dict[str, ParameterArgument]
    ) -> None:
        """Apply `rename(...)`, `choices(...)` and `option(...)`."""
        given, called = keywords(call), self._code.last_name(call.func, scope)
        named = [given.get("parameter_name"), *call.args] if called == "option" else []
        for expression in [*filter(None, named)][:1]:
            if argument := by_name.get(self._code.text(expression, scope) or ""):
                self._describe(Definition(call, scope), argument)
        for name in given.keys() & by_name.keys():
            argument = by_name[name]
            if called == "rename":
                argument.members["name"] = self._code.value(given[name], scope)
                argument.option = self._text(name, given, scope) or argument.option
            elif called == "choices":
                argument.members["choices"] = self._choices(given[name], scope)
            elif called == "describe":
                argument.members["description"] = self._code.value(given[name], scope)

    def _choices(self, expression: ast.expr, scope: Scope) -> list[dict[str, Value]]:
        """Return choices with their names and values, some of which may be unknown."""
        meaning = self._code.meaning(expression, scope)
        around = meaning.scope if isinstance(meaning, Definition) else scope
        match getattr(meaning, "node", None):
            case ast.Dict(keys=keys, values=values) if None not in keys:  # by their names
                pairs = zip(filter(None, keys), values, strict=True)
                return [
                    self._choice(key, around) | {"value": self._code.value(value, around)}
                    for key, value in pairs
                ]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._choice(part, around) for part in parts]
            case _:
                return [{"name": UNKNOWN}]

    def _choice(self, expression: ast.expr, scope: Scope) -> dict[str, Value]:
        if isinstance(expression, ast.Call):  # Choice(name="One", value=1), OptionChoice("One", 1)
            parts = dict(zip(("name", "value"), expression.args, strict=False))
            parts |= keywords(expression)
            given = {key: self._code.value(part, scope) for key, part in parts.items()}
            name = given.get("name") if isinstance(given.get("name"), str) else UNKNOWN
            is_whole = given.keys() == {"name", "value"}
            return {"name": name, "value": given["value"] if is_whole else UNKNOWN}
        value = self._code.value(expression, scope)
        is_simple = isinstance(value, (str, int, float))
        return {"name": str(value) if is_simple else UNKNOWN, "value": value}

    def _shown(self, default: ast.expr, scope: Scope, argument: ParameterArgument) -> str:
        """Return a default as discord.py shows it: not at all if it is None or can be called."""
        value = self._code.value(default, scope)
        if value is None or self._is_callable(default, scope):
            return ""
        name = self._code.framework(default, scope)
        known = _DEFAULTS.get(name.rpartition(".")[2]) if ".commands." in name else None
        if known is not None:
            return known
        with suppress(ValueError):  # of a number with more digits than Python writes
            if value is not UNKNOWN:
                return str(value)
        argument.unread.append(Definition(default, scope))
        return ""

    def _is_callable(self, default: ast.expr, scope: Scope) -> bool:
        meaning = self._code.meaning(default, scope)
        if meaning is None and isinstance(default, ast.Name):
            return callable(getattr(builtins, default.id, None))
        callables = ast.ClassDef | Function | ast.Lambda
        return isinstance(meaning, Definition) and isinstance(meaning.node, callables)

    # Annotations

    def _annotated(
        self, expression: ast.AST | None, scope: Scope, *, inner: bool = False
    ) -> AnnotatedType:
        """Read an annotation, if there is one. The parts of an `inner` one are not read."""
        result = AnnotatedType()
        if expression is None:
            return result
        parts = list(_leaves(Definition(expression, scope), partial(self._inside, result=result)))
        types = [part for part in parts if part.node is not _NONE]
        result.optional = len(types) < len(parts) and bool(types)
        if len(types) == 1:
            match types[0].node:
                case ast.Subscript(value=head, slice=inside):
                    name = self._code.last_name(head, types[0].scope)
                    if not (inner and name == "Greedy"):
                        self._read_subscript(name, Definition(inside, types[0].scope), result)
                case ast.Call() if self._code.called(types[0]) in _OPTIONS:
                    result.option = types[0]
                case ast.ClassDef():
                    self._read_class(types[0], result)
                case _:
                    self._read_name(types[0], result)
        return result

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
            item = self._annotated(node, scope, inner=True)
            result.greedy, result.attachment = True, item.attachment
            result.literals = () if item.optional else item.literals
        elif name == "Choice":
            result.members = self._annotated(node, scope, inner=True).members
        elif name == "Range" and len(parts) == len(("type", "least", "most")):
            result.members = self._range(parts, scope)

    def _range(self, parts: Sequence[ast.expr], scope: Scope) -> dict[str, Value]:
        members = self._annotated(parts[0], scope, inner=True).members
        keys = _LIMITS[2:] if members["type"] == _TYPES["str"] else _LIMITS[:2]
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
                return self._inside_subscript(
                    self._code.last_name(head, scope), inner, scope, result
                )
            case _:
                return self._named(part)

    def _inside_subscript(
        self, name: str, inner: ast.expr, scope: Scope, result: AnnotatedType
    ) -> list[Definition] | None:
        parts = [Definition(part, scope) for part in getattr(inner, "elts", [inner])]
        match name:
            case "Optional":
                return [*parts, Definition(_NONE, scope)]
            case "Union":
                return parts
            case "Annotated":
                for part in parts[1:]:
                    if self._code.called(part) in _OPTIONS:
                        result.option = part
                        return parts[:1]
                return parts[1:2] or parts[:1]  # discord.py takes the first of the metadata
            case "Transform":
                return parts[1:2]
            case _:
                return None


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
    """Return the names of an enumeration: the first name of each value."""
    names: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name[0] != "_":
                written = repr(value.value) if isinstance(value, ast.Constant) else name
                names.setdefault(written, name)
    return tuple(names.values())
