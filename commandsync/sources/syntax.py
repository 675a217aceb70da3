"""How a command is called, as one line: `/group sub <required> [optional]`."""

from collections.abc import Iterable
from dataclasses import dataclass

_CHOICES = range(2, 5)  # one choice would look like the name of the parameter
_LONGEST_CHOICE = 15  # characters
_MARKS = frozenset("<>[]|")
_SAYS_NOTHING = {  # names of options that their choices say more than
    *("action", "choice", "enable", "enabled", "mode", "option", "setting", "state", "status"),
    *("switch", "toggle", "value"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What a user gives to a command."""

    name: str  # its name as users see it
    required: bool  # whether it must be given
    choices: tuple[str, ...] = ()  # its only values, as users see them; empty for any
    rest: bool = False  # whether it takes all that follows


def slash_syntax(path: str, parameters: Iterable[Parameter] = ()) -> str:
    """Return the syntax of a slash command, as the manifest writes it."""
    return literal(" ".join((f"/{path}", *map(parameter_text, parameters))))


def prefix_syntax(path: str, signature: str) -> str:
    """Return the syntax of a prefix command, as the manifest writes it."""
    return "{prefix}" + literal(f"{path} {signature}".rstrip())


def parameter_text(parameter: Parameter) -> str:
    """Return `<name>`, `[name]` or `[name...]`.

    Of a name that says nothing, such as `mode`, two to four short choices are shown: `<on|off>`.
    """
    says_nothing = len(parameter.name) == 1 or parameter.name.casefold() in _SAYS_NOTHING
    choices = parameter.choices if says_nothing else ()
    fit = all(each and len(each) <= _LONGEST_CHOICE and not _MARKS & set(each) for each in choices)
    text = "|".join(choices) if len(choices) in _CHOICES and fit else parameter.name
    if parameter.rest:
        text += "..."
    return f"<{text}>" if parameter.required else f"[{text}]"


def literal(text: str) -> str:
    """Return a text as the manifest writes it in a syntax, where `{prefix}` is replaced."""
    return text.replace("{prefix}", "{{prefix}}")
