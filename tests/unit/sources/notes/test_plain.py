"""Images, badges, HTML comments and hidden signs are left out; everything else stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.sources.notes.excerpt import plain

KEPT = (
    "Text with `![code](x)` and `<!-- code -->`.",
    "```html\n<img src=x>\n<!-- code -->\n![code](x)\n```",
    "    ![code](x)",
    r"\![escaped](x) and \<!-- escaped -->",
    "A [link](https://x.example) and [one][used], [![]] and ![not an image]",
    "<details><summary>More</summary>\n\nInside.\n\n</details>",
    "> - [ ] a task\n>   two lines  \n>   with a break",
    "Setext\n======",
    "*Emphasis*, **strong**, ~~gone~~, a | b, 1 < 2 > 0, <b>bold</b>",
    "- مرحبا \u200f!\n- 👩\u200d🚀 e\u0301",
)
LEFT_OUT = (
    "![alt](https://x.example/a.png)",
    "![alt][image]\n![image]",
    "[![build](https://x.example/b.svg)](https://x.example) [![cover][image]][badge]",
    "[![a](b)\n  ![c](d) **<img src=e>**](https://x.example)",
    "<!-- a\n\ncomment\n-->",
    '<img src="a>b" alt="x">',
    '<p align="center">\n  <a href="x"><img src="y"></a>\n</p>',
    '<picture>\n<source srcset="x">\n<img src="y">\n</picture>',
    "- ![alt](x)\n- <!-- nothing -->",
    "> ![alt](x)",
    "![alt](x)\n=========",
    "## <img src=x>",
    "\x00\x1b\u202e",
)
DEFINITIONS = "\n\n[used]: https://x.example\n"
USED = "![alt][image] [![cover][image]][badge]\n\n"
IMAGES = "[image]: https://x.example/c.png\n[badge]: https://x.example/d\n"


@given(
    st.lists(
        st.tuples(st.sampled_from(KEPT), st.lists(st.sampled_from(LEFT_OUT), max_size=3)),
        max_size=3,
    )
)
def test_what_a_listing_does_not_show_leaves_no_trace(blocks: list[tuple[str, list[str]]]) -> None:
    separator = "\n\n<!-- -->\n\n"  # an indented block goes on after empty lines
    kept = "\n\nand\n\n".join(block for block, _ in blocks) + "\n\nEnd." + DEFINITIONS
    mixed = "\n\nand\n\n".join(separator.join([block, *out]) for block, out in blocks)

    rest = plain(USED + mixed.replace("\n", "\r\n") + "\n\nEnd." + DEFINITIONS + IMAGES)

    assert rest.strip() == plain(kept).strip() == kept.strip()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Before ![a](b) after.", "Before after."),
        ("![a](b) after", "after"),
        ("- ![a](b) after\n- before ![a](b)", "- after\n- before"),
        ("# ![logo](x) Lantern", "# Lantern"),
        ("above\n![a](b)\nbelow", "above\nbelow"),
        ("a <!-- b --> c<!-- d -->, e", "a c, e"),
        ("[words ![a](b)](https://x.example)", "[words](https://x.example)"),
        ('<a href="x"><img src="y"></a> and [![a](b) words](u)', "and [words](u)"),
        ("x <p><a><img></a> y</p>", "x <p> y</p>"),
        (f"x {'<p>' * 5}<img>{'</p>' * 5}", "x"),
        ("<h1>\n<br>\n<img src=x>\n</h1>\n\nx", "x"),
        ("<!-- never closed\n\n## 1.0", ""),
        ("![a [b](c) ![d](e)](f)", ""),
        ("**![a](b)** | ![c](d)&nbsp;<br>\n1. > _![e](f)_<br/>\n\nx", "x"),
        ("[]( ) [ ](u)", "[]( ) [ ](u)"),
        ("half \ud83d of a pair\r\rand a\vtab", "half \ufffd of a pair\n\nand atab"),
        ("[![a][b]](c) [a][b]\n\n[b]: d", "[a][b]\n\n[b]: d"),
        ("", ""),
    ],
)
def test_lines_with_more_than_an_image_keep_the_rest(text: str, rest: str) -> None:
    assert plain(text).rstrip("\n") == rest
