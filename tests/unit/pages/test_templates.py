import sys
from importlib import import_module

import pytest

from commandsync.errors import UsageError
from commandsync.pages.templates import colours_of, day, initial
from commandsync.records.models import Bot


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


def bot(id_: str = "7", **theme: object) -> Bot:
    plain = {"enabled": False, "color": "#D97706", "colorLighter": "#fcd34d"}
    return Bot.model_validate({"id": id_, "theme": plain | theme})


def test_a_bot_has_the_colours_of_its_theme_if_it_is_enabled() -> None:
    assert colours_of(bot(enabled=True)) == ("#d97706", "#fcd34d")
    assert colours_of(bot(enabled=True, colorLighter="none")) == ("#d97706", "#d97706")
    assert "#d97706" not in colours_of(bot())


def test_without_a_theme_a_bot_always_has_the_same_colours_of_some_that_differ() -> None:
    assert len({colours_of(bot(str(number))) for number in range(300)}) == 24
    assert colours_of(bot()) == colours_of(bot())


@pytest.mark.parametrize("colour", ["red", "", None, '#fff"><script>', "#d97706 "])
def test_an_invalid_colour_of_a_theme_is_not_used(colour: str | None) -> None:
    assert colours_of(bot(enabled=True, color=colour, colorLighter=colour)) == colours_of(bot())


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
