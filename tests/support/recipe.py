"""The recipes of CONTRIBUTING.md, carried out on a copy of the package."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import requests

import commandsync
from tests.support.home import ROOT, Home, lines

_ROW = re.compile(r"^\| `(commandsync/[\w/]+\.py)` \|", re.MULTILINE)
_DATABASE = ("--database", "listing.db")
_BOT = "4711"


def named(recipe: str) -> set[str]:
    """Return the files that a recipe names."""
    _, _, rest = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(f"## {recipe}\n")
    return set(_ROW.findall(rest.partition("\n## ")[0]))


class Recipe:
    """Insertions into a copy of the package, which children of a home run, and the files of it."""

    def __init__(self, home: Home) -> None:
        skipped = shutil.ignore_patterns("__pycache__")
        package = Path(commandsync.__file__).parent
        for folder in (package, ROOT / ".ci", ROOT / "docs"):
            shutil.copytree(folder, home.path / folder.name, ignore=skipped)
        shutil.copy(ROOT / "pyproject.toml", home.path)
        home.variable("PYTHONPATH", str(home.path))
        for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
            home.forget(name)  # nobody measures the branches of the copy
        self.home = home
        self.files: set[str] = set()

    def insert(self, path: str, text: str, *, before: str) -> None:
        """Insert a text before the first place of another one."""
        source = self.home.read(f"commandsync/{path}")
        assert before in source, f"{path} has no {before!r}"
        self.home.write(source.replace(before, text + before, 1), f"commandsync/{path}")
        self.files.add(f"commandsync/{path}")

    def python(self, *words: str) -> str:
        """Run Python with the copy of the package, and return what it prints."""
        ran = self.home.child_of([sys.executable], *words)
        assert ran.code == 0, f"{words}: {ran.said}"
        return ran.out

    def run(self, *words: str) -> str:
        """Run a command of the copy, and return what it prints."""
        return self.python("-m", "commandsync", *words)

    def serve(self, **records: list[dict[str, str]]) -> None:
        """Serve a new database, with a bot that has records."""
        seed = {"bots": [{"id": _BOT, "profile": {"username": "Lantern"}, **records}]}
        self.home.write(json.dumps(seed), "seed.json")
        child = self.home.started("serve", "--port", "0", *_DATABASE, "--seed", "seed.json")
        self.home.variable("COMMANDSYNC_BASE_URL", lines(child, 1)[0].split()[-1])
        self.home.variable("COMMANDSYNC_TOKEN", self.run("bots", "token", _BOT, *_DATABASE).strip())

    def page(self) -> str:
        """Return the bot's page."""
        url = self.home.variables["COMMANDSYNC_BASE_URL"]
        return requests.get(f"{url}/bot/{_BOT}", timeout=10).text
