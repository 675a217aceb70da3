"""The table of rooms in CONTRIBUTING.md matches the imports."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import commandsync

PACKAGE = Path(commandsync.__file__).parent
TABLE = Path(__file__).parents[2] / "CONTRIBUTING.md"
ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)


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
