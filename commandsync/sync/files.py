"""Files the program writes: whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.errors import FileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NOT_CI = frozenset({"", "0", "false"})
_LARGEST_TOKEN = 64 * 1024  # bytes


def write_file(path: str, text: str, *, force: bool) -> None:
    """Write a file atomically: written aside, flushed to the disk, moved into place.

    Args:
        path: Where to.
        text: What; written as UTF-8 with LF line ends.
        force: Replace a file that is there already.

    Raises:
        FileError: It exists and `force` is not set, it is a link out of its folder, or the disk
            refuses. A file that was there is as it was.
    """
    target = _destination(path)
    if target.exists() and not force:
        raise _exists(path)
    try:
        handle, aside = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".new"
        )
    except OSError as error:
        raise _refused(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        _set_mode(aside, target)
        _move(aside, target, force=force)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        with suppress(OSError):
            Path(aside).unlink()  # gone already when it was moved
    _flush_folder(target.parent)


def check_free(path: str, *, force: bool) -> None:
    """Refuse now what `write_file` would refuse later, before anything else is done.

    Raises:
        FileError: As `write_file`, as far as it can be told beforehand.
        UsageError: It is `-`.
    """
    _check_name(path, "name a file, or leave the option out to print the result")
    target = _destination(path)
    if target.is_dir() or (target.exists() and not force):
        raise _exists(path)
    if not target.parent.is_dir():
        raise FileError(f"cannot write {path}: its folder does not exist", hint="create the folder")


def check_new(path: str) -> None:
    """Refuse a place where something stands, or nothing can; missing folders are no matter.

    Raises:
        FileError: It is taken, or cannot be.
        UsageError: It is `-`.
    """
    _check_name(path, "name a file")
    place = Path(path)
    if place.is_dir():
        raise _exists(path)
    if place.exists() or place.is_symlink():
        raise FileError(f"{path} exists already", hint="edit it, or name another file")


def check_unread(path: str, read: Iterable[str]) -> None:
    """Refuse to write over a file that this very run has read.

    Args:
        path: Where to write.
        read: The files that were read; `-` for standard input.

    Raises:
        UsageError: It is one of them.
    """
    target = Path(path)
    for one in read:
        if target.exists() and Path(one).exists() and target.samefile(one):
            raise UsageError(
                f"{path} is read here, and is not replaced",
                hint="write to another file",
            )


def ci_workspace(environ: Mapping[str, str]) -> Path | None:
    """Return the folder that a CI job works in; None outside CI.

    What it holds may be a stranger's pull request, whose links could lead to files of the machine.
    """
    if workspace := environ.get("GITHUB_WORKSPACE", ""):
        return Path(workspace).absolute()
    if environ.get("CI", "").lower() in _NOT_CI:
        return None
    here = Path.cwd()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)


def make_folder(folder: Path) -> None:
    """Make a folder, and those it is in, where they are missing.

    Raises:
        FileError: The system refuses.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(str(folder), error) from error


def read_file(path: str, *, most: int) -> bytes:
    """Read a file of at most so many bytes.

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
    """Read a token file; no message names it, for some give the token itself in its place.

    Raises:
        FileError: It cannot be read, or cannot be a token.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_TOKEN + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = reason(error) if isinstance(error, OSError) else "it is not a path"
        hint = "--token-file takes the path of a file that holds the token"
        raise FileError(f"cannot read the token file: {why}", hint=hint) from None
    try:
        if len(content) <= _LARGEST_TOKEN:
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    raise FileError("the token file holds no token", hint="it should hold the token alone")


def _destination(path: str) -> Path:
    """Return the file that is really written: a link is followed only inside its own folder."""
    given = Path(path)
    if not given.is_symlink():
        return given
    target = given.resolve()
    if not target.is_relative_to(given.parent.resolve()):
        raise FileError(
            f"{path} is a link out of its folder, and is not written through",
            hint="name the file it points to, or another one",
        )
    return target


def _set_mode(aside: str, target: Path) -> None:
    """Give the new file the old one's permissions, or those of any new file."""
    if os.name != "posix":
        return
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    Path(aside).chmod(mode)


def _move(aside: str, target: Path, *, force: bool) -> None:
    """Move into place; without `force`, fail if another program was quicker."""
    if not force and hasattr(os, "link"):
        try:
            os.link(aside, target)
        except FileExistsError:
            raise
        except OSError:
            pass  # a file system without hard links: the check before has to do
        else:
            return
    Path(aside).replace(target)


def _flush_folder(folder: Path) -> None:
    """Flush the folder's own entry, where the system can."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _exists(path: str) -> FileError:
    if Path(path).is_dir():
        return FileError(f"{path} is a folder", hint="name a file in it")
    return FileError(f"{path} exists already", hint="--force replaces it")


def _check_name(path: str, hint: str) -> None:
    """Refuse what can name no file here: standard output, too long a name, a closed folder."""
    if path == "-":
        raise UsageError("- is not a file, and what is written here goes into one", hint=hint)
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # free, or told of its folder
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: str, error: OSError) -> FileError:
    return FileError(
        f"cannot write {path}: {reason(error)}", hint="nothing was changed; check folder and disk"
    )


def reason(error: OSError) -> str:
    """Return why the system refuses something, in its own words."""
    return (error.strerror or type(error).__name__).lower()
