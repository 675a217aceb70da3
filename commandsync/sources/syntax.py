"""How a command is called, as one line: `/group sub <required> [optional]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHOICES = range(2, 5)  # one choice would look like the name of the parameter
_LONGEST_CHOICE = 15  # characters
_MARKS = frozenset("<>[]|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What a user gives to a command.

    Attributes:
        name: Its name as users see it.
        required: Whether it must be given.
        choices: The names of its only values, as users see them; empty if it may be anything.
        rest: Whether it takes all that follows.
    """

    name: str
    required: bool
    choices: tuple[str, ...] = ()
    rest: bool = False


def slash_syntax(path: str, parameters: Iterable[Parameter] = ()) -> str:
    """Return the syntax of a slash command, as the manifest writes it.

    Args:
        path: Its full name without the slash: `config set`.
        parameters: Its parameters, in their order.
    """
    return literal(" ".join((f"/{path}", *map(parameter_text, parameters))))


def parameter_text(parameter: Parameter) -> str:
    """Return `<name>`, `[name]`, `[name...]`, or two to four short choices, `<on|off>`."""
    text = "|".join(parameter.choices) if _fit(parameter.choices) else parameter.name
    if parameter.rest:
        text += "..."
    return f"<{text}>" if parameter.required else f"[{text}]"


def literal(text: str) -> str:
    """Return a text as the manifest writes it in a syntax, where `{prefix}` is replaced."""
    return text.replace("{prefix}", "{{prefix}}")


def _fit(choices: tuple[str, ...]) -> bool:
    return len(choices) in _CHOICES and all(
        choice and len(choice) <= _LONGEST_CHOICE and not _MARKS & set(choice) for choice in choices
    )
