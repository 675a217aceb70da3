from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import commandsync
from commandsync.action.wording import in_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(str(commandsync.__file__)).parent
ROOMS = ("api", "apply", "client", "document", "manifest", "plan", "records", "sync")
# What only a command of the command line can say: they write files, and have these options.
OF_COMMANDS = (
    *("adoption", "announcement", "comparison", "diagnosis", "files", "imports", "job", "notes"),
    "revision",
)
FLAG = re.compile(r"(?<![\w-])(?<!commandsync pull )--[a-z]")


def strings() -> Iterator[str]:
    """Yield the strings of the core that are not docstrings; a value in one is 0."""
    for path in (path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        if path.stem not in OF_COMMANDS:
            yield from _strings(ast.parse(path.read_text(encoding="utf-8")))


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Expr(value=ast.Constant()):  # a docstring
                continue
            case ast.JoinedStr(values=parts):
                yield "".join(
                    str(getattr(part, "value", 0)) if isinstance(part, ast.Constant) else "0"
                    for part in parts
                )
            case ast.Constant(value=str(text)):
                yield text
            case _:
                yield from _strings(node)


def test_no_hint_of_the_core_names_a_flag_of_the_command_line() -> None:
    flagged = [text for text in strings() if FLAG.search(text)]

    assert len(flagged) > 5
    assert [text for text in map(in_inputs, flagged) if FLAG.search(text)] == []


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        (
            "allow it with --max-deletes 12",
            (
                "allow it once: run the workflow by hand on the default branch, "
                "with the input max-deletes: 12"
            ),
        ),
        ("give --base-url, or --bot", "give the input base-url, or the input bot"),
        ("x; -f names another file", "x; the input file names another file"),
        ("give the bot's token: token=...", "give the bot's token: the input token"),
        ("correct it; or make the deletes alone, with apply --only NAMES", "correct it"),
        ("use https://, or insecure_http=True if you are certain", "use https://"),
        ("run again later; a lower concurrency helps", "run again later"),
        ("make the plan again with plan --out", "make the plan again in the mode plan"),
        ("commandsync pull --pin shows the ids", "commandsync pull --pin shows the ids"),
        ("the option --max-deletes-now", "the option --max-deletes-now"),
    ],
)
def test_a_hint_names_inputs_where_it_named_flags(hint: str, shown: str) -> None:
    assert in_inputs(hint) == shown
