"""The two ways to see a preview: live, while the manifest is edited, or as files of a folder.

`live_states` loads a manifest again whenever one of its files is saved, and yields its page.
`write_folder` writes a page as files that open from the disk.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from math import inf
from pathlib import Path
from threading import Event
from time import monotonic
from typing import NamedTuple

from commandsync.diagnostics import Words
from commandsync.errors import FileError, ManifestError
from commandsync.manifest import Manifest
from commandsync.manifest.files import is_folder
from commandsync.pages.botpage import BotPage
from commandsync.preview.previewpage import (
    Baseline,
    PreviewState,
    baseline_of,
    page_with,
    state_of,
)
from commandsync.sync.files import check_target, reason, refuse_token, write_file
from commandsync.sync.settings import Settings, default_manifest, load_single

_HALF_WRITTEN = 0.1  # seconds in which a file is written to its end
_INTERVAL = 0.03  # seconds between two looks at the files
_Stamp = tuple[int, int, int]


class Saves:
    """Waits for changes of files, and of folders in which files may appear.

    It looks at them again and again, which works on every file system.
    """

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def follow(self, paths: Iterable[str]) -> None:
        """Wait for changes of these from now on; the files are about to be read."""
        self._stamps = {path: _stamp(path) for path in paths}

    def wait(self, stop: Event, seconds: float = inf) -> bool:
        """Wait for a change; return whether there was one before `stop`, or within the seconds."""
        end = monotonic() + seconds
        while not stop.is_set() and monotonic() < end:
            if any(_stamp(path) != stamp for path, stamp in self._stamps.items()):
                return True
            stop.wait(_INTERVAL)
        return False


def _stamp(path: str) -> _Stamp:
    """Return a value that changes when a file is written, or a folder gets or loses one."""
    try:
        status = os.stat(path)  # noqa: PTH116 - many
    except (OSError, ValueError):
        return 0, 0, 0
    return status.st_mtime_ns, 0 if is_folder(path) else status.st_size, status.st_ino


def load_one(
    settings: Settings,
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that a preview shows, as `load_single`."""
    problem, hint = "preview shows one manifest", "name one file: commandsync preview PATH"
    return load_single(settings, problem, hint=hint, contents=contents, folders=folders)


class FollowedManifest:
    """Loads a manifest, and knows the files and folders that it depends on."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._given = frozenset(settings.files or (default_manifest(),))
        self._paths: frozenset[str] = self._given
        self._contents: dict[str, bytes] = {}
        self._saves = Saves()

    def manifests(self, stop: Event) -> Iterator[Manifest | ManifestError]:
        """Yield the manifest or its problems, again whenever they have changed, until `stop`.

        Problems that are gone within milliseconds are left out: an editor may write a file in
        several steps. Raises `UsageError` if there are several manifests.
        """
        before: object = None
        loaded = self._load()
        while True:
            now = loaded.problems if isinstance(loaded, ManifestError) else self._contents
            if now != before:
                yield loaded
            before = now
            if not self._saves.wait(stop):
                return
            loaded = self._load()
            while isinstance(loaded, ManifestError) and self._saves.wait(stop, _HALF_WRITTEN):
                loaded = self._load()

    def _load(self) -> Manifest | ManifestError:
        """Load the manifest, again if it turns out that other files have to be followed."""
        loaded: Manifest | ManifestError
        while True:
            self._saves.follow(self._paths)
            self._contents = {}
            folders: set[str] = set()
            try:
                loaded = load_one(self._settings, contents=self._contents, folders=folders)
            except ManifestError as error:
                loaded = error
            followed, self._paths = self._paths, self._given | self._contents.keys() | folders
            if self._paths == followed:
                return loaded


class LiveState(NamedTuple):
    """The state of a live page."""

    page: BotPage
    state: PreviewState | None  # the last valid state of the manifest; None if there was none yet
    error: ManifestError | None  # of a later save; None if it is the newest


def live_states(
    settings: Settings, words: Words, *, offline: bool, stop: Event
) -> Iterator[LiveState]:
    """Yield the state, first and after each change of the manifest, until `stop` is set.

    Hints are in the words of a program. The listing is read for the first valid manifest, unless
    `offline`. Raises `ListingError` if it cannot be read, and `UsageError` if there are several
    manifests.
    """
    baseline: Baseline | None = None
    state: PreviewState | None = None
    path = (settings.files or (default_manifest(),))[0]
    for manifest in FollowedManifest(settings).manifests(stop):
        error: ManifestError | None = None
        try:
            if isinstance(manifest, ManifestError):
                raise manifest
            baseline = baseline or baseline_of(settings, manifest, offline=offline)
            state = state_of(settings, manifest, baseline, words)
        except ManifestError as invalid:
            error = invalid
        page = page_with(error.problems if error else (), state, words, path=path)
        yield LiveState(page, state, error)


_PAGE = "index.html"
_GENERATOR = b'<meta name="generator" content="commandsync preview">'
_HEAD = 4_000  # bytes at the beginning of a page, with its generator


def check_folder(folder: str, *, force: bool, names: Iterable[str] = (_PAGE,)) -> None:
    """Check that a preview may be written into a folder, as far as that is known beforehand.

    An earlier preview is replaced. Files of somebody else are replaced only with `force`: else it
    raises `FileError`, as for a file that cannot be written.
    """
    page = Path(folder, _PAGE)
    check_target(str(page), force=True, new_folder=True)  # a pipe would be read for ever
    force = force or _is_preview(page)
    for name in names:
        check_target(str(Path(folder, name)), force=force, new_folder=True)


def write_folder(folder: str, files: Mapping[str, bytes], *, force: bool) -> str:
    """Write a preview into a folder, created if it is missing; return the page's path.

    Each file is written whole or not at all, and the page last. Raises `FileError`,
    as `check_folder` does.
    """
    check_folder(folder, force=force, names=files)
    for name, content in files.items():
        refuse_token(str(Path(folder, name)), [content.decode()])
    for name in sorted(files, key=lambda name: name == _PAGE):
        text = files[name].decode()
        write_file(str(Path(folder, name)), text, force=True, new_folder=True)
    return str(Path(folder, _PAGE))


def _is_preview(page: Path) -> bool:
    """Whether an earlier run has written a page."""
    try:
        with page.open("rb") as file:
            return _GENERATOR in file.read(_HEAD)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileError(
            f"cannot read {page}: {reason(error)}", hint="name another folder"
        ) from error
