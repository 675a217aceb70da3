from __future__ import annotations

import sys
from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING

import pytest

from commandsync.errors import FileError, UsageError
from commandsync.preview import saves
from commandsync.preview.saves import Saves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LONGEST = 20.0  # seconds that a busy machine may take
NEVER = Event()


@pytest.fixture
def watching() -> Iterator[Saves]:
    watching = Saves()
    yield watching
    watching.close()


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
    watching.follow({"commands.yaml"}, set())
    save(manifest)

    assert watching.wait(NEVER, LONGEST)


def test_a_new_file_in_a_folder_that_patterns_name_is_noticed(
    watching: Saves, manifest: Path
) -> None:
    folder = manifest.parent / "commands"
    folder.mkdir()
    watching.follow({"commands.yaml"}, {"commands"})
    (folder / "fun.yaml").write_text("commands: []\n", encoding="utf-8")

    assert watching.wait(NEVER, LONGEST)


def test_a_folder_that_does_not_exist_yet_is_noticed(watching: Saves, manifest: Path) -> None:
    watching.follow({"commands.yaml"}, {"commands"})
    (manifest.parent / "commands").mkdir()

    assert watching.wait(NEVER, LONGEST)


def test_another_file_beside_the_manifest_is_not_a_save(watching: Saves, manifest: Path) -> None:
    watching.follow({"commands.yaml"}, set())
    (manifest.parent / "bot.log").write_text("started\n", encoding="utf-8")

    assert not watching.wait(NEVER, 0.3)


def test_the_target_of_a_link_is_watched_in_its_own_folder(watching: Saves, manifest: Path) -> None:
    (manifest.parent / "real").mkdir()
    target = manifest.rename(manifest.parent / "real" / "commands.yaml")
    manifest.symlink_to(target)
    watching.follow({"commands.yaml"}, set())
    written(target)

    assert watching.wait(NEVER, LONGEST)


def test_where_the_system_reports_nothing_a_save_is_found_by_looking(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves, "_existing", lambda _: str(manifest.parent / "elsewhere"))
    monkeypatch.setattr(saves, "_CHECK", 10)
    (manifest.parent / "elsewhere").mkdir()
    watching = Saves()
    watching.follow({"commands.yaml"}, set())
    written(manifest)

    assert watching.wait(NEVER, LONGEST)
    watching.close()


def test_saves_in_a_folder_that_was_replaced_are_noticed(watching: Saves, manifest: Path) -> None:
    folder = manifest.parent / "commands"
    folder.mkdir()
    (folder / "fun.yaml").write_text("commands: []\n", encoding="utf-8")
    files = {"commands.yaml", "commands/fun.yaml"}
    watching.follow(files, {"commands"})
    folder.rename(manifest.parent / "moved")
    folder.mkdir()
    for number in range(3):
        (folder / "fun.yaml").write_text(f"commands: [] # {number}\n", encoding="utf-8")
        assert watching.wait(NEVER, LONGEST)
        watching.follow(files, {"commands"})


def test_the_wait_ends_when_it_is_stopped(watching: Saves, manifest: Path) -> None:
    watching.follow({str(manifest)}, set())
    stop = Event()
    stop.set()

    assert not watching.wait(stop)


def test_a_folder_that_is_gone_when_it_is_to_be_watched_is_looked_for(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saves, "_existing", lambda _: str(manifest.parent / "gone"))
    monkeypatch.setattr(saves, "_CHECK", 10)
    watching = Saves()
    watching.follow({"commands.yaml"}, set())
    written(manifest)

    assert watching.wait(NEVER, LONGEST)
    watching.close()


def test_a_system_that_watches_no_more_folders_is_an_error(
    watching: Saves, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_folders: str, **_options: object) -> Iterator[set[object]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(saves, "watch", refuse)
    watching.follow({str(manifest)}, set())

    with pytest.raises(FileError, match="cannot wait for changes: OS file watch limit reached"):
        watching.wait(NEVER, LONGEST)


def test_a_missing_library_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    monkeypatch.delitem(sys.modules, "commandsync.preview.saves")

    with pytest.raises(UsageError, match=r"preview needs the extra \[server\]: .*'watchfiles'"):
        import_module("commandsync.preview.saves")
