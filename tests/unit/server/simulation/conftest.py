from collections.abc import Iterator

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.simulations import PATHS


@pytest.fixture(params=PATHS)
def simulated(request: pytest.FixtureRequest) -> Iterator[SimulatedListing]:
    with serve_simulation(request.param) as listing:
        yield listing


@pytest.fixture
def telegram() -> Iterator[SimulatedListing]:
    with serve_simulation("telegram") as listing:
        yield listing
