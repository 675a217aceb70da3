"""How a command is called: by a prefix, as `Command.signature` of discord.py, or by a slash."""

from collections.abc import Iterable

from commandsync.sources.python.parameter import Argument
from commandsync.sources.syntax import Parameter, slash_syntax


def signature(arguments: Iterable[Argument], *, require_rest: bool) -> str:
    """Return the arguments of a prefix command; with `require_rest`, `*arguments` must be given."""
    return " ".join(_written(argument, require_rest=require_rest) for argument in arguments)


def _written(argument: Argument, *, require_rest: bool) -> str:
    annotation = argument.annotation
    name = "|".join(map(_literal, annotation.literals)) or argument.displayed
    more = "..." if annotation.greedy else ""
    if annotation.attachment:
        name = f"{argument.displayed} (upload {'files' if more else 'a file'})"
    elif argument.optional:
        return f"[{name}={argument.default}]{more}" if argument.default else f"[{name}]"
    elif argument.rest:
        return f"<{name}...>" if require_rest else f"[{name}...]"
    return f"[{name}]{more}" if annotation.greedy or annotation.optional else f"<{name}>"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def slash_command(path: str, arguments: Iterable[Argument], *, optional_types: bool) -> str:
    """Return the syntax of a slash command, its required arguments first.

    `optional_types` is whether `Optional[...]` makes an argument optional.
    """
    parameters = []
    for argument in (each for each in arguments if not each.keywords):
        required, rest = argument.required, argument.rest
        if required is None:
            is_optional = optional_types and argument.annotation.optional
            required = not (argument.optional or rest or is_optional)
        name, choices = argument.option, argument.choices
        parameters.append(Parameter(name=name, required=required, choices=choices, rest=rest))
    return slash_syntax(path, sorted(parameters, key=lambda parameter: not parameter.required))
