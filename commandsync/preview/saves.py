"""The saves of a manifest, noticed within milliseconds of the change on the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.errors import FileError
from commandsync.extras import missing
from commandsync.manifest.files import is_folder

try:
    from watchfiles import watch
except ImportError as error:
    raise missing("preview needs", "server", error) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STEP = 20  # milliseconds without another change, after which a change is reported
_LONGEST_STEPS = 100  # milliseconds for which changes that follow one another are awaited
_CHECK = 500  # milliseconds between checks where the file system reports nothing (networks)
_WAIT = 0.2  # seconds: no signal interrupts a longer wait on Windows

_Stamps = tuple[tuple[str, int, int, int], ...]


class Saves:
    """Waits for changes of files, and of folders in which files may appear.

    A change that the system reports ends a wait at once. Everything is also checked twice a second:
    some file systems report nothing, and folders may appear that are not watched yet.
    """

    def __init__(self) -> None:
        self._changes: SimpleQueue[set[str] | OSError] = SimpleQueue()
        self._files: frozenset[str] = frozenset()
        self._paths: tuple[str, ...] = ()
        self._stamps: _Stamps = ()
        self._folders: frozenset[str] = frozenset()
        self._stopped = Event()

    def follow(self, files: Iterable[str], folders: Iterable[str]) -> None:
        """Wait for changes of these from now on; the files are about to be read.

        Args:
            files: The files; one that does not exist may appear.
            folders: The folders in which new files matter.
        """
        files = frozenset(files)
        self._paths = tuple(sorted({*files, *folders}))
        self._stamps = _stamps(self._paths)
        self._files = frozenset(
            path
            for name in files
            for path in (os.path.abspath(name), os.path.realpath(name))  # noqa: PTH100 - as the system reports them
        )
        parents = {os.path.dirname(path) for path in self._files}  # noqa: PTH120 - as above
        watched = frozenset(map(_existing, {*parents, *map(os.path.abspath, folders)}))
        if watched != self._folders:
            self.close()
            self._folders, self._stopped = watched, Event()
            arguments = (sorted(watched), self._stopped, self._changes)
            Thread(target=_report, args=arguments, name="commandsync-saves", daemon=True).start()

    def wait(self, stop: Event, seconds: float | None = None) -> bool:
        """Wait for a change; return whether there was one before the end.

        Args:
            stop: Ends the wait.
            seconds: The longest wait; None for no limit.

        Raises:
            FileError: The system watches no more folders.
        """
        end = inf if seconds is None else monotonic() + seconds
        while not stop.is_set() and (left := end - monotonic()) > 0:
            with suppress(Empty):
                changed = self._changes.get(timeout=min(left, _WAIT))
                if isinstance(changed, OSError):
                    hint = "the system limits how many folders are watched: include fewer"
                    raise FileError(f"cannot wait for changes: {changed}", hint=hint)
                if changed & self._files:
                    return True
                if _stamps(self._paths) != self._stamps:
                    if not changed:  # a folder may be another one of its name: watch it anew
                        self._folders = frozenset()
                    return True
        return False

    def close(self) -> None:
        """Watch nothing any more."""
        self._stopped.set()


def _report(folders: list[str], stopped: Event, changes: SimpleQueue[set[str] | OSError]) -> None:
    """Report the paths that change in folders, and nothing from time to time, until the end."""
    try:
        for reported in watch(
            *folders,
            watch_filter=None,
            debounce=_LONGEST_STEPS,
            step=_STEP,
            stop_event=stopped,
            rust_timeout=_CHECK,
            yield_on_timeout=True,
            recursive=False,
        ):
            changes.put({path for _, path in reported})
    except FileNotFoundError:  # a folder was removed in this moment
        while not stopped.wait(_CHECK / 1000):
            changes.put(set())
    except OSError as error:
        changes.put(error)


def _existing(path: str) -> str:
    """Return a folder, or the nearest one above it that exists."""
    return next(str(folder) for folder in (Path(path), *Path(path).parents) if folder.is_dir())


def _stamps(paths: Iterable[str]) -> _Stamps:
    """Return what changes when a file is written, or a folder gets or loses one."""
    return tuple(_each_stamp(paths))


def _each_stamp(paths: Iterable[str]) -> Iterator[tuple[str, int, int, int]]:
    for path in paths:
        try:
            status = os.stat(path)  # noqa: PTH116 - many
        except (OSError, ValueError):
            yield path, 0, 0, 0
        else:
            size = 0 if is_folder(path) else status.st_size
            yield path, status.st_mtime_ns, size, status.st_ino
