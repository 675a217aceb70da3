"""The service answers as its OpenAPI document says; `make soak` looks further."""

from pathlib import Path

from tests.support.callers import OPERATIONS
from tests.support.contract import run_schemathesis


def test_every_operation_answers_as_described(tmp_path: Path) -> None:
    """Each example, and values at and beyond every limit of the document."""
    ended = run_schemathesis(
        str(tmp_path / "listing.db"),
        tmp_path,
        *("--phases", "examples,coverage", "--seed", "1"),
        longest=120,
    )

    assert ended.returncode == 0, ended.stdout
    assert f"Tested: {len(OPERATIONS)}" in ended.stdout
