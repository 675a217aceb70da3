"""An earlier version of a manifest, for a comparison with the present one.

An earlier version is a manifest with the files that it included and its imported file. It has only
its own entries if it is older than the imported file. It is read from git's own objects:
`entries_at` lists the files of a commit, `resolved` follows the links between them, and `contents`
returns each content by its id. Nothing is checked out, and no filter, hook or setting of the
repository runs a program. `earlier_version` loads the version that an option names: a file, or a
revision of the manifest's repository. `history` yields all versions of a branch, and loads each
with `load_version`, too. `changes_since` finds the changes that users notice.
"""

import os
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from subprocess import PIPE, Popen
from typing import NamedTuple

from commandsync.diagnostics import Do, Location, Problem
from commandsync.errors import FileError, ManifestError, UsageError
from commandsync.manifest import Manifest, load_head, load_manifests
from commandsync.plan.differences import UserChanges, user_changes
from commandsync.records.snapshot import imported_path
from commandsync.records.texts import Resource, pattern
from commandsync.sync.files import reason
from commandsync.sync.settings import STDIN, check_stdin, load_files

Entry = tuple[str, str]
Read = Callable[[str], bytes]

LINK = "120000"  # the mode of a symbolic link
# Variables of the environment by which a hook names its own repository: the folder decides here.
_FOREIGN = re.compile(
    r"GIT_(DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|PREFIX|NAMESPACE|"
    r"\w+_PATHSPECS|EXTERNAL_DIFF|DIFF_OPTS|TRACE\w*)"
)
# Settings of a user or a repository that change the output or run a program. All others stay, such
# as `safe.directory` and the access to a remote repository.
_SETTINGS = {
    "core.fsmonitor": "false",
    "diff.orderFile": "/dev/null",
    "diff.relative": "false",
    "diff.renameLimit": "1000",
    "log.follow": "false",
    "log.showSignature": "false",
}
_OPTIONS = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_DIFFERENCES = {"log", "diff-tree"}  # the commands that can show differences
FILE = "name a file with the earlier manifest"
SHALLOW = (
    "fetch the whole history: git fetch --unshallow --tags (in a workflow: fetch-depth: 0 for "
    "actions/checkout)"
)
_OWNER = (
    "the folder belongs to another user, as in a job's container: allow git to read it "
    'in an earlier step, with git config --global --add safe.directory "$PWD"'
)
_TAGS = "git tag lists the tags, and git fetch --tags fetches new ones"


class GitError(UsageError):
    """Git refuses."""


def git(folder: str, *arguments: str) -> bytes:
    """Run git in a folder, and return its output."""
    with _started(arguments, folder) as process:
        printed, errors = process.communicate()
    if process.returncode:
        message = errors.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ")
        hint = _OWNER if "dubious ownership" in message else FILE
        raise GitError(f"git cannot read {folder}: {message}", hint=hint)
    return printed


def _started(arguments: Sequence[str], folder: str) -> Popen[bytes]:
    """Start git. Every call is made here, so that no setting changes its output."""
    command, *rest = arguments
    options = [*_OPTIONS, command, *(_NO_PROGRAMS if command in _DIFFERENCES else ()), *rest]
    variables = os.environ.items()
    environment = {name: value for name, value in variables if not _FOREIGN.fullmatch(name)}
    try:
        return Popen(  # noqa: S603 - no shell; a revision is never an option
            ["git", "--no-pager", *options],  # noqa: S607 - the user's git, wherever it is installed
            cwd=folder,
            env=environment | {"LC_ALL": "C"},
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )
    except FileNotFoundError as error:
        raise FileError("git is not installed", hint=f"install it, or {FILE}") from error


def commit_of(revision: str, folder: str) -> str:
    """Return the commit that a revision names."""
    is_shallow = git(folder, "rev-parse", "--is-shallow-repository").strip() == b"true"
    commit = b""
    if not revision.startswith("-"):  # it would be an option
        with suppress(GitError):
            commit = git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if not revision.strip("0"):  # CI systems name it where no push came before
        message = f"{revision!r} is not a commit"
        raise UsageError(message, hint="name the commit whose version was sent last")
    if not commit:
        message = f"{revision!r} is neither a file nor a revision that git knows here"
        raise UsageError(message, hint=SHALLOW if is_shallow else _TAGS)
    return commit.decode().strip()


def entries_at(folder: str, *tree: str) -> dict[str, Entry]:
    """Return the files of a tree and below it: mode and id of each content by its path.

    `tree` may be a commit, whose tree is the folder's.
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


class EarlierVersion(NamedTuple):
    """A manifest as it was, with its included files and its imported file."""

    name: str  # a file, a revision, or the short name of a commit
    manifest: Manifest
    path: str = ""  # its path in the repository, where it is from one


def earlier_version(since: str, manifest: Manifest) -> EarlierVersion:
    """Load an earlier version of a manifest: a file, `-` for standard input, or a git revision.

    Raises:
        UsageError: It does not exist.
        ManifestError: It is invalid.
        FileError: Git is needed and not installed.
    """
    if since == STDIN or os.path.isfile(since):  # noqa: PTH113 - False for too long a name, too
        (earlier,) = load_files([since], needs_imported=False)
        return EarlierVersion(since, earlier)
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
    others += filter(files.__contains__, [imported_path(name)])
    texts = {file: read(files[file]) for file in others}
    try:
        with tempfile.TemporaryDirectory(prefix="commandsync-") as top:
            manifest = _loaded(name, {**texts, name: main}, Path(top), revision)
    except OSError as error:
        message = f"the manifest at {revision} cannot be written into a folder: {reason(error)}"
        raise FileError(message, hint=FILE) from error
    return EarlierVersion(revision, manifest)


def patterns_of(name: str, main: bytes) -> Sequence[str]:
    """Return the patterns of the files that belong to a manifest; raises `ManifestError`."""
    return load_head(name, main).files if b"include" in main or b"languages" in main else ()


def matching(files: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return the files that one of the patterns of `include` may match.

    The manifest's reader knows for certain; not all file systems know upper and lower case.
    """

    def may_match(file: str, include: str) -> bool:
        parts, wanted = (PurePosixPath(path).parts for path in (file, include.strip()))
        if "**" in wanted:
            parts, wanted = parts[-1:], wanted[-1:]
        return len(parts) == len(wanted) and all(
            pattern(text).match(part) for part, text in zip(parts, wanted, strict=True)
        )

    return [file for file in files if any(may_match(file, include) for include in patterns)]


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
        (manifest,) = load_manifests(
            [str(top / name)], stdin=bytes, contents=placed, needs_imported=False
        )
    except ManifestError as error:
        problems, folder = [], f"{top.as_posix()}/"
        for problem in error.problems:  # the revision takes the place of the temporary folder
            path = problem.location.path.replace(folder, f"{revision}:")
            at, message = replace(problem.location, path=path), problem.message.replace(folder, "")
            problems.append(replace(problem, location=at, message=message))
        raise ManifestError(problems) from error
    return manifest


def changes_since(since: str, manifest: Manifest) -> UserChanges:
    """Compare a manifest with an earlier one: a file, `-` for standard input, or a git revision.

    Raises:
        UsageError: The earlier one does not exist, or one of the two does not manage commands,
            which are unknown then.
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
    changes = user_changes(old=earlier.snapshot, new=manifest.snapshot)
    return replace(changes, since=since, manifest=tuple(manifest.paths))
