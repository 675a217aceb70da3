from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path
from threading import Event

import pytest

from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.preview import views
from commandsync.preview.views import FollowedManifest, Saves
from commandsync.sync.settings import Settings
from tests.support.plans import day

LONGEST = 20.0  # seconds that a busy machine may take
MAIN = "version: 1\nprefix: /\ninclude: [commands/*.yaml]\ncommands: []\n"
FUN = "commands:\n  - {name: fun, description: Is fun., syntax: '{prefix}fun'}\n"


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


def following(path: Path) -> Iterator[Manifest | ManifestError]:
    return FollowedManifest(Settings(now=day(1), files=(str(path),))).manifests(Event())


def names(manifest: Manifest | ManifestError) -> list[str]:
    assert isinstance(manifest, Manifest)
    return [command.name for command in manifest.snapshot.commands]


def test_an_included_file_and_a_new_one_are_noticed(folder: Path) -> None:
    changes = following(folder / "commands.yaml")
    assert names(next(changes)) == []

    write(folder, FUN, "commands/first.yaml")
    assert names(next(changes)) == ["fun"]
    write(folder, FUN.replace("fun", "new"), "commands/second.yaml")
    assert names(next(changes)) == ["fun", "new"]
    (folder / "commands" / "first.yaml").unlink()
    assert names(next(changes)) == ["new"]


def test_a_half_written_file_is_no_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is written while the problem is held back, however long the machine takes."""

    class Held(Saves):
        def wait(self, stop: Event, seconds: float = inf) -> bool:
            if seconds < inf:
                write(folder, MAIN + "# whole\n")
            return super().wait(stop, seconds if seconds == inf else LONGEST)

    monkeypatch.setattr(views, "Saves", Held)
    changes = following(folder / "commands.yaml")
    next(changes)
    write(folder, "vers")

    assert names(next(changes)) == []


def test_an_equal_save_is_no_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next change comes when the preview waits again."""

    class Counted(Saves):
        waits = 0

        def wait(self, stop: Event, seconds: float = inf) -> bool:
            self.waits += 1
            if self.waits > 1:
                write(folder, FUN, "commands/first.yaml")
            return super().wait(stop, seconds)

    monkeypatch.setattr(views, "Saves", Counted)
    changes = following(folder / "commands.yaml")
    next(changes)
    write(folder, MAIN)

    assert names(next(changes)) == ["fun"]


def test_a_manifest_that_is_moved_away_is_a_problem_until_it_is_back(folder: Path) -> None:
    changes = following(folder / "commands.yaml")
    next(changes)
    aside = (folder / "commands.yaml").rename(folder / "aside.yaml")
    missing = next(changes)
    aside.rename(folder / "commands.yaml")

    assert isinstance(missing, ManifestError)
    assert "not exist" in missing.problems[0].message
    assert names(next(changes)) == []


def test_a_pattern_without_a_file_is_mended_by_the_file(folder: Path) -> None:
    (folder / "commands" / "first.yaml").unlink()

    changes = following(folder / "commands.yaml")
    missing = next(changes)
    assert isinstance(missing, ManifestError)
    assert "matches no file" in missing.problems[0].message
    write(folder, FUN, "commands/first.yaml")
    assert names(next(changes)) == ["fun"]


def test_a_folder_stands_for_its_one_manifest(folder: Path) -> None:
    changes = following(folder)
    assert names(next(changes)) == []
    write(folder, "version: 1\n", "other.yaml")

    with pytest.raises(UsageError, match=r"one manifest, not several: .*commands"):
        next(changes)


NEVER = Event()


@pytest.fixture
def watching() -> Saves:
    return Saves()


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "commands.yaml"
    path.write_text("version: 1\n", encoding="utf-8")
    return path


def written(path: Path) -> None:
    path.write_text("version: 1 # again\n", encoding="utf-8")


def renamed(path: Path) -> None:
    aside = path.with_name(".commands.yaml.swp")
    aside.write_text("version: 1 # again\n", encoding="utf-8")
    aside.replace(path)


def created_again(path: Path) -> None:
    path.unlink()
    path.write_text("version: 1 # again\n", encoding="utf-8")


@pytest.mark.parametrize("save", [written, renamed, created_again])
def test_a_save_is_noticed_however_an_editor_writes(
    watching: Saves, manifest: Path, save: Callable[[Path], None]
) -> None:
    watching.follow(["commands.yaml"])
    save(manifest)

    assert watching.wait(NEVER, LONGEST)


def test_a_folder_that_does_not_exist_yet_is_noticed(watching: Saves, manifest: Path) -> None:
    watching.follow(["commands.yaml", "commands"])
    (manifest.parent / "commands").mkdir()

    assert watching.wait(NEVER, LONGEST)


def test_another_file_beside_the_manifest_is_not_a_save(watching: Saves, manifest: Path) -> None:
    watching.follow(["commands.yaml"])
    (manifest.parent / "bot.log").write_text("started\n", encoding="utf-8")

    assert not watching.wait(NEVER, 0.3)


def test_the_target_of_a_link_is_watched_in_its_own_folder(watching: Saves, manifest: Path) -> None:
    (manifest.parent / "real").mkdir()
    target = manifest.rename(manifest.parent / "real" / "commands.yaml")
    manifest.symlink_to(target)
    watching.follow(["commands.yaml"])
    written(target)

    assert watching.wait(NEVER, LONGEST)


def test_saves_in_a_folder_that_was_replaced_are_noticed(watching: Saves, manifest: Path) -> None:
    folder = manifest.parent / "commands"
    folder.mkdir()
    (folder / "fun.yaml").write_text("commands: []\n", encoding="utf-8")
    paths = ["commands.yaml", "commands/fun.yaml", "commands"]
    watching.follow(paths)
    folder.rename(manifest.parent / "moved")
    folder.mkdir()
    for number in range(3):
        (folder / "fun.yaml").write_text(f"commands: [] # {number}\n", encoding="utf-8")
        assert watching.wait(NEVER, LONGEST)
        watching.follow(paths)


def test_the_wait_ends_when_it_is_stopped(watching: Saves, manifest: Path) -> None:
    watching.follow([str(manifest)])
    stop = Event()
    stop.set()

    assert not watching.wait(stop)
