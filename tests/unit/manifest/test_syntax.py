"""What is not YAML, or no text, or too much of either: one clear complaint each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Complaints = Callable[[str | bytes], list[str]]

TAB = "a tab appears where YAML expects spaces | indent with spaces only"


@pytest.mark.parametrize(
    ("value", "read_as"),
    [
        ("[p]help", "a list"),
        ("[p", "a list"),
        ("{0} help", "a mapping"),
        ("{user: x} help", "a mapping"),
        ("@everyone", "a reserved sign"),
        ("`x`", "a reserved sign"),
        ("%user%", "a directive"),
        ("*", "an alias"),
        (">help", "the beginning of a block of text"),
        ("|x", "the beginning of a block of text"),
        ("? x", "a key"),
        ("]x", "the end of a list"),
        ("}", "the end of a mapping"),
        (", x", "a separator"),
        ("-", "an item of a list"),
        ("- x", "an item of a list"),
        ("&", "an anchor"),
        (": x", "a value without a key"),
    ],
)
def test_a_text_that_yaml_takes_for_something_else_is_shown_in_quotes(
    complaints: Complaints, value: str, read_as: str
) -> None:
    expected = [f'3:11: YAML reads "{value}" as {read_as} | quote it: "{value}"']

    assert complaints(f"version: 1\ncommands:\n- syntax: {value}\n  name: x\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bot: [a] it's \\x\n",
            "1:6: YAML reads \"[a] it's \\x\" as a list | quote it: '[a] it''s \\x'",
        ),
        (
            "bot: Usage: it's\n",
            '1:11: a ": " inside a text makes YAML read a key | quote it: "Usage: it\'s"',
        ),
        (
            "bot: 'it's'\n",
            '1:10: the quoted text "it" ends here, and more follows | quote the whole: "it\'s"',
        ),
        (
            'bot: "x" y\n',
            '1:9: the quoted text "x" ends here, and more follows | quote the whole: \'"x" y\'',
        ),
        ('bot: "x\nprefix: z\n', '1:6: this quote is never closed | end the text with "'),
        ("bot: 'x\n", "1:6: this quote is never closed | end the text with '"),
        (
            "sync: {\n  prune: true\n",
            "1:7: this { is never closed | end it with }, or quote the value if it is a text",
        ),
        (
            "include: [\n  a.yaml\n",
            "1:10: this [ is never closed | end it with ], or quote the value if it is a text",
        ),
        (
            'bot: "a\\q"\n',
            (
                "1:8: this is not an escape that YAML knows | inside double quotes "
                "write \\\\ for a "
                "backslash, or use single quotes"
            ),
        ),
        (
            'include: [a, "b\\*"]\n',
            (
                "1:16: this is not an escape that YAML knows | inside double quotes write \\\\ "
                "for a "
                "backslash, or use single quotes"
            ),
        ),
        (
            "commands:\n- {name: a, description: b #c, syntax: d}\n",
            (
                "2:3: YAML reads what follows # as a comment, so this { is never closed "
                "| quote the text that holds the #"
            ),
        ),
        (
            "commands:\n- {name: a, description: b: c, syntax: d}\n",
            (
                "2:3: YAML cannot read what is inside this { "
                "| quote the texts in it, and put a comma between the fields"
            ),
        ),
        (
            "version:1\ncommands: []\n",
            (
                '1:1: "version:1" is not a key: there is no space after the colon '
                "| write a space after the colon"
            ),
        ),
        (
            "commands:\r\n  -name: a\r\n   syntax: b\r\n",
            (
                '2:3: "-name: a" is not a key: there is no space after the dash '
                "| write a space after the dash"
            ),
        ),
        (
            'bot: "\\ud83d\\ude00"\n',
            (
                "1:9: this escape is one half of a character, as JSON writes it "
                "| write the character itself, such as an emoji: the file is UTF-8"
            ),
        ),
        (
            'bot: "\\UFFFFFFFF"\n',
            (
                "1:9: this is not an escape that YAML knows | inside double quotes write \\\\ for "
                "a "
                "backslash, or use single quotes"
            ),
        ),
        (
            "version: 1\nbot\nprefix: x\n",
            (
                '2:1: "bot" is not a key: there is no colon and space after it | write key: '
                "value; a "
                "text of many lines is indented deeper than its key"
            ),
        ),
        (
            "version: 1\n bot: 2\n",
            (
                "2:5: this does not fit the line above it | it is indented by 1, the line "
                "above it by 0: keys of one mapping start in one column"
            ),
        ),
        (
            "commands:\n- name: a\n syntax: y\n",
            (
                "3:2: this does not fit the line above it | it is indented by 1, the line "
                "above it by 2: keys of one mapping start in one column"
            ),
        ),
        (
            "version: 1\n...\nbot: 2\n",
            "3:1: more follows after the end of the document | remove what is too much",
        ),
        (
            "%YAML 1.1\n",
            "2:1: nothing follows the directive | a manifest needs no % line: remove it",
        ),
        (
            'bot: "1"\n - c\n',
            (
                "2:2: this does not fit the line above it | it is indented by 1, the line "
                "above it by 0: keys of one mapping start in one column"
            ),
        ),
        ('- a: "b"\n  - c\n', "2:3: this does not fit the line above it"),
        ("version: 1\nsync:\n\tprune: true\n", f"3:1: {TAB}"),
        ("sync:\n  ignore: a\n\tprune: true\n", f"3:1: {TAB}"),
        ("\tversion: 1\n", f"1:1: {TAB}"),
        ("a: b\n  \tc: d\n", f"2:3: {TAB}"),
        (
            "bot: '1é\x07'\n",
            (
                '1:9: the character U+0007 is not allowed in YAML | remove it, or write "\\u0007" '
                "inside double quotes if it is meant"
            ),
        ),
        (
            "bot: 1\uffff\n",
            (
                '1:7: the character U+FFFF is not allowed in YAML | remove it, or write "\\uFFFF" '
                "inside double quotes if it is meant"
            ),
        ),
    ],
)
def test_a_mistake_in_the_yaml_is_told_in_plain_words(
    complaints: Complaints, text: str, expected: str
) -> None:
    assert complaints(text) == [expected]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            b"version: 1\nbot: \xc3\xa9\xff\n",
            "2:7: the file is not UTF-8: the byte 0xFF appears here | save it as UTF-8",
        ),
        (
            b"\xef\xbb\xbfa\xe9",
            "1:2: the file is not UTF-8: the byte 0xE9 appears here | save it as UTF-8",
        ),
        ("version: 1\n".encode("utf-16"), "1:1: the file is UTF-16, not UTF-8 | save it as UTF-8"),
        (
            b"#" * (10 * 1024 * 1024 + 1),
            (
                "1:1: the manifest is larger than 10 MiB "
                "| no bot has that many commands: is this the right file?"
            ),
        ),
    ],
)
def test_a_file_must_be_utf8_and_of_sane_size(
    complaints: Complaints, data: bytes, expected: str
) -> None:
    assert complaints(data) == [expected]


@pytest.mark.parametrize("nest", ["[", "- ", "{a: ", "? "])
def test_depth_is_limited_before_anything_is_built(complaints: Complaints, nest: str) -> None:
    (complaint,) = complaints(nest * 200_000)

    place = 1 + 64 * len(nest)
    assert complaint == f"1:{place}: lists and mappings nest deeper than 64 levels"


def test_depth_is_counted_through_aliases(complaints: Complaints) -> None:
    half = "[" * 32 + "]" * 32
    text = f"version: 1\na: &a {half}\nb: &b [*a, 1]\nc: [{'[' * 30}*b{']' * 30}]\n"

    assert complaints(text) == ["4:35: lists and mappings nest deeper than 64 levels"]


def test_aliases_count_as_what_they_stand_for(complaints: Complaints) -> None:
    lines = ["version: 1", "a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]" for a, b in zip("abcde", "bcdef", strict=True)
    ]

    assert complaints("\n".join(lines)) == [
        (
            "7:11: the manifest has more than 250,000 values "
            "| an alias counts as all that it stands for"
        )
    ]


def test_values_are_limited(complaints: Complaints) -> None:
    (complaint,) = complaints("version: 1\ncommands: [" + ",".join(["x"] * 250_000) + "]")

    assert complaint.startswith("2:")
    assert "more than 250,000 values" in complaint
