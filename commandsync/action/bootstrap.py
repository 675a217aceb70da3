"""The Action's way in: make the locked libraries importable, then run this very commit.

It runs as a script under `python -I -X utf8`: neither the workspace nor the environment says what
is imported. Standard library only, for nothing else is there yet.
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
LOCK = Path(__file__).resolve().with_name("requirements.lock")

# What may steer the installers: where packages come from and how to get there. The lock's hashes
# say what is taken. All else, such as PIP_TARGET or PIP_USER, would break the installation.
_NETWORK = re.compile(
    r"PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CERT|CLIENT_CERT|PROXY|TRUSTED_HOST|"
    r"CACHE_DIR|NO_CACHE_DIR|TIMEOUT|DEFAULT_TIMEOUT|RETRIES|CONFIG_FILE|KEYRING_PROVIDER)|"
    r"UV_(INDEX|INDEX_.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|CACHE_DIR|NO_CACHE|"
    r"HTTP_TIMEOUT|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|OFFLINE|KEYRING_PROVIDER)"
)
_SECRET = re.compile(r"INPUT_|COMMANDSYNC_|GITHUB_TOKEN$|GH_TOKEN$|ACTIONS_.*TOKEN$")
_HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")


class BootstrapError(Exception):
    """The libraries cannot be had; the message says why and what to do.

    Attributes:
        reason: The output failure-reason.
    """

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
    from commandsync.action.running import main as run  # noqa: PLC0415 - importable from here on

    return run(os.environ)


def prepare(environ: Mapping[str, str]) -> list[str]:
    """Make the locked libraries importable.

    Args:
        environ: The step's environment.

    Returns:
        The folders to put in front of `sys.path`; none where the very versions are there already.

    Raises:
        BootstrapError: They cannot be installed.
    """
    text = LOCK.read_text(encoding="utf-8")
    wanted = locked(text)
    if wanted.items() <= installed(sys.path).items():
        return []
    # One folder for each lock and each kind of interpreter, as its extension modules are named.
    digest = hashlib.sha256((text + EXTENSION_SUFFIXES[0]).encode()).hexdigest()[:16]
    temporary = environ.get("RUNNER_TEMP") or tempfile.mkdtemp(prefix="commandsync-")
    target = Path(temporary).absolute() / f"commandsync-{digest}"
    if wanted.items() <= installed([str(target)]).items():
        return [str(target)]
    return [_install_aside(target, environ)]


def locked(text: str) -> dict[str, str]:
    """Return the version of each library that a lock names."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", text, re.MULTILINE))


def installed(folders: Iterable[str]) -> dict[str, str]:
    """Return the version of each library in these folders; the first folder wins, as in imports."""
    found: dict[str, str] = {}
    for folder in folders:
        with suppress(OSError):
            for entry in os.listdir(folder):  # noqa: PTH208 - pathlib takes ten times as long
                if entry.endswith(".dist-info"):
                    name, _, version = entry.removesuffix(".dist-info").partition("-")
                    found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return found


def _install_aside(target: Path, environ: Mapping[str, str]) -> str:
    """Install into a folder of our own and move it into place: jobs at once do not meet.

    Returns:
        Where the libraries are.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent)
    except OSError as error:
        # The machine is not set up; as little the network's fault as a missing Python.
        said = f"cannot write to RUNNER_TEMP: {error.strerror}"
        raise BootstrapError(said, reason="invalid") from error
    try:
        _install(aside, environ)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    try:
        Path(aside).rename(target)
    except OSError:  # another job was quicker, or left something broken there: ours is whole
        return aside
    return str(target)


def _install(folder: str, environ: Mapping[str, str]) -> None:
    wheels = environ.get("INPUT_WHEELS_DIR", "").strip()
    offline = ["--no-index", "--find-links", str(Path(wheels).absolute())] if wheels else []
    if wheels and not Path(wheels).is_dir():
        raise BootstrapError(f"the input wheels-dir names no folder: {wheels!a}", reason="invalid")
    print("Installing the libraries that commandsync is locked to ...", flush=True)  # noqa: T201
    ended = subprocess.run(  # noqa: S603 - an installer by its full path, with our own arguments
        [*_installer(), "--target", folder, *_HASHED, *offline, "-r", str(LOCK)],
        cwd=folder,  # uv would look for its settings in the workspace
        env=_environment(environ),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if ended.returncode and wheels:  # no network was asked: the input names the wrong wheels
        raise BootstrapError(
            "the locked libraries could not be installed from the input wheels-dir; the lines "
            f"above say why. Does it hold the very wheels of {LOCK.name} for this machine?",
            reason="invalid",
        )
    if ended.returncode:
        # Installers do not tell apart whether the index was silent, had no such wheel, or a wheel
        # was not the locked one; all of that lies on the way to the index.
        raise BootstrapError(
            "the locked libraries could not be installed; the lines above say why. Is the package "
            "index reachable? Where it is not, the input wheels-dir takes a folder of wheels.",
            reason="network",
        )


def _installer() -> list[str]:
    """Return the command of pip or, where this Python has none, of uv."""
    if importlib.util.find_spec("pip"):
        options = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-compile")
        return [sys.executable, "-I", "-X", "utf8", "-m", "pip", "install", *options]
    uv = shutil.which("uv")
    if uv and Path(uv).is_absolute():  # Windows would take one from the workspace
        return [uv, "--no-config", "pip", "install", "--quiet", "--python", sys.executable]
    raise BootstrapError(
        f"{sys.executable} has no pip, and there is no uv. Add a step with actions/setup-python "
        "before this one, or install pip or uv.",
        reason="invalid",  # as where action.yml finds no Python: the machine is not set up
    )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the installers' environment: no secrets, and no setting but on how to get there."""
    kept = {
        name: value
        for name, value in environ.items()
        if _NETWORK.fullmatch(name)
        or not (name.startswith(("PIP_", "UV_", "PYTHON")) or _SECRET.match(name))
    }
    # Over what a user's pip.conf may say; nothing is installed into the system's own folders.
    return kept | {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_BREAK_SYSTEM_PACKAGES": "1"}


def _report(error: BootstrapError, environ: Mapping[str, str]) -> None:
    """Say what went wrong in the log, the outputs and the summary, with nothing but ourselves."""
    message = str(error)
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=commandsync::{escaped}", flush=True)  # noqa: T201 - the runner reads it
    _append(environ.get("GITHUB_OUTPUT", ""), f"result=failed\nfailure-reason={error.reason}\n")
    if environ.get("INPUT_SUMMARY") != "false":
        shown = message.replace("`", "'")
        _append(
            environ.get("GITHUB_STEP_SUMMARY", ""), f"### commandsync did not run\n\n`{shown}`\n"
        )


def _append(path: str, text: str) -> None:
    if path:
        with suppress(OSError), Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


def _leave(number: int, _frame: FrameType | None) -> None:
    """End at once on a signal, the installer with us: nothing has been done yet."""
    sys.exit(128 + number)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # taking down what is loaded would take longer than many a run
