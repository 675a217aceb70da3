"""Imports of generated bots: nothing that is declared is lost, whatever happens to the code."""

from pathlib import Path
from random import Random

import pytest

from tests.support.pythonforms import FORMS
from tests.support.repositories import (
    MOVES,
    REFACTORINGS,
    Form,
    Story,
    bot,
    move_unnamed,
    of_two_parts,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _name(form: Form) -> str:
    return form.name


@pytest.mark.parametrize("form", FORMS, ids=_name)
def test_a_form_is_read_as_it_is_declared(form: Form, folder: Path) -> None:
    for seed in range(3):
        Story(folder).step(bot(form, Random(seed)))  # noqa: S311 - the same draws each time


@pytest.mark.parametrize("refactoring", REFACTORINGS)
@pytest.mark.parametrize("form", FORMS, ids=_name)
def test_a_refactoring_loses_nothing(form: Form, refactoring: str, folder: Path) -> None:
    for seed in range(3):
        draw = Random(f"{form.name} {refactoring} {seed}")  # noqa: S311 - the same draws each time
        before = bot(form, draw)
        story = Story(folder)
        story.step(before)
        after = REFACTORINGS[refactoring](before, draw)
        story.step(after)
        story.step(REFACTORINGS[draw.choice(sorted(REFACTORINGS))](after, draw))


@pytest.mark.parametrize("form", [form for form in FORMS if "names" in form.varies], ids=_name)
def test_a_command_whose_name_is_elsewhere_stays_when_its_file_moves(
    form: Form, folder: Path
) -> None:
    for move in MOVES:
        draw = Random(f"{form.name} {move.__name__}")  # noqa: S311 - the same draws each time
        before = of_two_parts(form, draw)
        story = Story(folder)
        story.step(before)
        moved = move_unnamed(before, draw, move)
        story.step(moved)
        story.step(move(moved, draw))
