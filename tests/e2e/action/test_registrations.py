"""The Action registers commands at Discord: planned without a token, applied, checked for drift."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.discordserver import APPLICATION, DiscordServer
from tests.support.runner import Hub, Runner, Step, other, pull_request, push

TOKEN = "COMMANDSYNC_TOKEN_DISCORD"
NAMES = [f"command-{number}" for number in range(9)]


@dataclass
class Registered:
    """A repository whose manifest registers the commands of an application."""

    runner: Runner
    server: DiscordServer

    def manifest(self, *names: str, listed: bool = True, more: str = "") -> str:
        """Write the manifest with these commands and those that always stay; return it."""
        entries = [
            {
                "name": name,
                "description": f"Does {name}.",
                "syntax": f"/{name}",
                "discord": {"name": name, "description": f"Does {name}.", "type": 1},
            }
            for name in (*names, *NAMES)
        ]
        head = f'version: 1\nbot: "{APPLICATION}"\n{more}{self.server.entry if listed else ""}'
        if not listed:
            head += "base_url: https://listing.example\n"
        text = f"{head}commands: {json.dumps(entries)}\n"
        self.runner.write(text)
        return text

    def merge(self, *, ends: str, **inputs: str) -> Step:
        """Apply the branch, with the token."""
        self.runner.variables[TOKEN] = self.server.listing.token
        step = self.runner.run(push(), ends=ends, **inputs)
        del self.runner.variables[TOKEN]
        return step

    @property
    def names(self) -> set[str]:
        """The names that are registered, without those that always stay."""
        return {each["name"] for each in self.server.listing.listed()} - {*NAMES}

    def register(self, *names: str) -> list[dict[str, Any]]:
        """Register commands by another program."""
        nodes = [{"name": name, "description": f"Does {name}."} for name in names]
        return self.server.listing.seed(*nodes)


@pytest.fixture
def registered(runner: Runner) -> Iterator[Registered]:
    with DiscordServer() as server:
        yield Registered(runner, server)


def test_a_pull_request_without_a_token_is_compared_with_its_base(
    registered: Registered, hub: Hub
) -> None:
    runner = registered.runner
    runner.base["commands.yaml"] = registered.manifest("old", "ping")
    runner.commit()
    registered.manifest("ping", "new")
    step = runner.run(pull_request(), ends="0 changes")

    (comment,) = hub.ours
    base = runner.repo.git("rev-parse", "apart")
    assert registered.server.listing.requests == []
    assert f"compared with `{base[:7]}`" in comment
    assert [step.outputs[name] for name in ("adds", "edits", "deletes")] == ["1", "0", "1"]
    assert step.outputs["unchanged"] == "10"


def test_a_pull_request_that_lists_discord_says_that_nothing_is_compared(
    registered: Registered, hub: Hub
) -> None:
    runner = registered.runner
    runner.base["commands.yaml"] = registered.manifest("ping", listed=False)
    runner.commit()
    registered.manifest("ping")
    runner.run(pull_request(), ends="0 changes")

    (comment,) = hub.ours
    assert "return its list only with the token" in comment.replace("returns", "return")
    assert "#### Add" not in comment


def test_a_merge_registers_and_a_later_one_deletes_what_a_version_had(
    registered: Registered, hub: Hub
) -> None:
    runner = registered.runner
    runner.commit(registered.manifest("old", "ping"))
    registered.merge(ends="0 applied")
    before = registered.names
    runner.commit(registered.manifest("ping", "new"))
    step = registered.merge(ends="0 applied")

    assert (before, registered.names) == ({"old", "ping"}, {"ping", "new"})
    [status] = hub.statuses[runner.repo.git("rev-parse", "HEAD")]
    assert status["context"].startswith("commandsync/discord ")
    assert status["state"] == "success"
    backup = Path(step.outputs["backup-file"]).read_text(encoding="utf-8")
    assert "service: discord" in backup
    token = registered.server.listing.token
    assert token not in step.log.replace(f"::add-mask::{token}\n", "")


def test_what_something_else_registered_is_not_deleted(registered: Registered) -> None:
    runner = registered.runner
    runner.commit(registered.manifest("ping", listed=False))
    registered.register("ping", "by-hand", *NAMES)
    runner.commit(registered.manifest("ping"))
    step = registered.merge(ends="5 stale")
    error = step.annotations("error")[0].data

    assert registered.names == {"ping", "by-hand"}
    assert "records that no version of the manifest had: application command 'by-hand'" in error
    for word in ("ignore:", "commandsync import discord", "apply: current"):
        assert word in error

    registered.merge(ends="0 applied", apply="current")
    assert registered.names == {"ping"}


def test_a_version_from_before_discord_was_listed_explains_no_delete(
    registered: Registered,
) -> None:
    runner = registered.runner
    runner.commit(registered.manifest("ping", "old", listed=False))
    registered.register("ping", "old", *NAMES)
    runner.commit(registered.manifest("ping"))

    registered.merge(ends="5 stale")

    assert registered.names == {"ping", "old"}


def test_drift_is_checked_with_the_token_and_else_unchecked(
    registered: Registered, hub: Hub
) -> None:
    runner = registered.runner
    runner.commit(registered.manifest("ping"))
    registered.merge(ends="0 applied")
    unchecked = runner.run(other("schedule"), fail_on="error", ends="0 unchecked")
    registered.register("by-hand")
    runner.variables[TOKEN] = registered.server.listing.token
    drifted = runner.run(other("schedule"), fail_on="error", ends="0 changes")

    assert "Not checked, since their lists cannot be read here: `discord`." in unchecked.log
    assert drifted.outputs["deletes"] == "1"
    assert len(hub.issues) == 1


def test_a_saved_plan_needs_no_base_url(registered: Registered) -> None:
    runner = registered.runner
    runner.commit(registered.manifest("ping"))
    runner.variables[TOKEN] = registered.server.listing.token
    planned = runner.run(push(), mode="plan", ends="0 changes")
    path = planned.outputs["plan-file"]
    runner.run(push(), mode="apply", plan_file=path, ends="0 applied")

    assert registered.names == {"ping"}
