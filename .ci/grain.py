"""Report the grain of the package: sizes of functions and modules, imports, and comments.

The figures say where to look. They are no limits: a function is as long as its thought.
"""

from __future__ import annotations

import ast
import statistics
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "commandsync"


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the package."""

    name: str
    """Its path inside the package, with dots."""
    lines: int
    comments: int
    """Lines with a comment."""
    tree: ast.Module

    @property
    def room(self) -> str:
        """Return the subpackage of the module, or the package for a module of its own."""
        return self.name.partition(".")[0] if "." in self.name else PACKAGE


def main() -> int:
    """Print the figures of the package, or with --list the lists behind them."""
    modules = list(read_modules())
    print_package(modules)
    print_rooms(modules)
    if "--list" in sys.argv[1:]:
        print_lists(modules)
    return 0


def read_modules() -> Iterator[Module]:
    """Read the modules of the package in the order of their names."""
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        with tokenize.open(path) as file:
            text = file.read()
        with path.open("rb") as file:
            kinds = [token.type for token in tokenize.tokenize(file.readline)]
        name = ".".join(path.relative_to(ROOT / PACKAGE).with_suffix("").parts)
        yield Module(name, len(text.splitlines()), kinds.count(tokenize.COMMENT), ast.parse(text))


def print_package(modules: list[Module]) -> None:
    """Print the figures of the whole package."""
    lengths = sorted(length for module in modules for length in function_lengths(module))
    lines = sum(module.lines for module in modules)
    imported = statistics.mean(len(internal_names(module)) for module in modules)
    imports = sum(import_lines(module) for module in modules)
    comments = sum(module.comments for module in modules)
    print(
        f"modules                           {len(modules):6}",
        f"lines                             {lines:6}",
        f"functions                         {len(lengths):6}",
        f"lines of a function: mean         {statistics.mean(lengths):6.1f}",
        f"lines of a function: 90 % have    {lengths[len(lengths) * 9 // 10]:6} or fewer",
        f"internal names of a module: mean  {imported:6.1f}",
        f"share of import lines             {imports / lines:6.1%}",
        f"share of lines with a comment     {comments / lines:6.1%}",
        f"definitions used once             {len(used_once(modules)):6}",
        f"class names of several modules    {len(shared_classes(modules)):6}",
        sep="\n",
    )


def print_rooms(modules: list[Module]) -> None:
    """Print the number of modules and lines of each room."""
    print("\nroom         modules  lines")
    for room in sorted({module.room for module in modules}):
        of_room = [module.lines for module in modules if module.room == room]
        print(f"{room:12} {len(of_room):7} {sum(of_room):6}")


def print_lists(modules: list[Module]) -> None:
    """Print the smallest modules, the definitions used once, and the shared class names."""
    print("\nmodules of fewer than 200 lines")
    for module in sorted(modules, key=lambda module: module.lines):
        if module.lines < 200:  # noqa: PLR2004  # the least that a story has
            print(f"{module.lines:5} {module.name}")
    print("\ndefinitions used once", *used_once(modules), sep="\n  ")
    print("\nclass names of several modules")
    for name, homes in sorted(shared_classes(modules).items()):
        print(f"  {name}: {', '.join(homes)}")


def function_lengths(module: Module) -> Iterator[int]:
    """Return the lines of each function, from its name to its end."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def internal_names(module: Module) -> set[str]:
    """Return the names that a module imports from the package."""
    return {
        f"{node.module}.{alias.name}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE
        for alias in node.names
    }


def import_lines(module: Module) -> int:
    """Return how many lines of a module are imports."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def used_once(modules: list[Module]) -> list[str]:
    """Return the functions and classes whose name the package uses once, beside its imports."""
    uses = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    return [
        f"{module.name}.{node.name}"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if uses[node.name] == 1
    ]


def shared_classes(modules: list[Module]) -> dict[str, list[str]]:
    """Return the class names that several modules define, each with the modules."""
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module.name)
    return {name: where for name, where in homes.items() if len(where) > 1}


if __name__ == "__main__":
    sys.exit(main())
