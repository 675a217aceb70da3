"""Every message about a manifest, word for word; nothing else pins the words.

A file in `tests/fixtures/golden/manifest/` is a list of cases: a manifest, `-->`, and its report.
`pytest --write-golden tests/unit/manifest` writes the reports again.

A syntax error ends one entry, not the file: what follows is read and checked.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.cli.output import OPTIONS
from commandsync.diagnostics import in_words
from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "manifest"
ARROW, END = "-->\n", "\n====\n"


def report(text: str) -> str:
    try:
        (manifest,) = load_manifests(["-"], stdin=text.encode, needs_imported=False)
    except ManifestError as error:
        problems, kind = error.problems, ""
    else:
        problems, kind = manifest.warnings, "warning: "
    lines = [
        f"{problem.location.line}:{problem.location.column}: {kind}{problem.message}"
        + (f"\n    {in_words(problem.hint, OPTIONS)}" if problem.hint else "")
        for problem in problems
    ]
    return "\n".join(lines)


@pytest.mark.promise("token-placeholder")
@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.txt")))
def test_each_problem_has_its_wording(name: str, golden: Callable[[str, str], None]) -> None:
    blocks = (GOLDEN / name).read_text(encoding="utf-8").split(END)[:-1]
    manifests = [block.partition(ARROW)[0] for block in blocks]

    golden("".join(f"{text}{ARROW}{report(text)}{END}" for text in manifests), f"manifest/{name}")


Complaints = Callable[[str | bytes], list[str]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_whatever_ends_them(complaints: Complaints, end: str, mark: str) -> None:
    text = mark + end.join(["bto: 1", "version: 1", "prefix: 'a\u2028\x85b'", "bto2: 1", ""])

    assert [line.split(" a ")[0] for line in complaints(text)] == ["1:1:", "4:1:"]


def test_after_a_thousand_problems_reading_stops(complaints: Complaints) -> None:
    found = complaints("version: 1\n" + "".join(f"key{n}: 1\n" for n in range(1500)))

    assert len(found) == 1001
    assert found[999].startswith("1001:1: ")
    assert str(found[1000]) == "1:1: there may be more problems: only the first 1000 are shown"


WORDS = st.text("abcxyzé😀", min_size=1, max_size=8)
BROKEN = st.sampled_from(
    ["[p]{}", "{{0}} {}", "@{}", "`{}`", "%{}%", "[{} x", "a: {}", '"{}" x', "'x' {}", '"\\q{}"']
)


@st.composite
def manifests(draw: st.DrawFn) -> tuple[str, list[tuple[int, str]]]:
    """Draw a manifest, and the lines that are wrong with what is wrong there."""
    lines = ["version: 1"]
    wrong = []
    dash = " " * draw(st.integers(0, 3)) + "- "
    indent = " " * len(dash)
    for key, fields in draw(
        st.permutations(
            [
                ("commands", ("name", "description", "syntax")),
                ("announcements", ("title", "description")),
            ]
        )
    ):
        lines.append(f"{key}:")
        for number in range(draw(st.integers(1, 4))):
            how = draw(st.sampled_from(["well", "broken", "misspelt", "askew"]))
            place = draw(st.integers(0, len(fields) - 1))
            for n, field in enumerate(fields):
                word = f"{draw(WORDS)}{number}{n}"
                broken = draw(BROKEN).format(word)
                value = broken if how == "broken" and n == place else word
                askew = how == "askew" and n == place > 0
                before = draw(st.sampled_from([indent[1:], f" {indent}"])) if askew else indent
                lines.append(f"{before if n else dash}{field}: {value}")
                if value == broken or askew:
                    wrong.append((len(lines), "syntax"))
            if how == "misspelt":
                lines.append(f"{indent}titel: x")
                wrong.append((len(lines), "key"))
    return "\n".join(lines) + "\n", wrong


@given(manifests())
def test_every_broken_entry_is_reported(drawn: tuple[str, list[tuple[int, str]]]) -> None:
    text, wrong = drawn

    try:
        load_manifests(["-"], stdin=text.encode, needs_imported=False)
    except ManifestError as error:
        found = [
            (problem.location.line, "key" if "no key" in problem.message else "syntax")
            for problem in error.problems
        ]
    else:
        found = []

    assert found == wrong, text


@given(st.lists(st.sampled_from("\0\x07\x1b\x7f\x80\ufffe\uffff"), min_size=1, max_size=4))
def test_every_refused_character_is_reported(signs: list[str]) -> None:
    lines = [f"  - name: {n}{sign}\n    description: d\n" for n, sign in enumerate(signs)]
    text = "version: 1\ncommands:\n" + "".join(lines)

    found = [one.split(": ")[0] for one in complaints(text)]

    assert found == [
        place for n in range(len(signs)) for place in (f"{2 * n + 3}:5", f"{2 * n + 3}:12")
    ]


CONFLICT = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n"
ENTRY = "  - name: {0}\n    description: d\n    syntax: s"


def complaints(text: str) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        load_manifests(["-"], stdin=text.encode, needs_imported=False)
    return [
        f"{one} | {in_words(one.hint, OPTIONS)}".removeprefix("-:") for one in caught.value.problems
    ]


@given(before=st.lists(WORDS, max_size=3, unique=True), ours=WORDS, theirs=WORDS)
def test_a_merge_conflict_is_named(before: list[str], ours: str, theirs: str) -> None:
    head = "".join(f"{ENTRY.format(name)}\n" for name in before)
    whole = CONFLICT.format(ENTRY.format(ours), ENTRY.format(theirs))
    half = CONFLICT.format(f"    syntax: {ours}", f"    syntax: {theirs}")
    after = "  - name: y\n    description: d\n    sintax: s\n"

    for conflict in (whole, f"  - name: x\n    description: d\n{half}"):
        text = f"version: 1\ncommands:\n{head}{conflict}{after}"
        lines = text.splitlines()
        place, last = lines.index("<<<<<<< HEAD") + 1, len(lines)
        found = complaints(text)

        assert found[0].startswith(f"{place}:1: ")
        assert "merge conflict" in found[0]
        assert [one.split(": ")[0] for one in found[1:]] == [f"{last - 2}:5", f"{last}:5"]


@given(
    rows=st.lists(st.tuples(WORDS, WORDS), max_size=3),
    head=st.sampled_from(["", "version: 1\ncommands:\n"]),
)
def test_a_table_in_markdown_is_named_once(rows: list[tuple[str, str]], head: str) -> None:
    cells = [("Command", "What it does"), ("---", ":---"), *rows]
    lines = [f"| {a} | {b} |" for a, b in cells]
    text = head + "\n".join(lines) + "\nannouncements:\n  - titel: x\n"

    found = complaints(text)

    line = head.count("\n") + 1
    assert found[0].startswith(f"{line}:1: ")
    assert "table in Markdown" in found[0]
    assert [one.split(": ")[0] for one in found[1:]] == [f"{len(text.splitlines())}:5"] * 3


@given(st.sampled_from(["\u201c\u201d", "\u201e\u201c", "\u2018\u2019", "\u00ab\u00bb"]), WORDS)
def test_typographic_quotes_around_a_value_are_named(quotes: str, word: str) -> None:
    text = f"version: 1\nprefix: {quotes[0]}{word}{quotes[1]}\n"

    (found,) = complaints(text)

    assert found.startswith(
        f'2:9: the quotes around "{quotes[0]}{word}{quotes[1]}" are typographic'
    )
    assert f'write straight ones, "{word}"' in found


@given(
    st.one_of(
        st.dictionaries(WORDS, WORDS, min_size=1),
        st.lists(st.dictionaries(WORDS, WORDS, min_size=1), min_size=1),
    ),
    st.sampled_from([None, 2, "\t"]),
)
def test_the_json_of_another_program_is_named(said: object, indent: int | str | None) -> None:
    (complaint,) = complaints(json.dumps(said, indent=indent))

    assert complaint.startswith("1:1: ")
    assert "JSON of another" in complaint


@pytest.mark.parametrize(
    ("name", "character"),
    [
        ("pi\u200bng", "U+200B"),
        ("\u2060ping", "U+2060"),
        ("ping\u3164", "U+3164"),
        ("family \U0001f468\u200d\U0001f469", ""),
        ("\U0001f3f4\U000e0067\U000e007f flag", ""),
        ("❤\ufe0f\u200d\U0001f525", ""),
    ],
)
def test_an_invisible_character_in_a_name_is_a_warning(
    warnings_of: Callable[[str], list[str]], name: str, character: str
) -> None:
    text = f"version: 1\ncommands:\n- {{name: '{name}', description: D., syntax: /x}}\n"

    warnings = [line for line in warnings_of(text) if "invisible" in line]
    assert len(warnings) == bool(character)
    assert all(f": {character} | remove it" in line for line in warnings)


@given(
    st.text(st.sampled_from("aé ß9🎉🔥✨"), min_size=1, max_size=8).map(lambda name: f"a{name}b"),
    st.integers(990, 1010),
)
def test_what_most_services_do_not_show_is_a_warning(
    warnings_of: Callable[[str], list[str]], name: str, length: int
) -> None:
    command = {"name": name, "description": "d" * length, "syntax": "/x"}
    warnings = warnings_of(json.dumps({"version": 1, "commands": [command]}, ensure_ascii=False))

    assert any("emoji" in line for line in warnings) == bool({*name} & {*"🎉🔥✨"})
    assert any("characters" in line for line in warnings) == (length > 1000)


@pytest.mark.parametrize("value", ["&c {category: Fun}", "&c\n  category: Fun", "&c Fun"])
def test_an_anchor_in_an_unknown_key_says_where_anchors_belong(value: str) -> None:
    (complaint,) = complaints(f"version: 1\nx-common: {value}\ncommands: []\n")

    assert complaint.startswith('2:1: a manifest has no key "x-common" | an anchor belongs to a')
