"""A folder that `-f` names -> the manifests in it, and the files that are nearly manifests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from commandsync.manifest.events import MOST_DEPTH
from commandsync.manifest.grammar import TELLING
from commandsync.manifest.problems import did_you_mean, quoted
from commandsync.manifest.recovery import parser_events
from commandsync.manifest.source import (
    MOST_BYTES,
    Allowance,
    Origin,
    Source,
    UnreadableError,
    read_source,
)

if TYPE_CHECKING:
    from pathlib import Path

    from commandsync.diagnostics import Location

_SUFFIXES = frozenset({".yaml", ".yml"})
_VERSION = re.compile(rb"^(?:\xef\xbb\xbf)?(?:\{[ \t]*)?([\"']?)version\1[ \t]*:", re.MULTILINE)
_BEGINNINGS = (MappingStartEvent, SequenceStartEvent)
_ENDS = (MappingEndEvent, SequenceEndEvent)


class Stray(NamedTuple):
    """A file with a manifest's keys and no version: part of a manifest, or one that is passed over.

    Attributes:
        path: The file.
        location: The key that should have been the version, else the first that tells.
        meant: The misspelt version; empty where there is none.
    """

    path: str
    location: Location
    meant: str

    @property
    def message(self) -> str:
        """What is wrong, where no manifest includes it."""
        if self.meant:
            return f"{quoted(self.meant)} is not a key of a manifest, and version is missing"
        return "this file has no version:, and no manifest includes it"

    @property
    def hint(self) -> str:
        """What to do."""
        if self.meant:
            return "did you mean version?"
        return "begin it with version: 1, include it, or move it out of the folder"


def manifests_in(folder: Path, origin: Origin) -> tuple[list[str], list[Stray]]:
    """Tell the manifests directly in a folder from other programs' files.

    Args:
        folder: The folder.
        origin: Where files may be read from.

    Returns:
        The manifests, with every file that cannot be read or parsed: loading it says why. And
        the strays.
    """
    manifests: list[str] = []
    strays: list[Stray] = []
    for path in _yaml_files(folder):
        seen = True if _has_version(path) else _look(path.as_posix(), origin)
        if isinstance(seen, Stray):
            strays.append(seen)
        elif seen:
            manifests.append(path.as_posix())
    return manifests, strays


def _yaml_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in _SUFFIXES and not path.name.startswith(".") and path.is_file()
    )


def _has_version(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _VERSION.search(file.read(MOST_BYTES)) is not None
    except OSError:
        return True  # reading it says what is wrong


def _look(path: str, origin: Origin) -> Stray | bool:
    """Parse a file that has no version where one is expected; return whether it is a manifest."""
    try:
        source = read_source(path, origin=origin, allowance=Allowance())
        keys = _top_keys(source)
    except (UnreadableError, yaml.YAMLError):
        return True
    if "version" in keys:  # indented, for example
        return True
    telling = [key for key in keys if key in TELLING]
    if not telling:
        return False
    meant = next((key for key in keys if did_you_mean(key, ["version"])), "")
    return Stray(path, source.location(keys[meant or telling[0]]), meant)


def _top_keys(source: Source) -> dict[str, int]:
    """The keys of the first document, and where they stand.

    Raises:
        YAMLError: The document is not YAML.
    """
    keys: dict[str, int] = {}
    depth, in_mapping, is_key = 0, False, True
    for event in parser_events(source):
        if (isinstance(event, DocumentStartEvent) and keys) or depth > MOST_DEPTH:
            break  # what follows is not part of a manifest
        if isinstance(event, _BEGINNINGS):
            in_mapping = isinstance(event, MappingStartEvent) if depth == 0 else in_mapping
            depth += 1
            continue
        if isinstance(event, _ENDS):
            depth -= 1
        elif not isinstance(event, (ScalarEvent, AliasEvent)):
            continue
        if depth == 1 and in_mapping:  # a key or a value of the top level ends here
            if is_key and isinstance(event, ScalarEvent):
                keys.setdefault(*_word(event))
            is_key = not is_key
    return keys


def _word(event: Any) -> tuple[str, int]:  # noqa: ANN401 - PyYAML's stubs make every mark optional
    return event.value, event.start_mark.index
