"""The recipes of CONTRIBUTING.md, carried out on a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import requests

import commandsync
from commandsync.server.database import opened

ROOT = Path(__file__).parents[2]
_PACKAGE = Path(commandsync.__file__).parent
_ROW = re.compile(r"^\| `(commandsync/[\w/]+\.py)` \|", re.MULTILINE)
_URL = re.compile(r"http://[\d.:]+")
_DATABASE = ("--database", "listing.db")
_BOT = "4711"


def named(recipe: str) -> set[str]:
    """Return the files that a recipe names."""
    _, _, rest = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"## {recipe}\n")
    return set(_ROW.findall(rest.partition("\n## ")[0]))


class Recipe:
    """Insertions into a copy of the package, and the files that they touch."""

    def __init__(self, root: Path) -> None:
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(_PACKAGE, root / "commandsync", ignore=skipped)
        shutil.copytree(ROOT / ".ci", root / ".ci", ignore=skipped)
        shutil.copytree(ROOT / "docs", root / "docs")
        shutil.copy(ROOT / "pyproject.toml", root)
        self.root = root
        self.files: set[str] = set()

    def insert(self, path: str, text: str, *, before: str) -> None:
        """Insert a text before the first place of another one."""
        file = self.root / "commandsync" / path
        source = file.read_text(encoding="utf-8")
        assert before in source, f"{path} has no {before!r}"
        file.write_text(source.replace(before, text + before, 1), encoding="utf-8")
        self.files.add(f"commandsync/{path}")

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the variables of a program that uses the copy, whose branches nobody measures."""
        own = ("COMMANDSYNC_", "GITHUB_", "COVERAGE_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return {**kept, "PYTHONPATH": str(self.root), "NO_COLOR": "1", **variables}

    def python(self, *words: str, **variables: str) -> str:
        """Run Python with the copy of the package, and return what it prints."""
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=self.environment(**variables),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
        return ended.stdout

    @contextmanager
    def served(self, **records: list[dict[str, str]]) -> Iterator["Served"]:
        """Serve a database from before the change, with a bot that has records."""
        seed = {"bots": [{"id": _BOT, "profile": {"username": "Lantern"}, **records}]}
        (self.root / "seed.json").write_text(json.dumps(seed), encoding="utf-8")
        with opened(str(self.root / "listing.db")):
            pass
        words = ("-m", "commandsync", "serve", "--port", "0", *_DATABASE, "--seed", "seed.json")
        with subprocess.Popen(
            [sys.executable, *words],
            cwd=self.root,
            env=self.environment(),
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            url = next(found[0] for line in process.stdout if (found := _URL.search(line)))
            token = self.python("-m", "commandsync", "bots", "token", _BOT, *_DATABASE).strip()
            target = {"COMMANDSYNC_BASE_URL": url, "COMMANDSYNC_TOKEN": token}
            try:
                yield Served(self, target, f"{url}/bot/{_BOT}")
            finally:
                process.terminate()


class Served(NamedTuple):
    """A service of the copy, and a bot of it."""

    recipe: Recipe
    target: dict[str, str]  # the variables that name the bot's listing
    url: str  # of the bot's page

    def __call__(self, *words: str) -> str:
        """Run a command, and return what it prints."""
        return self.recipe.python("-m", "commandsync", *words, **self.target)

    def script(self, text: str) -> str:
        """Run a script, and return what it prints."""
        return self.recipe.python("-c", text, **self.target)

    def page(self) -> str:
        """Return the bot's page."""
        return requests.get(self.url, timeout=10).text
