"""The parameters of a command's function: the arguments that users give.

The annotation of a parameter says whether it is optional, and which choices it has; it may be
written as text, name an alias, or contain the call that describes the argument (`Annotations`). A
default or a decorator may describe it, too (`Arguments`).
"""

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from commandsync.sources.python.cog import Kind, lineage
from commandsync.sources.python.meaning import UNKNOWN, Code, Definition, Value
from commandsync.sources.python.scope import Function, Scope, keywords, parameters

_MOST_PARTS = 200
_OPTIONS = {"Option", "SlashOption"}
_NONE = ast.Constant(None)


@dataclass(slots=True)
class Annotation:
    """The content of an annotation."""

    optional: bool = False  # whether None is one of several types
    greedy: bool = False  # whether it takes as many as there are (`Greedy[...]`)
    attachment: bool = False  # whether it is a file
    literals: tuple[Value, ...] = ()  # the values of a `Literal`, alone or with None
    choices: tuple[str, ...] = ()  # the names of its only values as a slash command shows them
    flags: Definition | None = None  # a class of flags in the bot's files
    option: Definition | None = None  # the call that describes it: `Option(str, "...")`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state


class Annotations:
    """Reads annotations."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def read(self, expression: ast.AST | None, scope: Scope, *, inner: bool = False) -> Annotation:
        """Read an annotation, if there is one; of an `inner` one, not its own parts."""
        result = Annotation()
        if expression is None:
            return result
        whole = Definition(expression, scope)
        parts = list(_leaves(whole, partial(self._inside, result=result)))
        types = [part for part in parts if part.node is not _NONE]
        result.optional = len(types) < len(parts) and bool(types)
        if len(types) == 1:
            self._read_type(types[0], result, inner=inner)
        return result

    def _read_type(self, part: Definition, result: Annotation, *, inner: bool) -> None:
        match part.node:
            case ast.Subscript(value=head, slice=inside):
                name = self._code.last_name(head, part.scope)
                if name == "Literal":
                    result.literals = self._literals(inside, part.scope, result)
                    result.choices = tuple(map(str, result.literals))
                elif name == "Greedy" and not inner:
                    item = self.read(inside, part.scope, inner=True)
                    result.greedy, result.attachment = True, item.attachment
                    result.literals = () if item.optional else item.literals
            case ast.Call(args=arguments) if self._code.called(part) in _OPTIONS:
                result.option = part
                if arguments and not inner:  # the type of the option
                    result.choices = self.read(arguments[0], part.scope, inner=True).choices
            case ast.ClassDef():
                self._read_class(part, result)
            case _:
                name = self._code.framework(part.node, part.scope)
                result.attachment = name.rpartition(".")[2] == "Attachment"

    def _read_class(self, part: Definition, result: Annotation) -> None:
        ancestry = lineage(part, self._code)
        if ancestry.kind is Kind.FLAGS:
            result.flags = part
        elif ancestry.kind is Kind.ENUM:
            result.choices = _members(ancestry.classes[0][0])

    def _literals(self, inside: ast.AST, scope: Scope, result: Annotation) -> tuple[Value, ...]:
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

    def _inside(self, part: Definition, result: Annotation) -> list[Definition] | None:
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
        self, name: str, inner: ast.expr, scope: Scope, result: Annotation
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

    def _annotated(self, parts: list[Definition], result: Annotation) -> Definition:
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


_DESCRIPTIONS = {"Option", "Param", "SlashOption", "flag", "option", "param", "parameter"}
_DEFAULTS = {  # of discord.ext.commands, as its signatures show them
    "Author": "<you>",
    "CurrentChannel": "<this channel>",
    "CurrentGuild": "<this server>",
}
_POSITIONS = {  # the positional arguments of the calls that describe an argument
    "SlashOption": ("name", "description", "required"),
    "option": ("name",),
    **dict.fromkeys(("Param", "param"), ("default",)),
}
_MOST_CHOICES = 25  # that Discord accepts


@dataclass(slots=True, kw_only=True)
class Argument:
    """The argument that users give for a parameter."""

    name: str  # its name in the code
    option: str  # its name in a slash command
    displayed: str  # its name in a prefix command
    annotation: Annotation
    optional: bool = False  # whether it has a default
    default: str = ""  # its default as text; empty if there is none to show
    required: bool | None = None  # None if the code does not say it
    choices: tuple[str, ...] = ()  # the names of its only values
    rest: bool = False  # whether it is `*arguments`
    keywords: bool = False  # whether it is `**arguments`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state


class Arguments:
    """Reads the parameters of functions."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._annotations = Annotations(code)

    def read(self, function: Function, scope: Scope) -> list[Argument]:
        """Return the arguments of a command, without `self` and the context."""
        before = 2 if isinstance(scope.node, ast.ClassDef) else 1
        given = list(parameters(function.args).items())[before:]
        by_name = {node.arg: self._argument(node, default, scope) for node, default in given}
        rest, keywords = function.args.vararg, function.args.kwarg
        for node, _ in given:
            by_name[node.arg].rest, by_name[node.arg].keywords = node is rest, node is keywords
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call):
                self._decorate(decorator, scope, by_name)
        return [*by_name.values()]

    def flags(self, definition: Definition) -> Iterator[Argument]:
        """Yield the arguments that a class of flags adds to a slash command, one for each flag."""
        inside = self._code.classes[definition.node]
        for statement in getattr(definition.node, "body", ()):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                node = ast.arg(statement.target.id, statement.annotation)
                yield self._argument(ast.copy_location(node, statement), statement.value, inside)

    def _argument(self, node: ast.arg, default: ast.expr | None, scope: Scope) -> Argument:
        annotation = self._annotations.read(node.annotation, scope)
        argument = Argument(
            name=node.arg,
            option=node.arg,
            displayed=node.arg,
            annotation=annotation,
            choices=annotation.choices,
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

    def _describe(self, description: Definition, argument: Argument) -> None:
        """Read a call that describes an argument, such as `parameter(...)` or `Option(...)`."""
        call, scope = description.node, description.scope
        if not isinstance(call, ast.Call):
            return  # pragma: no cover - the callers pass calls
        positions = _POSITIONS.get(self._code.called(description), ())
        given = keywords(call) | dict(zip(positions, call.args, strict=False))
        if "converter" in given:
            argument.annotation = self._annotations.read(given["converter"], scope)
        argument.option = self._text("name", given, scope) or argument.option
        argument.displayed = self._text("displayed_name", given, scope) or argument.displayed
        if "required" in given:
            required = self._code.value(given["required"], scope)
            argument.required = required if isinstance(required, bool) else None
        if "choices" in given:
            argument.choices = self._choices(given["choices"], scope)
        self._describe_default(given, scope, argument)

    def _text(self, key: str, given: dict[str, ast.expr], scope: Scope) -> str | None:
        return self._code.text(given[key], scope) if key in given else None

    def _describe_default(
        self, given: dict[str, ast.expr], scope: Scope, argument: Argument
    ) -> None:
        default = given.get("default")
        argument.optional |= "default_factory" in given
        if default is not None and self._code.value(default, scope) is not ...:
            argument.optional = True
            argument.default = self._shown(default, scope, argument)
        if "displayed_default" in given:
            argument.default = self._text("displayed_default", given, scope) or ""
            argument.unread.clear()

    def _decorate(self, call: ast.Call, scope: Scope, by_name: dict[str, Argument]) -> None:
        """Apply `rename(...)`, `choices(...)` and `option(...)`."""
        given, called = keywords(call), self._code.last_name(call.func, scope)
        named = [given.get("parameter_name"), *call.args] if called == "option" else []
        for expression in [*filter(None, named)][:1]:
            if argument := by_name.get(self._code.text(expression, scope) or ""):
                self._describe(Definition(call, scope), argument)
        for name in given.keys() & by_name.keys():
            if called == "rename":
                by_name[name].option = self._text(name, given, scope) or by_name[name].option
            elif called == "choices":
                by_name[name].choices = self._choices(given[name], scope)

    def _choices(self, expression: ast.expr, scope: Scope) -> tuple[str, ...]:
        """Return the names of choices; none if the code does not state them all."""
        meaning = self._code.meaning(expression, scope)
        if not isinstance(meaning, Definition):
            return ()
        match meaning.node:
            case ast.Dict(keys=keys):
                parts = [key for key in keys if key is not None]
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                parts = elements
            case _:
                return ()
        named = [self._choice(part, meaning.scope) for part in parts[: _MOST_CHOICES + 1]]
        known = [name for name in named if name is not None]
        return tuple(known) if len(known) == len(parts) else ()

    def _choice(self, expression: ast.expr, scope: Scope) -> str | None:
        if isinstance(expression, ast.Call):  # Choice(name="One", value=1), OptionChoice("One", 1)
            names = [keyword.value for keyword in expression.keywords if keyword.arg == "name"]
            return self._code.text([*names, *expression.args, ast.Constant(None)][0], scope)
        value = self._code.value(expression, scope)
        return str(value) if isinstance(value, (str, int, float)) else None

    def _shown(self, default: ast.expr, scope: Scope, argument: Argument) -> str:
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
