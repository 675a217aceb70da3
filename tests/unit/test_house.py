"""The rooms and the recipes of CONTRIBUTING.md match the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import commandsync
from commandsync.records.texts import Resource

PACKAGE = Path(commandsync.__file__).parent
TABLE = Path(__file__).parents[2] / "CONTRIBUTING.md"
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
FILE = re.compile(r"^\| `(commandsync/[\w/]+\.py)` \|", re.MULTILINE)
TEXTS = {kind.text.__name__ for kind in Resource}
WORDS = {kind.value for kind in Resource}


def imported(file: Path) -> set[str]:
    """Return the modules of the package that a file names in its imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module="commandsync", names=names):
                found |= {f"commandsync.{name.name}" for name in names}
            case ast.ImportFrom(module=str(module)):
                found.add(module)
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case _:
                pass
    return {name.split(".")[1] for name in found if name.startswith("commandsync.")}


def test_the_table_of_rooms_is_what_the_imports_are() -> None:
    rooms = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}
    known = rooms | {file.stem for file in PACKAGE.glob("*.py")}
    arrows = {
        room: {
            name
            for file in (PACKAGE / room).rglob("*.py")
            for name in imported(file) & known - {room}
        }
        for room in rooms
    }
    table = {
        room: set(re.findall(r"`(\w+)`", imports))
        for room, imports in ROW.findall(TABLE.read_text(encoding="utf-8"))
    }

    assert table == arrows


@pytest.mark.parametrize(
    ("recipe", "most"), [("A new field of a command", 8), ("A new kind of record", 12)]
)
def test_a_recipe_names_few_files_and_all_exist(recipe: str, most: int) -> None:
    _, _, rest = TABLE.read_text(encoding="utf-8").partition(f"## {recipe}\n")
    files = FILE.findall(rest.partition("\n## ")[0])

    assert len(set(files)) == len(files)
    assert 0 < len(files) <= most
    assert [file for file in files if not (PACKAGE.parent / file).is_file()] == []


def names_a_kind(node: ast.AST) -> bool:
    """Return whether an expression names a kind of record: `Resource.COMMAND`, its text or word."""
    match node:
        case ast.Attribute(value=ast.Name(id="Resource"), attr=name):
            return name in Resource.__members__
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in TEXTS
        case ast.Constant(value=str(word)):
            return word in WORDS
        case _:
            return False


def lines_on_one_kind(tree: ast.AST) -> list[int]:
    """Return the lines on which code asks for one kind of record."""
    lines = []
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                asked: list[ast.AST] = [left, *others]
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]):
                asked = [classes]
            case ast.MatchValue(value=value):
                asked = [value]
            case ast.MatchClass(cls=value):
                asked = [value]
            case _:
                continue
        if any(names_a_kind(part) for whole in asked for part in ast.walk(whole)):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "code",
    [
        "kind is Resource.COMMAND",
        "kind not in (Resource.COMMAND, Resource.ANNOUNCEMENT)",
        "kind == 'announcement'",
        "isinstance(text, CommandText)",
        "isinstance(text, texts.CommandText | texts.AnnouncementText)",
        "match kind:\n    case Resource.COMMAND: pass",
        "match text:\n    case CommandText(): pass",
    ],
)
def test_a_test_on_kind_is_found(code: str) -> None:
    assert lines_on_one_kind(ast.parse(code)) != []


def test_only_records_asks_for_one_kind_of_record() -> None:
    asked = {
        str(file.relative_to(PACKAGE)): lines
        for file in PACKAGE.rglob("*.py")
        if file.relative_to(PACKAGE).parts[0] != "records"
        and (lines := lines_on_one_kind(ast.parse(file.read_text(encoding="utf-8"))))
    }

    assert asked == {}
