import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.report.lines import (
    code,
    command_data,
    command_property,
    distinct,
    fenced,
    json_text,
    path,
    visible,
    visible_line,
)

RUNNER_COMMAND = re.compile(r"##\w*\[")
anything = st.text(st.characters()) | st.text("a:#[`|\\ \n\r\x1b\u202e\u200d\u200c\ufe0fصक😀葛")


@pytest.mark.parametrize(
    "text",
    [
        "Shows the help menu: {0}, %user%, <users...>",
        "مرحبا بالعالم",
        "می‌خواهم",
        "日本語\u3000テスト",
        "葛\U000e0100城",
        "👩\u200d🚀 ❤\ufe0f 1\ufe0f\u20e3 👍🏽 🏳\ufe0f\u200d🌈",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "std::vector and ## heading and # [x]",
        "\\",
        "क्\u200dष",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert json_text(json.dumps(text, ensure_ascii=False)) in {
        json.dumps(text, ensure_ascii=False),
        json.dumps(text, ensure_ascii=False).replace("::", r"\u003a\u003a"),
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x7f\x85\xa0", r"\x7f\x85\xa0"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("a\u200bb\u200dc\ufeff\u2028", r"a\u200bb\u200dc\ufeff\u2028"),
        ("a\ufe0f", r"a\ufe0f"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("\u3164\u2800", r"\u3164\u2800"),
        ("##[group]x", r"##\[group]x"),
        ("###vso[task]", r"###vso\[task]"),
        ("##a##[b]", r"##a##\[b]"),
    ],
)
def test_what_deceives_is_shown_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(anything)
def test_visible_text_is_one_line_that_no_terminal_and_no_runner_obeys(text: str) -> None:
    shown = visible(text)

    assert len(shown.splitlines()) <= 1
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in shown)
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u200e\u200f")
    assert not RUNNER_COMMAND.search(shown)


def test_blanks_at_the_end_of_a_line_are_shown() -> None:
    assert visible_line("a b  ") == "a b··"
    assert visible_line(" ") == "·"


def test_texts_that_look_the_same_are_spelt_out() -> None:
    assert distinct("caf\u00e9", "cafe\u0301") == (r"caf\xe9", r"cafe\u0301")
    assert distinct("caf\u00e9", "cafe") == ("caf\u00e9", "cafe")


def test_a_path_never_begins_a_line_with_a_command() -> None:
    assert path("::error::x.yaml") == "./::error::x.yaml"
    assert path(" ::error") == "./ ::error"
    assert path("bots/a.yaml:1:1") == "bots/a.yaml:1:1"
    assert path("-") == "-"


@given(anything)
def test_json_means_the_same_and_no_runner_obeys_it(text: str) -> None:
    shown = json_text(json.dumps({"a": text, text: [text]}, ensure_ascii=False, indent=1))

    assert json.loads(shown) == {"a": text, text: [text]}
    assert "::" not in shown
    assert not RUNNER_COMMAND.search(shown)
    assert not any(unicodedata.category(c) in {"Cs", "Zl", "Zp"} for c in shown)
    shown.encode()


def test_json_escapes_what_is_beyond_the_first_plane_in_two_units() -> None:
    assert json_text('"\U000e0041"') == r'"\udb40\udc41"'


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("help", "`help`"),
        ("a `b` c", "``a `b` c``"),
        ("`x`", "`` `x` ``"),
        ("``", "``` `` ```"),
        ("", "*empty*"),
        (" ", "*empty*"),
        ("@everyone #1 <b>", "`@everyone #1 <b>`"),
        ("a\nb", r"`a\nb`"),
    ],
)
def test_a_code_span_holds_its_text(text: str, span: str) -> None:
    assert code(text) == span


@given(anything)
def test_a_code_span_ends_where_its_text_ends(text: str) -> None:
    span = code(text)
    opening = re.match("`+", span)

    if opening is None:
        assert span == "*empty*"
    else:
        runs = re.findall("`+", span)
        assert runs[0] == runs[-1] == opening[0]
        assert all(len(run) < len(opening[0]) for run in runs[1:-1])


@given(st.lists(anything.map(visible_line), max_size=4))
def test_a_fence_holds(lines: list[str]) -> None:
    first, *inside, last = fenced(lines, "text").split("\n")

    assert inside == lines
    assert first == f"{last}text"
    assert not any(last in line for line in inside)


def test_workflow_commands_are_escaped_as_github_says() -> None:
    assert command_data("50%\r\na:b,c") == "50%25%0D%0Aa:b,c"
    assert command_property("50%\na:b,c") == "50%25%0Aa%3Ab%2Cc"
