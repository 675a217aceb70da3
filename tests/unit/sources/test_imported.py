"""What was imported last: written and read back, and refused in words where it is not valid."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ManifestError
from commandsync.sources.changeset import Declared
from commandsync.sources.entry import SourceEntry
from commandsync.sources.imported import imported_text, kept, read_imported

PATH = "commands.imported.json"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
IMPORTED = st.builds(
    Declared,
    TEXTS,
    st.builds(
        SourceEntry,
        name=TEXTS,
        description=TEXTS,
        syntax=TEXTS,
        category=st.none() | TEXTS,
        key=st.none() | TEXTS,
        place=st.none(),
    ),
)


def problem_of(text: str) -> tuple[str, str]:
    with pytest.raises(ManifestError) as caught:
        read_imported(text, path=PATH)
    (problem,) = caught.value.problems
    return str(problem), str(problem.hint)


OBJECTS = st.dictionaries(TEXTS, st.lists(st.builds(lambda name: kept({"name": name}), TEXTS)))


@given(st.lists(IMPORTED), OBJECTS)
def test_what_is_written_is_read_back(
    imported: list[Declared], objects: dict[str, list[dict[str, Any]]]
) -> None:
    text = imported_text(imported, objects)
    again = read_imported(text, path=PATH)

    assert sorted(map(repr, again.declared)) == sorted(map(repr, imported))
    assert imported_text(*again) == text


def test_the_file_is_sorted_and_has_no_empty_keys() -> None:
    ban = SourceEntry(name="ban", description="Bans.", syntax="/ban", key="discord:1")
    help_ = SourceEntry(name="help", description="Hilft.", syntax="/help", category="Général")

    assert imported_text([Declared("bot/", help_), Declared("b.json", ban)]) == (
        '{\n  "version": 1,\n  "commands": [\n    {\n      "name": "ban",\n'
        '      "description": "Bans.",\n      "syntax": "/ban",\n      "key": "discord:1",\n'
        '      "source": "b.json"\n    },\n    {\n      "name": "help",\n'
        '      "description": "Hilft.",\n      "syntax": "/help",\n'
        '      "category": "Général",\n      "source": "bot/"\n    }\n  ]\n}\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{\n  nothing", "the file is not valid: Invalid JSON: key must be"),
        pytest.param("[" * 100_000, "the file is not valid: Invalid JSON: recursion", id="nested"),
        ('{\n<<<<<<< HEAD\n"version": 1}', "the file has the marks of a merge conflict"),
        ('{"version": 1}', "commands is not valid: Field required"),
        ("[]", "the file is not valid: Input should be an object"),
        ('{"version": 1, "commands": [{"name": "x"}]}', "commands.0.description is not"),
        pytest.param(" " * 10_485_761, "the file is too large", id="too large"),
        ('{"version": 2, "commands": []}', "version is not valid: Input should be 1"),
    ],
)
def test_a_file_that_is_not_valid_names_its_problem(text: str, message: str) -> None:
    problem, hint = problem_of(text)

    assert problem.startswith(f"{PATH}:1:1: {message}")
    assert hint.startswith("update" if "version is" in problem else "restore it from version")
