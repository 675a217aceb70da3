"""The proof that a command is gone, without which an import does not remove it.

The file that declared it was read completely and has it no more; or the file is gone, and no file
that is new or not read completely contains its name. `commands.imported.json` keeps the file of
each command for that: one that an older version wrote has none, and holds back each removal once.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from commandsync.errors import FileError
from commandsync.sources.changeset import Declared
from commandsync.sources.entry import Unread
from commandsync.sources.sourcefile import read_bytes


@dataclass(frozen=True, slots=True)
class Removals:
    """What the sources say about commands that are not in them."""

    files: Mapping[str, str]  # that were searched: the paths, by the names in the last import
    partial: Collection[str]  # those that were not read completely
    known: Collection[str]  # those that declared a command at the last import
    unread: Iterable[Unread] = ()
    _texts: dict[str, bytes] = field(default_factory=dict)

    def held_back(self, command: Declared) -> str:
        """Return why nothing proves that a command is gone; empty with a proof."""
        name, source = command.entry.name, command.source
        file = command.file or (source if source in self.files else "")
        own = name.rpartition(" ")[2]
        if not file:
            return "the last import did not note where it was declared"
        if again := next((part for part in self.unread if part.name in {name, own}), None):
            return f"{again.place} may declare it, and is not read"
        if file in self.partial:
            return f"{file} is not read completely"
        if file in self.files:
            return ""
        for other in self.files:
            is_new = other not in self.known
            if (is_new or other in self.partial) and self._contains(other, own):
                return f"{other} contains its name, and {'is new' if is_new else 'is not read'}"
        return ""

    def _contains(self, file: str, name: str) -> bool:
        """Whether a file contains a name as a literal, as a function, or has it itself."""
        if PurePosixPath(file).stem == name:
            return True
        if file not in self._texts:
            try:
                self._texts[file] = read_bytes(self.files[file])
            except FileError:
                return True
        word = re.escape(name.encode())
        pattern = rb"[\"'`]" + word + rb"[\"'`]|\bdef\s+" + word + rb"\b"
        return re.search(pattern, self._texts[file]) is not None
