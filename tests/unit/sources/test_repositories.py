"""Imports of generated bots: nothing that is declared is lost, whatever happens to the code."""

from pathlib import Path
from random import Random

import pytest

from tests.support import pythonforms, scriptforms
from tests.support.repositories import (
    MOVES,
    REFACTORINGS,
    Form,
    Story,
    bot,
    break_file,
    move_unnamed,
    of_two_parts,
)

FORMS = [*pythonforms.FORMS, *scriptforms.FORMS]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _name(form: Form) -> str:
    return form.name


@pytest.mark.parametrize("form", FORMS, ids=_name)
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in (1, 2))]
)
def test_a_form_is_read_as_it_is_declared_and_no_refactoring_loses_anything(
    form: Form, seed: int, folder: Path
) -> None:
    """Each refactoring comes once, in a drawn order; one more comes after a file is broken."""
    draw = Random(f"{form.name} {seed}")  # noqa: S311 - the same draws each time
    story, now = Story(folder), bot(form, draw)
    story.step(now)
    whole = [each for each in REFACTORINGS.values() if each is not break_file]
    for refactoring in (*draw.sample(whole, len(whole)), break_file, draw.choice(whole)):
        now = refactoring(now, draw)
        story.step(now)


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
