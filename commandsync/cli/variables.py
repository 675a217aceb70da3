"""The lines that set environment variables in another terminal: where a service is, and a token."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commandsync.cli.options import DEFAULT_DATABASE

if TYPE_CHECKING:
    from commandsync.server.administration import SeededBot

POWERSHELL = os.name == "nt" and "SHELL" not in os.environ  # Git's bash on Windows sets it


def lines_to_paste(
    url: str, bots: Sequence[SeededBot], database: str, *, with_tokens: bool
) -> Iterator[str]:
    """Yield the lines that set the service and the first bot in another terminal.

    The token says which bot it is. Every other bot has its line in a comment, so that the lines can
    be pasted together. A terminal shows tokens. Other output may be a log, where no token belongs:
    the line asks the database for it. The database in memory cannot be asked, and its tokens end
    with the process.
    """
    from commandsync.report.escape import visible

    elsewhere = database != DEFAULT_DATABASE and "://" not in database  # a URL has a password
    option = f" --database {shlex.quote(database)}" if elsewhere else ""
    for number, bot in enumerate(bots):
        token = bot.token if with_tokens else f"commandsync bots token {bot.id}{option}"
        line = variable_line("COMMANDSYNC_TOKEN", token, is_command=not with_tokens)
        if number:
            yield f"  # {visible(bot.username)}: {line}"
            continue
        yield from ("", f"  # {visible(bot.username)}")
        yield "  " + variable_line("COMMANDSYNC_BASE_URL", reachable(url))
        yield f"  {line}"
        yield from [""] if len(bots) > 1 else []


def variable_line(
    name: str, value: str, *, is_command: bool = False, powershell: bool = POWERSHELL
) -> str:
    """Return the line that sets an environment variable in bash, zsh and fish, or in PowerShell.

    The value can be a command that prints it.
    """
    if powershell:
        text = value.replace("'", "''")
        return f"$env:{name} = " + (value if is_command else f"'{text}'")
    quoted = f'"$({value})"' if is_command else shlex.quote(value)
    return f"export {name}={quoted}"


def reachable(url: str) -> str:
    """Return the URL for clients on this machine: no client connects to "all addresses"."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
