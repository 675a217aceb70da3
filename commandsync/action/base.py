"""The manifest of the base branch: compared with that of a proposal."""

import base64
import binascii
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from commandsync.action.event import GitHubEvent
from commandsync.action.reporter import say
from commandsync.action.rest import GitHub, GitHubError
from commandsync.errors import FileError, ManifestError
from commandsync.manifest import Manifest, load_head
from commandsync.manifest.model import ManifestModel
from commandsync.sync.files import temporary_folder, write_file
from commandsync.sync.loading import load_files

_MOST_FILES = 200
_MISSING = 404


def base_manifests(
    manifests: Sequence[Manifest],
    github: GitHub | None,
    event: GitHubEvent,
    *,
    folder: str,
) -> dict[str, Manifest]:
    """Load the manifests of the base branch, by the paths of those of the proposal.

    If one of them cannot be read, there are none, and the log has the reason. The arguments are as
    for `base_manifest`.
    """
    if github is None or not event.base_sha:
        return {}
    try:
        paths = {each.path: base_manifest(each, github, event, folder=folder) for each in manifests}
        return {path: load_files([base])[0] for path, base in paths.items()}
    except FileError as error:
        say(f"The base branch's manifest cannot be kept: {error.message}")
    except GitHubError as error:
        say(f"The base branch's manifest cannot be read: {error.message}")
    except ManifestError:
        say(f"The manifest of the base branch ({event.base_sha}) cannot be compared.")
    return {}


def base_manifest(manifest: Manifest, github: GitHub, event: GitHubEvent, *, folder: str) -> str:
    """Fetch a manifest from the base branch, with the YAML files beside it and its includes.

    Its path is in a new folder inside `folder`; it manages nothing if the base branch has none.
    Raises `GitHubError` if they cannot be read, and `FileError` if they cannot be written.
    """
    root = _checkout(manifest.path)
    top = temporary_folder("base", within=folder)
    fetched = 0
    for directory in dict.fromkeys(str(PurePosixPath(path).parent) for path in manifest.paths):
        inside = _inside(directory, root)
        for name in _yaml_names(github, event, inside):
            fetched += 1
            if fetched > _MOST_FILES:
                raise GitHubError(f"more than {_MOST_FILES} YAML files are beside the manifest")
            content = _content(github, event, inside / name)
            write_file(str(top / inside / name), content, force=False, new_folder=True)
    path = top / os.path.relpath(manifest.path, root)
    if not path.exists():
        write_file(str(path), "version: 1\n", force=False, new_folder=True)
    return str(path)


def base_head(manifest: Manifest, github: GitHub, event: GitHubEvent) -> ManifestModel | None:
    """Fetch the keys of a manifest's own file in the base branch; None if it is not there.

    Raises `GitHubError` if it cannot be read, and `ManifestError` if it is not valid.
    """
    path = _inside(manifest.path, _checkout(manifest.path))
    try:
        content = _content(github, event, path)
    except GitHubError as error:
        if error.status == _MISSING:
            return None
        raise
    return load_head(f"{path} of the base branch", content)


def _inside(path: str, root: Path) -> PurePosixPath:
    """Return a path as it is in the repository."""
    inside = PurePosixPath(os.path.relpath(path, root).replace(os.sep, "/"))
    if ".." in inside.parts:
        raise GitHubError("the manifest is not in a checkout of the repository")
    return inside


def _checkout(path: str) -> Path:
    """Return the checkout of a file: a folder of the workspace, or the workspace."""
    workspace = Path.cwd()
    parents = (workspace / path).parents
    return next((folder for folder in parents if (folder / ".git").exists()), workspace)


def _yaml_names(github: GitHub, event: GitHubEvent, folder: PurePosixPath) -> list[str]:
    try:
        entries = github.get(_contents(event, folder))
    except GitHubError as error:
        if error.status == _MISSING:
            return []  # the pull request adds the folder
        raise
    names = [
        str(entry.get("name"))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and entry.get("type") == "file"
    ]
    suffixes = (".yaml", ".yml")
    return [name for name in names if name.endswith(suffixes) and PurePosixPath(name).name == name]


def _content(github: GitHub, event: GitHubEvent, path: PurePosixPath) -> bytes:
    file = github.get(_contents(event, path))
    try:
        return base64.b64decode(file["content"])
    except (KeyError, TypeError, binascii.Error) as error:
        raise GitHubError(f"GitHub did not answer with {path} of the base branch") from error


def _contents(event: GitHubEvent, path: PurePosixPath) -> str:
    where = quote("" if str(path) == "." else str(path))
    return f"/repos/{event.repository}/contents/{where}?ref={quote(event.base_sha, safe='')}"
