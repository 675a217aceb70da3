"""The commands and groups that a bot's code declares: by decorators, and by calls."""

import ast
import builtins
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple

from commandsync.sources.python.cog import (
    WORDS,
    ClassRole,
    ScopedDecorator,
    kebab,
    kind_of,
    lineage,
    may_make_commands,
    named,
    parts_of,
)
from commandsync.sources.python.meaning import Code, Definition, in_framework, is_known
from commandsync.sources.python.scope import (
    CREATORS,
    Function,
    Outline,
    Scope,
    callee,
    keywords,
    last_name,
    spelled,
)


class Form(Enum):
    """How users call a command."""

    PREFIX = auto()
    HYBRID = auto()  # by a prefix and as a slash command
    SLASH = auto()
    MENU = auto()  # in the menu of a user or a message


_GROUPS = {"bridge_group", "group", "hybrid_group", "sub_command_group"}
_DECORATORS = {
    **dict.fromkeys(WORDS, Form.SLASH),
    **dict.fromkeys(("command", "group"), Form.PREFIX),
    **dict.fromkeys(("bridge_command", "hybrid_command"), Form.HYBRID),
    **dict.fromkeys(("bridge_group", "hybrid_group"), Form.HYBRID),
    **dict.fromkeys(("context_menu", "message_command", "user_command"), Form.MENU),
}
_CLASSES = {
    ".app_commands.Command": Form.SLASH,
    ".app_commands.ContextMenu": Form.MENU,
    ".ext.commands.Command": Form.PREFIX,
    ".ext.commands.HybridCommand": Form.HYBRID,
}
_OWN_FORM = {"command", "group"}  # whose form is that of the object they are called on
_BELOW = {"sub_command", "sub_command_group", "subcommand"}  # only of another command
OTHERS = frozenset(
    {
        "aiogram",
        "hydrogram",
        "pyrogram",
        "telebot",
        "telegram",
        "asyncclick",
        "click",
        "slack_bolt",
        "typer",
    }
)
"""Packages whose objects have no commands of Discord."""
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
    given_in: Scope | None = None  # where that is written, if it is not its own scope
    function: tuple[Function, Scope] | None = None  # that it runs
    instance_of: ast.ClassDef | None = None  # the class of slash commands that it is an instance of
    joins: str = ""  # the name of a group that is declared elsewhere
    problem: str = ""  # why it cannot be read
    is_guessed: bool = False  # whether its name is only that of its function
    unfollowed: str = ""  # the object that it is declared on, if nothing says what that is
    decorators: list[ScopedDecorator] = field(default_factory=list)  # of its function

    @property
    def around(self) -> Scope:
        """The scope of what it is given."""
        return self.given_in or self.scope


class Unfollowed(NamedTuple):
    """An object that nothing in the source defines; a parameter may be the bot, or its tree."""

    text: str
    is_parameter: bool = False
    is_tree: bool = False


class Declarations:
    """Reads declarations of commands; each function and call is read once."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: dict[ast.AST, Declaration | None] = {}
        self._depth = 0

    def of_function(self, function: Function, scope: Scope) -> Declaration | None:
        """Return the command that the decorators of a function declare."""
        return self._once(function, lambda: self._of_decorators(function, scope))

    def _of_decorators(self, function: Function, scope: Scope) -> Declaration | None:
        parts, marks = list[ScopedDecorator](), list[ast.expr]()
        for decorator in function.decorator_list:
            own = parts_of(decorator, scope, self._code)
            if own is None or not all(map(self._is_known, own)):
                marks.append(decorator)
            parts += own or ()
        declared = (self._decorated(part, function, scope) for part in parts)
        declaration = next(filter(None, declared), None)
        making = (each for each in marks if may_make_commands(each, scope, self._code))
        if declaration is None and (maker := next(making, None)):
            problem = f"the decorator {named(maker)} makes commands in a way that is not followed"
            declaration = _unread(function.name, function, scope, problem)
        if declaration:
            declaration.decorators = parts
            declaration.joins = next(filter(None, map(self._joined, parts)), "")
        self._mark(function, scope, declaration, marks)
        return declaration

    def _mark(
        self,
        function: Function,
        scope: Scope,
        declaration: Declaration | None,
        decorators: Sequence[ast.expr],
    ) -> None:
        """Mark a command that has decorators which are not followed: one may make it a command."""
        for decorator in decorators:
            names = {function.name, self._literal_name(decorator, scope)}
            if declaration:
                names = {"" if declaration.problem else declaration.name or ""}
            for name in names - {""}:
                reason = f"the decorator {named(decorator)} is not followed"
                self._code.mark(reason, decorator, scope, name)

    def of_applied(self, call: ast.Call, scope: Scope) -> Declaration | None:
        """Return the command of a decorator that is called with a function, as any other call."""
        return self._once(call, lambda: self._applied(call, scope))

    def _applied(self, call: ast.Call, scope: Scope) -> Declaration | None:
        meaning = self._code.meaning(call.args[0], scope)
        node = meaning.node if isinstance(meaning, Definition) else None
        if isinstance(meaning, Definition) and isinstance(node, Function):
            declared = self._decorated(ScopedDecorator(call.func, scope), node, meaning.scope)
            return replace(declared, node=call) if declared else None
        # A parameter is that of a decorator of the bot's own.
        on = None if isinstance(node, ast.arg) else self._declares_on(callee(call.func), scope)
        if on is None or isinstance(on, Unfollowed):
            return None
        name = self._literal_name(call.func, scope) or last_name(call.args[0])
        return _unread(name, call, scope, "the function of this command is computed at run time")

    def _literal_name(self, decorator: ast.expr, scope: Scope) -> str:
        return self._code.text(_given(decorator).get("name", ast.Constant("")), scope) or ""

    def _is_known(self, part: ScopedDecorator) -> bool:
        """Whether all that a decorator does to a command is known."""
        called = callee(part.expression)
        meaning = self._code.meaning(called, part.scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.Call):
            meaning = self._code.meaning(meaning.node.func, meaning.scope)
        if isinstance(meaning, str):
            return is_known(meaning)
        if isinstance(called, ast.Attribute):  # of the bot, or of a group
            on = self._on(called.value, part.scope)
            return isinstance(on, ClassRole | Declaration) or called.attr in WORDS
        return isinstance(called, ast.Name) and hasattr(builtins, called.id)

    def _joined(self, part: ScopedDecorator) -> str:
        """Return the group that a decorator adds a command to, as Pycord's multicog has it."""
        meaning = self._code.meaning(callee(part.expression), part.scope)
        is_joining = isinstance(meaning, str) and meaning.endswith("multicog.add_to_group")
        return (self._literal_name(part.expression, part.scope) or "?") if is_joining else ""

    def of_call(self, call: ast.Call, scope: Scope) -> Declaration | None:
        """Return the group that a call creates, or the command in a menu."""
        return self._once(call, lambda: self._created(call, scope))

    def of(self, expression: ast.expr, scope: Scope) -> Declaration | None:
        """Return the declaration that an expression means."""
        on = self._on(expression, scope)
        return on if isinstance(on, Declaration) else None

    def add(self, declaration: Declaration, to: ast.expr, scope: Scope) -> None:
        """Add a command to the object whose `add_command` is called with it: perhaps a group."""
        on = self._on(to, scope)
        if isinstance(on, Declaration):
            declaration.parent = on
        elif isinstance(on, Unfollowed) and not (on.is_parameter or on.is_tree):
            declaration.problem = f"`{on.text}`, to which it is added, is not in the source"

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
        self, part: ScopedDecorator, function: Function, scope: Scope
    ) -> Declaration | None:
        """Return the command that a decorator makes of a function, if it is a framework's."""
        called = callee(part.expression)
        on = self._declares_on(called, part.scope)
        if isinstance(on, Unfollowed) and isinstance(function, ast.FunctionDef):
            return None  # a command is a coroutine in every framework
        if on is None:
            return None
        word = self._code.last_name(called, part.scope)
        given = self._given(part)
        default = function.name.title() if word == "context_menu" else function.name
        declaration = Declaration(
            form=_form_of(word, on, called),
            name=self._name(given, part.scope, default),
            node=function,
            scope=scope,
            is_group=word in _GROUPS,
            parent=on if isinstance(on, Declaration) else None,
            given=given,
            given_in=part.scope,
            function=(function, scope),
        )
        if isinstance(on, Unfollowed):
            self._doubt(declaration, on, word, part)
        elif word in _BELOW and not declaration.parent:
            declaration.problem = f"{named(called)} is not in the source"
        return declaration

    def _doubt(
        self, declaration: Declaration, on: Unfollowed, word: str, part: ScopedDecorator
    ) -> None:
        """Mark a command that is declared on a bot that is not followed; else do not read it.

        A parameter in code of a framework is taken for the bot; anything else may be a group.
        """
        if on.is_parameter and word not in _BELOW and declaration.scope.file.frameworks:
            declaration.unfollowed = on.text if word in _OWN_FORM and not on.is_tree else ""
            name = declaration.name or ""
            self._code.mark(f"`{on.text}` is not followed", part.expression, part.scope, name)
        else:
            what = "the decorator " if isinstance(callee(part.expression), ast.Name) else ""
            declaration.problem = f"{what}`{on.text}` is not in the source"

    def _declares_on(
        self, called: ast.expr, scope: Scope
    ) -> "Declaration | ClassRole | Unfollowed | None":
        """Return the object on which a decorator declares a command; None if it declares none.

        For a framework's function it is the bot, or its tree of slash commands.
        """
        original = self._code.framework(called, scope)
        if (original.rpartition(".")[2] or last_name(called)) not in WORDS:
            return None
        if original:  # of app_commands, or py-cord's own `discord.command`
            return ClassRole.BOT if ".ext." in original else ClassRole.TREE
        if isinstance(called, ast.Attribute):
            return self._on(called.value, scope)
        meaning = self._code.meaning(called, scope)
        is_outside = meaning is None or (isinstance(meaning, str) and not is_known(meaning))
        return Unfollowed(last_name(called)) if is_outside else None

    def _given(self, part: ScopedDecorator) -> dict[str, ast.expr]:
        """Return the arguments of a decorator; the name is unknown if something is not followed."""
        call, scope = part
        if not isinstance(call, ast.Call):
            return {}
        spread = [each for keyword in call.keywords for each in self._code.named(keyword, scope)]
        unknown = [each.value for each in spread if each.arg is None][:1]
        given = {key: value for key in ("name", "description") for value in unknown}
        given |= {each.arg: each.value for each in spread if each.arg}
        return {"name": call.args[0], **given} if call.args else given

    def _on(
        self, expression: ast.expr, scope: Scope
    ) -> "Declaration | ClassRole | Unfollowed | None":
        """Return the object that has a decorator or is a parent; None if it declares nothing."""
        inner = expression.value if isinstance(expression, ast.Attribute) else expression
        attribute = "" if last_name(inner) == last_name(expression) else last_name(expression)
        if attribute == "app_command":
            return self._on(inner, scope)  # a hybrid group's own group
        meaning = self._code.meaning(expression, scope)
        match meaning:
            case Definition():
                return self._defined(meaning, expression)
            case str() if is_known(meaning) or "." not in meaning:  # a module has no commands
                return _known(kind_of(in_framework(meaning)))
            case None if attribute == "tree":
                on = self._on(inner, scope)
                return (
                    on._replace(is_tree=True)
                    if isinstance(on, Unfollowed)
                    else on and ClassRole.TREE
                )
        return None if isinstance(meaning, Outline) else Unfollowed(spelled(expression))

    def _defined(  # noqa: PLR0911 - one for each kind of definition
        self, meaning: Definition, written: ast.expr
    ) -> "Declaration | ClassRole | Unfollowed | None":
        node, scope = meaning.node, meaning.scope
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self.of_function(node, scope)
            case ast.Call():
                return self._of_made(node, scope, written)
            case ast.arg(annotation=ast.expr() as annotation):
                return self._kind(annotation, scope, written)
            case ast.arg():  # discord.py gives the bot to an extension
                is_extension = getattr(scope.node, "name", "") == "setup"
                return (
                    ClassRole.BOT
                    if is_extension
                    else Unfollowed(spelled(written), is_parameter=True)
                )
            case ast.ClassDef():  # self
                return self._of_lineage(meaning, written)
            case ast.Name() | ast.Attribute():
                return self._on(node, scope)
            case ast.Await() | ast.Subscript():
                return Unfollowed(spelled(written))
            case _:
                return None

    def _of_made(
        self, call: ast.Call, scope: Scope, written: ast.expr
    ) -> "Declaration | ClassRole | Unfollowed | None":
        """Return the result of a call: a group, an instance, or a function's of the bot."""
        declared = self.of_call(call, scope)
        made = None if declared else self._code.returned(call, scope)
        if made and isinstance(made.node, ast.expr):
            return self._on(made.node, made.scope)
        return declared or self._kind(call.func, scope, written)

    def _kind(
        self, class_name: ast.expr, scope: Scope, written: ast.expr
    ) -> ClassRole | Unfollowed | None:
        """Return the kind of the instances of a class; None if it declares nothing."""
        if isinstance(class_name, ast.Constant) and isinstance(class_name.value, str):
            with suppress(SyntaxError, ValueError):
                class_name = ast.parse(class_name.value, mode="eval").body
        meaning = self._code.meaning(class_name, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.ClassDef):
            return self._of_lineage(meaning, written)
        if isinstance(meaning, str) and is_known(meaning):
            return _known(kind_of(in_framework(meaning)))
        if isinstance(meaning, str) and meaning.partition(".")[0] in OTHERS:
            return None
        return Unfollowed(spelled(written))

    def _of_lineage(self, meaning: Definition, written: ast.expr) -> ClassRole | Unfollowed | None:
        ancestry = lineage(meaning, self._code)
        if ancestry.kind is ClassRole.OTHER and ancestry.unfollowed:
            return Unfollowed(spelled(written))
        return _known(ancestry.kind)

    def _created(self, call: ast.Call, scope: Scope) -> Declaration | None:
        original = self._code.framework(call.func, scope)
        for name, form in _CLASSES.items():
            if original.endswith(name):
                return self._command(call, form, scope)
        if kind_of(original) is ClassRole.GROUP:
            return self._group(call, _given(call), scope)
        if isinstance(call.func, ast.Attribute) and call.func.attr in CREATORS:
            group = self._group(call, {**_given(call), "parent": call.func.value}, scope)
            if call.func.attr != "create_subgroup":
                group.problem = ""  # the bot creates it
            return group
        meaning = self._code.meaning(call.func, scope)
        if not isinstance(meaning, Definition) or not isinstance(meaning.node, ast.ClassDef):
            return None
        if lineage(meaning, self._code).kind is not ClassRole.GROUP:
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
        parent, problem = None, ""
        if "parent" in given and self._code.value(given["parent"], scope) is not None:
            parent = self.of(given["parent"], scope)
            text = named(given["parent"])
            problem = "" if parent else f"the group {text} is not in the source"
        return Declaration(
            form=Form.SLASH,
            name=self._name(given, scope, default),
            node=node,
            scope=scope,
            is_group=True,
            parent=parent,
            given=given,
            problem=problem,
        )

    def _command(self, call: ast.Call, form: Form, scope: Scope) -> Declaration:
        """Return the command that is made of a function: `Command(name="...", callback=...)`."""
        given = keywords(call)
        callback = given.get("callback", (call.args or [ast.Constant(None)])[0])
        meaning = self._code.meaning(callback, scope)
        function, decorators = None, list[ScopedDecorator]()
        if isinstance(meaning, Definition) and isinstance(meaning.node, Function):
            function = (meaning.node, meaning.scope)
            for decorator in meaning.node.decorator_list:
                decorators += parts_of(decorator, meaning.scope, self._code) or ()
        return Declaration(
            form=form,
            name=self._name(given, scope, function[0].name if function else None),
            node=call,
            scope=scope,
            given=given,
            function=function,
            decorators=decorators,
        )

    def _name(self, given: dict[str, ast.expr], scope: Scope, default: str | None) -> str | None:
        """Return a name that is given; the default if none is, None if it cannot be read."""
        value = self._code.value(given.get("name", ast.Constant(None)), scope)
        if value is None:
            return default
        return value if isinstance(value, str) and value.strip() else None


def _known(kind: ClassRole) -> ClassRole | None:
    return kind if kind in {ClassRole.BOT, ClassRole.TREE} else None


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


def _unread(name: str, node: ast.AST, scope: Scope, problem: str) -> Declaration:
    return Declaration(
        form=Form.PREFIX, name=name, node=node, scope=scope, problem=problem, is_guessed=True
    )


def _form_of(word: str, on: Declaration | ClassRole | Unfollowed, called: ast.expr) -> Form:
    """Return how a command is called whose decorator has a last word, and is one of an object."""
    if word not in _OWN_FORM:
        return _DECORATORS[word]
    match on:
        case Declaration() if isinstance(called, ast.Attribute):
            return Form.SLASH if last_name(called.value) == "app_command" else on.form
        case ClassRole.TREE | Unfollowed(is_tree=True):
            return Form.SLASH
        case _:
            return Form.PREFIX
