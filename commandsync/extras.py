"""The command that adds an extra to this installation."""

import json
import os
import re
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from commandsync.errors import UsageError

Extra = Literal["async", "html", "javascript", "postgres", "record", "server"]

_ROOT = Path(__file__).resolve().parents[1]


def missing(beginning: str, extra: Extra, error: ImportError) -> UsageError:
    """Return the error for a missing extra; its message begins as given."""
    hint = f"install it: {install_command(extra)}"
    message = f"{beginning} the extra [{extra}]: the module {error.name!r} is not installed"
    failure = UsageError(message, hint=hint)
    failure.add_note(hint)  # a script shows the traceback alone
    return failure


def install_command(extra: Extra) -> str:
    """Return the command that installs this copy with an extra."""
    installer, origin = _recorded()
    python, short = _quoted(sys.executable), shutil.which("pip")
    if installer == "uv":
        pip = f"uv pip install --python {python}"
    elif short and Path(short).parent == Path(sys.executable).parent:  # a shell finds this one
        pip = "pip install"
    else:
        pip = f"{python} -m pip install"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{pip} {editable}{_quoted(_requirement(extra, origin))}"


def _requirement(extra: Extra, origin: dict[str, Any]) -> str:
    if (_ROOT / "pyproject.toml").is_file():
        return f"{_ROOT}[{extra}]"
    url = re.sub(r"//[^/@]*:[^/@]*@", "//", str(origin.get("url", "")))  # without a password
    if "dir_info" in origin:
        return f"{url2pathname(urlsplit(url).path)}[{extra}]"
    inside = f"#subdirectory={origin['subdirectory']}" if "subdirectory" in origin else ""
    vcs = origin.get("vcs_info", {})
    if vcs:
        return f"commandsync[{extra}] @ {vcs['vcs']}+{url}@{vcs['commit_id']}{inside}"
    return f"commandsync[{extra}] @ {url}{inside}" if url else f"commandsync[{extra}]"


def _recorded() -> tuple[str, dict[str, Any]]:
    """Return the installer and the origin that it recorded, which is empty for an index."""
    try:
        copy = distribution("commandsync")
        installer = (copy.read_text("INSTALLER") or "").strip()
        return installer, json.loads(copy.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", {}


def _quoted(text: str) -> str:
    return shlex.quote(text) if os.name == "posix" else f'"{text}"'
