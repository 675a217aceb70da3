"""Write the blocking client from the asynchronous one, or check that the files there are current.

Only what differs beyond `async`, `await` and names is listed here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "commandsync" / "client"
PHRASES = {
    "asyncconnection.py": {
        "An asynchronous connection": "A blocking connection",
        "from one loop": "from any thread",
        "Use it from one event loop; a cancelled task closes the connection of its request.": (
            "It may be used from any thread."
        ),
        "secrecy, timeout=timeout)": "secrecy, kept=concurrency)",
    },
    "asynclibrary.py": {
        "The client library for asyncio: the whole": "The client library: the whole",
        "a listing service, for a bot's event loop.": "a listing service.",
        "created before the loop runs; use it from one loop.": "used from any thread.",
        ", or the extra `[async]` is missing; as": "; as",
        'with async_extra("the asynchronous client needs"):\n            from': "from",
        "Connection  # noqa: PLC0415 - an extra": "Connection  # noqa: PLC0415 - loads requests",
        " It may be asynchronous.": "",
        "AsyncGenerator[Event, None]": "Generator[Event, None, None]",
    },
}
NAMES = (
    (r"\basync (?=def|for|with)", ""),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\basync(?=connection|gate|transport)", ""),
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
    return _ruff("format", text=_ruff("check", "--select=I,UP028", *FIX, text=text))


def _ruff(*arguments: str, text: str) -> str:
    return subprocess.run(  # noqa: S603 - the arguments are this file's own
        [sys.executable, "-m", "ruff", *arguments, "-"],
        cwd=FOLDER,
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def main(arguments: list[str]) -> int:
    """Write the files, or with `--check` name those that differ; return the exit code."""
    drifted = False
    for name in PHRASES:
        path, text = FOLDER / name.removeprefix("async"), blocking(FOLDER / name)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if arguments == ["--check"]:
            drifted = True
            print(f"{path.name} differs from {name}: run make clients", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"wrote commandsync/client/{path.name}")
    return int(drifted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
