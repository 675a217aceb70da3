"""Markers are found as CommonMark reads a page; each error has its place."""

from collections.abc import Callable

import pytest

from commandsync.errors import ManifestError
from commandsync.report.commandlist import Layout
from commandsync.report.markers import BEGIN, END, lines_of, read_regions, same_page

FENCED = f"""\
# Bot

```md
{BEGIN}
```

- ~~~
  {BEGIN}
  ~~~

As code:

    {BEGIN}

Write `{BEGIN}` or {BEGIN} where the list goes.

<!-- commandsync is a program -->
"""


def problems(text: str) -> list[str]:
    """Return the problems of a file, each as `line:column: message | hint`."""
    with pytest.raises(ManifestError) as caught:
        read_regions(text, "README.md")
    assert caught.value.message.startswith("README.md has ")
    return [
        str(problem).removeprefix("README.md:") + (f" | {problem.hint}" if problem.hint else "")
        for problem in caught.value.problems
    ]


def test_markers_in_code_and_in_sentences_are_text() -> None:
    assert read_regions(FENCED, "README.md") == ()
    assert read_regions("no marker", "README.md") == ()
    assert read_regions("", "README.md") == ()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_lists_are_found_with_their_headings_and_options(start: str, end: str) -> None:
    text = end.join(
        [
            f"{start}{BEGIN}",
            END,
            "# Bot",
            *FENCED.splitlines(),
            "Commands",
            "--------",
            "  <!--  commandsync:commands category='Fun &amp; C' format=list columns=name -->  ",
            "- a",
            "<!-- /commandsync:commands sha256:0123 -->",
            '<details><!-- commandsync:commands category="" -->',
            '<!-- commandsync:commands category="a\'b" -->',
            END,
        ]
    )

    first, second, third = read_regions(text, "README.md")

    assert (first.begin, first.end, first.level, first.checksum) == (0, 1, 2, "")
    assert first.layout == Layout()
    lines = lines_of(text)
    assert "".join(lines) == text
    assert lines[second.end].startswith("<!-- /commandsync:commands sha256:0123 -->")
    assert (second.level, second.checksum) == (3, "sha256:0123")
    assert second.layout == Layout("Fun & C", "list", ("name",))
    assert second.location.line == second.begin + 1
    assert (third.layout.category, third.level) == ("a'b", 3)


ALONE_NESTED_OR_DOUBLED = (
    *(BEGIN, END, f"{END}\n\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"{BEGIN}\n{END}\n{END}"),
    *(f"{BEGIN}\n\n{BEGIN}\n\n{END}\n\n{END}", f"> {BEGIN}\n> {END}", f"- {BEGIN}\n  {END}"),
)
NOT_VALID = (
    "<!-- commandsync:command -->",
    "<!--commandsync:commands-->",
    f"{BEGIN} and more",
    "<!-- commandsync:commands\ncategory=a -->",
    '<!-- commandsync:commands category="a --> b" -->',
    "<!-- commandsync:commands format=csv -->",
    "<!-- commandsync:commands format=tables -->",
    "<!-- commandsync:commands format=list columns=name,name -->",
    "<!-- commandsync:commands columns= -->",
    "<!-- commandsync:commands format=list list -->",
    "<!-- commandsync:commands format=list format=list -->",
    "<!-- commandsync:commands catgory=Fun -->",
    "<!-- commandsync:commands group=name -->",
)


def test_each_wrong_marker_is_reported_word_for_word(golden: Callable[[str, str], None]) -> None:
    texts = [*ALONE_NESTED_OR_DOUBLED, *(f"{marker}\n{END}\n" for marker in NOT_VALID)]

    reports = ("\n".join([text, "-->", *problems(text), "====\n"]) for text in texts)

    golden("".join(reports), "markers.txt")


def test_all_problems_are_shown_in_their_order_with_their_lines() -> None:
    text = f"<!-- commandsync:commands a=1 b=2 -->\n\n{BEGIN}\n"

    with pytest.raises(ManifestError) as caught:
        read_regions(text, "README.md")

    places = [(each.location.line, each.location.column) for each in caught.value.problems]
    assert places == [(1, 1), (1, 27), (1, 31), (3, 1)]
    assert [each.excerpt.text for each in caught.value.problems if each.excerpt][-1] == BEGIN


def test_a_page_is_the_same_however_a_formatter_spells_it() -> None:
    assert same_page("| a | b |\n| - | - |\n| c | *\\* |", "|a|b|\n|---|---|\n| c    | \\*\\* |\n")
    assert same_page("- a b", "-   a\n    b")
    assert not same_page("- ab", "- a b")


def test_a_reference_with_too_many_digits_is_a_category_as_it_is_written() -> None:
    written = f"&#{'1' * 5_000};"
    (region,) = read_regions(f'<!-- commandsync:commands category="{written}" -->\n{END}\n', "a.md")

    assert region.layout.category == written
