import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.pages import colours
from commandsync.pages.assets import static_files, theme_css
from commandsync.pages.colours import DARK, LIGHT, contrast, on, picture, shades, theme_of
from commandsync.records.models import Bot

COLOURS = st.integers(0, 0xFFFFFF).map("#{:06x}".format)
SCHEMES = {"light": LIGHT, "dark": DARK}


def variables() -> dict[str, dict[str, str]]:
    """The colours that the stylesheet defines, by scheme."""
    style = static_files()["style.css"].decode()
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    pairs = [dict(re.findall(r"--([\w-]+): (#\w{6});", block)) for block in blocks]
    return dict(zip(("light", "dark"), pairs, strict=True))


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21),
        ("#ffffff", "#000000", 21),
        ("#777777", "#ffffff", 4.48),
        ("#0000ff", "#ffffff", 8.59),
        ("#123456", "#123456", 1),
    ],
)
def test_the_contrast_is_that_of_the_guidelines(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(theme=COLOURS)
def test_every_theme_is_legible(scheme: str, theme: str) -> None:
    of_theme, behind = shades(theme, scheme), SCHEMES[scheme]

    for background in (behind["page"], behind["surface"], of_theme["tint"]):
        assert contrast(of_theme["link"], background) >= 4.5
    for background in (behind["page"], behind["surface"]):
        assert contrast(of_theme["fill"], background) >= 3
    assert contrast(of_theme["on-fill"], of_theme["fill"]) >= 4.5
    assert contrast(behind["text"], of_theme["tint"]) >= 4.5


@given(theme=COLOURS)
def test_the_initial_is_legible_on_every_colour(theme: str) -> None:
    assert contrast(on(theme), theme) >= 4.5


def test_a_theme_that_is_legible_is_used_as_it_is() -> None:
    light = shades("#0f5ea8", "light")

    assert light["fill"] == light["link"] == "#0f5ea8"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_stylesheet_has_the_colours_that_themes_are_held_against(scheme: str) -> None:
    style = variables()[scheme]

    assert {name: style[name] for name in SCHEMES[scheme]} == SCHEMES[scheme]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_texts_of_the_stylesheet_are_legible(scheme: str) -> None:
    style = variables()[scheme]
    pairs = [
        *((text, on) for text in ("text", "muted", "link") for on in ("page", "surface", "tint")),
        *((mark, on) for mark in ("new", "edited", "gone") for on in ("page", f"{mark}-tint")),
        *(("text", f"{mark}-tint") for mark in ("new", "edited", "gone")),
        ("on-fill", "fill"),
    ]

    for text, background in pairs:
        assert contrast(style[text], style[background]) >= 4.5, (text, background)
    for background in ("page", "surface"):
        assert contrast(style["control"], style[background]) >= 3, background


def test_a_stylesheet_of_a_theme_replaces_the_last_colours() -> None:
    of_theme = theme_css("#d97706")
    replaced = {*re.findall(r"--([\w-]+):#\w{6}[;}]", of_theme)}

    assert replaced == {"fill", "on-fill", "link", "tint"}
    assert of_theme.count("prefers-color-scheme:dark") == 1
    assert replaced <= variables()["light"].keys()


def bot(id_: str = "7", **theme: object) -> Bot:
    plain = {"enabled": False, "color": "#D97706", "colorLighter": "#fcd34d"}
    return Bot.model_validate({"id": id_, "theme": plain | theme})


def test_a_bot_has_the_colours_of_its_theme_if_it_is_enabled() -> None:
    with_theme = picture(bot(enabled=True))

    assert (with_theme["base"], with_theme["lighter"]) == ("#d97706", "#fcd34d")
    assert picture(bot())["base"] == theme_of(bot()) != "#d97706"


def test_without_a_theme_a_bot_always_has_the_same_colour_of_some_that_differ() -> None:
    bases = {theme_of(bot(str(number))) for number in range(300)}

    assert len(bases) == 24
    parts = [[int(base[at : at + 2], 16) for at in (1, 3, 5)] for base in bases]
    for one, other in combinations(parts, 2):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) > 25
    assert theme_of(bot()) == theme_of(bot())


@pytest.mark.parametrize("colour", ["red", "", None, '#fff"><script>', "#d97706 "])
def test_a_theme_that_is_no_colour_is_none(colour: str | None) -> None:
    assert picture(bot(enabled=True, color=colour, colorLighter=colour)) == picture(bot())


def test_no_file_of_the_pages_names_another_host() -> None:
    folder = Path(colours.__file__).parent

    for file in (*folder.glob("static/*"), *folder.glob("templates/*")):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*// .*$|; // .*$", "", text, flags=re.MULTILINE), file.name
