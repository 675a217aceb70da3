from collections.abc import Callable
from typing import Protocol

import pytest

from commandsync.cli.output import OPTIONS
from commandsync.diagnostics import Problem, in_words
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest, load_manifests


class Load(Protocol):
    def __call__(self, text: str | bytes) -> Manifest: ...


def _load(text: str | bytes) -> Manifest:
    data = text.encode() if isinstance(text, str) else text
    (manifest,) = load_manifests(["-"], stdin=lambda: data, needs_imported=False)
    return manifest


def said(problem: Problem) -> str:
    """Return a problem, with its hint as the command line says it."""
    hint = in_words(problem.hint, OPTIONS)
    return f"{problem} | {hint}" if hint else str(problem)


@pytest.fixture
def load() -> Load:
    """Load a manifest from its text."""
    return _load


@pytest.fixture
def complaints() -> Callable[[str | bytes], list[str]]:
    """Load what cannot be loaded; each problem reads `line:column: message | hint`."""

    def complain(text: str | bytes) -> list[str]:
        with pytest.raises(ManifestError) as caught:
            _load(text)
        return [said(problem).removeprefix("-:") for problem in caught.value.problems]

    return complain


@pytest.fixture
def warnings_of() -> Callable[[str], list[str]]:
    """Load a manifest and return its warnings, each as `line:column: message | hint`."""

    def warn(text: str) -> list[str]:
        return [said(warning).removeprefix("-:") for warning in _load(text).warnings]

    return warn
