"""Imports of generated bots: nothing that is declared is lost, whatever happens to the code."""

from pathlib import Path
from random import Random

import pytest

from tests.support.repositories import REFACTORINGS, Form, Story, bot
from tests.support.scriptforms import FORMS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_is_read_as_it_is_declared(form: Form, folder: Path) -> None:
    for seed in range(3):
        Story(folder).step(bot(form, Random(seed)))  # noqa: S311 - the same draws each time


@pytest.mark.parametrize("refactoring", REFACTORINGS)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_refactoring_loses_nothing(form: Form, refactoring: str, folder: Path) -> None:
    for seed in range(3):
        draw = Random(f"{form.name} {refactoring} {seed}")  # noqa: S311 - the same draws each time
        before = bot(form, draw)
        story = Story(folder)
        story.step(before)
        after = REFACTORINGS[refactoring](before, draw)
        story.step(after)
        story.step(REFACTORINGS[draw.choice(sorted(REFACTORINGS))](after, draw))
