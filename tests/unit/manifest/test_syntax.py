"""Files that are not YAML, not UTF-8, or too large: one clear problem each."""

from collections.abc import Callable

import pytest

Complaints = Callable[[str | bytes], list[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("commands:\r\n  -name: a\r\n   syntax: b\r\n", '2:3: "-name: a" is not a key'),
        ("bot: '1é\x07'\n", "1:9: the character U+0007 is not allowed in YAML"),
        ("bot: 1\uffff\n", "1:7: the character U+FFFF is not allowed in YAML"),
    ],
)
def test_what_no_golden_file_can_hold_is_reported_at_its_place(
    complaints: Complaints, text: str, expected: str
) -> None:
    [complaint] = complaints(text)

    assert complaint.startswith(expected)


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
            "| an alias counts as the whole value that it repeats"
        )
    ]


def test_values_are_limited(complaints: Complaints) -> None:
    (complaint,) = complaints("version: 1\ncommands: [" + ",".join(["x"] * 250_000) + "]")

    assert complaint.startswith("2:")
    assert "more than 250,000 values" in complaint
