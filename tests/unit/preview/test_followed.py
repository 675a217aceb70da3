from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest

from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.preview import followed
from commandsync.preview.followed import FollowedManifest
from commandsync.preview.saves import Saves
from commandsync.sync.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST = 20.0  # seconds that a busy machine may take
MAIN = "version: 1\ninclude: [commands/*.yaml]\ncommands: []\n"
FUN = "commands:\n  - {name: fun, description: Is fun., syntax: /fun}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "commands").mkdir()
    write(tmp_path, MAIN)
    write(tmp_path, "commands: []\n", "commands/first.yaml")
    return tmp_path


def write(folder: Path, text: str, name: str = "commands.yaml") -> None:
    path = folder / name
    aside = path.with_suffix(".new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


@pytest.fixture
def source(folder: Path) -> Iterator[FollowedManifest]:
    with FollowedManifest(Settings(files=(str(folder / "commands.yaml"),))) as opened:
        yield opened


def names(manifest: Manifest | ManifestError) -> list[str]:
    assert isinstance(manifest, Manifest)
    return [command.name for command in manifest.snapshot.commands]


def test_an_included_file_and_a_new_one_are_noticed(folder: Path, source: FollowedManifest) -> None:
    assert names(source.load()) == []
    changes = source.changes(Event())

    write(folder, FUN, "commands/first.yaml")
    assert names(next(changes)) == ["fun"]
    write(folder, FUN.replace("fun", "new"), "commands/second.yaml")
    assert names(next(changes)) == ["fun", "new"]
    (folder / "commands" / "first.yaml").unlink()
    assert names(next(changes)) == ["new"]


def test_problems_are_yielded_and_then_the_mended_manifest(
    folder: Path, source: FollowedManifest
) -> None:
    source.load()
    changes = source.changes(Event())

    write(folder, "version: 1\nfoo: 1\n")
    broken = next(changes)
    write(folder, MAIN)

    assert isinstance(broken, ManifestError)
    assert "foo" in broken.problems[0].message
    assert names(next(changes)) == []


def test_what_an_editor_has_half_written_is_not_a_problem(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is written while the problem is held back, however long the machine takes."""

    class Held(Saves):
        def wait(self, stop: Event, seconds: float | None = None) -> bool:
            if seconds is not None:
                write(folder, MAIN + "# whole\n")
            return super().wait(stop, None if seconds is None else LONGEST)

    monkeypatch.setattr(followed, "Saves", Held)
    with FollowedManifest(Settings(files=(str(folder / "commands.yaml"),))) as source:
        source.load()
        write(folder, "vers")

        assert names(next(source.changes(Event()))) == []


def test_a_save_that_changes_no_byte_is_no_change(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next change comes when the preview waits again."""

    class Counted(Saves):
        waits = 0

        def wait(self, stop: Event, seconds: float | None = None) -> bool:
            self.waits += 1
            if self.waits > 1:
                write(folder, FUN, "commands/first.yaml")
            return super().wait(stop, seconds)

    monkeypatch.setattr(followed, "Saves", Counted)
    with FollowedManifest(Settings(files=(str(folder / "commands.yaml"),))) as source:
        source.load()
        write(folder, MAIN)

        assert names(next(source.changes(Event()))) == ["fun"]


def test_a_manifest_that_is_moved_away_is_a_problem_until_it_is_back(
    folder: Path, source: FollowedManifest
) -> None:
    source.load()
    changes = source.changes(Event())
    aside = (folder / "commands.yaml").rename(folder / "aside.yaml")
    missing = next(changes)
    aside.rename(folder / "commands.yaml")

    assert isinstance(missing, ManifestError)
    assert missing.problems[0].message == "there is no such file"
    assert names(next(changes)) == []


def test_a_pattern_without_a_file_is_mended_by_the_file(
    folder: Path, source: FollowedManifest
) -> None:
    (folder / "commands" / "first.yaml").unlink()

    with pytest.raises(ManifestError, match="matches no file"):
        source.load()
    changes = source.changes(Event())
    write(folder, FUN, "commands/first.yaml")
    assert names(next(changes)) == ["fun"]


def test_a_folder_stands_for_its_one_manifest(folder: Path) -> None:
    with FollowedManifest(Settings(files=(str(folder),))) as source:
        assert names(source.load()) == []
        write(folder, "version: 1\n", "other.yaml")

        with pytest.raises(UsageError, match=r"one manifest, and these are several: .*commands"):
            list(source.changes(Event()))
