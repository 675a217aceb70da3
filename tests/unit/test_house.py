"""The rooms and the recipes of CONTRIBUTING.md match the code."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import commandsync
from commandsync.cli.program import COMMANDS
from commandsync.records.texts import Resource
from tests.support.runner import ACTION

PACKAGE = Path(commandsync.__file__).parent
TABLE = Path(__file__).parents[2] / "CONTRIBUTING.md"
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
FILE = re.compile(r"^\| `(commandsync/[\w/]+\.py)` \|", re.MULTILINE)
PATH = re.compile(r"`(\w+/\w+\.py)`")
PART = re.compile(r"`(\w+/\w+\.py)`,? `(\w+)`")
TEXTS = {kind.text.__name__ for kind in Resource}
WORDS = {kind.value for kind in Resource}


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    """Return the modules of the package, each with its path in it."""
    return [
        (file.relative_to(PACKAGE), ast.parse(file.read_text(encoding="utf-8")))
        for file in PACKAGE.rglob("*.py")
    ]


def test_the_table_names_every_room() -> None:
    rooms = {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()}

    assert {*ROW.findall(section("Structure"))} == rooms


def test_the_flow_of_an_apply_names_what_is_there() -> None:
    flow = section("Structure")
    named = {path: ast.parse((PACKAGE / path).read_text("utf-8")) for path in PATH.findall(flow)}
    parts = PART.findall(flow)

    assert len(named) >= 15
    assert len(parts) >= 10
    for path, name in parts:
        assert name in {getattr(node, "name", "") for node in named[path].body}, path


def section(title: str) -> str:
    """Return the text below a heading of CONTRIBUTING.md."""
    _, _, rest = TABLE.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    return rest.partition("\n## ")[0]


CHANGES = re.findall(r"^\| (.+) \| (\d+) \| (.+) \|$", section("Files of a change"), re.MULTILINE)
MOST = {"an output format": 6, "a field of a command": 8, "a kind of record": 12}
"""Files that a change may need; others need at most five."""


@pytest.mark.parametrize(("change", "number", "which"), CHANGES, ids=[row[0] for row in CHANGES])
def test_a_change_needs_few_files_and_all_exist(change: str, number: str, which: str) -> None:
    if which == "below":
        files = FILE.findall(section(f"A new {change.removeprefix('a ')}"))
    else:
        files = re.findall(r"`(action\.yml|commandsync/[\w/]+\.\w+)`", which)

    assert len(set(files)) == len(files) == int(number)
    assert 0 < len(files) <= MOST.get(change, 5)
    inside = [file for file in files if file != ACTION.name or ACTION.exists()]  # not in a wheel
    homes = (PACKAGE.parent, TABLE.parent)
    assert [file for file in inside if not any((home / file).is_file() for home in homes)] == []


def test_the_files_of_fourteen_changes_are_named() -> None:
    assert len(CHANGES) == 14
    assert set(MOST) <= {change for change, _, _ in CHANGES}


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
        path: lines
        for path, tree in trees()
        if path.parts[0] != "records" and (lines := lines_on_one_kind(tree))
    }

    assert asked == {}


def test_no_attribute_is_set_on_an_exception_in_flight() -> None:
    changed = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        for caught in ast.walk(tree)
        if isinstance(caught, ast.ExceptHandler)
        for node in ast.walk(caught)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == caught.name
    ]

    assert changed == []


def commands_in(tree: ast.Module) -> list[str]:
    """Return the names of the commands of the program that a module defines."""
    return [
        str(name.value)
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        if ast.unparse(decorator.func) in {"click.command", "click.group"}
        for name in decorator.args
        if isinstance(name, ast.Constant)
    ]


def test_each_command_has_a_file_with_its_name() -> None:
    files = {path.stem: commands_in(tree) for path, tree in trees() if path.parts[0] == "cli"}

    defined = {stem: names for stem, names in files.items() if names}
    assert defined == {f"{name}_" if name == "import" else name: [name] for name in COMMANDS}


CREATING = {"mkstemp", "NamedTemporaryFile", "TemporaryFile", "fdopen", "touch"}
WRITING = CREATING | {"write_bytes", "write_text", "rename", "hardlink_to", "symlink_to"}
MOVING = {"copy", "copy2", "copyfile", "copytree", "link", "move", "renames", "replace", "symlink"}
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND"}
OTHERS = {
    "action/bootstrap.py": "runs before the libraries are there, so it imports nothing",
    "cli/output.py": "opens the null device",
    "cli/program.py": "opens the null device",
    "sync/earlier.py": "gives empty files their names, in a temporary folder, for patterns",
    "recording/namespace.py": "runs as a script of its own, and writes to the memory of a run",
    "recording/programenv.py": "reads a file that may be a link or a pipe",
    "recording/__init__.py": "reads a pipe",
    "server/database.py": "creates the database, which SQLite writes",
}
"""Modules that open a file for writing beside `sync/files.py`, with the reason."""


def writes_a_file(node: ast.AST) -> bool:
    """Return whether code opens a file for writing, or moves one into place."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in WRITING:
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="os" | "shutil"), attr=name)):
            return name in MOVING or (
                name == "open" and any(flag in ast.dump(node) for flag in FLAGS)
            )
        case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
            return True  # of a path: that of a string has two arguments
        case ast.Call(func=ast.Name(id="open"), args=[_, mode, *_]):
            return not (isinstance(mode, ast.Constant) and str(mode.value).startswith("r"))
        case ast.Call(func=ast.Attribute(attr="open")):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            modes = [str(mode.value) for mode in given if isinstance(mode, ast.Constant)]
            return any(re.fullmatch("[rwxabt+]*[wxa+][rwxabt+]*", mode) for mode in modes)
        case _:
            return False


@pytest.mark.parametrize(
    ("code", "is_written"),
    [
        ("open(path, 'w')", True),
        ("open(path, mode)", True),
        ("path.open('ab')", True),
        ("path.open(mode='r+')", True),
        ("path.write_text(text)", True),
        ("tempfile.NamedTemporaryFile()", True),
        ("os.open(path, os.O_RDWR | os.O_CREAT)", True),
        ("os.replace(one, another)", True),
        ("path.replace(another)", True),
        ("shutil.move(one, another)", True),
        ("open(path)", False),
        ("open(path, 'rb')", False),
        ("path.open('rb')", False),
        ("text.replace(old, new)", False),
        ("os.open(p, 0)", False),
    ],
)
def test_a_file_that_is_written_is_found(code: str, *, is_written: bool) -> None:
    assert any(map(writes_a_file, ast.walk(ast.parse(code)))) is is_written


def test_one_module_writes_all_files() -> None:
    writing = {path.as_posix() for path, tree in trees() if any(map(writes_a_file, ast.walk(tree)))}

    assert writing == {"sync/files.py", *OTHERS}
