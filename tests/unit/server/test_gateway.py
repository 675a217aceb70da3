import json

import pytest

from commandsync.server import gateway, votes


def test_only_version_4_of_the_protocol_has_an_id_in_the_connect_packet() -> None:
    connected = [gateway.greeting(version, interval=1, timeout=1)[1] for version in ("", "3", "4")]

    assert connected[:2] == ["40", "40"]
    assert list(json.loads(connected[2].removeprefix("40"))) == ["sid"]


def test_every_session_has_an_id_of_its_own() -> None:
    opened = {gateway.greeting("", interval=1, timeout=1)[0] for _ in range(100)}

    assert len(opened) == 100


@pytest.mark.parametrize(
    "name", ["Ann", 'a "quoted" one', '"message",', '\\"message\\",', "é 漢字 \ud800 \u2028", "\0"]
)
def test_an_event_is_json_in_a_string_that_follows_the_only_marker(name: str) -> None:
    data = {"user": {"id": "7", "username": name}}
    frame = votes.event_frame("vote", data)
    before, *parts = frame.split('"message",')

    assert before == "42["
    assert len(parts) == 1
    content = json.loads(parts[0][:-1])
    assert isinstance(content, str)
    assert json.loads(content) == {"event": "vote", "data": data}
    assert frame.isascii()
