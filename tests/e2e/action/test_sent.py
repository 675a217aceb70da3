"""The list sent last is known by deployments, through moves, respellings and lost commits."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.testing import serve_simulation
from tests.e2e.action.test_listings import TEN, Lists, error_of, pushed
from tests.support.deployments import SimulatedDeployments
from tests.support.home import Home, git_repo
from tests.support.objects import imported
from tests.support.runner import Hub, Runner, Step, other, push


@pytest.fixture
def lists(runner: Runner, hub: Hub) -> Iterator[Lists]:
    """A repository whose manifest has one listing, which cannot be read."""
    with ExitStack() as opened:
        yield Lists(runner, hub, {"top.gg": opened.enter_context(serve_simulation("top.gg"))})


def entry_of(text: str, **keys: object) -> str:
    """Return a manifest whose first entry has more keys."""
    more = "".join(f"    {key}: {json.dumps(value)}\n" for key, value in keys.items())
    return text.replace("service: top.gg\n", f"service: top.gg\n{more}")


def listed(lists: Lists) -> str:
    lists.listed(*TEN)
    return (lists.runner.workspace / "commands.yaml").read_text(encoding="utf-8")


def test_another_order_is_sent(lists: Lists) -> None:
    lists.listed(*TEN)
    lists.write(*reversed(TEN))
    step = lists.merge(ends="0 applied")

    assert "the order of the commands changed" in step.log
    assert lists.names == [TEN[::-1]]


def test_two_jobs_with_two_manifests_send_both_lists(lists: Lists, hub: Hub) -> None:
    text = listed(lists)
    with serve_simulation("top.gg") as other:
        place = lists.places["top.gg"]
        lists.runner.write(text.replace(place.base_url, other.base_url), "other.yaml")
        lists.places = {"top.gg": other}
        lists.merge(file="other.yaml", ends="0 applied")

        assert lists.names == [TEN]
    contexts = {each["context"] for each in hub.statuses[lists.head]}
    assert len(contexts) == 1
    assert contexts.isdisjoint(
        each["context"]
        for commit, all_of in hub.statuses.items()
        if commit != lists.head
        for each in all_of
    )


def moved(lists: Lists, text: str) -> None:
    lists.runner.repo.git("rm", "--quiet", "commands.yaml")
    lists.runner.write(text, "bot.yaml")
    lists.runner.commit()


@pytest.mark.parametrize("rewritten", [True, False])
def test_a_moved_manifest_is_the_same(lists: Lists, *, rewritten: bool) -> None:
    text = listed(lists)
    if rewritten:
        text = lists.write(*[f"new{number}" for number in range(10)])
        lists.runner.repo.git("checkout", "--quiet", "--", "commands.yaml")
    moved(lists, text)
    step = lists.merge(file="bot.yaml")

    if rewritten:
        assert "would delete 10 of 10" in error_of(step), step.log
    else:
        assert (step.code, step.outputs["result"]) == (0, "applied"), step.log
    assert lists.writes == [1 if rewritten else 2]


def test_a_proposal_that_moves_the_manifest_is_compared_with_it(lists: Lists) -> None:
    text = listed(lists)
    lists.runner.repo.git("mv", "commands.yaml", "bot.yaml")
    lists.propose(file="bot.yaml", ends="0 no-changes")
    lists.runner.write(text.replace("command9", "new"), "bot.yaml")
    edited = lists.propose(file="bot.yaml", ends="0 changes")

    assert (edited.outputs["adds"], edited.outputs["deletes"]) == ("1", "1")


def test_options_that_were_sent_are_known_and_their_removal_is_a_change(lists: Lists) -> None:
    option = {"type": 3, "name": "reason", "description": "Why."}
    node = {"type": 1, "name": "command0", "description": "Does it.", "options": [option]}
    command = {"name": "command0", "description": "Does it.", "syntax": "/command0"}
    text = lists.write(*TEN[1:]) + "import: {from: bot}\n"
    lists.runner.write(text)
    lists.runner.write(imported(command | {"discord": node}), "commands.imported.yaml")
    lists.merge()
    sent = lists.places["top.gg"].commands[0]
    again = lists.merge(ends="0 applied")
    lists.runner.write(imported(command), "commands.imported.yaml")
    gone = lists.merge(ends="0 applied")

    assert sent["options"] == [option]
    assert "No changes since the list sent on" in again.log
    assert "languages of 1 command changed (command0: options)" in gone.log
    assert "options" not in lists.places["top.gg"].commands[0]


NAMES = st.lists(st.sampled_from(TEN), unique=True, min_size=1)
ENTRIES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "limits": st.fixed_dictionaries({"commands": st.integers(1, 10)}),
        "bot": st.just("42"),
        "token_env": st.just("COMMANDSYNC_TOKEN_TOPGG"),
    },
)


def counted(step: Step) -> tuple[int, ...]:
    assert step.code == 0, step.log
    pending = step.outputs["changed"] == "true"
    return (pending, *(int(step.outputs[name]) for name in ("adds", "edits", "deletes")))


def planned(home: Home) -> tuple[int, ...]:
    ran = home.run("plan", "-f", CLONED, "--format", "json", "--detailed-exitcode")
    summary = ran.document["summary"]
    return (ran.code == 3, *(summary[name] for name in ("add", "edit", "delete")))


CLONED = "clone/commands.yaml"


@settings(max_examples=4)
@given(versions=st.lists(st.tuples(NAMES, ENTRIES), min_size=2, max_size=4))
def test_what_an_accepted_run_records_makes_the_next_plan_here_and_there(
    versions: Sequence[tuple[list[str], dict[str, Any]]], runner: Runner, hub: Hub, home: Home
) -> None:
    for folder in (runner.workspace, home.path / "clone"):
        shutil.rmtree(folder, ignore_errors=True)
        git_repo(folder)
    hub.deployments = SimulatedDeployments()
    shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)
    with serve_simulation("top.gg") as there, serve_simulation("top.gg") as here:
        lists = Lists(runner, hub, {"top.gg": there})
        home.variable(here.variable, here.token)
        for number, (names, keys) in enumerate(versions):
            text = entry_of(lists.write(*names) + "sync: {max_deletes: all}\n", **keys)
            runner.write(text)
            home.write(text.replace(there.base_url, here.base_url), CLONED)
            first = number == 0
            if not first:
                assert counted(lists.merge(mode="plan")) == planned(home)
            step = lists.merge(apply="current" if first else "reviewed")
            ran = home.run("apply", "--yes", "-f", CLONED, *(["--unseen"] if first else []))
            assert (step.code, ran.code) == (0, 0), step.log + ran.said
            assert there.commands == here.commands
            assert counted(lists.merge(mode="plan")) == planned(home) == (0, 0, 0, 0)


def went_back(lists: Lists, commit: str) -> None:
    """Move the branch to a commit, as a forced push does."""
    lists.runner.repo.git("reset", "--quiet", "--hard", commit)


def test_a_refused_forced_push_hides_no_deletes_from_any_later_run(lists: Lists) -> None:
    lists.listed(*TEN[:2])
    old = lists.head
    lists.write(*TEN)
    lists.merge()
    dropped = lists.head
    went_back(lists, old)
    steps = [lists.merge(pushed(dropped))]
    lists.write(*TEN[:2], "new")
    steps += [lists.merge(), lists.merge(other("workflow_dispatch"), mode="apply")]
    went_back(lists, old)
    steps.append(lists.merge(replace(push("v1", kind="tags"), name="push"), mode="apply"))
    shown = lists.merge(mode="plan", ends="5")
    current = lists.merge(other("workflow_dispatch"), mode="apply", apply="current", ends="5")

    assert [step.code for step in steps] == [5] * 4
    assert all("would delete 8 of 10 listed commands" in error_of(step) for step in steps)
    assert "the list sent on 2026-01-01" in shown.log
    assert "would delete 8 of 10" in error_of(current)
    lists.merge(mode="apply", max_deletes="all", ends="0 applied")
    lists.merge(mode="apply", ends="0 applied")
    assert lists.names == [TEN[:2]]


def test_a_file_takes_the_place_of_deployments_if_a_variable_names_it(
    lists: Lists, hub: Hub, tmp_path: Path
) -> None:
    lists.runner.variables["COMMANDSYNC_STATE"] = str(tmp_path / "state.json")
    lists.listed(*TEN)
    lists.write("command0")
    refused = lists.merge(ends="5")

    assert "would delete 9 of 10" in error_of(refused)
    assert hub.deployments.deployments == []
    assert (tmp_path / "state.json").exists()
