"""Write the blocking client from the asynchronous one, and the table of its methods in the docs.

With `--check` it checks that they are current. The rules are those of unasync: each one replaces a
token, or drops it. Comments and strings stay as they are.
"""

from __future__ import annotations

import inspect
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

from commandsync import AsyncClient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "commandsync" / "client"
SOURCE = FOLDER / "asynclibrary.py"
PAGE = ROOT / "docs" / "library.md"
DROPPED = {"async", "await"}
REPLACED = {"__aenter__": "__enter__", "__aexit__": "__exit__"}
ASYNCHRONOUS = re.compile("^Async(?=[A-Z])")
FIX = ("--fix-only", "--unsafe-fixes", "--select=I,UP028")


def blocking(source: Path) -> str:
    """Return the blocking twin of an asynchronous module."""
    text = source.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for token in reversed([*tokenize.generate_tokens(io.StringIO(text).readline)]):
        if token.type == tokenize.NAME:
            (row, start), (_, end) = token.start, token.end
            name = REPLACED.get(token.string, ASYNCHRONOUS.sub("", token.string))
            if token.string in DROPPED:
                name, end = "", end + 1  # with the space behind it
            lines[row - 1] = lines[row - 1][:start] + name + lines[row - 1][end:]
    text = f"# Generated from {source.name} by `make generate`: edit that file.\n{''.join(lines)}"
    return _ruff("format", text=_ruff("check", *FIX, text=text))


def _ruff(*arguments: str, text: str) -> str:
    return subprocess.run(  # noqa: S603 - the arguments are this file's own
        [sys.executable, "-m", "ruff", *arguments, "-"],
        cwd=FOLDER,
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def table(client: type) -> str:
    """Return the public methods of a client as a Markdown table."""
    lines = ["| method | meaning |", "|---|---|"]
    for name in (*vars(client.__base__), *vars(client)):
        method = getattr(client, name)
        if name.startswith("_") or not callable(method):
            continue
        parameters = list(inspect.signature(method).parameters.values())
        shown = ", ".join(
            ("**" if parameter.kind is parameter.VAR_KEYWORD else "") + parameter.name
            for parameter in parameters
            if parameter.name != "self"
        )
        sentence = (inspect.getdoc(method) or "").partition("\n")[0]
        summary = sentence.partition(";")[0].partition(":")[0].rstrip(".") + "."
        cells = f"`{name}({shown})`", summary
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def documented(path: Path) -> str:
    """Return the page of the library with the current table."""
    rows = table(AsyncClient).replace("AsyncIterator[", "Iterator[")
    rows = rows.replace("AsyncGenerator[Event, None]", "Iterator[Event]")
    return re.sub(
        r"(?<=<!-- methods -->\n\n).*?(?=\n\n<!-- end -->)",
        lambda _: rows,
        path.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` name those that differ; return the exit code."""
    drifted = False
    current = {FOLDER / "library.py": blocking(SOURCE), PAGE: documented(PAGE)}
    for path, text in current.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments == ["--check"]:
            drifted = True
            print(f"{path.name} is not current: run make generate", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path.relative_to(ROOT)}")
    return int(drifted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
