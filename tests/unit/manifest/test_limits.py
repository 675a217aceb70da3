"""Whatever the input, the answer is a manifest or problems with places, in little time."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commandsync.diagnostics import Problem
from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests
from commandsync.manifest.listingmodel import ListingModel, ReplaceModel
from commandsync.manifest.model import CommandModel, ManifestModel
from tests.unit.manifest.conftest import Load

Complaints = Callable[[str | bytes], list[str]]

COMMAND = "commands:\n- {name: a, description: b, syntax: '{prefix}c'}\nprefix: /\n"
NESTED = "lists and mappings nest deeper than 64 levels"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_file_of_too_many_lines_is_refused(complaints: Complaints, end: str) -> None:
    [complaint] = complaints(f"version: 1{end}" + end * 1_000_001)

    assert complaint.startswith("1:1: ")
    assert "1,000,000 lines" in complaint


@pytest.mark.promise("large-manifest")
def test_an_alias_counts_as_the_text_it_stands_for(complaints: Complaints, load: Load) -> None:
    head = f"version: 1\nbot: &a {'7' * 1_000_000}\ncommands:\n"
    command = "- {name: a%, description: *a, syntax: c}\n"
    many = "".join(command.replace("%", str(number)) for number in range(11))

    assert len(load(head + many[: many.index("- {name: a3")]).snapshot.collections) == 1
    [complaint] = complaints(head + many)
    assert "more than 10,485,760 characters" in complaint
    assert "alias" in complaint


def test_so_many_patterns_are_looked_for_and_no_more(
    complaints: Complaints, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("commands: []\n")
    load(f"version: 1\ninclude: [{'a.yaml,' * 1000}]\n{COMMAND}")

    [complaint] = complaints(f"version: 1\ninclude: [{'a.yaml,' * 1002}]\n{COMMAND}")

    assert "1,000 patterns" in complaint


def test_so_many_wildcards_are_tried(complaints: Complaints, load: Load) -> None:
    names = "".join(f"name {number}," for number in range(8000))
    wild = [f"{number}*," for number in range(101)]
    load(f"version: 1\nsync: {{ignore: [{names}{''.join(wild[:100])}]}}\n{COMMAND}")

    [complaint] = complaints(f"version: 1\nsync: {{ignore: [{names}{''.join(wild)}]}}\n{COMMAND}")

    assert str(complaint) == (
        "2:16: ignore has more than 100 patterns with a wildcard, or more than 2,000 characters "
        "in them | one pattern can match many names: beta-*"
    )


@given(lengths=st.lists(st.integers(2, 900), min_size=1, max_size=5))
def test_wildcards_match_any_length(complaints: Complaints, load: Load, lengths: list[int]) -> None:
    def text(*wild: int) -> str:
        patterns = "".join(f"'*{'b' * (length - 1)}'," for length in wild)
        return f"version: 1\nsync: {{ignore: [{'b' * 3000}c, {patterns}]}}\n{COMMAND}"

    fitting = [length for n, length in enumerate(lengths) if sum(lengths[: n + 1]) <= 2000]
    load(text(*fitting))

    [complaint] = complaints(text(*fitting, 2001 - sum(fitting)))

    assert "more than 2,000 characters in them" in complaint


@settings(max_examples=5)
@given(prefix=st.text("p😀", min_size=60, max_size=100), parts=st.integers(1, 4))
def test_a_syntax_takes_up_what_its_prefix_adds(prefix: str, parts: int) -> None:
    def text(uses: int, count: int) -> bytes:
        syntax = "{prefix}" * (uses // parts)
        entry = f"- {{name: %, description: b, syntax: '{syntax}'}}\n"
        entries = "".join(entry.replace("%", str(number)) for number in range(count))
        return f"version: 1\nprefix: {prefix}\ncommands:\n{entries}".encode()

    uses = 10 * 1024 * 1024 * parts // 5 // len(prefix)
    load_manifests(["-"], stdin=lambda: text(uses - 10 * parts, 5))

    with pytest.raises(ManifestError) as caught:
        load_manifests(["-"], stdin=lambda: text(uses + 10 * parts, 6))

    (problem,) = caught.value.problems
    assert problem.location.line == 8
    assert "10,485,760 characters once {prefix}" in problem.message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("commands:\r\n  -name: a\r\n   syntax: b\r\n", '2:3: "-name: a" is not a key'),
        ("bot: '1é\x07'\n", "1:9: the character U+0007 is not allowed in YAML | remove it"),
        ("bot: 1\uffff\n", "1:7: the character U+FFFF is not allowed in YAML | remove it"),
        pytest.param(
            f"version: 1\nx: &a [{'t' * 3_000_000}]\ny: [*a, *a, *a]\n",
            "3:13: the values of the manifest have more than 10,485,760 characters",
            id="long aliases",
        ),
        pytest.param(
            f"version: 1\ninclude: '{'a/' * 501}b.yaml'\n{COMMAND}",
            f'2:10: "{"a/" * 29}a…" is too long',
            id="pattern",
        ),
        *(
            pytest.param(nest * 200_000, f"1:{column}: {NESTED}", id=nest)
            for nest, column in (("[", 65), ("- ", 129), ("{a: ", 257), ("? ", 129))
        ),
        pytest.param(
            f"version: 1\na: &a {'[' * 32}{']' * 32}\nb: &b [*a, 1]\nc: {'[' * 31}*b{']' * 31}\n",
            f"4:35: {NESTED}",
            id="nested aliases",
        ),
        pytest.param(
            f"version: 1\ncommands: [{'x,' * 250_000}]",
            "2:500002: the manifest has more than 250,000 values",
            id="values",
        ),
    ],
)
def test_what_no_file_can_hold_is_reported(complaints: Complaints, text: str, problem: str) -> None:
    (complaint,) = map(str, complaints(text))

    assert complaint.startswith(problem)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"version: 1\nbot: \xc3\xa9\xff\n", "2:7: the file is not UTF-8: the byte 0xFF"),
        (b"\xef\xbb\xbfa\xe9", "1:2: the file is not UTF-8: the byte 0xE9"),
        ("version: 1\n".encode("utf-16"), "1:1: the file is UTF-16, not UTF-8 | save it as"),
        pytest.param(
            b"#" * (10 * 1024 * 1024 + 1), "1:1: the manifest is larger than 10 MiB", id="too large"
        ),
    ],
)
def test_a_file_must_be_sane_utf8(complaints: Complaints, data: bytes, problem: str) -> None:
    (complaint,) = map(str, complaints(data))

    assert complaint.startswith(problem)


def test_aliases_count_as_what_they_stand_for(complaints: Complaints) -> None:
    lines = ["version: 1", "a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]" for a, b in zip("abcde", "bcdef", strict=True)
    ]

    assert list(map(str, complaints("\n".join(lines)))) == [
        (
            "7:11: the manifest has more than 250,000 values | an alias counts as the whole "
            "value that it repeats"
        ),
    ]


MODELS = (ManifestModel, CommandModel, ListingModel, ReplaceModel)
PIECES = st.sampled_from(
    [
        *[f"{key}:" for model in MODELS for key in model.model_fields],
        *["\n", "\n  ", "\n- ", "\n  - ", " ", "\t", "\r\n", "\r", "\u2028", "\x85", "\ufeff"],
        *['"', "'", "[", "]", "{", "}", ",", ": ", " #", "#", "|", ">", "-", "---", "...", "?"],
        *["&a ", "*a", "!x ", "!!str ", "%", "@", "`", "<<", "\\", "\0", "~", "1", "true", "é😀"],
        *["{prefix}", "*.yaml", "30%", "https://x", "version: 1\n", "commands:\n- "],
        *["listings:\n- service: top.gg\n", "listings:\n- service: x\n  replace:\n    "],
    ]
)
LINES = st.sampled_from(
    [
        *["version: 1\n", "commands:\n", "announcements:\n", "comands:\n", "prefix: /\n"],
        *["- name: a\n", "  - name: b\n", "    syntax: d\n", "  syntax: [p]x\n", "category: ~\n"],
        *["<<<<<<< HEAD\n", "=======\n", ">>>>>>> x\n", "| a | b |\n", "---\n", "...\n", "? "],
        *["  - ", "- ", "\n", "[", "]", "{", "}", '"', "'", ": ", " #", "&a ", "*a", "!x ", "| "],
    ]
)


def problems_of(data: bytes) -> Sequence[Problem]:
    try:
        load_manifests(["-"], stdin=lambda: data)
    except ManifestError as error:
        return error.problems
    return ()


def attempt(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in problems_of(data):
        where = problem.location

        assert 1 <= where.line <= len(lines)
        assert 1 <= where.column <= len(lines[where.line - 1]) + 2
        assert "\n" not in problem.message


@given((st.lists(PIECES, max_size=25) | st.lists(LINES, max_size=30)).map("".join))
@example("? - ...\n| a | b |\n  - name: b\nannouncements:\n  - name: b\n")
def test_any_text_gives_a_manifest_or_problems_with_places(text: str) -> None:
    attempt(text.encode())


@given(st.lists(PIECES, max_size=10).map(lambda pieces: "version: 1\n" + "".join(pieces)))
# An unknown key that nobody meant, and an empty one:
@example("version: 1\nversion:version:version:\n?")
def test_so_does_what_begins_well(text: str) -> None:
    attempt(text.encode())


@given(st.binary(max_size=60))
def test_so_do_any_bytes(data: bytes) -> None:
    attempt(data)


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nbot: " + " " * 2_000_000 + "x y: z\n",
        "version: 1\nbot: [" + "x " * 1_000_000 + "] y\n",
        "version: 1\n" + "k" * 5_000_000 + ": 1\n",
        "version: 1\nbot: *" + "a" * 5_000_000 + "\n",
        "version: 1\nbot: " + "- " * 100_000 + "\n",
        "version: 1\n? " + "'" * 1_000_001 + "\n",
    ],
    ids=["spaces", "list", "key", "alias", "dashes", "quotes"],
)
def test_long_lines_are_told_shortly(
    complaints: Callable[[str | bytes], list[str]], text: str
) -> None:
    assert all(len(complaint) < 1000 for complaint in complaints(text))
