"""A command or a group of commands that a bot's code declares, as a value."""

import ast
from dataclasses import dataclass, field
from enum import Enum, auto

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
    """A command or a group of commands."""

    form: Form  # how users call it
    name: str | None  # its own name; None if only a run of the code can tell
    node: ast.AST  # the function or the call that declares it
    scope: Scope
    is_group: bool = False  # whether it contains other commands
    parent: "Declaration | None" = None  # the group it is declared in
    given: dict[str, ast.expr] = field(default_factory=dict)  # to its decorator or call
    function: tuple[Function, Scope] | None = None  # what a call of it runs
    instance_of: ast.ClassDef | None = None  # the class of slash commands that it is an instance of
    menu: str = "user"  # whose menu it is in: a `user`, or a `message`

    @property
    def decorators(self) -> list[ast.expr]:
        """The decorators of its function."""
        return self.function[0].decorator_list if self.function else []
