"""A command or a group of commands that a bot's code declares, as a value."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commandsync.sources.python.scope import Function, Scope


class Form(Enum):
    """How users call a command."""

    PREFIX = auto()
    HYBRID = auto()
    """By a prefix and as a slash command."""
    SLASH = auto()
    MENU = auto()
    """In the menu of a user or a message."""


@dataclass(slots=True, eq=False, kw_only=True)
class Declaration:
    """A command or a group of commands.

    Attributes:
        form: How users call it.
        name: Its own name; None if only a run of the code can tell.
        node: The function or the call that declares it.
        scope: The scope in which it is declared.
        is_group: Whether it contains other commands.
        parent: The group it is declared in.
        given: The arguments of its decorator or call.
        function: The function that runs when it is called, with the scope that defines it.
        instance_of: The class of slash commands that it is an instance of.
        menu: Whose menu it is in: a `user`, or a `message`.
    """

    form: Form
    name: str | None
    node: ast.AST
    scope: Scope
    is_group: bool = False
    parent: Declaration | None = None
    given: dict[str, ast.expr] = field(default_factory=dict)
    function: tuple[Function, Scope] | None = None
    instance_of: ast.ClassDef | None = None
    menu: str = "user"

    @property
    def decorators(self) -> list[ast.expr]:
        """The decorators of its function."""
        return self.function[0].decorator_list if self.function else []

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class in whose body it is declared."""
        return self.scope.node if isinstance(self.scope.node, ast.ClassDef) else None
