"""A document of the first hour works with nothing but the program that its own line installs."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.readme_blocks import ROOT, with_real_outputs
from tests.support.terminal import POSIX

_INSTALL = re.compile(r"^pipx install .*", re.MULTILINE)
_NO_WAY = ("ConnectionError", "NameResolutionError", "Timeout", "ProxyError")  # as pip puts it
_LONGEST = 600  # seconds

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not POSIX, reason="a shell of POSIX runs the documents"),
    pytest.mark.skipif(not (ROOT / "commandsync").exists(), reason="a clone is installed"),
]


def run(*command: str | Path, environment: dict[str, str]) -> None:
    """Run a command in the clone; a package index that is out of reach skips the test."""
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )
    said = ended.stdout + ended.stderr
    if ended.returncode and any(word in said for word in _NO_WAY):
        pytest.skip("the package index is out of reach")
    assert ended.returncode == 0, said


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function that runs a line with pipx, and returns the program's Python."""
    tools, made = tmp_path_factory.mktemp("tools"), dict[str, Path]()
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    run(sys.executable, "-m", "venv", tools, environment=environment)
    run(tools / "bin/python", "-m", "pip", "install", "pipx", environment=environment)

    def install(line: str) -> str:
        if line not in made:
            made[line] = home = tmp_path_factory.mktemp("pipx")
            own = {"PIPX_HOME": str(home), "PIPX_BIN_DIR": str(home / "bin")}
            own |= {"PIPX_MAN_DIR": str(home / "man"), "PATH": f"{tools}/bin:{os.environ['PATH']}"}
            run("bash", "-c", line, environment=environment | own)
            assert (home / "bin" / "commandsync").exists()
        return str(made[line] / "venvs" / "commandsync" / "bin" / "python")

    return install


@pytest.mark.parametrize("document", ["README.md", "docs/discordjs.md", "docs/discordpy.md"])
def test_a_fresh_installation_prints_the_outputs_of_the_document(
    document: str, installed: Callable[[str], str]
) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    (line,) = _INSTALL.findall(text)

    real, _ = with_real_outputs(text, installed(line))

    assert real == text
