from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from commandsync.preview.followed import Saves

LONGEST = 20.0  # seconds that a busy machine may take
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
