"""The commands and groups that a bot's code declares: by decorators, and by calls."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from commandsync.sources.python.cog import Kind, kebab, kind_of, lineage
from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.scope import (
    CREATORS,
    Function,
    Scope,
    callee,
    keywords,
    last_name,
    parameters,
    words,
)


class Form(Enum):
    """How users call a command."""

    PREFIX = auto()
    HYBRID = auto()  # by a prefix and as a slash command
    SLASH = auto()
    MENU = auto()  # in the menu of a user or a message


_GROUPS = {"bridge_group", "group", "hybrid_group", "sub_command_group"}
_DECORATORS = {
    **dict.fromkeys(("command", "group"), Form.PREFIX),
    **dict.fromkeys(("bridge_command", "hybrid_command"), Form.HYBRID),
    **dict.fromkeys(("bridge_group", "hybrid_group"), Form.HYBRID),
    **dict.fromkeys(("slash_command", "sub_command", "subcommand"), Form.SLASH),
    "sub_command_group": Form.SLASH,
    **dict.fromkeys(("context_menu", "message_command", "user_command"), Form.MENU),
}
_CLASSES = {
    ".app_commands.Command": Form.SLASH,
    ".app_commands.ContextMenu": Form.MENU,
    ".ext.commands.Command": Form.PREFIX,
    ".ext.commands.HybridCommand": Form.HYBRID,
}
_NAMED = "command"  # in the name of a bot's own decorator
_OWN_FORM = {"command", "group"}  # whose form is that of the object they are called on
_INTERACTION = re.compile(r"inter|itx")
_CONTEXT = re.compile(r"_?(ctx|context|c|i)\b|.*(Context|Inter)|.*inter|.*itx")
_MOST_GROUPS = 30  # that one is declared in, one in the other


@dataclass(slots=True, eq=False, kw_only=True)
class Declaration:
    """A command or a group of commands."""

    form: Form
    name: str | None  # its own name; None if only a run of the code can tell
    node: ast.AST  # the function or the call that declares it
    scope: Scope
    is_group: bool = False  # whether it contains other commands
    parent: "Declaration | None" = None  # the group it is declared in
    given: dict[str, ast.expr] = field(default_factory=dict)  # to its decorator or call
    function: tuple[Function, Scope] | None = None  # that it runs
    instance_of: ast.ClassDef | None = None  # the class of slash commands that it is an instance of

    @property
    def decorators(self) -> list[ast.expr]:
        """The decorators of its function."""
        return self.function[0].decorator_list if self.function else []


class Declarations:
    """Reads declarations of commands; each function and call is read once."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: dict[ast.AST, Declaration | None] = {}
        self._depth = 0

    def of_function(self, function: Function, scope: Scope) -> Declaration | None:
        """Return the command that the decorators of a function declare."""
        parts = function.decorator_list
        declared = (self._decorated(part, function, scope) for part in parts)
        return self._once(function, lambda: next(filter(None, declared), None))

    def may_declare(self, function: Function, scope: Scope) -> bool:
        """Whether a function that no known decorator makes a command may be one nevertheless."""
        called = map(callee, function.decorator_list)
        is_named = any(_NAMED in last_name(part).casefold() for part in called)
        return is_named and _takes_context(function, scope)

    def of_call(self, call: ast.Call, scope: Scope) -> Declaration | None:
        """Return the group that a call creates, or the command in a menu."""
        return self._once(call, lambda: self._created(call, scope))

    def of(self, expression: ast.expr, scope: Scope) -> Declaration | None:
        """Return the declaration that an expression means."""
        meant = self._meant(expression, scope)
        return meant if isinstance(meant, Declaration) else None

    def of_class(self, node: ast.ClassDef, scope: Scope) -> Declaration:
        """Return the group that an instance of a class is, made without arguments."""
        group = self._group(node, keywords(node) | _initial(node), scope, kebab(node.name))
        return replace(group, instance_of=node)

    def _once(self, node: ast.AST, read: Callable[[], Declaration | None]) -> Declaration | None:
        if node not in self._known and self._depth < _MOST_GROUPS:
            self._known[node] = None  # for a command that would be declared by itself
            self._depth += 1
            self._known[node] = read()
            self._depth -= 1
        return self._known.get(node)

    def _decorated(
        self, decorator: ast.expr, function: Function, scope: Scope
    ) -> Declaration | None:
        called = callee(decorator)
        original = self._code.framework(called, scope)
        name = original.rpartition(".")[2] or last_name(called)
        if name not in _DECORATORS:
            return None
        on: Declaration | Kind | None = None
        if not original:
            on = self._declared_on(called, function, scope)
        elif ".ext." not in original:  # of app_commands, or py-cord's own `discord.command`
            on = Kind.TREE
        if on is Kind.OTHER:
            return None
        given = _given(decorator)
        default = function.name.title() if name == "context_menu" else function.name
        return Declaration(
            form=_form_on(on, called) if name in _OWN_FORM else _DECORATORS[name],
            name=self._name(given, scope, default),
            node=function,
            scope=scope,
            is_group=name in _GROUPS,
            parent=on if isinstance(on, Declaration) else None,
            given=given,
            function=(function, scope),
        )

    def _declared_on(
        self, called: ast.expr, function: Function, scope: Scope
    ) -> Declaration | Kind | None:
        """Return the object of a decorator's call; `Kind.OTHER` if it does not declare commands."""
        if isinstance(called, ast.Attribute):
            on = self._meant(called.value, scope)
            if on is not None or last_name(called.value) == "tree":
                return on or Kind.TREE
        if not _takes_context(function, scope):
            return Kind.OTHER  # such as the commands of a command line
        return Kind.TREE if _INTERACTION.search(_context(function, scope).casefold()) else None

    def _meant(self, expression: ast.expr, scope: Scope) -> Declaration | Kind | None:
        """Return the declaration or the kind of an expression; None if it is unknown."""
        if isinstance(expression, ast.Attribute) and expression.attr == "app_command":
            return self._meant(expression.value, scope)  # a hybrid group's own group
        meaning = self._code.meaning(expression, scope)
        return self._defined(meaning) if isinstance(meaning, Definition) else None

    def _defined(self, meaning: Definition) -> Declaration | Kind | None:
        node, scope = meaning.node, meaning.scope
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self.of_function(node, scope) or Kind.OTHER
            case ast.Call():
                return self.of_call(node, scope) or self._kind(node.func, scope)
            case ast.arg(annotation=ast.expr() as annotation):
                return self._kind(annotation, scope)
            case ast.ClassDef():  # self
                return _known(lineage(meaning, self._code).kind)
            case _:
                return None

    def _kind(self, class_name: ast.expr, scope: Scope) -> Kind | None:
        """Return the kind of the instances of a class; None if it is unknown."""
        meaning = self._code.meaning(class_name, scope)
        if isinstance(meaning, Definition):
            return _known(lineage(meaning, self._code).kind)
        return _known(kind_of(self._code.framework(class_name, scope)))

    def _created(self, call: ast.Call, scope: Scope) -> Declaration | None:
        original = self._code.framework(call.func, scope)
        for name, form in _CLASSES.items():
            if original.endswith(name):
                return self._command(call, form, scope)
        if kind_of(original) is Kind.GROUP:
            return self._group(call, _given(call), scope)
        if isinstance(call.func, ast.Attribute) and call.func.attr in CREATORS:
            return self._group(call, {**_given(call), "parent": call.func.value}, scope)
        meaning = self._code.meaning(call.func, scope)
        if not isinstance(meaning, Definition) or not isinstance(meaning.node, ast.ClassDef):
            return None
        if lineage(meaning, self._code).kind is not Kind.GROUP:
            return None
        default = self.of_class(meaning.node, meaning.scope)
        group = self._group(call, keywords(call), scope, default.name)
        return replace(group, given=default.given | group.given, instance_of=meaning.node)

    def _group(
        self,
        node: ast.AST,
        given: dict[str, ast.expr],
        scope: Scope,
        default: str | None = None,
    ) -> Declaration:
        return Declaration(
            form=Form.SLASH,
            name=self._name(given, scope, default),
            node=node,
            scope=scope,
            is_group=True,
            parent=self.of(given["parent"], scope) if "parent" in given else None,
            given=given,
        )

    def _command(self, call: ast.Call, form: Form, scope: Scope) -> Declaration:
        """Return the command that is made of a function: `Command(name="...", callback=...)`."""
        given = keywords(call)
        callback = given.get("callback", (call.args or [ast.Constant(None)])[0])
        meaning = self._code.meaning(callback, scope)
        function = None
        if isinstance(meaning, Definition) and isinstance(meaning.node, Function):
            function = (meaning.node, meaning.scope)
        return Declaration(
            form=form,
            name=self._name(given, scope, function[0].name if function else None),
            node=call,
            scope=scope,
            given=given,
            function=function,
        )

    def _name(self, given: dict[str, ast.expr], scope: Scope, default: str | None) -> str | None:
        """Return a name that is given; the default if none is, None if it cannot be read."""
        value = self._code.value(given.get("name", ast.Constant(None)), scope)
        if value is None:
            return default
        return value if isinstance(value, str) and value.strip() else None


def _known(kind: Kind) -> Kind | None:
    return kind if kind in {Kind.BOT, Kind.TREE} else None


def _given(call: ast.expr) -> dict[str, ast.expr]:
    """Return the arguments of a call that declares something; the first is the name."""
    if not isinstance(call, ast.Call):
        return {}
    given = keywords(call)
    return {"name": call.args[0], **given} if call.args else given


def _initial(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return the arguments that the constructor of a group passes on to `super().__init__`."""
    constructors = (part for part in node.body if getattr(part, "name", "") == "__init__")
    for call in (part for constructor in constructors for part in ast.walk(constructor)):
        if isinstance(call, ast.Call) and last_name(call.func) == "__init__":
            return keywords(call)
    return {}


def _form_on(on: Declaration | Kind | None, called: ast.expr) -> Form:
    if isinstance(called, ast.Attribute) and last_name(called.value) == "app_command":
        return Form.SLASH
    if isinstance(on, Declaration):
        return on.form
    return Form.SLASH if on is Kind.TREE else Form.PREFIX


def _takes_context(function: Function, scope: Scope) -> bool:
    """Whether a function is one that a framework calls for a command."""
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return is_async and _CONTEXT.match(_context(function, scope)) is not None


def _context(function: Function, scope: Scope) -> str:
    """Return the name of the context that a command gets, and its type as it is written."""
    given = list(parameters(function.args))
    first = given[1:2] if isinstance(scope.node, ast.ClassDef) else given[:1]
    return "".join(f"{parameter.arg}: {words(parameter)}" for parameter in first)
