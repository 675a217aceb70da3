"""A real git repository: commits of files, made without the settings of the machine."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

_NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Nobody"),
        ("EMAIL", "nobody@example.com"),
        ("DATE", "2026-01-01T00:00:00Z"),
    )
}
_OF_NOBODY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **_NOBODY}


@dataclass(frozen=True)
class GitRepo:
    """A repository in a folder."""

    path: Path
    # Every commit has a later second: git shows those of the same second by branch.
    seconds: Iterator[int] = field(default_factory=lambda: count(1_795_000_000))

    def git(self, *arguments: str, sent: bytes = b"") -> str:
        """Run git here, and return what it prints."""
        others = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        ended = subprocess.run(
            ["git", *arguments],  # noqa: S607 - the machine's own
            cwd=self.path,
            env=others | _OF_NOBODY | {"GIT_COMMITTER_DATE": f"{next(self.seconds)} +0000"},
            input=sent,
            capture_output=True,
            check=True,
        )
        return ended.stdout.decode().strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: dict[str, str], *, tag: str = "") -> str:
        """Commit these files with all others, and return the commit."""
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A commit")
        if tag:
            self.git("tag", tag)
        return self.git("rev-parse", "HEAD")

    def commit_apart(self, files: dict[str, str]) -> str:
        """Commit these files alone, without a parent and outside of the workspace."""
        contents = "".join(
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for name, text in files.items()
        )
        head = (
            "commit refs/heads/apart\ncommitter Nobody <n@example.com> 1790000000 +0000\ndata 0\n"
        )
        self.git("fast-import", "--quiet", "--force", sent=f"{head}deleteall\n{contents}".encode())
        return self.git("rev-parse", "apart")

    def commit_many(self, name: str, texts: Sequence[str]) -> None:
        """Commit one file with these texts, one after the other, quicker than `commit`."""
        commits = [
            f"commit refs/heads/main\ncommitter Nobody <n@example.com> {1_790_000_000 + n} +0000\n"
            f"data 0\n{'from refs/heads/main^0' if not n else ''}\n"
            f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n"
            for n, text in enumerate(texts)
        ]
        self.git("fast-import", "--quiet", sent="".join(commits).encode())
        self.git("reset", "--quiet", "--hard")


def git_repo(path: Path) -> GitRepo:
    """Create an empty repository."""
    path.mkdir(parents=True, exist_ok=True)
    repo = GitRepo(path)
    repo.git("init", "--quiet", "--initial-branch=main")
    return repo
