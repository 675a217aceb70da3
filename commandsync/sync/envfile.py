"""The tokens in a file such as `.env`, where many bots have theirs.

`--env-file` names such a file, and `read_env_file` takes from it the variables that contain a
token, and nothing else. `settings.token_in` asks the environment first. Without the option, no
token is from a file: `missing_token` only looks whether `.env` has the variable, for the hint.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from commandsync.api.credentials import SECRET_VARIABLE, Token, keep_secret
from commandsync.diagnostics import Do, Hint
from commandsync.errors import FileError, UsageError
from commandsync.sync.files import ci_workspace, read_file, reason

USUAL = ".env"
"""The usual name of such a file."""

_LARGEST = 1 << 20  # bytes


def read_env_file(path: str) -> dict[str, str]:
    """Return the tokens in a file by their variables; they are hidden from now on.

    Other variables are not read, and `${NAME}` in a value is not replaced: a file would name other
    secrets of the environment. No error names the path, as for a token file.

    Raises `ValueError` if the file cannot be read, or a line with such a variable is not valid.
    """
    from dotenv.parser import parse_stream  # noqa: PLC0415 - only a run with such a file needs it

    if not path:
        raise ValueError("the path is empty")
    found = {}
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.error and SECRET_VARIABLE.search(binding.original.string):
            raise ValueError(f"line {binding.original.line} of the file is not NAME=VALUE")
        name, value = binding.key or "", (binding.value or "").strip()
        if value and SECRET_VARIABLE.fullmatch(name):
            found[name] = value
    for value in found.values():
        with suppress(UsageError):  # one that is not valid is refused where it is needed
            if not (token := Token(value)).is_short:  # the run may not use it
                keep_secret(token)
    return found


def _text(path: str) -> str:
    try:
        return read_file(path, most=_LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8") from None
    except FileError as error:
        cause = error.__cause__
    known = reason(cause) if isinstance(cause, OSError) else f"it is larger than {_LARGEST:,} bytes"
    raise ValueError(f"cannot read the file: {known}")


def in_usual_file(names: Iterable[str]) -> str:
    """Return the first of the variables that `.env` in this folder sets; empty for none.

    In CI it is not opened: tokens are secrets there, and the file may be a stranger's.
    """
    if ci_workspace(os.environ):
        return ""
    with suppress(FileError):
        if Path(USUAL).is_file():  # a pipe could be read only once
            text = read_file(USUAL, most=_LARGEST).decode("utf-8", "replace")
            for name in names:
                if re.search(
                    rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=[ \t]*[^\s#]", text, re.MULTILINE
                ):
                    return name
    return ""


def missing_token(names: Iterable[str], otherwise: str | Hint) -> str | Hint:
    """Return the hint about a token that none of the variables has."""
    if name := in_usual_file(names):
        return Do.USE_ENV_FILE(variable=name, file=USUAL, otherwise=otherwise)
    return otherwise
