"""Here the Action is run against real servers; where there is no action.yml, there are no tests."""

from pathlib import Path

import pytest

from tests.support.bots import proxy, service
from tests.support.home import end_waits
from tests.support.runner import (
    ACTION,
    Hub,
    Runner,
    hub,
    locked_python,
    system_python,
    system_python_with_pip,
    wheels,
)

__all__ = [
    "hub",
    "locked_python",
    "proxy",
    "runner",
    "service",
    "shell",
    "system_python",
    "system_python_with_pip",
    "wheels",
]

# The Action is the checkout; the wheel, which is tested elsewhere, does not have it.
collect_ignore_glob = [] if ACTION.exists() else ["test_*.py"]


@pytest.fixture
def runner(tmp_path: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A runner that hands over to the program at once, in this process, which never waits."""
    end_waits(monkeypatch)
    runner = Runner(tmp_path / "runner", python="", api=hub.url)
    hub.checkout = runner.workspace
    return runner


@pytest.fixture
def shell(tmp_path: Path, locked_python: str, hub: Hub) -> Runner:
    """A runner that runs the step's script with bash, as GitHub's does."""
    runner = Runner(tmp_path / "shell", locked_python, api=hub.url)
    hub.checkout = runner.workspace
    return runner
