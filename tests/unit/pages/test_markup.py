import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.pages.markup import REL, html_of
from tests.support.hostile import FRAGMENTS
from tests.support.outline import Outline

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


@settings(max_examples=50)
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
