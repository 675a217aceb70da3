import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import UsageError
from commandsync.pages import templates
from commandsync.pages.templates import (
    REL,
    colours_of,
    day,
    html_of,
    initial,
)
from commandsync.records.models import Bot
from tests.support.pages import FRAGMENTS, Outline


def test_no_file_of_the_pages_names_another_host() -> None:
    folder = Path(templates.__file__).parent

    for file in (*folder.glob("static/*"), *folder.glob("templates/*")):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*// .*$|; // .*$", "", text, flags=re.MULTILINE), file.name


TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p"),
    *("pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
PIECES = (
    *("# ", "### ", "> ", "- ", "1. ", "```\n", "`", "**", "_", "~~", "| a | b |\n|---|---|\n"),
    *("[x](", "![x](", ")", "<http://a.example>", "](javascript:alert(1))", "https://a.example"),
    *("[x]: ", "\n\n", "    ", "\\"),
)


@pytest.mark.promise("pages-markdown")
@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("Hello *you*", "<p>Hello <em>you</em></p>"),
        ("a\nb", "<p>a\nb</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a", '<ol start="3">\n<li>a</li>\n</ol>'),
        ("`<b>`", "<p><code>&lt;b&gt;</code></p>"),
        ("~~old~~", "<p><s>old</s></p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("![a *cat*](https://a.example/x.png)", "<p>a cat</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        ("[x](//a.example)", "<p>[x](//a.example)</p>"),
        ("[x](/bot/1/vote)", "<p>[x](/bot/1/vote)</p>"),
        ("[x](mailto:a@b.example)", "<p>[x](mailto:a@b.example)</p>"),
        ('[x](https://a.example "t")', f'<p><a href="https://a.example" rel="{REL}">x</a></p>'),
        (
            "<HTTP://a.example>",
            f'<p><a href="HTTP://a.example" rel="{REL}">HTTP://a.example</a></p>',
        ),
    ],
)
def test_markdown_is_shown_without_html_and_pictures(markdown: str, html: str) -> None:
    assert html_of(markdown, above=2).strip() == html


@pytest.mark.parametrize(
    ("markdown", "levels"),
    [
        ("# a\n## b\n# c", [3, 4, 3]),
        ("### a\n###### b\n## c", [3, 4, 4]),
        ("# a\n## b\n### c\n#### d\n##### e", [3, 4, 5, 6, 6]),
    ],
)
def test_headings_follow_the_one_above_without_a_gap(markdown: str, levels: list[int]) -> None:
    assert Outline(html_of(markdown, above=2)).headings() == levels


@given(st.lists(st.sampled_from(PIECES + FRAGMENTS) | st.text(max_size=6), max_size=12))
def test_whatever_is_written_only_what_is_allowed_is_shown(pieces: list[str]) -> None:
    outline = Outline(html_of("".join(pieces), above=3))
    tags = {tag.strip("</>").split()[0] for tag in outline.tags}

    assert tags <= TAGS
    assert all(level >= 4 for level in outline.headings())
    for link in outline.links:
        assert (link.pop("href", None) or "https://").lower().startswith(("http://", "https://"))
        assert link == {"rel": REL}
    assert outline.attributes <= {"href", "rel", "start"}


MARKED = (
    *("`a`", "*a*", " _a_ ", "[a](http://a.example)", "<http://a.example>", "&amp;", "~~a~~"),
    *("\\*", "\\!", "\n", " # a", "1. ", "'\"", "\xa0", ">"),
)


@given(st.lists(st.sampled_from(MARKED) | st.text(max_size=2), max_size=2).map("".join))
def test_a_line_without_markdown_is_what_the_parser_makes_of_it(text: str) -> None:
    alone, after_a_line_end = (Outline(html_of(f"{at}a {text}", above=3)) for at in ("", "\n"))

    assert (alone.words, alone.tags) == (after_a_line_end.words, after_a_line_end.tags)


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
def test_a_bot_without_a_picture_has_a_letter(name: str, letter: str) -> None:
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
def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.delitem(sys.modules, "commandsync.pages.templates")
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(UsageError, match=rf"a page needs the extra \[html\]: .*'{library}'"):
        import_module("commandsync.pages.templates")
