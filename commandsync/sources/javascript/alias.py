"""The aliases of paths in a bot's configuration: a name in an import -> the paths it may mean.

They are `paths` and `baseUrl` of tsconfig.json, and `imports` and `_moduleAliases` of package.json,
in the folder of the code or in one above it.
"""

import json
import posixpath
import re
from pathlib import PurePosixPath
from typing import Any

from commandsync.errors import FileError
from commandsync.sources.sourcefile import read_bytes

Aliases = list[tuple[str, str]]
"""The beginning of a name, with `*` for its rest, and the path that it stands for."""

_FILES = ("tsconfig.json", "jsconfig.json", "package.json")
_MOST_ABOVE = 6  # folders
_LARGEST = 256 * 1024  # bytes
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def aliases_of(path: str) -> Aliases:
    """Return the aliases for a file: those of the nearest folders that have a configuration."""
    aliases: Aliases = []
    for folder in [PurePosixPath(path), *PurePosixPath(path).parents][: _MOST_ABOVE + 1]:
        for name in _FILES:
            content = _content(f"{folder}/{name}")
            options = _object(content.get("compilerOptions"))
            base = posixpath.join(str(folder), str(options.get("baseUrl", ".")))
            for key, value in _object(options.get("paths")).items():
                aliases += _targets(key, value, base)
            if "baseUrl" in options:
                aliases.append(("*", f"{base}/*"))
            for key, value in _object(content.get("imports")).items():
                aliases += _targets(key, value, str(folder))
            for key, value in _object(content.get("_moduleAliases")).items():
                aliases += [*_targets(f"{key}/*", f"{value}/*", str(folder))]
    return aliases


def aliased(name: str, aliases: Aliases) -> list[str]:
    """Return the paths that the name of a module may mean."""
    paths = []
    for alias, target in aliases:
        start, star, end = alias.partition("*")
        if star and name.startswith(start) and name.endswith(end):
            rest = name[len(start) : len(name) - len(end)]
            paths.append(posixpath.normpath(target.replace("*", rest)))
        elif name == alias:
            paths.append(posixpath.normpath(target))
    return paths


def _targets(alias: str, value: object, base: str) -> Aliases:
    values = value if isinstance(value, list) else [value]
    if isinstance(value, dict):  # the conditions of package.json
        values = list(value.values())
    return [(alias, posixpath.join(base, part)) for part in values if isinstance(part, str)]


def _content(path: str) -> dict[str, Any]:
    """Return a configuration, which may have comments; empty if it cannot be read."""
    try:
        text = read_bytes(path, most=_LARGEST).decode()
        return _object(json.loads(_COMMENT.sub(lambda part: part[1] or "", text)))
    except (FileError, ValueError, RecursionError):
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
