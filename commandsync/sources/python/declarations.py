"""The commands and groups that a bot's code declares: by decorators, and by calls."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from commandsync.sources.python.declaration import Declaration, Form
from commandsync.sources.python.lineage import Kind, kebab, kind_of, lineage
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import last_name, parameters, words

if TYPE_CHECKING:
    from commandsync.sources.python.constant import Constants
    from commandsync.sources.python.names import Names
    from commandsync.sources.python.scope import Function, Scope

_COMMANDS = {
    "bridge_command": Form.HYBRID,
    "command": Form.PREFIX,
    "context_menu": Form.MENU,
    "hybrid_command": Form.HYBRID,
    "message_command": Form.MENU,
    "slash_command": Form.SLASH,
    "sub_command": Form.SLASH,
    "subcommand": Form.SLASH,
    "user_command": Form.MENU,
}
_GROUPS = {
    "bridge_group": Form.HYBRID,
    "group": Form.PREFIX,
    "hybrid_group": Form.HYBRID,
    "sub_command_group": Form.SLASH,
}
_DECORATORS = _COMMANDS | _GROUPS
_CLASSES = {
    ".app_commands.Command": Form.SLASH,
    ".app_commands.ContextMenu": Form.MENU,
    ".ext.commands.Command": Form.PREFIX,
    ".ext.commands.HybridCommand": Form.HYBRID,
}
_NAMED = "command"  # in the name of a bot's own decorator
_OWN_FORM = {"command", "group"}  # whose form is that of what they are called on
_INTERACTION = re.compile(r"inter|itx")
_CONTEXT = re.compile(r"_?(ctx|context|c|i)\b|.*(Context|Inter)|.*inter|.*itx")
_MOST_GROUPS = 30  # that one is declared in, one in the other
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Declarations:
    """Reads what declares commands; each function and call is read once."""

    def __init__(self, names: Names, constants: Constants) -> None:
        self._names = names
        self._constants = constants
        self._known: dict[ast.AST, Declaration | None] = {}
        self._depth = 0

    def of_function(self, function: Function, scope: Scope) -> Declaration | None:
        """Return the command that the decorators of a function declare."""
        if function not in self._known and self._depth < _MOST_GROUPS:
            self._known[function] = None  # for a command that would be declared by itself
            self._depth += 1
            found = (self._decorated(part, function, scope) for part in function.decorator_list)
            self._known[function] = next(filter(None, found), None)
            self._depth -= 1
        return self._known.get(function)

    def may_declare(self, function: Function, scope: Scope) -> bool:
        """Whether a function that no known decorator makes a command may be one nevertheless."""
        called = (
            part.func if isinstance(part, ast.Call) else part for part in function.decorator_list
        )
        if not any(_NAMED in last_name(part).casefold() for part in called):
            return False
        return _takes_context(function, scope)

    def of_call(self, call: ast.Call, scope: Scope) -> Declaration | None:
        """Return the group that a call creates, or the command in a menu."""
        if call not in self._known and self._depth < _MOST_GROUPS:
            self._known[call] = None  # as above
            self._depth += 1
            self._known[call] = self._created(call, scope)
            self._depth -= 1
        return self._known.get(call)

    def of(self, expression: ast.expr, scope: Scope) -> Declaration | None:
        """Return the declaration that an expression means."""
        meaning = self._names.meaning(expression, scope)
        known = self._defined(meaning) if isinstance(meaning, Definition) else None
        return known if isinstance(known, Declaration) else None

    def of_class(self, node: ast.ClassDef, scope: Scope) -> Declaration:
        """Return the group that an instance of a class is, if nothing is said to it."""
        given = _keywords(node) | _initial(node)
        return Declaration(
            form=Form.SLASH,
            name=self._name(given, scope, kebab(node.name)),
            node=node,
            scope=scope,
            is_group=True,
            given=given,
            instance_of=node,
        )

    def _decorated(
        self, decorator: ast.expr, function: Function, scope: Scope
    ) -> Declaration | None:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        original = self._names.framework(called, scope)
        name = original.rpartition(".")[2] or last_name(called)
        if name not in _DECORATORS:
            return None
        on: Declaration | Kind | None = None
        if not original:
            on = self._declared_on(called, function, scope)
        elif "app_commands" in original:
            on = Kind.TREE
        if on is Kind.OTHER:
            return None
        given = _given(decorator)
        default = function.name.title() if name == "context_menu" else function.name
        return Declaration(
            form=_form_on(on) if name in _OWN_FORM else _DECORATORS[name],
            name=self._name(given, scope, default),
            node=function,
            scope=scope,
            is_group=name in _GROUPS,
            parent=on if isinstance(on, Declaration) else None,
            given=given,
            function=(function, scope),
            menu=_menu_of(function, name) if _DECORATORS[name] is Form.MENU else "user",
        )

    def _declared_on(
        self, called: ast.expr, function: Function, scope: Scope
    ) -> Declaration | Kind | None:
        """Return what a decorator is called on; `Kind.OTHER` if that is not about commands."""
        on = self._receiver(called.value, scope) if isinstance(called, ast.Attribute) else None
        if on is not None:
            return on
        if not _takes_context(function, scope):
            return Kind.OTHER  # such as the commands of a command line
        return Kind.TREE if _INTERACTION.search(_context(function, scope).casefold()) else None

    def _receiver(self, expression: ast.expr, scope: Scope) -> Declaration | Kind | None:
        meaning = self._names.meaning(expression, scope)
        if isinstance(meaning, Definition):
            known = self._defined(meaning)
            if known is not None:
                return known
        return Kind.TREE if last_name(expression) == "tree" else None

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
                return _known(lineage(meaning, self._names).kind)
            case _:
                return None

    def _kind(self, class_name: ast.expr, scope: Scope) -> Kind | None:
        """Return what the instances of a class are; None if that is not known."""
        meaning = self._names.meaning(class_name, scope)
        if isinstance(meaning, Definition):
            return _known(lineage(meaning, self._names).kind)
        return _known(kind_of(self._names.framework(class_name, scope)))

    def _created(self, call: ast.Call, scope: Scope) -> Declaration | None:
        original = self._names.framework(call.func, scope)
        for name, form in _CLASSES.items():
            if original.endswith(name):
                return self._command(call, form, scope)
        if kind_of(original) is Kind.GROUP:
            return self._group(call, _given(call), scope)
        match call.func:
            case ast.Attribute(value=above, attr="create_group" | "create_subgroup"):
                return self._group(call, {**_given(call), "parent": above}, scope)
            case _:
                pass
        meaning = self._names.meaning(call.func, scope)
        if not isinstance(meaning, Definition) or not isinstance(meaning.node, ast.ClassDef):
            return None
        if lineage(meaning, self._names).kind is not Kind.GROUP:
            return None
        return self._instance(call, self.of_class(meaning.node, meaning.scope), scope)

    def _group(self, call: ast.Call, given: dict[str, ast.expr], scope: Scope) -> Declaration:
        return Declaration(
            form=Form.SLASH,
            name=self._name(given, scope, None),
            node=call,
            scope=scope,
            is_group=True,
            parent=self.of(given["parent"], scope) if "parent" in given else None,
            given=given,
        )

    def _instance(self, call: ast.Call, group: Declaration, scope: Scope) -> Declaration:
        """Return the group that an instance of a class is, with what is said to it."""
        given = _keywords(call)
        group.name = self._name(given, scope, group.name)
        group.parent = self.of(given["parent"], scope) if "parent" in given else None
        group.node, group.scope, group.given = call, scope, group.given | given
        return group

    def _command(self, call: ast.Call, form: Form, scope: Scope) -> Declaration:
        """Return the command that is made of a function: `Command(name="...", callback=...)`."""
        given = _keywords(call)
        callback = given.get("callback", (call.args or [ast.Constant(None)])[0])
        meaning = self._names.meaning(callback, scope)
        function = None
        if isinstance(meaning, Definition) and isinstance(meaning.node, _FUNCTIONS):
            function = (meaning.node, meaning.scope)
        return Declaration(
            form=form,
            name=self._name(given, scope, function[0].name if function else None),
            node=call,
            scope=scope,
            given=given,
            function=function,
            menu=_menu_of(function[0]) if function else "user",
        )

    def _name(self, given: dict[str, ast.expr], scope: Scope, default: str | None) -> str | None:
        """Return a name that is given; the default if none is, None if it cannot be read."""
        if "name" not in given:
            return default
        value = self._constants.value(given["name"], scope)
        if value is None:
            return default
        return value if isinstance(value, str) and value.strip() else None


def _known(kind: Kind) -> Kind | None:
    return kind if kind in {Kind.BOT, Kind.TREE} else None


def _given(call: ast.expr) -> dict[str, ast.expr]:
    """Return the arguments of a call that declares something; the first is the name."""
    if not isinstance(call, ast.Call):
        return {}
    given = _keywords(call)
    return {"name": call.args[0], **given} if call.args else given


def _menu_of(function: Function, decorator: str = "") -> str:
    """Return whose menu a function is in: its last parameter says what it is about."""
    if decorator == "message_command":
        return "message"
    annotations = [parameter.annotation for parameter in parameters(function.args)][-1:]
    types = " ".join(words(annotation) for annotation in annotations if annotation)
    return "message" if "Message" in types else "user"


def _keywords(call: ast.Call | ast.ClassDef) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _initial(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Return what the constructor of a group passes on: `super().__init__(name="...")`."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            for step in statement.body:
                match step:
                    case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__")) as call):
                        return _keywords(call)
                    case _:
                        pass
    return {}


def _form_on(on: Declaration | Kind | None) -> Form:
    """Return the form of a command by what it is declared on."""
    if isinstance(on, Declaration):
        return on.form
    return Form.SLASH if on is Kind.TREE else Form.PREFIX


def _takes_context(function: Function, scope: Scope) -> bool:
    """Whether a function is one that a framework calls for a command."""
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return is_async and _CONTEXT.match(_context(function, scope)) is not None


def _context(function: Function, scope: Scope) -> str:
    """Return the name of the context that a command gets, and its type as it is written."""
    skipped = parameters(function.args)[isinstance(scope.node, ast.ClassDef) :]
    if not skipped:
        return ""
    annotation = skipped[0].annotation
    return skipped[0].arg if annotation is None else f"{skipped[0].arg}: {words(annotation)}"
