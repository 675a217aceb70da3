"""Files the program writes: whole or not at all, and never over another file without `--force`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commandsync.sources.outcome import FileEdit

_NOT_CI = frozenset({"", "0", "false"})
MOST_BYTES = 10 * 1024 * 1024
"""Of a file that is edited in place, as of a manifest."""

_LARGEST_TOKEN = 64 * 1024  # bytes


def check_target(
    path: str,
    *,
    force: bool,
    read: Iterable[str] = (),
    new_folder: bool = False,
    hint: str = "--force replaces it",
) -> Path:
    """Check that a file can be written, as far as that is known beforehand; return that file.

    It is the target of a link inside one folder. A run never replaces the files that it has `read`;
    `hint` is the advice for a file that exists.

    Raises:
        FileError: It exists and `force` is not set, or it cannot be written.
        UsageError: It is `-`, or it is read.
    """
    if path == "-":
        raise UsageError("- is not a file: this output goes into a file", hint="name a file")
    exists, target = _exists(path), _target_of(Path(path))
    if target.is_dir():
        raise FileError(f"{path} is a folder", hint="name a file in it")
    if exists and not force:
        raise FileError(f"{path} exists already", hint=hint)
    if not (new_folder or target.parent.is_dir()):
        raise FileError(f"cannot write {path}: its folder does not exist", hint="create it")
    if any(Path(name).exists() and target.exists() and target.samefile(name) for name in read):
        raise UsageError(
            f"this run reads {path}, and does not replace it", hint="write to another file"
        )
    return target


def write_file(path: str, text: str, *, force: bool, new_folder: bool = False) -> None:
    """Write a file atomically, as UTF-8: into a new file, flushed to the disk, moved into place.

    Raises:
        FileError: As `check_target`, or it cannot be written. An existing file is unchanged then.
    """
    target = check_target(path, force=force, new_folder=new_folder)
    aside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.new")
    try:
        if new_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("xb") as file:
            if os.name == "posix" and target.exists():
                aside.chmod(target.stat().st_mode & 0o777)
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _move(aside, target, force=force)
    except FileExistsError as error:  # another program was quicker
        raise FileError(f"{path} exists already", hint="--force replaces it") from error
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        with suppress(OSError):
            aside.unlink()  # gone already when it was moved
    _flush_folder(target.parent)


def write_edits(edits: Sequence[FileEdit], *, again: str) -> None:
    """Write files in their order, each whole or not at all, and none over what somebody changed.

    Args:
        edits: The files with their texts before and after.
        again: What to do after a change in the meantime.

    Raises:
        FileError: A file changed since it was read, or cannot be written.
    """
    for edit in edits:
        before = None if edit.before is None else edit.before.encode()
        if before is not None and read_file(edit.path, most=MOST_BYTES) != before:
            raise FileError(f"{edit.path} has changed in the meantime", hint=again)
    for edit in edits:
        write_file(edit.path, edit.after, force=edit.before is not None)


def ci_workspace(environ: Mapping[str, str]) -> Path | None:
    """Return the folder that a CI job works in; None outside CI.

    It may contain an untrusted pull request, whose links could lead to files of the machine.
    """
    if workspace := environ.get("GITHUB_WORKSPACE", ""):
        return Path(workspace).absolute()
    if environ.get("CI", "").lower() in _NOT_CI:
        return None
    here = Path.cwd()
    return next((path for path in (here, *here.parents) if (path / ".git").exists()), here)


def read_file(path: str, *, most: int) -> bytes:
    """Read a file of at most `most` bytes.

    Raises:
        FileError: It cannot be read, or it is larger.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}", hint="check the path") from error
    if len(content) > most:
        raise FileError(f"{path} is larger than {most:,} bytes", hint="is it the right file?")
    return content


def read_token(path: str) -> str:
    """Read a token file; no message names it, since some users give the token instead of a path.

    Raises:
        FileError: It cannot be read, or does not contain a token.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_TOKEN + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = reason(error) if isinstance(error, OSError) else "it is not a path"
        hint = "--token-file takes the path of a file that contains the token"
        raise FileError(f"cannot read the token file: {why}", hint=hint) from None
    try:
        if len(content) <= _LARGEST_TOKEN:
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    raise FileError("the token file does not contain a token", hint="put only the token into it")


def _exists(path: str) -> bool:
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:  # too long a name, a closed folder
        raise _refused(path, error) from error
    return True


def _target_of(path: Path) -> Path:
    """Return the file to write: a link is followed only inside its own folder."""
    if not path.is_symlink():
        return path
    target = path.resolve()
    if not target.is_relative_to(path.parent.resolve()):
        raise FileError(
            f"{path} is a link out of its folder, and is not followed",
            hint="name the file it points to, or another one",
        )
    return target


def _move(aside: Path, target: Path, *, force: bool) -> None:
    """Move into place; without `force`, fail if the file has been created in the meantime."""
    if not force and hasattr(os, "link"):
        try:
            os.link(aside, target)
        except FileExistsError:
            raise
        except OSError:
            pass  # a file system without hard links: the earlier check has to do
        else:
            return
    aside.replace(target)


def _flush_folder(folder: Path) -> None:
    """Flush the folder's entry to the disk, where the system supports it."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refused(path: str, error: OSError) -> FileError:
    return FileError(
        f"cannot write {path}: {reason(error)}", hint="nothing was changed; check folder and disk"
    )


def reason(error: OSError) -> str:
    """Return the system's reason for an error."""
    return (error.strerror or type(error).__name__).lower()
