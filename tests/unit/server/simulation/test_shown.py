import pytest

from commandsync.server import simulated_service as module
from commandsync.server.simulated_service import Shown


def test_with_a_lag_each_state_is_read_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[-1])
    shown = Shown(lag=10)
    shown.put([{"n": 1}])
    now.append(105)
    shown.put([{"n": 2}])
    read = []
    for moment in (105, 109, 110, 114, 115):
        now.append(moment)
        read.append(shown.read())

    assert read == [[], [], [{"n": 1}], [{"n": 1}], [{"n": 2}]]
    assert shown.read("default de") == []
    assert shown.lists() == {"default": [{"n": 2}]}
