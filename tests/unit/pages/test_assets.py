import re
from pathlib import Path

from commandsync.pages import assets
from commandsync.pages.assets import beside, served, served_files, static_files


def test_a_file_has_another_name_for_other_content() -> None:
    names = {name.split(".")[0]: name for name in served_files()}

    assert names.keys() == {name.split(".")[0] for name in static_files()}
    for name in names.values():
        assert len(name.split(".")[1]) == 12, name


def test_a_service_and_a_folder_have_the_same_files() -> None:
    service, folder = served(), beside()

    assert service.style.startswith("/static/style.")
    assert (folder.style, folder.icon) == ("style.css", "icon.svg")
    assert len(service.scripts) == len(folder.scripts) > 0


def test_no_file_of_the_pages_names_another_host() -> None:
    folder = Path(assets.__file__).parent

    for file in (*folder.glob("static/*"), *folder.glob("templates/*")):
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*// .*$|; // .*$", "", text, flags=re.MULTILINE), file.name
