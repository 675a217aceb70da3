"""Git's own objects: the files of a commit, read by their ids, without a checkout.

`git` runs one command in a folder. `entries_at` lists the files of a commit, `resolved` follows the
links between them, and `contents` keeps one process that returns each content by its id. No filter
or hook of the repository runs.
"""

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from subprocess import PIPE, Popen

from commandsync.errors import FileError, UsageError

Entry = tuple[str, str]
Read = Callable[[str], bytes]

LINK = "120000"  # the mode of a symbolic link
_PLACES = {"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX"}  # a hook has them; the folder decides here
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
    """Run git in a folder, and return what it prints."""
    with _started(arguments, folder) as process:
        printed, errors = process.communicate()
    if process.returncode:
        message = errors.decode(errors="replace").partition("\n")[0].removeprefix("fatal: ")
        hint = _OWNER if "dubious ownership" in message else FILE
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
        raise FileError("git is not installed", hint=f"install it, or {FILE}") from error


def commit_of(revision: str, folder: str) -> str:
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
