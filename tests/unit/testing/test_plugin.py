import subprocess
import sys
from pathlib import Path

HEAVY = {
    *("aiohttp", "fastapi", "jwt", "limits", "pydantic", "requests", "sqlalchemy"),
    *("uvicorn", "websockets", "commandsync.server", "commandsync.client"),
}
UNUSED = f"""
import sys

def test_nothing_of_the_kit_is_loaded():
    assert not {HEAVY} & sys.modules.keys()
    assert "commandsync.testing.plugin" in sys.modules
"""
USED = """
def test_the_fixture_is_there(listing):
    with listing.bot().client() as client:
        assert client.get_commands() == ()
"""


def run(folder: Path, text: str, *arguments: str) -> str:
    """Run a test of somebody else's project, and return the output."""
    (folder / "test_it.py").write_text(text)
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis")
    ended = subprocess.run(
        [*command, *arguments, "test_it.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.stdout + ended.stderr


def test_a_project_that_does_not_use_it_loads_nothing(tmp_path: Path) -> None:
    assert "1 passed" in run(
        tmp_path, UNUSED, "-p", "no:hypothesispytest", "-p", "no:inline_snapshot"
    )


def test_the_fixture_needs_no_configuration_and_warns_of_nothing(tmp_path: Path) -> None:
    assert "1 passed" in run(tmp_path, USED, "-W", "error", "-p", "no:asyncio")


def test_a_name_that_the_kit_does_not_have_is_an_error() -> None:
    script = "import commandsync.testing as t; print(hasattr(t, 'Listings'), hasattr(t, 'Listing'))"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "False True\n"
