"""The hooks, run by pre-commit itself as in the repository of a bot."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from pre_commit.clientlib import (  # type: ignore[import-untyped]  # it has no types
    load_config,
    load_manifest,
)

from commandsync.cli.program import program
from tests.support.home import ROOT, Home, Ran

HOOKS: list[dict[str, Any]] = load_manifest(ROOT / ".pre-commit-hooks.yaml")
_MANIFEST = "version: 1\ninclude: [commands/*.yaml]\ncommands: []\n"


@pytest.fixture
def repository(home: Home) -> Home:
    """Return a repository with the hooks, run from this environment instead of a new one."""
    if shutil.which("git") is None:  # pragma: no cover - pre-commit itself needs it
        pytest.skip("git is not installed")
    here = {"language": "system", "language_version": "default", "additional_dependencies": []}
    hooks = [hook | here for hook in HOOKS]
    home.write(
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]}), ".pre-commit-config.yaml"
    )
    home.write(_MANIFEST)
    home.write("commands:\n  - {name: play, description: Plays.}\n", "commands/music.yaml")
    home.write("Some notes.\n", "notes.txt")
    home.child_of(("git", "init", "--quiet"))
    home.child_of(("git", "add", "."))
    return home


def run(home: Home, hook: str, *files: str) -> Ran:
    return home.child_of(
        (sys.executable, "-m", "pre_commit", "run", hook, "--color=never", "--files", *files),
        PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        PRE_COMMIT_HOME=str(home.path / ".cache"),
    )


def test_the_hook_checks_the_manifest_when_an_included_file_changes(repository: Home) -> None:
    failed = run(repository, "commandsync-validate", "commands/music.yaml", "notes.txt")
    skipped = run(repository, "commandsync-validate", "notes.txt")

    assert failed.code == 1
    assert "exit code: 4" in failed.out
    assert "commands/music.yaml:2:5: error: a command needs a syntax" in failed.out
    assert (skipped.code, "Skipped" in skipped.out) == (0, True)


_SOURCES = {
    "registered.json": '[{"name": "play", "description": "Plays."}]',
    "play.py": """
from discord import app_commands
@app_commands.command(description="Plays.")
async def play(interaction): ...
""",
    "play.js": """
const { SlashCommandBuilder } = require("discord.js");
module.exports = { data: new SlashCommandBuilder().setName("play").setDescription("Plays.") };
""",
    "play.ts": """
import { SlashCommandBuilder } from "discord.js";
export const data = new SlashCommandBuilder().setName("play").setDescription("Plays.");
""",
    "play.md": "```\nplay - Plays.\n```\n",
}


@pytest.mark.parametrize("source", _SOURCES)
def test_the_hook_of_the_import_fails_if_the_source_has_another_command(
    repository: Home, source: str
) -> None:
    repository.write(f"version: 1\nimport: {{from: [{source}]}}\n")
    repository.write(_SOURCES[source], source)
    repository.child_of(("git", "add", "."))
    failed = run(repository, "commandsync-import", source)

    assert failed.code == 1
    assert "exit code: 3" in failed.out
    assert "+ play" in failed.out


def test_the_hook_of_the_import_installs_the_readers_of_all_languages() -> None:
    (hook,) = (hook for hook in HOOKS if hook["id"] == "commandsync-import")

    assert hook["additional_dependencies"] == [".[javascript]"]


def test_the_hook_of_the_lists_fails_if_a_list_is_old(repository: Home) -> None:
    repository.write("version: 1\ncommands: [{name: a, description: b, syntax: /a}]\n")
    repository.run("docs", "COMMANDS.md")
    repository.write("version: 1\ncommands: [{name: a, description: b, syntax: /other}]\n")
    repository.child_of(("git", "add", "."))
    failed = run(repository, "commandsync-docs", "commands.yaml")

    assert failed.code == 1
    assert "exit code: 3" in failed.out


def test_every_hook_runs_a_command_that_exists() -> None:
    for hook in HOOKS:
        name, command, *options = hook["entry"].split()

        assert name == "commandsync"
        found = program.get_command(click.Context(program), command)
        assert found is not None
        found.make_context(command, options, resilient_parsing=False)


def test_the_documented_configuration_is_valid_and_names_every_hook(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    flags = re.MULTILINE | re.DOTALL
    (block,) = re.findall(r"^```yaml\n(# \.pre-commit-config\.yaml\n.*?)^```$", text, flags)
    path = tmp_path / ".pre-commit-config.yaml"
    path.write_text(block, encoding="utf-8")

    (documented,) = load_config(path)["repos"]

    assert [hook["id"] for hook in documented["hooks"]] == [hook["id"] for hook in HOOKS]
