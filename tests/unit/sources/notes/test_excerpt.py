"""Notes without images, badges, HTML comments and hidden signs; the rest stays, in whole blocks."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commandsync.errors import FileError, UsageError
from commandsync.sources.notes.excerpt import excerpt, plain

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


LINK = "https://x.example/releases/v1.2.0"
BLOCKS = (
    "A paragraph of some words, 𝄞 and e\u0301, over\ntwo lines.",
    "Another with [a link][guide].",
    "```py\nprint()\n\n\nprint()\n```",
    "~~~~\n```\n~~~\n~~~~",
    "    indented\n\n    code",
    "> quoted\n>\n> - twice",
    "<details>\nx\n</details>",
    "---",
)
HEADINGS = ("### Added", "Fixed\n=====")
LIST = [
    "- an item",
    "- another\n\n  of two paragraphs",
    "  - nested",
    "  - nested\n\n    ```\n    x\n    ```",
]
DEFINITION = "[guide]: https://x.example/guide"


def open_code(text: str) -> bool:
    """Return whether text that is added below is inside of a block of code."""
    return "<p>BELOW</p>" not in MarkdownIt("commonmark").render(f"{text}\n\nBELOW")


@given(
    st.lists(
        st.sampled_from([*BLOCKS, *HEADINGS, "\n".join(LIST)]), min_size=1, max_size=8, unique=True
    ),
    st.integers(80, 400),
    st.sampled_from(["", LINK]),
)
def test_an_excerpt_is_whole_blocks_and_the_link(blocks: list[str], limit: int, link: str) -> None:
    whole = "\n\n".join([*blocks, DEFINITION])
    text = "\n\n".join([dedent(blocks[0]), *blocks[1:]])

    try:
        cut = excerpt(whole, limit=limit, link=link)
    except UsageError:
        assert not link
        shown = ((n, block) for n, block in enumerate(blocks) if block not in HEADINGS)
        number, first = next(shown, (len(blocks), "..." * limit))
        needed = [*blocks[:number], first.partition("\n- another")[0], "…"]
        needed += [DEFINITION] if "[guide]" in first else []
        assert len("\n\n".join(needed)) > limit
        return

    assert len(cut) <= limit
    assert not open_code(cut)
    assert not link or cut.endswith(LINK)
    if not cut.startswith("Full notes: "):
        body = cut.partition("\n\n… ")[0].removesuffix("\n\n…").removesuffix(f"\n\n{DEFINITION}")
        body = body.removesuffix(f"\n\nFull notes: {LINK}").removesuffix(f"\n\n{DEFINITION}")
        assert text.startswith(body)
        assert text[len(body) :].lstrip(" ")[:1] in {"", "\n"}
        assert ("[guide]" in body) <= (DEFINITION in cut)
        last = body.split("\n\n")[-1]
        assert body == text or last not in HEADINGS


def test_a_text_that_fits_is_kept_whole() -> None:
    text = "- an item\n- 𝄞"

    assert excerpt(text, limit=len(text)) == text
    assert excerpt(f"{text} {LINK}", limit=100, link=LINK) == f"{text} {LINK}"
    assert excerpt(f"({LINK}).", limit=100, link=LINK) == f"({LINK})."
    assert excerpt(f"{LINK}.1", limit=100, link=LINK).endswith(f"\n\nFull notes: {LINK}")
    assert excerpt(f"\n{text}\n", limit=100, link=LINK) == f"\n{text}\n\nFull notes: {LINK}"
    assert excerpt("", limit=100, link=LINK) == f"Full notes: {LINK}"


def test_the_limit_counts_code_points_to_the_last_one() -> None:
    text = "𝄞" * 40 + "\n\nand " + "𝄞" * 20
    shortened = "𝄞" * 40 + "\n\n…"

    assert excerpt(text, limit=66) == text
    assert [excerpt(text, limit=limit) for limit in (65, 43)] == [shortened, shortened]
    with pytest.raises(UsageError, match="the first paragraph is longer than the limit of 42 "):
        excerpt(text, limit=42)


def test_a_list_is_cut_after_an_item_and_never_before_what_belongs_to_it() -> None:
    text = "### Added\n\n- one\n\n  and more\n- two:\n  - three\n  - four\n\n## Fixed\n\nx"

    cuts = [excerpt(text, limit=limit) for limit in range(len(text) - 1, 30, -1)]

    ends = ["  - four", "  - three", "  and more"]
    assert [cut.split("\n")[-3] for cut in dict.fromkeys(cuts)] == ends


def test_code_that_never_ends_is_ended_before_the_link() -> None:
    for opened in ("```\nx", "~~~~ py\n~~~", "```", "```\n    ```"):
        cut = excerpt(f"a\n\n{opened}", limit=200, link=LINK)

        assert not open_code(cut)
        assert cut.endswith(f"\n\nFull notes: {LINK}")


def test_where_no_block_fits_the_link_is_left() -> None:
    assert excerpt("x" * 300, limit=100, link=LINK) == f"Full notes: {LINK}"
    assert excerpt(f"# Heading\n\n{'x' * 300}", limit=100, link=LINK) == f"Full notes: {LINK}"
    with pytest.raises(UsageError, match="the link is longer than the limit of 20 characters"):
        excerpt("x" * 300, limit=20, link=LINK)


def test_no_text_and_no_link_is_an_error() -> None:
    with pytest.raises(FileError, match="the announcement has no text"):
        excerpt(" \n", limit=100)
