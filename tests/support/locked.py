"""The libraries of the Action's lock: as a folder of wheels, and in Pythons that run the step.

The wheels are fetched once, from the package index, and kept in the user's cache for as long as the
lock and the interpreter stay the same; so is the Python that has them. Where there is neither cache
nor network, the tests that need them are skipped.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.runner import ROOT

LOCK = ROOT / "commandsync" / "action" / "requirements.txt"
PREVIEW_LOCK = LOCK.with_name("requirements-preview.txt")
_HASHED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
_PIP = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--quiet")
_MARK = "[externally-managed]\nError=marked: this Python belongs to the system\n"
_NO_WAY = ("ConnectionError", "NameResolutionError", "Timeout", "ProxyError")  # as pip puts it
_UNREACHABLE = "the locked wheels are not in the cache, and the package index is out of reach"


@pytest.fixture(scope="session")
def wheels() -> Path:
    """The wheels."""
    return _wheels(LOCK)


@pytest.fixture(scope="session")
def preview_wheels() -> Path:
    """The wheels of a run with a preview."""
    return _wheels(PREVIEW_LOCK)


def _wheels(lock: Path) -> Path:
    def download(folder: Path) -> None:
        quick = ["--retries", "1", "--timeout", "10", "-d", str(folder), "-r", str(lock)]
        try:
            subprocess.run([*_PIP, "download", *quick, *_HASHED], check=True, capture_output=True)
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace")
            if any(word in said for word in _NO_WAY):
                pytest.skip(_UNREACHABLE)
            pytest.fail(said)

    return _kept("wheels", lock, download)


@pytest.fixture(scope="session")
def locked_python(wheels: Path) -> str:
    """A Python that has the locked libraries, and neither pip nor anything else."""

    def install(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        (site,) = folder.rglob("site-packages")
        _unpack(wheels, site)

    return str(_python(_kept("environment", LOCK, install)))


@pytest.fixture(scope="session")
def system_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python as systems have it: not a virtual environment, with no library and no pip.

    It is marked as the system's own (PEP 668), so that pip by itself would install nothing.
    """
    folder = tmp_path_factory.mktemp("system")
    if os.name == "nt":  # there it finds its libraries otherwise, and no system owns it
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        return _python(folder)
    program, library = folder / "bin" / NAME, folder / "lib" / NAME
    program.parent.mkdir()
    shutil.copy(Path(sys.executable).resolve(), program)
    (library / "site-packages").mkdir(parents=True)
    for path in Path(sysconfig.get_path("stdlib")).iterdir():
        if path.name not in {"site-packages", "dist-packages", "EXTERNALLY-MANAGED"}:
            (library / path.name).symlink_to(path)
    (library / "EXTERNALLY-MANAGED").write_text(_MARK, encoding="utf-8")
    return program


@pytest.fixture(scope="session")
def system_python_with_pip(system_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with pip, which notes each call in the file that CALLS names."""
    folder = tmp_path_factory.mktemp("with-pip") / "python"
    shutil.copytree(system_python.parents[1], folder, symlinks=True)
    (site,) = folder.rglob("site-packages")
    shutil.copytree(Path(sysconfig.get_path("purelib")) / "pip", site / "pip")
    main = site / "pip" / "__main__.py"
    before, imports, rest = main.read_text(encoding="utf-8").partition("import os\n")
    noted = f"{imports}open(os.environ['CALLS'], 'a').write('call\\n')\n"
    main.write_text(f"{before}{noted}{rest}", encoding="utf-8")
    return folder / system_python.relative_to(system_python.parents[1])


def _unpack(wheels: Path, folder: Path) -> None:
    """Put the libraries into a folder as an installer would: they have no scripts of their own."""
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _kept(name: str, lock: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder that is made once, by whichever of the tests' processes comes first."""
    made_of = f"{lock.read_text(encoding='utf-8')}{sys.version}{sys.base_prefix}"
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    parent = _cache() / "commandsync-tests"
    parent.mkdir(parents=True, exist_ok=True)
    folder = parent / f"{name}-{digest}"
    with _alone(parent / f"{name}.lock"):
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / ".complete").touch()
    return folder


def _cache() -> Path:
    """Return the folder for what this user's programs can make again."""
    usual = {"win32": "~/AppData/Local", "darwin": "~/Library/Caches"}.get(sys.platform, "~/.cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or usual).expanduser()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        with suppress(ImportError):  # Windows: its test processes each make their own at worst
            import fcntl  # noqa: PLC0415 - POSIX only

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
