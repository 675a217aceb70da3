"""A manifest that is loaded again whenever one of its files is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.errors import ManifestError, UsageError
from commandsync.manifest.files import is_folder
from commandsync.preview.saves import Saves
from commandsync.sync import DEFAULT_MANIFEST
from commandsync.sync.job import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event
    from typing import Self

    from commandsync.manifest import Manifest
    from commandsync.sync.settings import Settings

_HALF_WRITTEN = 0.1  # seconds in which what is being written gets whole


def load_one(
    settings: Settings,
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that a preview shows; `contents` and `folders` are as for `load`.

    Raises:
        ManifestError: It is invalid.
        UsageError: There are several.
    """
    manifests = load(settings, contents=contents, folders=folders)
    if len(manifests) != 1:
        paths = " and ".join(manifest.path for manifest in manifests[:2])
        raise UsageError(
            f"a preview shows one manifest, and these are several: {paths}",
            hint="name one file: commandsync preview PATH",
        )
    return manifests[0]


class FollowedManifest:
    """Loads a manifest, and knows the files and folders that it depends on."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        given = settings.files or (DEFAULT_MANIFEST,)
        self._given = {path for path in given if not is_folder(path)}
        self._files, self._folders = self._given, set(given) - self._given
        self._contents: dict[str, bytes] = {}
        self._saves = Saves()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._saves.close()

    def load(self) -> Manifest:
        """Load the manifest; from now on, changes of what it was read from are noticed.

        Raises:
            ManifestError: It is invalid.
            UsageError: There are several.
        """
        loaded = self._load()
        if isinstance(loaded, ManifestError):
            raise loaded
        return loaded

    def changes(self, stop: Event) -> Iterator[Manifest | ManifestError]:
        """Yield the manifest when it has changed, or its problems, until `stop` is set.

        Problems that are gone within milliseconds are left out: an editor may write a file in
        several steps.

        Raises:
            UsageError: There are several manifests now.
            FileError: The system watches no more folders.
        """
        before: object = self._contents
        while self._saves.wait(stop):
            loaded = self._load()
            while isinstance(loaded, ManifestError) and self._saves.wait(stop, _HALF_WRITTEN):
                loaded = self._load()
            now = loaded.problems if isinstance(loaded, ManifestError) else self._contents
            if now != before:
                yield loaded
            before = now

    def _load(self) -> Manifest | ManifestError:
        """Load the manifest, again if it turns out that other files have to be followed."""
        loaded: Manifest | ManifestError | None = None
        while loaded is None:
            self._saves.follow(self._files, self._folders)
            contents: dict[str, bytes] = {}
            folders: set[str] = set()
            try:
                loaded = load_one(self._settings, contents=contents, folders=folders)
            except ManifestError as error:
                loaded = error
            files = self._given | contents.keys()
            if (files, folders) != (self._files, self._folders):
                self._files, self._folders, loaded = files, folders, None
            self._contents = contents
        return loaded
