import sys
from importlib import import_module

import pytest

from commandsync.errors import UsageError
from commandsync.pages.templates import day, initial


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("Lantern", "L"),
        ("éclair", "É"),
        ("  247 bot", "2"),
        ("🎵 music", "M"),
        ("<script>", "S"),
        ("بوت", "ب"),
        ("🎵", "🎵"),
        ("ßharp", "S"),
        ("!?", "!"),
    ],
)
def test_a_bot_has_the_first_letter_or_digit_of_its_name_instead_of_a_picture(
    name: str, letter: str
) -> None:
    assert initial(name) == letter


def test_a_day_is_written_for_people() -> None:
    assert day("2026-03-04T23:59:59.999Z") == "4 March 2026"


@pytest.mark.parametrize("library", ["jinja2", "markupsafe", "nh3"])
def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    for module in ("templates", "markup"):
        monkeypatch.delitem(sys.modules, f"commandsync.pages.{module}")
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(UsageError, match=rf"a page needs the extra \[preview\]: .*'{library}'"):
        import_module("commandsync.pages.templates")
