"""The versions of a manifest on the branch that is checked out, from git's own objects.

A version is the manifest as it was after a commit that changed it, or a file that it included. Of a
merge, only the difference from the branch itself counts: a version that a branch had and never
merged was never the manifest.
"""

import os
import posixpath
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from commandsync.api.arguments import service_of
from commandsync.diagnostics import Do
from commandsync.errors import CommandsyncError, ManifestError, RefusedError
from commandsync.manifest import Manifest, load_head
from commandsync.records.snapshot import Snapshot, imported_path
from commandsync.sync.earlier import (
    LINK,
    SHALLOW,
    EarlierVersion,
    Entry,
    GitError,
    Read,
    commit_of,
    contents,
    entries_at,
    git,
    load_version,
    matching,
    patterns_of,
    resolved,
    version_at,
)
from commandsync.sync.settings import STDIN

MOST_VERSIONS = 200
_NO_ENTRY = "000000"  # the mode of a file that a commit adds
_RAW = ("-z", "-r", "--raw", "--no-abbrev", "--root", "--no-renames")
_FIRST_PARENT = ("--first-parent", "--diff-merges=first-parent", "--format=%x01%H %P")
_DELETED = ("-z", "--diff-filter=D", "--no-renames", "--name-only")
_MANIFEST = re.compile(rb"^version\s*:", re.MULTILINE)
_NOT_IN_GIT = Do.APPLY_ALL(first="commit the manifest (a saved plan needs no history)")


@dataclass(slots=True)
class History:
    """The records in the versions of a manifest, the newest first, read as far as needed."""

    manifest: Manifest  # the manifest; it is the newest version
    # Returns the records that a version wanted; None for a version of another listing.
    wanted: Callable[[Manifest], Snapshot | None]
    skipped: list[str] = field(default_factory=list)  # the versions that are invalid
    cut: list[str] = field(default_factory=list)  # the commit before which nothing is known, if any
    _older: list[Snapshot] | None = None  # those before it, once they were read to the end

    def __iter__(self) -> Iterator[Snapshot]:
        """Yield the records of each version; raises `RefusedError` without a readable history."""
        if newest := self.wanted(self.manifest):
            yield newest
        if self._older is not None:
            yield from self._older
            return
        older: list[Snapshot] = []
        self.skipped.clear()
        self.cut.clear()
        with _refused(self.manifest.path):
            for _, version in _versions(self.manifest.path, self.skipped, self.cut):
                if version and (snapshot := self.wanted(version.manifest)):
                    older.append(snapshot)
                    yield snapshot
        self._older = older


def on_page(manifest: Manifest, bot: str, base_url: str) -> Callable[[Manifest], Snapshot | None]:
    """Return a function that returns the records that a version of a manifest wants on its page.

    Without a bot or a service, an earlier version was for this page.
    """

    def wanted(version: Manifest) -> Snapshot | None:
        is_service = service_of(version.base_url) == service_of(base_url)
        is_here = version.bot in {"", bot} and (not version.base_url or is_service)
        return version.snapshot if is_here or version is manifest else None

    return wanted


def place_of(path: str) -> tuple[str, str]:
    """Return the folder of a manifest, and its path in the repository.

    Raises `RefusedError` if it is in no repository, and `FileError` if Git is not installed.
    """
    manifest = Path(path).absolute()
    folder = str(manifest.parent)
    try:
        prefix = os.fsdecode(git(folder, "rev-parse", "--show-prefix")).strip("\n")
    except GitError as error:
        if "not a git repository" in error.message:
            raise RefusedError(f"{path} is not in a git repository", hint=_NOT_IN_GIT) from error
        raise
    return folder, prefix + manifest.name


def versions_since(
    path: str, commits: Sequence[str], start: int = 0
) -> Iterator[tuple[int, EarlierVersion | None]]:
    """Yield the versions of a manifest from `commits[start]` on, the newest first.

    Each comes with the number of the first commit that does not have it any more. None is for a
    version that is invalid, and for a time without the manifest. The commits are from
    `first_parents`. Raises `RefusedError` if the history cannot be read.
    """
    places = {commit: number for number, commit in enumerate(commits)}
    with _refused(path):
        walk = _versions(path, [], [])
        _, held = next(walk)
        for commit, version in walk:
            if (end := places.get(commit, len(commits))) > start:
                yield end, held
            held = version
        yield len(commits), held


def versions_after(path: str, commit: str) -> Iterator[EarlierVersion]:
    """Yield the versions of a manifest on this branch since a commit, the newest first.

    If the commit is on another branch, they are those since the two have parted. Raises
    `RefusedError` if the history cannot be read that far, or does not have the commit.
    """
    with _refused(path):
        folder, _ = place_of(path)
        try:
            git(folder, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitError as error:
            shallow = git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"
            message = f"the commit {commit[:7]} is not in this repository"
            raise RefusedError(message, hint=SHALLOW if shallow else "") from error
        common = []
        with suppress(GitError):  # the two may have no commit in common
            common = [f"^{git(folder, 'merge-base', commit, 'HEAD').decode().strip()}"]
        printed = git(folder, "rev-list", "--first-parent", *common, "HEAD")
        commits = {*printed.decode().split()}
        if not commits:  # the manifest itself may not be committed yet
            return
        for number, (last, version) in enumerate(_versions(path, [], []), start=1):
            if last not in commits:
                return
            if number == MOST_VERSIONS:
                message = f"the manifest has {number} versions since {commit[:7]}, or more"
                raise RefusedError(message)
            if version:
                yield version


def recent_versions(path: str) -> Iterator[EarlierVersion]:
    """Yield the two newest versions of a manifest that are committed, as far as git has them."""
    with suppress(CommandsyncError):
        yield from [version for _, version in islice(_versions(path, [], []), 2) if version]


def head_of(path: str) -> str:
    """Return the commit that is checked out where a manifest is; empty outside a repository."""
    if path == STDIN:
        return ""
    with suppress(CommandsyncError):
        folder, _ = place_of(path)
        return os.fsdecode(git(folder, "rev-parse", "--verify", "HEAD")).strip()
    return ""


def version_before(revision: str, manifest: Manifest) -> EarlierVersion | None:
    """Load a manifest as it was at a revision, under the path that it had then.

    Raises as `version_at`, and `RefusedError` if it is not in a repository.
    """
    if version := version_at(revision, manifest.path):
        return version
    folder, path = place_of(manifest.path)
    commit = commit_of(revision, folder)
    removed = ("diff-tree", "-r", "-z", "--diff-filter=D", "--name-only", commit, "HEAD")
    files = os.fsdecode(git(folder, *removed, "--", ":(top)*.yaml", ":(top)*.yml")).split("\0")
    with contents(folder) as read:
        for old in filter(None, [_path_before(folder, "HEAD", commit, path), *files]):
            top, name = posixpath.split(old)
            entries = resolved(entries_at(folder, "--full-tree", f"{commit}:{top}"), read)
            is_renamed = old not in files
            if is_renamed or (manifest.bot and _bot_of(name, read(entries[name])) == manifest.bot):
                version = load_version(name, entries, revision, read)
                return version._replace(path=old)
    return None


def _versions(
    path: str, skipped: list[str], cut: list[str]
) -> Iterator[tuple[str, EarlierVersion | None]]:
    """Yield the versions of a manifest, the newest first, each with the last commit that has it.

    None is for an invalid version, which goes into `skipped`, and for no version: at the end, and
    while the manifest was away. `cut` gets the commit before which its history is not known.
    """
    folder, name = place_of(path)
    with contents(folder) as read:
        for commit, file, files in islice(_walk(folder, name, read, cut), MOST_VERSIONS):
            version = None
            try:
                if file:
                    version = load_version(posixpath.basename(file), files, commit[:7], read)
            except ManifestError:
                skipped.append(commit[:7])
            yield commit, version and version._replace(path=file)


def _walk(
    folder: str, path: str, read: Read, cut: list[str]
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the versions of a file, the newest first: commit, path, and the ids of its contents.

    While it was away, and at the end, comes the last commit without it, with no path; of none if
    the first version is in the root. `cut` is as for `_versions`.
    """
    commit = os.fsdecode(git(folder, "rev-parse", "HEAD")).strip()
    while path:
        added, commit, main = yield from _of_one_path(folder, commit, path, read)
        before = _path_before(folder, added, commit, path) if commit else ""
        if not before:
            if git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true":
                raise RefusedError("this clone has only the latest commits", hint=SHALLOW)
            yield commit, "", {}
            commit, before = _removed(folder, added, path, main, cut) if commit else ("", "")
        path = before


def _of_one_path(
    folder: str, commit: str, path: str, read: Read
) -> Generator[tuple[str, str, dict[str, str]], None, tuple[str, str, bytes]]:
    """Yield the versions since a file has its path.

    Return the commit that added it, the one before, and its content then.
    """
    top, name = posixpath.split(path)
    entries = entries_at(folder, "--full-tree", f"{commit}:{top}")
    if name not in entries:
        raise RefusedError(f"{path} is not in the commit {commit[:7]}", hint=_NOT_IN_GIT)
    version = _version(name, entries, read)
    yield commit, path, version.contents
    child = commit
    for child, parent, changes in _changes(folder, commit, top):
        own = {name, imported_path(name)}
        concerned = version.linked or own & {*changes} or matching(changes, version.patterns)
        before = {**entries, **changes}.items()
        entries = {file: entry for file, entry in before if entry[0] != _NO_ENTRY}
        if name not in entries:
            return child, parent, read(version.contents[name]) if name in version.contents else b""
        later, version = version, _version(name, entries, read) if concerned else version
        if version.contents != later.contents:
            yield parent, path, version.contents
    return child, "", b""


class _Version(NamedTuple):
    """A version: the ids of its contents by path, its patterns of included files, and its links."""

    contents: dict[str, str]
    patterns: Sequence[str]
    linked: bool


def _version(name: str, entries: Mapping[str, Entry], read: Read) -> _Version:
    files = resolved(entries, read)
    patterns: Sequence[str] = ()
    with suppress(ManifestError):  # its problems are found when it is loaded
        patterns = patterns_of(name, read(files[name])) if name in files else ()
    paths = [path for path in (name, imported_path(name)) if path in files]
    paths += matching(files, patterns)
    linked = any(entries[path][0] == LINK for path in paths)
    return _Version({path: files[path] for path in paths}, patterns, linked)


def _changes(folder: str, commit: str, top: str) -> Iterator[tuple[str, str, dict[str, Entry]]]:
    """Yield the commits that changed a folder: commit, parent, and the entry before."""
    where = ["--", f":(top,literal){top}"] if top else []
    printed = git(folder, "log", *_FIRST_PARENT, *_RAW, commit, *where)
    for block in printed.split(b"\1")[1:]:
        head, *fields = block.rstrip(b"\0").split(b"\0")
        child, _, parents = head.decode().partition(" ")
        before = {}
        for line, path in zip(fields[::2], fields[1::2], strict=True):
            mode, _, identifier, *_ = line.strip().decode().split()
            before[posixpath.relpath(os.fsdecode(path), top or ".")] = (mode[1:], identifier)
        yield child, parents.partition(" ")[0], before


def _removed(folder: str, added: str, path: str, main: bytes, cut: list[str]) -> tuple[str, str]:
    """Return the commit and the path with which the history of an added manifest goes on.

    It goes on with the same path, which was away for a while, or with another manifest that was
    removed in that commit or since then, if both name one bot. Where it may be such a manifest and
    does not name the bot, the history is `cut`.
    """
    printed = git(folder, "log", *_FIRST_PARENT, *_DELETED, added, "--", "*.yaml", "*.yml")
    bot, may_be_other = _bot_of(path, main), False
    for block in printed.split(b"\1")[1:]:
        head, *files = os.fsdecode(block).rstrip("\0").split("\0")
        parent = head.split()[1]
        for file in filter(None, (name.strip("\n") for name in files)):
            if file == path:
                return parent, file
            content = git(folder, "cat-file", "blob", f"{parent}:{file}")
            if _MANIFEST.search(content):
                if bot and bot == _bot_of(file, content):
                    return parent, file
                may_be_other = may_be_other or "" in {bot, _bot_of(file, content)}
    if may_be_other:
        cut.append(added[:7])
    return "", ""


def _bot_of(path: str, main: bytes) -> str:
    """Return the bot that a manifest names; empty for none."""
    with suppress(ManifestError):
        return load_head(path, main).bot
    return ""


def _path_before(folder: str, child: str, parent: str, path: str) -> str:
    """Return the path that a file had before a commit that added it; empty for none."""
    renames = ("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status")
    fields = os.fsdecode(git(folder, *renames, parent, child)).split("\0")
    pairs = zip(fields[1::3], fields[2::3], strict=False)  # the last field is empty
    return next((old for old, new in pairs if new == path), "")


class Committed(NamedTuple):
    """A manifest as it is committed, with its included files and its imported file."""

    commit: str  # the commit that is checked out
    path: str  # the manifest's path in the repository
    include: Sequence[str]  # the patterns of the files that it includes
    # The mode and id of each content, by its path in the manifest's folder.
    files: Mapping[str, Entry]

    def is_in(self, entries: Mapping[str, Entry]) -> bool:
        """Whether another commit, whose files are these by their whole path, has it unchanged.

        The target of a link is not compared: then only the commit itself has it unchanged.
        """
        same = self.files == _tracked(self.path, self.include, entries)
        return same and all(mode != LINK for mode, _ in self.files.values())


def committed(manifest: Manifest) -> Committed:
    """Return a manifest as it is committed; raises `RefusedError` if it is not."""
    with _refused(manifest.path):
        folder, path = place_of(manifest.path)
        commit = os.fsdecode(git(folder, "rev-parse", "HEAD")).strip()
        entries = entries_at(folder, "--full-tree", commit, f"./{posixpath.dirname(path)}")
        if path not in entries:
            raise RefusedError(f"{path} is not in the commit {commit[:7]}", hint=_NOT_IN_GIT)
    files = _tracked(path, manifest.include, entries)
    return Committed(commit, path, manifest.include, files)


def first_parents(path: str, *, most: int) -> list[str]:
    """Return the newest commits of the branch that a file is of; raises `RefusedError`."""
    with _refused(path):
        folder, _ = place_of(path)
        printed = git(folder, "rev-list", "--first-parent", f"--max-count={most}", "HEAD")
    return printed.decode().split()


def _tracked(path: str, include: Sequence[str], entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """Return the entries that a manifest is made of, by their path in its folder."""
    top, name = posixpath.split(path)
    start = f"{top}/" if top else ""
    inside = {
        path.removeprefix(start): entry for path, entry in entries.items() if path.startswith(start)
    }
    paths = (name, imported_path(name), *matching(inside, include))
    return {path: inside[path] for path in paths if path in inside}


@contextmanager
def _refused(path: str) -> Iterator[None]:
    """Refuse to go on where git cannot be read."""
    try:
        yield
    except RefusedError:
        raise
    except CommandsyncError as error:
        message = f"the history of {path} cannot be read: {error.message}"
        raise RefusedError(message, hint=error.hint) from error
