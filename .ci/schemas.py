"""Write the generated schemas into schemas/, or check that the files there are current."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.document.schemas import schema_text
from commandsync.manifest.model import schema_text as manifest_schema_text
from commandsync.server.service import openapi_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER = Path(__file__).resolve().parents[1] / "schemas"
SCHEMAS: Mapping[str, Callable[[], str]] = {
    "commands.schema.json": manifest_schema_text,
    "docs.schema.json": partial(schema_text, "docs"),
    "plan.schema.json": partial(schema_text, "plan"),
    "result.schema.json": partial(schema_text, "result"),
    "openapi.json": openapi_text,
}


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` name those that differ; return the exit code."""
    drifted = []
    for name, generate in SCHEMAS.items():
        path, text = FOLDER / name, generate()
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        if written == text:
            continue
        if arguments == ["--check"]:
            drifted.append(name)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote schemas/{name}")
    for name in drifted:
        print(f"schemas/{name} is not what the code says: run make generate", file=sys.stderr)
    return 1 if drifted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
