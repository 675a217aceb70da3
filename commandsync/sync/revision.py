"""A manifest as it was at a git revision, with everything that it included then.

It is read from git's own objects: nothing is checked out, and no filter or hook of the repository
runs.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from commandsync.diagnostics import Location, Problem
from commandsync.errors import FileError, ManifestError, UsageError
from commandsync.manifest import load_head, load_manifests
from commandsync.sync.files import reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from commandsync.manifest import Manifest

_LINK = "120000"  # the mode of a symbolic link
_PLACES = {"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"}  # a hook has them; the folder decides here
_FILE = "name a file with the earlier manifest: --since old.yaml"
_SHALLOW = (
    "this clone has only the latest commits: git fetch --unshallow --tags fetches the others "
    "(in a workflow: fetch-depth: 0 for actions/checkout)"
)

_TAGS = "git tag lists the tags, and git fetch --tags fetches new ones"


def manifest_at(revision: str, path: str) -> Manifest:
    """Load a manifest as it was at a revision of the repository that contains it.

    Its patterns match the files of that revision, and its places begin with the revision.

    Args:
        revision: A tag, a branch, a commit, or another name that git knows.
        path: The manifest today; its folder must exist.

    Raises:
        UsageError: It is not in a repository, or the revision is not known.
        ManifestError: The revision does not have it, or it is invalid there.
        FileError: Git is not installed.
    """
    manifest = Path(path).absolute()
    folder, name = str(manifest.parent), manifest.name
    files = _files(_commit(revision, folder), folder)
    if name not in files:
        message = "the manifest is not in this revision"
        hint = "name a later revision, or if its name was another one, a file with its content"
        raise ManifestError([Problem(Location(f"{revision}:{name}"), message, hint)])
    content = next(_contents([files[name]], folder))
    patterns = load_head(f"{revision}:{name}", content).include
    included = [file for file in files if any(_may_match(file, pattern) for pattern in patterns)]
    contents = zip(included, _contents([files[file] for file in included], folder), strict=True)
    try:
        with tempfile.TemporaryDirectory(prefix="commandsync-") as top:
            return _loaded(name, {**dict(contents), name: content}, Path(top), revision)
    except OSError as error:
        message = f"the manifest at {revision} cannot be written into a folder: {reason(error)}"
        raise FileError(message, hint=_FILE) from error


def _loaded(name: str, contents: Mapping[str, bytes], top: Path, revision: str) -> Manifest:
    """Load a manifest whose files are written into a folder for that."""
    for file, content in contents.items():
        target = top / file
        if ".." not in target.parts and target.is_relative_to(top):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    try:
        (manifest,) = load_manifests([str(top / name)], stdin=bytes)
    except ManifestError as error:
        problems = (_placed(problem, top, revision) for problem in error.problems)
        raise ManifestError(tuple(problems)) from error
    return manifest


def _may_match(file: str, pattern: str) -> bool:
    """Whether a pattern of `include` may match a file; the manifest's reader knows for certain."""
    parts, wanted = (PurePosixPath(path).parts for path in (file, pattern.strip()))
    if "**" in wanted:
        parts, wanted = parts[-1:], wanted[-1:]
    return len(parts) == len(wanted) and all(map(_matches, parts, wanted))


def _matches(name: str, pattern: str) -> bool:
    """Whether a name matches on one file system or another: not all know upper and lower case."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.lower(), pattern.lower())


def _placed(problem: Problem, top: Path, revision: str) -> Problem:
    """Return a problem with the revision in place of the temporary folder."""
    folder = f"{top.as_posix()}/"
    return replace(
        problem,
        location=replace(
            problem.location, path=problem.location.path.replace(folder, f"{revision}:")
        ),
        message=problem.message.replace(folder, ""),
    )


def _commit(revision: str, folder: str) -> str:
    """Return the commit that a revision names."""
    is_shallow = _git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"
    commit = b""
    if not revision.startswith("-"):  # it would be an option
        with suppress(_GitError):
            commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not commit:
        raise UsageError(
            f"{revision!r} is neither a file nor a revision that git knows here",
            hint=_SHALLOW if is_shallow else _TAGS,
        )
    return commit.decode().strip()


def _files(commit: str, folder: str) -> dict[str, str]:
    """Return the files of a folder and below it: the id of each content by its relative path.

    A link within the folder is the file that it leads to; others are left out.
    """
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    for entry in filter(None, _git(folder, "ls-tree", "-r", "-z", commit).split(b"\0")):
        head, _, path = entry.partition(b"\t")
        mode, kind, identifier = head.decode().split()
        if kind == "blob":  # else another repository
            (links if mode == _LINK else files)[os.fsdecode(path)] = identifier
    for name, target in zip(links, _contents(links.values(), folder), strict=True):
        led_to = posixpath.normpath(posixpath.join(posixpath.dirname(name), os.fsdecode(target)))
        if led_to in files:
            files[name] = files[led_to]
    return files


def _contents(identifiers: Iterable[str], folder: str) -> Iterator[bytes]:
    """Yield contents."""
    asked = "".join(f"{identifier}\n" for identifier in identifiers)
    answer = BytesIO(_git(folder, "cat-file", "--batch", sent=asked.encode()))
    while head := answer.readline():
        *_, size = head.split()
        if size == b"missing":  # a clone without all contents, and no way to the rest
            message = f"git does not have every file of this revision of {folder}"
            raise _GitError(message, hint="git fetch --refetch fetches all of them")
        yield answer.read(int(size))
        answer.readline()


class _GitError(UsageError):
    """Git refuses."""


def _git(folder: str, *arguments: str, sent: bytes = b"") -> bytes:
    """Run git in a folder, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name not in _PLACES}
    try:
        ended = subprocess.run(  # noqa: S603 - no shell; a revision is never an option
            ["git", *arguments],  # noqa: S607 - the user's git, wherever it is installed
            cwd=folder,
            env=environment | {"LC_ALL": "C"},
            input=sent,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise FileError("git is not installed", hint=f"install it, or {_FILE}") from error
    if ended.returncode:
        message = ended.stderr.decode(errors="replace").partition("\n")[0]
        raise _GitError(f"git cannot read {folder}: {message.removeprefix('fatal: ')}", hint=_FILE)
    return ended.stdout
