"""Fuzz one parser of untrusted input: `python -m tests.fuzz manifest 60`.

The judges are the tests' own (tests/support/untrusted.py), which replay the corpus without atheris.
An input that fails is left as `crash-...` in the current folder. Fix the parser, then give the
input a name and put it into tests/fixtures/corpus/.
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

# Loaded by a name that is not looked up: atheris is in the group `fuzz`, which no other target has.
atheris: Any = import_module("atheris")

with atheris.instrument_imports(include=["commandsync", "tests.support", "yaml", "json"]):
    from tests.support.untrusted import CORPUS, JUDGES, WORDS

_MEMORY = 700  # megabytes, with all that instrumentation adds; the tests measure the plain readers
_SLOWEST = 10  # seconds for one input on a busy machine
_LONGEST = 4096  # bytes of one input


def main() -> None:
    """Fuzz one kind of input, starting with the corpus."""
    kind, seconds = sys.argv[1], int(sys.argv[2])
    judge = JUDGES[kind]
    with tempfile.TemporaryDirectory() as found:
        words = Path(found) / "words"
        words.write_text("".join(f"{_quoted(word)}\n" for word in WORDS[kind]), encoding="ascii")
        inputs = Path(found) / "inputs"
        inputs.mkdir()
        options = {
            "max_total_time": seconds,
            "max_len": _LONGEST,
            "rss_limit_mb": _MEMORY,
            "timeout": _SLOWEST,
            "dict": words,
            "print_final_stats": 1,
            "verbosity": 0,
        }
        arguments = [f"-{name}={value}" for name, value in options.items()]
        folders = [str(inputs), str(CORPUS / kind)]  # what is found goes into the first
        atheris.Setup([sys.argv[0], *arguments, *folders], judge)
        atheris.Fuzz()


def _quoted(word: bytes) -> str:
    """Return a word as libFuzzer's dictionaries write it."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word) + '"'


if __name__ == "__main__":
    main()
