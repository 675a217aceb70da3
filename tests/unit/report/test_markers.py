"""Markers are found as CommonMark reads a page; each error has its place."""

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


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([BEGIN], ["1:1: a list begins here and does not end"]),
        ([END], ["1:1: a list ends here, and none has begun"]),
        (
            [END, "", BEGIN],
            ["1:1: a list ends here, and none has begun", "3:1: a list begins here and does not"],
        ),
        ([BEGIN, BEGIN, END], ["1:1: a list begins here and does not end"]),
        ([BEGIN, END, END], ["3:1: a list ends here, and none has begun"]),
        ([BEGIN, "", BEGIN, "", END, "", END], ["1:1: a list begins", "7:1: a list ends here"]),
        ([f"> {BEGIN}", f"> {END}"], ["1:1: this marker is inside", "2:1: this marker is inside"]),
        ([f"- {BEGIN}", f"  {END}"], ["1:1: this marker is inside", "2:1: this marker is inside"]),
    ],
)
def test_a_marker_that_is_alone_nested_or_doubled_is_an_error(
    lines: list[str], expected: list[str]
) -> None:
    found = problems("\n".join(lines))

    assert len(found) == len(expected)
    for problem, beginning in zip(found, expected, strict=True):
        assert problem.startswith(beginning)


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("<!-- commandsync:command -->", "1:1: this is not a valid marker | a list begins with"),
        ("<!--commandsync:commands-->", "1:1: this is not a valid marker | a list begins with"),
        (f"{BEGIN} and more", "1:1: this is not a valid marker | a list begins with"),
        ("<!-- commandsync:commands\ncategory=a -->", "1:1: this is not a valid marker"),
        (
            '<!-- commandsync:commands category="a --> b" -->',
            "1:1: this is not a valid marker | a list begins with",
        ),
        (
            "<!-- commandsync:commands format=csv -->",
            '1:27: format must be table or list, not "csv"',
        ),
        (
            "<!-- commandsync:commands format=tables -->",
            '1:27: format must be table or list, not "tables" | did you mean table?',
        ),
        (
            "<!-- commandsync:commands format=list columns=name,name -->",
            "1:39: columns must be some of name,description,syntax,category, each once",
        ),
        (
            "<!-- commandsync:commands columns= -->",
            '1:27: this is not a valid option | write name=value or name="value"',
        ),
        (
            "<!-- commandsync:commands format=list list -->",
            '1:39: this is not a valid option | write name=value or name="value"',
        ),
        (
            "<!-- commandsync:commands format=list format=list -->",
            "1:39: duplicate option format",
        ),
        (
            "<!-- commandsync:commands catgory=Fun -->",
            '1:27: a list has no option "catgory" | did you mean category?',
        ),
        (
            "<!-- commandsync:commands group=name -->",
            '1:27: a list has no option "group" | it may have category, format, columns',
        ),
    ],
)
def test_a_marker_that_is_not_valid_is_an_error_with_a_hint(marker: str, expected: str) -> None:
    found = problems(f"{marker}\n{END}\n")

    assert found[0].startswith(expected)


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
