"""An earlier version of a manifest: what the present one is compared with.

An earlier version is a manifest with the files that it included and the objects that were imported
into it. `earlier_version` loads one that an option names: a file, or a revision of the manifest's
repository. `history` yields all versions of a branch, and loads each with `load_version`, too.
`changes_since` compares what users notice, and `plan_against` plans as if another manifest were the
listing; neither needs a network.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from commandsync.diagnostics import Do, Location, Problem
from commandsync.errors import FileError, ManifestError, UsageError
from commandsync.manifest import Manifest, load_head, load_manifests
from commandsync.plan.userchanges import UserChanges, user_changes
from commandsync.records.texts import Resource, pattern
from commandsync.sources.sourcefile import IMPORTED
from commandsync.sync.files import reason
from commandsync.sync.gitobjects import FILE, Read, commit_of, contents, entries_at, resolved
from commandsync.sync.objects import with_earlier_objects, with_objects
from commandsync.sync.settings import STDIN, check_stdin, load_files


class EarlierVersion(NamedTuple):
    """A manifest as it was, with what it included and what was imported into it."""

    name: str  # a file, a revision, or the short name of a commit
    manifest: Manifest


def earlier_version(since: str, manifest: Manifest) -> EarlierVersion:
    """Load an earlier version of a manifest: a file, `-` for standard input, or a git revision.

    Raises:
        UsageError: It does not exist.
        ManifestError: It is invalid.
        FileError: Git is needed and not installed.
    """
    if since == STDIN or os.path.isfile(since):  # noqa: PTH113 - False for too long a name, too
        (earlier,) = load_files([since])
        return EarlierVersion(since, with_objects(earlier))
    if manifest.path == STDIN:
        message = f"{since!r} is not a file, and standard input has no revisions"
        raise UsageError(message, hint=Do.NAME_MANIFEST())
    if version := version_at(since, manifest.path):
        return version
    at = Location(f"{since}:{os.path.basename(manifest.path)}", is_unread=True)  # noqa: PTH119 - a path as it was given
    hint = "name a later revision, or if its name was another one, a file with its content"
    raise ManifestError([Problem(at, "the manifest is not in this revision", hint)])


def version_at(revision: str, path: str) -> EarlierVersion | None:
    """Load a manifest as it was at a revision of its repository; None if it was not there.

    Its patterns match the files of that revision, and its places begin with the revision: a tag, a
    branch, a commit, or another name that git knows. The folder of the path must exist today.

    Raises:
        UsageError: It is not in a repository, or the revision is not known.
        ManifestError: It is invalid there.
        FileError: Git is not installed.
    """
    manifest = Path(path).absolute()
    folder = str(manifest.parent)
    commit = commit_of(revision, folder)
    with contents(folder) as read:
        files = resolved(entries_at(folder, commit), read)
        return (
            load_version(manifest.name, files, revision, read) if manifest.name in files else None
        )


def load_version(name: str, files: Mapping[str, str], revision: str, read: Read) -> EarlierVersion:
    """Load a manifest from the contents of a revision, which gives the version its name.

    `files` has the ids of the contents of its folder, by relative path; `read` returns a content.
    Raises `ManifestError` if it is invalid, and `FileError` if its files cannot be kept.
    """
    main = read(files[name]) if name in files else b""
    others = matching(files, patterns_of(f"{revision}:{name}", main))
    texts = {file: read(files[file]) for file in others}
    try:
        with tempfile.TemporaryDirectory(prefix="commandsync-") as top:
            manifest = _loaded(name, {**texts, name: main}, Path(top), revision)
    except OSError as error:
        message = f"the manifest at {revision} cannot be written into a folder: {reason(error)}"
        raise FileError(message, hint=FILE) from error
    if manifest.listings and (imported := imported_of(name)) in files:
        manifest = with_earlier_objects(manifest, read(files[imported]))
    return EarlierVersion(revision, manifest)


def imported_of(name: str) -> str:
    """Return the file of what was imported last into a manifest, beside it."""
    return PurePosixPath(name).stem + IMPORTED


def patterns_of(name: str, main: bytes) -> Sequence[str]:
    """Return the patterns of the files that a manifest includes; raises `ManifestError`."""
    return load_head(name, main).include if b"include" in main else ()


def matching(files: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return the files that one of the patterns may match."""
    return [file for file in files if any(_may_match(file, pattern) for pattern in patterns)]


def _loaded(name: str, contents: Mapping[str, bytes], top: Path, revision: str) -> Manifest:
    """Load a manifest whose files have their names in a folder, and their contents in memory."""
    placed = {}
    for file, content in contents.items():
        target = top / file
        if ".." not in target.parts and target.is_relative_to(top):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
            placed[target.as_posix()] = content
    try:
        (manifest,) = load_manifests([str(top / name)], stdin=bytes, contents=placed)
    except ManifestError as error:
        raise ManifestError([_placed(each, top, revision) for each in error.problems]) from error
    return manifest


def _may_match(file: str, include: str) -> bool:
    """Whether a pattern of `include` may match a file; the manifest's reader knows for certain.

    Not all file systems know upper and lower case.
    """
    parts, wanted = (PurePosixPath(path).parts for path in (file, include.strip()))
    if "**" in wanted:
        parts, wanted = parts[-1:], wanted[-1:]
    return len(parts) == len(wanted) and all(
        pattern(text).match(part) for part, text in zip(parts, wanted, strict=True)
    )


def _placed(problem: Problem, top: Path, revision: str) -> Problem:
    """Return a problem with the revision in place of the temporary folder."""
    folder = f"{top.as_posix()}/"
    path = problem.location.path.replace(folder, f"{revision}:")
    message = problem.message.replace(folder, "")
    return replace(problem, location=replace(problem.location, path=path), message=message)


def changes_since(since: str, manifest: Manifest) -> UserChanges:
    """Compare a manifest with an earlier one: a file, `-` for standard input, or a git revision.

    Raises:
        UsageError: The earlier one does not exist, or one of the two does not manage commands, so
            that nothing is known about those.
        ManifestError: The earlier one is invalid.
        FileError: Git is needed and not installed.
    """
    check_stdin([since, manifest.path])
    earlier = earlier_version(since, manifest).manifest
    for name, each in ((since, earlier), (manifest.path, manifest)):
        entries = each.snapshot.collections.get(Resource.COMMAND)
        if entries is None:
            message = f"{name} does not manage commands: nothing is known about them"
            raise UsageError(message, hint="compare two manifests that have commands:")
    return user_changes(old=earlier.snapshot, new=manifest.snapshot)
