import os
from functools import partial
from pathlib import Path

import pytest

from commandsync.errors import FileError, UsageError
from commandsync.sources.changeset import FileEdit
from commandsync.sync.files import check_target, ci_workspace, read_file, write_edits, write_file


def test_a_new_file_is_written_whole_in_utf8_with_lf(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"

    write_file(str(path), "größe\nzwei\n", force=False)

    assert path.read_bytes() == "größe\nzwei\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_inside_its_folder_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)

    write_file(str(link), "new", force=True)

    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


@pytest.mark.promise("force")
@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_out_of_its_folder_is_refused_even_when_it_leads_nowhere(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path.parent / "nowhere")

    with pytest.raises(FileError, match="link out of its folder"):
        check_target(str(link), force=True)
    with pytest.raises(FileError, match="link out of its folder"):
        write_file(str(link), "new", force=True)
    assert not (tmp_path.parent / "nowhere").exists()


def test_what_was_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    check_target(str(path), force=True, read=["-", str(path)])
    path.touch()

    check_target(str(path), force=True, read=["-", str(tmp_path)])
    with pytest.raises(UsageError, match="does not replace it"):
        check_target(str(path), force=True, read=["-", f"{tmp_path}/./a.yaml"])


@pytest.mark.parametrize(
    ("name", "message"), [("missing/a.yaml", "its folder does not exist"), ("a", "is a folder")]
)
@pytest.mark.parametrize("force", [True, False])
def test_a_path_where_no_file_can_be_is_refused(
    tmp_path: Path, name: str, message: str, *, force: bool
) -> None:
    (tmp_path / "a").mkdir()

    for refused in (check_target, partial(write_file, content="new")):
        with pytest.raises(FileError, match=message):
            refused(str(tmp_path / name), force=force)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")

    assert read_file(str(path), most=5) == b"12345"
    with pytest.raises(FileError, match="larger than 4 bytes"):
        read_file(str(path), most=4)


def test_a_workspace_is_known_in_ci_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deeper = tmp_path / "checkout" / "bots"
    deeper.mkdir(parents=True)
    monkeypatch.chdir(deeper)

    assert ci_workspace({}) is None
    assert ci_workspace({"CI": "false"}) is None
    assert ci_workspace({"GITHUB_WORKSPACE": str(tmp_path)}) == tmp_path
    assert ci_workspace({"CI": "1"}) == deeper
    (tmp_path / "checkout" / ".git").mkdir()
    assert ci_workspace({"CI": "true"}) == tmp_path / "checkout"


@pytest.mark.promise("edited-manifest")
@pytest.mark.parametrize("before", ["", "text\n"])
def test_a_file_is_written_only_over_what_was_read(tmp_path: Path, before: str) -> None:
    path = tmp_path / "commands.yaml"
    path.write_text(before, encoding="utf-8")
    write_edits([FileEdit(str(path), before, "first\n")])

    with pytest.raises(FileError, match="has changed in the meantime"):
        write_edits([FileEdit(str(path), before, "second\n")])

    assert path.read_text(encoding="utf-8") == "first\n"


def edits_of(tmp_path: Path) -> list[FileEdit]:
    paths = [tmp_path / name for name in ("first.yaml", "second.yaml")]
    for path in paths:
        path.write_text("old", encoding="utf-8")
    return [FileEdit(str(path), "old", "new") for path in paths]


def test_a_disk_that_fills_changes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = iter([None, OSError(28, "No space left on device")])

    def full(_: int) -> None:
        if error := next(flushed, None):
            raise error

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(FileError, match=r"second\.yaml: no space left"):
        write_edits(edits_of(tmp_path))

    texts = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert texts == {"first.yaml": "old", "second.yaml": "old"}


def test_a_file_that_stays_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Path] = []
    replace = Path.replace

    def once(self: Path, target: Path) -> Path:
        if moved:
            raise OSError(5, "Input/output error")
        moved.append(target)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", once)

    with pytest.raises(FileError, match=r"first\.yaml was written before") as error:
        write_edits(edits_of(tmp_path))

    assert "nothing was changed" not in str(error.value.hint)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.yaml", "second.yaml"]
