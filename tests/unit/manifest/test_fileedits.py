import json
import re
from collections import Counter
from random import Random
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.fileedits import ListEdits, Values, edit, field_places
from commandsync.manifest.layout import Value
from tests.support import untrusted

EMPTY = re.compile(r"commands: \[\s*\]")
FILES = st.integers(0, 2**32).map(Random)  # hypothesis's own random numbers take ten times as long


class AddEntry(NamedTuple):
    values: Values
    after: int | None = None


class SetField(NamedTuple):
    number: int
    key: str
    value: Value | None


class RemoveEntry(NamedTuple):
    number: int


Edit = AddEntry | SetField | RemoveEntry


def edited(text: str, *edits: Edit) -> str:
    """Edit the commands of a file."""
    commands = ListEdits()
    for change in edits:
        match change:
            case AddEntry(values, after):
                commands.added.append((after, values))
            case SetField(number, key, value):
                commands.changed[number][key] = value
            case RemoveEntry(number):
                commands.removed.add(number)
    return edit(text, {"commands": commands}, path="bots/x.yaml")


def says(text: str) -> list[dict[str, Any]]:
    """Read the commands of a file, as another program would."""
    read = yaml.load(text.removeprefix("\ufeff"), Loader=yaml.CBaseLoader)  # noqa: S506 - strings
    return [
        {
            key: tuple(value) if isinstance(value, list) else value.strip()
            for key, value in entry.items()
        }
        for entry in read["commands"]
    ]


def shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def difference(one: str, other: str) -> tuple[str, str]:
    """Return what two texts have between their common beginning and their common end."""
    start = shared(one, other)
    rest = one[start:], other[start:]
    end = shared(rest[0][::-1], rest[1][::-1])
    return rest[0][: len(rest[0]) - end], rest[1][: len(rest[1]) - end]


def characters(text: str) -> Counter[str]:
    return Counter(character for character in text if character not in " \t\r\n,")


@given(FILES)
def test_the_drawn_files_say_what_they_are_drawn_from(numbers: Random) -> None:
    file = untrusted.file(numbers)

    assert says(file.text) == file.entries


@given(FILES)
def test_an_added_entry_is_all_that_changes(numbers: Random) -> None:
    file, new = untrusted.file(numbers), untrusted.values(numbers)
    after = numbers.choice([None, *range(len(file.entries))])
    place = len(file.entries) if after is None else after + 1

    result = edited(file.text, AddEntry(new, after))

    assert says(result) == [*file.entries[:place], new, *file.entries[place:]]
    before = file.text if file.entries else EMPTY.sub("commands:", file.text)
    assert difference(before, result)[0] == ""


@given(FILES)
def test_a_field_that_is_set_is_all_that_changes(numbers: Random) -> None:
    file = untrusted.file(numbers)
    for index, entry in list(enumerate(file.entries))[:1]:
        key = numbers.choice(untrusted.KEYS)
        value = untrusted.changed(numbers, entry, key)

        result = edited(file.text, SetField(index, key, value))

        assert says(result)[index] == entry | {key: value}
        assert says(result)[1:] == file.entries[1:]
        if (index, key) in file.spans:
            start, end = file.spans[index, key]
            comment, newline, below = file.text[end:].partition(file.newline)
            assert result.startswith(file.text[:start].rstrip(" "))
            assert result.endswith(newline + below)
            if key != "formerly":  # whose items may have comments
                assert comment in result[start : len(result) - len(newline + below)]
        elif key not in entry:
            assert difference(file.text, result)[0] == ""


@given(FILES)
def test_a_removed_field_is_all_that_goes(numbers: Random) -> None:
    file = untrusted.file(numbers)
    for index, entry in list(enumerate(file.entries))[-1:]:
        key = numbers.choice(list(entry))

        result = edited(file.text, SetField(index, key, None))

        assert says(result)[index] == {name: entry[name] for name in entry if name != key}
        gone, new = difference(file.text, result)
        assert new == ""
        if (index, key) in file.written:
            rest = characters(file.written[index, key]) - characters(gone)
            assert not rest or key == next(iter(entry))  # the comment of a first key stays
            assert characters(gone) <= characters(file.written[index, key])


@given(FILES)
def test_a_removed_entry_is_all_that_goes(numbers: Random) -> None:
    file = untrusted.file(numbers)
    for index in range(len(file.entries))[:1]:
        result = edited(file.text, RemoveEntry(index))

        assert says(result) == file.entries[1:]
        result = EMPTY.sub("commands:", result)
        gone, new = difference(file.text, result)
        assert new == ""
        if index in file.extents:
            start, end = file.extents[index]
            assert characters(gone) == characters(file.text[start:end])


@given(FILES)
def test_many_edits_at_once_are_each_made(numbers: Random) -> None:
    file = untrusted.file(numbers)
    edits: list[Edit] = []
    wanted: list[dict[str, Any]] = []
    for index, entry in enumerate(file.entries):
        if numbers.random() < 0.2:
            edits.append(RemoveEntry(index))
        else:
            wanted.append(dict(entry))
            for key in untrusted.KEYS:
                if numbers.random() < 0.3 and key != "description":
                    value = untrusted.changed(numbers, entry, key)
                    edits.append(SetField(index, key, value))
                    wanted[-1][key] = value
                elif numbers.random() < 0.2 and key != "description":
                    edits.append(SetField(index, key, None))
                    wanted[-1].pop(key, None)
        for _ in range(numbers.choice((0, 0, 1, 2))):
            wanted.append(untrusted.values(numbers))
            edits.append(AddEntry(wanted[-1], index))
    numbers.shuffle(edits)
    edits.sort(key=lambda change: isinstance(change, AddEntry))

    result = edited(file.text, *edits)

    assert Counter(map(repr, map(sorted, map(dict.items, says(result))))) == Counter(
        map(repr, map(sorted, map(dict.items, wanted)))
    )


@given(FILES, st.sampled_from([None, 2]))
def test_an_entry_of_a_list_in_brackets_gets_a_line(numbers: Random, indent: int | None) -> None:
    entries = [*untrusted.file(numbers).entries, *(untrusted.values(numbers) for _ in range(2))]
    new = untrusted.values(numbers)
    text = json.dumps({"version": 1, "commands": entries}, indent=indent, ensure_ascii=False)
    after = numbers.randrange(len(entries))
    kept = [entry for n, entry in enumerate(entries) if n != 1]

    added = edited(text, AddEntry(new, after))
    both = edited(text, AddEntry(new, 0), SetField(0, "syntax", 'it\'s "new"'), RemoveEntry(1))

    assert says(added) == [*entries[: after + 1], new, *entries[after + 1 :]]
    assert says(both) == [kept[0] | {"syntax": 'it\'s "new"'}, new, *kept[1:]]
    assert json.loads(added)["version"] == 1
    assert added.count("\n") == text.count("\n") + 1


def refusals(text: str, edits: list[Edit]) -> tuple[Problem, ...]:
    try:
        edited(text, *edits)
    except ManifestError as error:
        return error.problems
    except IndexError:  # no such entry is left
        return ()
    return ()


SIGNS = ["\n", " ", "- ", ": ", *"[]{},#", "&a ", "*a", "|\n", "'", '"', "? ", "---"]


@given(FILES)
def test_a_file_that_somebody_broke_is_edited_or_refused_with_its_place(numbers: Random) -> None:
    text = untrusted.file(numbers).text
    for _ in range(numbers.randint(1, 2)):
        at = numbers.randrange(len(text) + 1)
        sign = numbers.choice(["", *SIGNS])
        text = text[:at] + sign + text[at if sign else at + 3 :]
    edits: list[Edit] = [
        AddEntry(untrusted.values(numbers)),
        SetField(0, "syntax", untrusted.value(numbers)),
        SetField(0, "category", None),
        RemoveEntry(1),
    ]

    problems = refusals(text, [numbers.choice(edits), numbers.choice(edits)])

    assert {problem.location.path for problem in problems} <= {"bots/x.yaml"}


NEW = {"name": "new", "description": "One.\n\nTwo: more", "syntax": "{prefix}new"}


def refused(text: str, *edits: Edit) -> str:
    with pytest.raises(ManifestError) as caught:
        edited(text, *edits)
    (problem,) = caught.value.problems
    return f"{problem} | {problem.hint}" if problem.hint else str(problem)


def test_a_new_entry_is_written_like_its_neighbour() -> None:
    text = """\
commands:

-   'name': 'help'
    syntax: "{prefix}help"
    description:   Helps. # short
    # category: General

# the rest

-   name: ping
    description: >-
      Says how quickly
      it answers.
    syntax: ping
    formerly:
    - latency"""

    result = edited(
        text,
        AddEntry(NEW, after=0),
        AddEntry(NEW | {"id": "7", "formerly": ("a", "b: c"), "description": "One."}),
    )

    assert result == text.replace(
        "# category: General\n",
        """\
# category: General

-   'name': 'new'
    'syntax': "{prefix}new"
    'description': |-
      One.

      Two: more
""",
    ) + (
        """

-   name: new
    description: >-
      One.
    syntax: "{prefix}new"
    formerly:
      - a
      - "b: c"
    id: "7\""""
    )


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (
            "version: 1\ncommands: [] # none yet\n",
            "version: 1\ncommands: # none yet\n  - name: new\n    formerly: [h]\n",
        ),
        (
            "  version: 1\r\n  x: {y: no}",
            "  version: 1\r\n  x: {y: no}\r\n  commands:\r\n    - name: new\r\n      formerly: [h]",
        ),
        (
            "commands:\n- &x {name: a}\n- *x\n",
            "commands:\n- &x {name: a}\n- *x\n- name: new\n  formerly: [h]\n",
        ),
        (
            "commands:\n- name: a\n...\n# end",
            "commands:\n- name: a\n- name: new\n  formerly: [h]\n...\n# end",
        ),
    ],
)
def test_an_entry_is_added_to_lists_of_every_kind(text: str, result: str) -> None:
    added = AddEntry({"formerly": ("h",), "name": "new"})

    assert edited(text, added) == result


ENTRY = """\
commands: # all
  - name: "help" # first
    category:
    description: | # long
      Old.

    formerly: # names
      - h # short
      - '?'
  - *other
  - {name: b, "formerly": [x, 'y']}
""".replace("  - *other\n", "")


def test_fields_are_edited_where_they_are() -> None:
    result = edited(
        ENTRY,
        SetField(0, "name", "menu"),
        SetField(0, "category", "General"),
        SetField(0, "description", "New: it's"),
        SetField(0, "formerly", ("h", "?", "help")),
        SetField(0, "syntax", "/menu"),
        SetField(0, "id", "1"),
        SetField(1, "name", "c, d"),
        SetField(1, "formerly", ("y", "z")),
        SetField(1, "category", ""),
    )

    assert (
        result
        == """\
commands: # all
  - name: "menu" # first
    category: General
    description: | # long
      New: it's
    syntax: "/menu"

    formerly: # names
      - h # short
      - '?'
      - 'help'
    id: "1"
  - {name: "c, d", category: "", "formerly": ["y", z]}
"""
    )


def test_lists_of_names_are_emptied_reordered_and_replaced_by_one_name() -> None:
    plain = ENTRY.replace(" # short", "")

    assert "formerly: [] # names\n  - {" in edited(plain, SetField(0, "formerly", ()))
    assert 'formerly: ["?", h] # names\n  - {' in edited(plain, SetField(0, "formerly", ("?", "h")))
    assert "formerly: old # names\n  - {" in edited(plain, SetField(0, "formerly", "old"))
    assert "\"formerly\": [x, 'y', 'z']}" in edited(ENTRY, SetField(1, "formerly", ("x", "y", "z")))
    assert '"formerly": []}' in edited(ENTRY, SetField(1, "formerly", ()))
    assert "name: [c]," in edited(ENTRY, SetField(1, "name", ("c",)))


def test_no_edits_change_nothing() -> None:
    assert edited(ENTRY) == ENTRY
    assert edited(ENTRY, SetField(0, "id", None)) == ENTRY


def test_a_value_that_an_alias_repeats_is_not_edited() -> None:
    text = "commands:\n  - &x\n    name: &n a\n    syntax: b\n  - *x\n  - name: *n\n"

    assert edited(text, SetField(2, "name", "c")) == text.replace("*n", "c")
    assert edited(text, RemoveEntry(1)) == text.replace("  - *x\n", "")
    for change, line in (
        (SetField(0, "syntax", "c"), 2),
        (SetField(1, "syntax", "c"), 5),
        (RemoveEntry(0), 2),
    ):
        problem = str(refused(text, change))
        assert problem.startswith(f"bots/x.yaml:{line}:5: the edit cannot be made in place")
        assert "by hand" in problem


ADD, REMOVE = AddEntry(NEW), RemoveEntry(0)


@pytest.mark.parametrize(
    ("text", "change", "place"),
    [
        ("commands: [\n", ADD, "2:1: this does not fit the line above it"),
        ("a: 1\na: 2\n", ADD, '2:1: duplicate key "a" (first on line 1)'),
        ("# nothing\n", ADD, "1:1: a manifest must have keys at its top level"),
        ("x: &l []\ncommands: *l\n", ADD, "2:11"),
        ("commands: &l []\nx: *l\n", ADD, "1:11"),
        ("commands: text\n", ADD, "1:11"),
        ("commands:\n- a\n", SetField(0, "name", "c"), "2:3"),
        ("? commands\n: - name: a\n", REMOVE, "2:5"),
        ("? commands\n:\n  - name: a\n", REMOVE, "1:3"),
        ('{"version": 1, "commands": []}', ADD, "1:28"),
        ("{version: 1}", ADD, "1:1"),
        ("commands: [{name: a}]\n", REMOVE, "1:11"),
        ("commands: [a, b]\n", SetField(0, "name", "c"), "1:12"),
        (ENTRY, SetField(0, "formerly", ()), "8:7"),
        ("commands:\n- {name: a}", SetField(0, "name", None), "2:3"),
    ],
)
def test_what_cannot_be_edited_is_refused_at_its_place(text: str, change: Edit, place: str) -> None:
    said = "" if " " in place else ": the edit cannot be made in place"

    assert refused(text, change).startswith(f"bots/x.yaml:{place}{said}")


def test_an_index_that_is_not_there_is_an_error_of_the_caller() -> None:
    with pytest.raises(IndexError):
        edited(ENTRY, SetField(7, "name", "x"))
    with pytest.raises(IndexError):
        edited(ENTRY, RemoveEntry(0), RemoveEntry(7))
    with pytest.raises(IndexError):
        edited(ENTRY, AddEntry(NEW, after=7))


def test_the_values_of_each_entry_have_their_places() -> None:
    text = "\ufeffversion: 1\r\ncommands:\r\n- name: a\r\n  syntax: '/a'\r\n- {name: b}\r\n"
    first, second = field_places(text, "commands", path="x.yaml")

    assert first == {"name": Location("x.yaml", 3, 9), "syntax": Location("x.yaml", 4, 11)}
    assert second == {"name": Location("x.yaml", 5, 10)}
    assert field_places("version: 1\n", "commands", path="x.yaml") == []
