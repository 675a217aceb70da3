"""What holds for every test: a busy machine is no failure, and each run tries the same.

New examples are looked for by `make soak`. Mutants are looked for quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=10, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=500)
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that wait longest, so that the others run beside them."""
    items.sort(key=lambda item: "wire" not in item.path.parts)
