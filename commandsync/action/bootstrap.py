"""The entry of the Action: install the locked libraries, then run this commit.

It runs as a script under `python -I -X utf8`, so that neither the workspace nor the environment
decides what is imported. Only the standard library is available yet.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import FrameType
    from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
LOCK = Path(__file__).resolve().with_name("requirements.txt")

# The settings that installers get: the index and the network. The lock's hashes decide what is
# installed. Other settings, such as PIP_TARGET or PIP_USER, would break the installation.
_NETWORK = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CERT|CLIENT_CERT|PROXY|TRUSTED_HOST|"
    r"CACHE_DIR|NO_CACHE_DIR|TIMEOUT|DEFAULT_TIMEOUT|RETRIES|CONFIG_FILE|KEYRING_PROVIDER)|"
    r"UV_(INDEX|INDEX_.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CACHE_DIR|NO_CACHE|"
    r"HTTP_TIMEOUT|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|OFFLINE|KEYRING_PROVIDER)"
)
_SECRET = re.compile(r"INPUT_|COMMANDSYNC_|GITHUB_TOKEN$|GH_TOKEN$|ACTIONS_.*TOKEN$")
_HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")

NEWEST = (3, 14)
"""The newest Python that the lock has wheels for."""


class BootstrapError(Exception):
    """The libraries cannot be installed; `reason` is the output failure-reason."""

    def __init__(self, message: str, *, reason: Literal["invalid", "network"]) -> None:
        super().__init__(message)
        self.reason = reason


def main() -> int:
    """Run the Action; return the exit code."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    try:
        libraries = prepare(os.environ)
    except BootstrapError as error:
        _report(error, os.environ)
        return 1
    sys.path[:0] = [str(ROOT), *libraries]
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # code of the machine that no lock names
    from commandsync.action import run  # noqa: PLC0415 - importable only now

    return run.main(os.environ)


def prepare(environ: Mapping[str, str]) -> list[str]:
    """Make the locked libraries importable; return the folders to put in front of `sys.path`.

    There are none if the same versions are installed already. Raises `BootstrapError`.
    """
    text = LOCK.read_text(encoding="utf-8")
    needed = locked(text)
    if needed.items() <= installed(sys.path).items():
        return []
    # One folder for each version of the lock and each kind of interpreter.
    digest = hashlib.sha256((text + EXTENSION_SUFFIXES[0]).encode()).hexdigest()[:16]
    temporary = environ.get("RUNNER_TEMP") or tempfile.mkdtemp(prefix="commandsync-")
    target = Path(temporary).absolute() / f"commandsync-{digest}"
    if needed.items() <= installed([str(target)]).items():
        return [str(target)]
    if sys.version_info[:2] > NEWEST:
        newest, ours = (".".join(map(str, each[:2])) for each in (NEWEST, sys.version_info))
        raise BootstrapError(
            f"Python {ours} is newer than {newest}, the newest that the locked libraries have "
            "wheels for. Add a step with actions/setup-python and "
            f"python-version {newest} before this one, or name another in the input python.",
            reason="invalid",
        )
    return [_install_aside(target, environ)]


def locked(text: str) -> dict[str, str]:
    """Return the version of each library in a lock."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", text, re.MULTILINE))


def installed(folders: Iterable[str]) -> dict[str, str]:
    """Return the version of each library in these folders; the first folder wins, as in imports."""
    versions: dict[str, str] = {}
    for folder in folders:
        with suppress(OSError):
            for entry in os.listdir(folder):  # noqa: PTH208 - pathlib is ten times slower
                if entry.endswith(".dist-info"):
                    name, _, version = entry.removesuffix(".dist-info").partition("-")
                    versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return versions


def _install_aside(target: Path, environ: Mapping[str, str]) -> str:
    """Install into a new folder and move it into place, so that parallel jobs do not collide."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent)
    except OSError as error:
        message = f"cannot write to RUNNER_TEMP: {error.strerror}"
        raise BootstrapError(message, reason="invalid") from error
    try:
        _install(aside, environ)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    try:
        Path(aside).rename(target)
    except OSError:  # another job was quicker
        return aside
    return str(target)


def _install(folder: str, environ: Mapping[str, str]) -> None:
    installer = _installer()
    print("Installing the libraries that commandsync is locked to ...", flush=True)  # noqa: T201
    ended = subprocess.run(  # noqa: S603 - an installer by its full path
        [*installer, "--target", folder, *_HASHED, "-r", str(LOCK)],
        cwd=folder,  # uv would read settings from the workspace
        env=_environment(environ),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if ended.returncode:
        # Installers do not distinguish an index without an answer, a missing wheel and a wrong
        # hash; all of these are errors of the index.
        raise BootstrapError(
            "the locked libraries could not be installed; see the lines above. Is the package "
            "index reachable? If not, name a folder of wheels in PIP_FIND_LINKS, and set "
            "PIP_NO_INDEX to 1.",
            reason="network",
        )


def _installer() -> list[str]:
    """Return the command of pip, or where Python has none, of uv."""
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip"):
        options = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-compile")
        return [sys.executable, "-I", "-X", "utf8", "-m", "pip", "install", *options]
    if uv and Path(uv).is_absolute():  # on Windows it could be one in the workspace
        return [uv, "--no-config", "pip", "install", "--quiet", "--python", sys.executable]
    raise BootstrapError(
        f"{sys.executable} has no pip, and uv is not installed. Add a step with "
        "actions/setup-python before this one, or install pip or uv.",
        reason="invalid",  # as without a Python in action.yml
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the installers: no secrets, and only settings of the network."""
    kept = {
        name: value
        for name, value in environ.items()
        if _NETWORK.fullmatch(name)
        or not (name.startswith(("PIP_", "UV_", "PYTHON")) or _SECRET.match(name))
    }
    # These override a user's pip.conf; nothing is installed into the system's own folders.
    return kept | {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_BREAK_SYSTEM_PACKAGES": "1"}


def _report(error: BootstrapError, environ: Mapping[str, str]) -> None:
    """Report an error in the log, the outputs and the summary, without the libraries."""
    message = str(error)
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=commandsync::{escaped}", flush=True)  # noqa: T201 - the runner reads it
    texts = {"GITHUB_OUTPUT": f"result=failed\nfailure-reason={error.reason}\n"}
    if environ.get("INPUT_SUMMARY") != "false":
        shown = message.replace("`", "'")
        texts["GITHUB_STEP_SUMMARY"] = f"### commandsync did not run\n\n`{shown}`\n"
    for variable, text in texts.items():
        path = Path(environ.get(variable, ""))  # if it is empty, a folder: nothing is written
        with suppress(OSError), path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _leave(number: int, _frame: FrameType | None) -> None:
    """Exit at once on a signal, the installer as well: nothing has been done yet."""
    sys.exit(128 + number)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without a slow clean-up of the modules
