"""The arguments of a caller, checked where a value is made of them and before anything is sent."""

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from commandsync.errors import ArgumentError


class HasId(Protocol):
    """Anything with an id: a `Command`, a `Voter`, or a `Member` of discord.py."""

    @property
    def id(self) -> str | int:
        """The id."""


Id: TypeAlias = str | int | HasId
"""An identifier, or what has one."""

_LONGEST_TIMEOUT = 3600  # seconds; far below what sockets and threads can count


def string(name: str, value: object, *, empty: bool = True) -> str:
    """Return a string, which may be `empty`; the name is for the message of `ArgumentError`."""
    if not isinstance(value, str):  # the value is not shown: it may be a secret
        raise ArgumentError(f"{name} is not a string, but {type(value).__name__}")
    if not (empty or value.strip()):
        raise ArgumentError(f"{name} is empty", hint="the service requires it")
    return value


def strings(name: str, values: object, *, ids: bool = False) -> tuple[str, ...]:
    """Return strings or identifiers, none of them empty; raises as `string`, also for one alone."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is not a list of strings: {values!r}")
    return tuple(
        identifier(name, value) if ids else string(name, value, empty=False) for value in values
    )


def identifier(name: str, value: object) -> str:
    """Return an identifier: a string, a number, or that of an object that has one as its id.

    Raises `ArgumentError` if it is none of these; or it is empty, `.` or `..`, and would address
    something else as a part of a path.
    """
    known = value if isinstance(value, str | int) else getattr(value, "id", None)
    if isinstance(known, int) and not isinstance(known, bool) and known >= 0:
        return str(int(known))
    if not isinstance(known, str) or known.strip() in {"", ".", ".."}:
        hint = "an id is a string, a number, or an object with one of these as its id"
        raise ArgumentError(f"{name} is not a valid identifier: {value!r}", hint=hint)
    return known


def boolean(name: str, value: object) -> bool:
    """Return a boolean; raises `ArgumentError`."""
    if not isinstance(value, bool):
        raise ArgumentError(f"{name} is not True, False or None: {value!r}")
    return value


def number(name: str, value: object, *, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds; raises `ArgumentError`."""
    if isinstance(value, int) and not isinstance(value, bool):
        limit = value if most is None else most
        if least <= value <= limit:
            return value
    bounds = f"from {least}" if most is None else f"from {least} to {most}"
    raise ArgumentError(f"{name} is not a whole number {bounds}: {value!r}")


def seconds(name: str, value: object) -> float:
    """Return a time-out in seconds; raises `ArgumentError`."""
    if isinstance(value, int | float) and value is not True and 0 < value <= _LONGEST_TIMEOUT:
        return float(value)
    bounds = f"above 0 and up to {_LONGEST_TIMEOUT:,}"
    raise ArgumentError(f"{name} is not a number of seconds {bounds}: {value!r}")
