import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / ".ci" / "clients.py"


@pytest.fixture
def main() -> Callable[[list[str]], int]:
    pytest.importorskip("ruff", reason="the generated files are formatted by ruff")
    if not (ROOT / "commandsync").exists():
        pytest.skip("only the source tree contains what is written")
    run: Callable[[list[str]], int] = runpy.run_path(str(SCRIPT))["main"]
    return run


def test_the_blocking_client_is_generated_from_the_asynchronous_one(
    main: Callable[[list[str]], int],
) -> None:
    assert main(["--check"]) == 0
