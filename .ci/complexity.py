"""Check radon's complexity of each function, which also counts the branches of comprehensions."""

from __future__ import annotations

import sys
from pathlib import Path

from radon.complexity import cc_visit  # type: ignore[import-untyped]  # it has no types

MOST = 12
FOLDERS = (".ci", "commandsync", "tests/benchmarks")


def main() -> int:
    """Print each function that branches too often, and return 1 if there is one."""
    root = Path(__file__).resolve().parents[1]
    complex_functions = [
        f"{path.relative_to(root)}:{block.lineno}: {block.fullname} has a complexity of "
        f"{block.complexity}, more than {MOST}"
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        for block in cc_visit(path.read_text(encoding="utf-8"))
        if block.complexity > MOST
    ]
    print("\n".join(complex_functions) or f"complexity: no function above {MOST}")
    return 1 if complex_functions else 0


if __name__ == "__main__":
    sys.exit(main())
