"""A text is escaped no more than it needs; `test_commandlist.py` reads it on a page."""

import pytest

from commandsync.report.markdowntext import inline, literal


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Shows the help menu.", "Shows the help menu."),
        ("snake_case and 2 * 3 _ 4", "snake_case and 2 * 3 _ 4"),
        ("*a* _b_ __c__", r"\*a\* \_b\_ \_\_c\_\_"),
        ("[a] [b](c) [d]: e", r"[a] \[b\](c) \[d\]: e"),
        ("<b> < c <<d>", r"\<b> < c \<<!-- -->\<d>"),
        ("&amp; & &nope; &#35;", r"\&amp; & &nope; \&#35;"),
        (r"a\b `c` ~5", r"a\\b \`c\` ~5"),
        ("~~a~~ 1~2 ~3 ~", "`~~`a`~~` 1`~`2 ~3 `~`"),
        ("https://a.bc/<id>_", r"https://a.bc/<!-- -->\<id>\_"),
        (
            "https://a.bc/d[e] or https://a.bc/(d)?e=1&f",
            "https://a.bc/d<!-- -->[e] or https://a.bc/(d)?e=1&f",
        ),
        ("(https://a.bc/~d) https://a.bc~", "(https://a.bc/~d) https://a.bc<!-- -->`~`"),
        ("see https://a.bc/_d_/e_ or _f_", r"see https://a.bc/_d_/e<!-- -->\_ or \_f\_"),
        ("http://localhost/_a_", r"http://<!-- -->localhost/\_a\_"),
        ("one\ntwo\n\nthree", "one<br>two<br><br>three"),
        ("two  spaces\tand a tab", "two spaces and a tab"),
        ("not\u00a0broken, \u200bhidden \x1b.", r"not\u00a0broken, \\u200bhidden \\x1b."),
    ],
)
def test_a_text_is_escaped_as_little_as_it_needs(text: str, written: str) -> None:
    assert inline(text) == written.replace(r"\u00a0", "\u00a0")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/ban <user> [reason]", "`/ban <user> [reason]`"),
        ("/a  *b*\n\n/c", "`/a *b*`<br>`/c`"),
        ("say `hi`", r"<code>say \`hi\`</code>"),
        (r"a\|b", r"<code>a\\|b</code>"),
    ],
)
def test_what_users_type_is_shown_as_code(text: str, written: str) -> None:
    assert literal(text) == written
