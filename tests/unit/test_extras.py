"""The command that adds an extra works for this copy of the package."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import format_exception_only
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync import extras
from commandsync.errors import UsageError

Installed = Callable[..., list[str]]

WORDS = st.text("abcé 'x-", min_size=1, max_size=12).map(lambda word: f"a{word}z")
GENERATED = settings(max_examples=25)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Let installers have noted something; return the words of the command."""
    noted = tmp_path / "commandsync-0.dist-info"
    noted.mkdir()
    (noted / "METADATA").write_text("Metadata-Version: 2.1\nName: commandsync\nVersion: 0\n")
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def command(origin: Any = None, *, installer: str = "pip") -> list[str]:  # noqa: ANN401 - any JSON
        (noted / "INSTALLER").write_text(f"{installer}\n")
        (noted / "direct_url.json").write_text(json.dumps(origin) if origin else "")
        return shlex.split(extras.install_command("server"))

    return command


@GENERATED
@given(folder=WORDS, editable=st.booleans())
def test_a_folders_copy_names_it(*, installed: Installed, folder: str, editable: bool) -> None:
    path = Path("/", folder)
    info = {"editable": True} if editable else {}

    words = installed({"url": path.as_uri(), "dir_info": info})

    assert words[-1] == f"{path}[server]"
    assert words[-2] == ("-e" if editable else "install")


@GENERATED
@given(commit=st.text("0123456789abcdef", min_size=40, max_size=40), inside=st.booleans())
def test_a_copy_from_git_names_a_commit(*, installed: Installed, commit: str, inside: bool) -> None:
    origin: dict[str, Any] = {
        "url": "https://me:hunter2@git.example/bot.git",
        "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": commit},
    }
    where = {"subdirectory": "lib"} if inside else {}

    words = installed(origin | where)

    tail = "#subdirectory=lib" if inside else ""
    assert words[-1] == (f"commandsync[server] @ git+https://git.example/bot.git@{commit}{tail}")


def test_a_copy_from_a_wheel_names_the_wheel(installed: Installed) -> None:
    url = "file:///tmp/commandsync-0-py3-none-any.whl"

    assert installed({"url": url, "archive_info": {}})[-1] == f"commandsync[server] @ {url}"


def test_a_copy_from_an_index_names_the_package(installed: Installed) -> None:
    assert installed()[-1] == "commandsync[server]"


def test_the_installer_is_the_one_that_was_used_and_of_this_python(
    installed: Installed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path / "bin"
    here.mkdir()
    pip = here / "pip"
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    monkeypatch.setenv("PATH", str(here))
    other = installed()
    monkeypatch.setattr(sys, "executable", str(here / "python"))
    same = installed()

    assert other[1:4] == ["-m", "pip", "install"]
    assert same[:2] == ["pip", "install"]
    assert installed(installer="uv")[:5] == ["uv", "pip", "install", "--python", sys.executable]


def test_an_uninstalled_checkout_names_itself(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")

    assert installed()[-1] == f"{tmp_path}[server]"


def test_what_is_missing_is_named_with_the_command() -> None:
    error = extras.missing("this needs", "async", ModuleNotFoundError(name="aiohttp"))

    assert isinstance(error, UsageError)
    assert error.message == "this needs the extra [async]: the module 'aiohttp' is not installed"
    assert "".join(format_exception_only(error)).endswith(f"\n{error.hint}\n")  # as in a script
    assert error.hint == f"install it: {extras.install_command('async')}"
