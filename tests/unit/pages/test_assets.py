from commandsync.pages.assets import beside, served, served_files, static_files
from tests.support.botpages import bot


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
    assert service.theme_of(bot(theme={"enabled": True, "color": "#D97706"})) == "/theme/d97706.css"
    assert folder.theme_of(bot()) == "theme.css"
