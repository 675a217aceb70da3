from __future__ import annotations

from commandsync.diagnostics import Location
from commandsync.manifest.places import field_places


def test_the_values_of_each_entry_have_their_places() -> None:
    text = "\ufeffversion: 1\r\ncommands:\r\n- name: a\r\n  syntax: '/a'\r\n- {name: b}\r\n"
    first, second = field_places(text, "commands", path="x.yaml")

    assert first == {"name": Location("x.yaml", 3, 9), "syntax": Location("x.yaml", 4, 11)}
    assert second == {"name": Location("x.yaml", 5, 10)}


def test_a_list_that_is_not_there_has_no_places() -> None:
    assert field_places("version: 1\n", "commands", path="x.yaml") == []
