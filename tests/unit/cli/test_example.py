"""The examples of the package."""

import pytest

from commandsync.cli.serve import example
from commandsync.errors import UsageError


def test_a_missing_example_is_an_error_in_words() -> None:
    with pytest.raises(UsageError, match=r"examples/nothing\.json is missing"):
        example("nothing.json")
