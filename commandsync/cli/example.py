"""The files of examples/, which are installed with the package."""

from __future__ import annotations

from pathlib import Path

from commandsync.errors import UsageError


def example(name: str) -> Path:
    """Return the path of an example.

    Raises:
        UsageError: It is missing.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in ("examples", "../examples"):  # in the installed package, in a checkout
        if (path := package / folder / name).is_file():
            return path
    raise UsageError(f"examples/{name} is missing", hint="install commandsync again")
