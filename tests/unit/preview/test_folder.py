from pathlib import Path

import pytest

from commandsync.diagnostics import Do
from commandsync.errors import FileError
from commandsync.pages.botpage import BotPage, Preview, page_files
from commandsync.preview.folder import check_folder, write_folder
from tests.support.botpages import bot


def page(summary: str) -> dict[str, bytes]:
    return page_files(BotPage(bot=bot(), rows={}, preview=Preview(summary=summary)))


def test_a_page_is_written_into_a_new_folder_and_replaced_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "preview"
    write_folder(str(folder), page("Plan: first."), force=False)

    path = write_folder(str(folder), page("Plan: second."), force=False)

    assert path == str(folder / "index.html")
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert "Plan: second." in text
    assert {file.name for file in folder.iterdir()} == page("").keys()


@pytest.mark.parametrize("name", ["index.html", "style.css"])
def test_a_file_of_somebody_else_is_replaced_only_by_force(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("<title>My site</title>", encoding="utf-8")

    with pytest.raises(FileError, match=f"{name} exists already") as caught:
        write_folder(str(tmp_path), page("Plan."), force=False)
    assert caught.value.hint == Do.REPLACE_FILE()
    assert (tmp_path / name).read_text(encoding="utf-8") == "<title>My site</title>"
    assert [file.name for file in tmp_path.iterdir()] == [name]

    write_folder(str(tmp_path), page("Plan."), force=True)
    assert "My site" not in (tmp_path / name).read_text(encoding="utf-8")


def test_a_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "site"
    path.write_text("", encoding="utf-8")

    with pytest.raises(FileError, match="cannot"):
        check_folder(str(path), force=False)
