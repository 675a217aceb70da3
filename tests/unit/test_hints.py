"""Hints are values: every program has its own words for them, and the core spells no option."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest

import commandsync
from commandsync.action.step import INPUTS
from commandsync.cli.output import OPTIONS
from commandsync.diagnostics import LIBRARY, Do, in_words

PACKAGE = Path(str(commandsync.__file__)).parent
CORE = ("records", "api", "services", "plan", "apply", "document", "manifest")
AROUND = ("client", "sync", "sources", "report")
TABLES = {"the library": LIBRARY, "the command line": OPTIONS, "the Action": INPUTS}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?![\w=-])")
ARGUMENT = re.compile(r"\w=(\.\.\.|True|\{)")
OF_OTHERS = {  # what a program must not name
    "the library": re.compile(rf"{OPTION.pattern}|COMMANDSYNC_|\bthe input"),
    "the command line": re.compile(rf"{ARGUMENT.pattern}|\bthe input"),
    "the Action": re.compile(rf"{ARGUMENT.pattern}|{OPTION.pattern}|(?<!\w)-f\b"),
}
COMMAND = re.compile(r"\b(git|commandsync) [a-z]+( --[a-z]+)*")
"""A whole command, for any shell."""


def trees() -> Iterator[ast.Module]:
    """Yield the package's modules, parsed."""
    for path in PACKAGE.rglob("*.py"):
        yield ast.parse(path.read_text(encoding="utf-8"))


def kinds(node: ast.AST) -> set[Do]:
    """Return the kinds of hint that an expression names."""
    return {
        Do[part.attr]
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)
        if part.value.id == "Do"
    }


def values_of() -> dict[Do, set[str]]:
    """Return the names of the values with which the package makes each kind of hint."""
    made: dict[Do, set[str]] = {}
    for tree in trees():
        nodes = list(ast.walk(tree))
        named = {  # a variable that holds one kind or another
            node.targets[0].id: kinds(node.value)
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            if isinstance(node.value, ast.IfExp)
        }
        for node in nodes:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="Do"), attr=name)):
                    these = {Do[name]}
                case ast.Call(func=ast.Name(id=name)):
                    these = named.get(name, set())
                case _:
                    continue
            for kind in these:
                made[kind] = made.get(kind, set()) | {str(each.arg) for each in node.keywords}
    return made


def fields(words: str) -> set[str]:
    """Return the values that words name in braces."""
    return {name for _, name, _, _ in Formatter().parse(words) if name}


def test_words_name_the_values_of_their_hints() -> None:
    values = values_of()
    named = {
        kind: set().union(*(fields(table.get(kind, "")) for table in TABLES.values()))
        for kind in Do
    }

    assert named == values
    assert [
        words
        for table in TABLES.values()
        for kind, words in table.items()
        if not fields(words) <= values[kind]
    ] == []


def test_every_hint_has_words_in_the_command_line() -> None:
    assert [kind for kind in Do if not OPTIONS.get(kind, LIBRARY.get(kind))] == []


@pytest.mark.parametrize(("program", "table"), TABLES.items())
def test_a_program_names_only_what_it_has(program: str, table: Mapping[Do, str]) -> None:
    spoken = [COMMAND.sub("", words) for words in ({**LIBRARY, **table}).values()]

    assert [words for words in spoken if OF_OTHERS[program].search(words)] == []


def test_a_hint_is_said_in_the_words_of_the_program() -> None:
    hint = Do.DELETE_ALONE(mend=Do.ALLOW_DELETES(limit="all"))

    assert str(hint).startswith("if that is meant, pass max_deletes='all'; or make the deletes")
    assert in_words(hint, OPTIONS).startswith(
        "if that is meant, allow it with --max-deletes all; or make the"
    )
    assert in_words("as it is", OPTIONS) == "as it is"


def test_a_hint_that_a_program_cannot_follow_is_empty() -> None:
    assert str(Do.REPLACE_FILE()) == ""
    assert in_words(Do.REPLACE_FILE(), OPTIONS) == "--force replaces it"


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the strings below a node that are not docstrings."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Constant(value=str(text)):
                yield text
            case _:
                yield from strings(child)


def spells_an_option(text: str, *, room: str) -> bool:
    """Return whether a string names an option; around the core, not in an argument or command."""
    if room in CORE:
        return re.search("--[a-z]", text) is not None
    return " " in text.strip() and OPTION.search(COMMAND.sub("", text)) is not None


@pytest.mark.parametrize("room", [*CORE, *AROUND])
def test_the_core_spells_no_option(room: str) -> None:
    trees = (ast.parse(path.read_text("utf-8")) for path in (PACKAGE / room).rglob("*.py"))
    texts = [text for tree in trees for text in strings(tree)]

    assert [text for text in texts if spells_an_option(text, room=room)] == []
