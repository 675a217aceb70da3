"""A manifest as it was at a git revision, with everything that it included then.

It is read from git's own objects: nothing is checked out, and no filter or hook of the repository
runs.
"""

import os
import posixpath
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from subprocess import PIPE, Popen

from commandsync.diagnostics import Problem
from commandsync.errors import FileError, ManifestError, UsageError
from commandsync.manifest import Manifest, load_head, load_manifests
from commandsync.records.texts import pattern
from commandsync.sources.sourcefile import IMPORTED
from commandsync.sync.files import reason
from commandsync.sync.objects import with_earlier_objects

Entry = tuple[str, str]
Read = Callable[[str], bytes]

LINK = "120000"  # the mode of a symbolic link
_PLACES = {"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"}  # a hook has them; the folder decides here
_FILE = "name a file with the earlier manifest"
SHALLOW = (
    "fetch the whole history: git fetch --unshallow --tags (in a workflow: fetch-depth: 0 for "
    "actions/checkout)"
)
_OWNER = (
    "the folder belongs to another user, as in a job's container: allow git to read it "
    'in an earlier step, with git config --global --add safe.directory "$PWD"'
)
_TAGS = "git tag lists the tags, and git fetch --tags fetches new ones"


def manifest_at(revision: str, path: str) -> Manifest | None:
    """Load a manifest as it was at a revision of its repository; None if it was not there.

    Its patterns match the files of that revision, and its places begin with the revision: a tag, a
    branch, a commit, or another name that git knows. The folder of the path must exist today.

    Raises:
        UsageError: It is not in a repository, or the revision is not known.
        ManifestError: It is invalid there.
        FileError: Git is not installed.
    """
    manifest = Path(path).absolute()
    folder, name = str(manifest.parent), manifest.name
    commit = _commit(revision, folder)
    with contents(folder) as read:
        files = resolved(entries_at(folder, commit), read)
        if name not in files:
            return None
        earlier = load_version(name, files, revision, read)
        imported = PurePosixPath(name).stem + IMPORTED
        is_kept = earlier.listings and imported in files
        return with_earlier_objects(earlier, read(files[imported])) if is_kept else earlier


def load_version(name: str, files: Mapping[str, str], revision: str, read: Read) -> Manifest:
    """Load a manifest from the contents of a revision, whose name is for problems.

    `files` has the ids of the contents of its folder, by relative path; `read` returns a content.
    Raises `ManifestError` if it is invalid, and `FileError` if its files cannot be kept.
    """
    main = read(files[name]) if name in files else b""
    others = matching(files, patterns_of(f"{revision}:{name}", main))
    contents = {file: read(files[file]) for file in others}
    try:
        with tempfile.TemporaryDirectory(prefix="commandsync-") as top:
            return _loaded(name, {**contents, name: main}, Path(top), revision)
    except OSError as error:
        message = f"the manifest at {revision} cannot be written into a folder: {reason(error)}"
        raise FileError(message, hint=_FILE) from error


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


def _commit(revision: str, folder: str) -> str:
    """Return the commit that a revision names."""
    is_shallow = git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"
    commit = b""
    if not revision.startswith("-"):  # it would be an option
        with suppress(GitError):
            commit = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not commit:
        message = f"{revision!r} is neither a file nor a revision that git knows here"
        raise UsageError(message, hint=SHALLOW if is_shallow else _TAGS)
    return commit.decode().strip()


def entries_at(folder: str, *tree: str) -> dict[str, Entry]:
    """Return the files of a tree and below it: mode and id of each content by its path.

    Of a commit, the tree is that of the folder.
    """
    entries = {}
    for line in filter(None, git(folder, "ls-tree", "-r", "-z", *tree).split(b"\0")):
        head, _, path = line.partition(b"\t")
        mode, kind, identifier = head.decode().split()
        if kind == "blob":  # else another repository
            entries[os.fsdecode(path)] = (mode, identifier)
    return entries


def resolved(entries: Mapping[str, Entry], read: Read) -> dict[str, str]:
    """Return the ids of contents by path.

    A link within the folder is the file that it leads to; others are left out.
    """
    files = {name: identifier for name, (mode, identifier) in entries.items() if mode != LINK}
    leading = {}
    for name in entries.keys() - files.keys():
        target = os.fsdecode(read(entries[name][1]))
        led_to = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
        if led_to in files:
            leading[name] = files[led_to]
    return files | leading


@contextmanager
def contents(folder: str) -> Iterator[Read]:
    """Start a process of git that reads contents by their ids, each once."""
    with _started(["cat-file", "--batch"], folder) as process:
        asked, answers = process.stdin, process.stdout
        assert asked  # noqa: S101 - both are pipes
        assert answers  # noqa: S101 - as above

        @cache
        def read(identifier: str) -> bytes:
            asked.write(f"{identifier}\n".encode())
            asked.flush()
            *_, size = answers.readline().split() or [b"missing"]
            if size == b"missing":  # a clone without all contents, and no way to the rest
                message = f"git does not have every file of this revision of {folder}"
                raise GitError(message, hint="git fetch --refetch fetches all of them")
            content = answers.read(int(size))
            answers.readline()
            return content

        yield read


class GitError(UsageError):
    """Git refuses."""


def git(folder: str, *arguments: str) -> bytes:
    """Run git in a folder, and return what it prints."""
    with _started(arguments, folder) as process:
        printed, errors = process.communicate()
    if process.returncode:
        message = errors.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ")
        hint = _OWNER if "dubious ownership" in message else _FILE
        raise GitError(f"git cannot read {folder}: {message}", hint=hint)
    return printed


def _started(arguments: Sequence[str], folder: str) -> Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name not in _PLACES}
    try:
        return Popen(  # noqa: S603 - no shell; a revision is never an option
            ["git", *arguments],  # noqa: S607 - the user's git, wherever it is installed
            cwd=folder,
            env=environment | {"LC_ALL": "C"},
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
    except FileNotFoundError as error:
        raise FileError("git is not installed", hint=f"install it, or {_FILE}") from error
