"""The parameters of a command's function: what each says about the argument that users give."""

import ast
import builtins
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from commandsync.sources.python.annotation import Annotation, Annotations
from commandsync.sources.python.constant import UNKNOWN, Code
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import Function, Scope, keywords, parameters

_DESCRIPTIONS = {"Option", "Param", "SlashOption", "flag", "option", "param", "parameter"}
_DEFAULTS = {  # of discord.ext.commands, with what its signatures show for them
    "Author": "<you>",
    "CurrentChannel": "<this channel>",
    "CurrentGuild": "<this server>",
}
_POSITIONS = {  # what the positional arguments of a call are that describes an argument
    "SlashOption": ("name", "description", "required"),
    "option": ("name",),
    **dict.fromkeys(("Param", "param"), ("default",)),
}
_MOST_CHOICES = 25  # that Discord accepts


@dataclass(slots=True, kw_only=True)
class Argument:
    """What users give to a command for one of its parameters."""

    name: str  # its name in the code
    option: str  # its name in a slash command
    displayed: str  # its name in a prefix command
    annotation: Annotation  # what its annotation says
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
        given = list(parameters(function.args).items())[1 + isinstance(scope.node, ast.ClassDef) :]
        by_name = {node.arg: self._argument(node, default, scope) for node, default in given}
        rest, keywords = function.args.vararg, function.args.kwarg
        for node, _ in given:
            by_name[node.arg].rest, by_name[node.arg].keywords = node is rest, node is keywords
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call):
                self._decorate(decorator, scope, by_name)
        return [*by_name.values()]

    def flags(self, definition: Definition) -> Iterator[Argument]:
        """Yield what a class of flags adds to a slash command: an argument for each flag."""
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
            return  # pragma: no cover - what is called is a call
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
