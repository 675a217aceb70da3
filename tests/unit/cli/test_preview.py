import pytest

from commandsync.cli.preview import can_open


@pytest.mark.parametrize(
    ("environ", "opens"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0", "CI": "false"}, True),
        ({"BROWSER": "firefox %s"}, True),
        ({"DISPLAY": ":0", "CI": "true"}, False),
        ({}, False),
    ],
)
def test_a_browser_is_opened_only_where_somebody_can_see_it(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], *, opens: bool
) -> None:
    monkeypatch.setattr("sys.platform", "linux")

    assert can_open(environ, is_terminal=True) is opens
    assert not can_open(environ, is_terminal=False)


def test_other_systems_have_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert can_open({}, is_terminal=True)
