"""The decorators of a function, and the decorators inside a decorator of the bot's own.

Bots wrap the decorators of their framework: `return commands.command(name=name)`, or a function
that applies some to another one. Such a function is followed as far as it only does that.
"""

import ast
import re
from typing import NamedTuple

from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.scope import Function, Scope, callee, spelled

WORDS = frozenset(
    {
        *("command", "group", "bridge_command", "hybrid_command", "bridge_group", "hybrid_group"),
        *("slash_command", "sub_command", "subcommand", "sub_command_group"),
        *("context_menu", "message_command", "user_command"),
    }
)
"""The last words of the decorators with which frameworks declare commands."""

_MAKING = re.compile(rf"\b({'|'.join(sorted(WORDS))}|Command)\s*\(")
_DEEPEST = 5  # decorators that are made of others


class ScopedDecorator(NamedTuple):
    """A decorator, and the scope in which its names have their meaning."""

    expression: ast.expr
    scope: Scope


def parts_of(  # noqa: PLR0911 - one for each form
    decorator: ast.expr, scope: Scope, code: Code, depth: int = 0
) -> list[ScopedDecorator] | None:
    """Return the decorators inside a decorator of the bot's own; None if it is not followed.

    Any other decorator is returned itself.
    """
    meaning = code.meaning(callee(decorator), scope)
    if not (isinstance(meaning, Definition) and isinstance(meaning.node, Function)):
        return [ScopedDecorator(decorator, scope)]
    made, function = _last_return(meaning.node), meaning.node
    if depth > _DEEPEST or made is None:
        return None
    turn = code.turn(decorator if isinstance(decorator, ast.Call) else None, scope, meaning)
    if not isinstance(decorator, ast.Call):
        return _applied(_Body(made, _first(function), function, turn), code, depth)
    match made:
        case ast.Lambda(args=ast.arguments(args=[parameter]), body=body):
            return _applied(_Body(body, parameter.arg, function, turn), code, depth)
        case ast.Name() if inner := _nested(function, made):
            turn = code.turn(None, turn, Definition(inner, turn))
            return _applied(_Body(_last_return(inner), _first(inner), inner, turn), code, depth)
        case ast.Call() | ast.Name() | ast.Attribute():
            return parts_of(code.filled(made, turn), turn, code, depth + 1)
        case _:
            return None


def may_make_commands(decorator: ast.expr, scope: Scope, code: Code) -> bool:
    """Whether a decorator of the bot's own makes commands, in whatever way."""
    meaning = code.meaning(callee(decorator), scope)
    node = meaning.node if isinstance(meaning, Definition) else None
    if not (isinstance(meaning, Definition) and isinstance(node, Function)):
        return False
    return _MAKING.search(meaning.scope.file.lines(node)) is not None


def named(decorator: ast.expr) -> str:
    """Return the name of a decorator for a message."""
    return f"`{spelled(callee(decorator))}`"


class _Body(NamedTuple):
    """The result of a decorator for its function."""

    made: ast.expr | None
    parameter: str  # the function that it gets; empty without one
    function: Function
    scope: Scope


def _applied(body: _Body, code: Code, depth: int) -> list[ScopedDecorator] | None:
    """Return the decorators that are applied to a parameter: `first(second(parameter))`."""
    parts: list[ScopedDecorator] = []
    made = body.made
    while isinstance(made, ast.Call) and len(made.args) == 1 and not made.keywords:
        own = parts_of(code.filled(made.func, body.scope), body.scope, code, depth + 1)
        if own is None:
            return None
        parts += own
        made = made.args[0]
    if isinstance(made, ast.Name) and body.parameter == made.id:
        return parts
    inner = _nested(body.function, made)
    decorators = inner.decorator_list if inner else []
    keeps = any(code.last_name(callee(each), body.scope) == "wraps" for each in decorators)
    return parts if keeps else None


def _last_return(function: Function) -> ast.expr | None:
    last = function.body[-1] if function.body else None
    return last.value if isinstance(last, ast.Return) else None


def _first(function: Function) -> str:
    return function.args.args[0].arg if function.args.args else ""


def _nested(function: Function, expression: ast.expr | None) -> Function | None:
    """Return the function with this name that is defined in another one."""
    name = expression.id if isinstance(expression, ast.Name) else ""
    own = (part for part in function.body if isinstance(part, Function) and part.name == name)
    return next(own, None)
