"""Write the blocking client from the asynchronous one, and the table of its methods in the docs.

With `--check` it checks that they are current. Only what differs between the clients beyond
`async`, `await` and names is listed here.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

from commandsync import AsyncClient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "commandsync" / "client"
PAGE = ROOT / "docs" / "library.md"
PHRASES = {
    "asyncconnection.py": {
        "An asynchronous connection": "A blocking connection",
        "from one loop": "from any thread",
        "Use it from one event loop; a cancelled task closes the connection of its request.": (
            "It may be used from any thread."
        ),
        "surroundings, timeout=self.timeout": "surroundings, kept=self.concurrency",
    },
    "asynclistener.py": {
        "of an asynchronous client": "of a client",
        'R = TypeVar("R", bound=Awaitable[object] | None)\n': "",
        "Callable[[T], R]": "Callable[[T], None]",
        "Awaitable[object] | None": "None",
        "It may be asynchronous: handlers of several users run at the same\n"
        "        time, those of one user one after another, for at most `event_buffer` events.": (
            "Handlers run one after another, in the thread\n"
            "        that reads, before the event is yielded."
        ),
        'with async_extra("the asynchronous client needs"):\n            from': "from",
        "Connection  # noqa: PLC0415 - an extra": "Connection  # noqa: PLC0415 - loads requests",
        "        if reader.handles and not self._buffer.handled:\n"
        "            await self._handlers.finish()\n": "",
        "AsyncGenerator[Event, None]": "Generator[Event, None, None]",
        "  # noqa: ASYNC109 - the clients have the same arguments": "",
    },
    "asynclibrary.py": {
        "The client library for asyncio: the whole": "The client library: the whole",
        "a listing service, for a bot's event loop.": "a listing service.",
        "created before the loop runs; use it from one loop.": "used from any thread.",
        "        self._handlers.close()\n": "",
    },
}
NAMES = (
    (r"\basync (?=def|for|with)", ""),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basync(?=connection|gate|listener|transport)", ""),
    (r"\baclosing\b", "closing"),
    (r"\b__a(?=enter|exit)", "__"),
)

FIX = ("--fix-only", "--unsafe-fixes")


def blocking(source: Path) -> str:
    """Return the blocking twin of an asynchronous module."""
    text = source.read_text(encoding="utf-8")
    for phrase, replacement in PHRASES[source.name].items():
        if phrase not in text:
            sys.exit(f"{source.name} no longer contains {phrase!r}: correct .ci/clients.py")
        text = text.replace(phrase, replacement)
    for pattern, replacement in NAMES:
        text = re.sub(pattern, replacement, text)
    text = f"# Generated from {source.name} by `make clients`: edit that file.\n{text}"
    return _ruff("format", text=_ruff("check", "--select=F401,I,UP028", *FIX, text=text))


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
    """Return the public methods of a client, those for events last, as a Markdown table."""
    lines = ["| method | result | errors | meaning |", "|---|---|---|---|"]
    listener, shared = client.__mro__[1:3]
    for name in (*vars(shared), *vars(client), *vars(listener)):
        method = getattr(client, name)
        if name.startswith("_") or not callable(method):
            continue
        signature = str(inspect.signature(method)).replace("'", "")
        arguments, _, result = re.sub(r"^\(self(, )?", "(", signature).rpartition(" -> ")
        document = inspect.getdoc(method) or ""
        errors = re.findall(r"^ {4}(\w+):", document.partition("Raises:")[2], re.MULTILINE)
        if not errors and (inspect.iscoroutinefunction(method) or "Iterator" in result):
            errors = ["ArgumentError", "ListingError"] if name != "close" else []
        named = ", ".join(f"`{error}`" for error in errors)
        cells = f"`{name}{arguments}`", f"`{result}`", named, document.partition("\n")[0]
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
    current = {FOLDER / name.removeprefix("async"): blocking(FOLDER / name) for name in PHRASES}
    current[PAGE] = documented(PAGE)
    for path, text in current.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments == ["--check"]:
            drifted = True
            print(f"{path.name} is not current: run make clients", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote {path.relative_to(ROOT)}")
    return int(drifted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
