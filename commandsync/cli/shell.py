"""Lines to paste into a shell, and how a shell calls this program."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

POWERSHELL = os.name == "nt" and "SHELL" not in os.environ  # Git's bash on Windows sets it


def variable_line(
    name: str, value: str, *, is_command: bool = False, powershell: bool = POWERSHELL
) -> str:
    """Return the line that sets an environment variable in bash, zsh and fish, or in PowerShell.

    Args:
        name: The variable.
        value: Its value, or a command that prints it.
        is_command: Whether it is a command.
        powershell: Whether the line is for PowerShell.
    """
    if powershell:
        text = value.replace("'", "''")
        return f"$env:{name} = " + (value if is_command else f"'{text}'")
    quoted = f'"$({value})"' if is_command else shlex.quote(value)
    return f"export {name}={quoted}"


def program_name() -> str:
    """Return how a shell calls this installation: by its name, or else by the path of its script.

    The path is below the current folder if it can be.
    """
    own = shutil.which("commandsync", path=str(Path(sys.executable).parent))
    if own is None or own == shutil.which("commandsync"):
        return "commandsync"
    script, here = Path(own), Path.cwd()
    path = script.relative_to(here) if script.is_relative_to(here) else script
    return shlex.quote(path.as_posix())
