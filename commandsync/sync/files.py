"""The files of a run: read up to a size, and written whole or not at all.

No other module opens a file for writing, so that each rule here is one for all files: none is
written over another one without `--force`, and none with a token in it.

Tokens are in a file of their own (`read_token`), or beside other variables in a file such as
`.env`, where many bots have theirs. `--env-file` names such a file, and `read_env_file` takes from
it the variables that contain a token, and nothing else. Without the option no token is from a file:
`missing_token` only looks whether `.env` has the variable, for the hint.
"""

from __future__ import annotations

import io
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.api.credentials import SECRET_VARIABLE, Token, contains_token, keep_secret
from commandsync.diagnostics import Do, Hint
from commandsync.errors import FileError, RefusedError, UsageError

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit

NOT_CI = frozenset({"", "0", "false"})
"""The values of the variable CI outside it."""

MOST_BYTES = 32 * 1024 * 1024
"""Of a file that is edited in place, or has a list that is sent."""

USUAL_ENV_FILE = ".env"
"""The usual name of a file with the tokens of many bots."""

_LARGEST_TOKEN = 64 * 1024  # bytes
_LARGEST_ENV_FILE = 1 << 20  # bytes

_REPLACE = Do.REPLACE_FILE()


def check_target(
    path: str,
    *,
    force: bool,
    read: Iterable[str] = (),
    new_folder: bool = False,
    hint: str | Hint = _REPLACE,
) -> Path:
    """Check that a file can be written, as far as that is known beforehand; return that file.

    It is the target of a link inside one folder. A run never replaces the files that it has `read`,
    nor a device, a pipe or a socket; `hint` is the advice for a file that exists. Raises
    `FileError` if it exists and `force` is not set, or it cannot be written, and `UsageError` if it
    is `-`, or it is read.
    """
    if path == "-":
        raise UsageError("- is not a file: this output goes into a file", hint="name a file")
    status, target = _status(path), _target_of(Path(path))
    if status:
        _check_replaceable(path, status)
    if os.path.lexists(path) and not force:
        raise FileError(f"{path} exists already", hint=hint)
    if not (new_folder or target.parent.is_dir()):
        raise FileError(f"cannot write {path}: its folder does not exist", hint="create it")
    if target.exists() and any(target.samefile(name) for name in read if Path(name).exists()):
        message = f"this run reads {path}, and does not replace it"
        raise UsageError(message, hint="write to another file")
    return target


def _status(path: str) -> os.stat_result | None:
    """Return the status of a file, or of a link's target; None if there is none."""
    try:
        return Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:  # too long a name, a closed folder, a link to itself
        raise _refused(path, error) from error


def _check_replaceable(path: str, status: os.stat_result) -> None:
    """Refuse to replace anything but a file that is not an output of the run."""
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path} is a folder", hint="name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{path} is not a regular file, and is not replaced", hint="name a file")
    for number in (1, 2):  # standard output or error may go into it, as with `/dev/stdout`
        with suppress(OSError):  # it is closed
            if os.path.samestat(os.fstat(number), status):
                message = f"{path} is an output of this run, and is not replaced"
                raise FileError(message, hint="name a file")


def write_file(
    path: str,
    content: str | bytes,
    *,
    force: bool,
    new_folder: bool = False,
    private: bool = False,
) -> None:
    """Write a file atomically: into a new file, flushed to the disk, moved into place.

    Text is written as UTF-8, if it contains no token. Bytes are the copy of another file. Nobody
    else may read a `private` file.

    Raises:
        FileError: As `check_target`, or it cannot be written. An existing file is unchanged then.
        RefusedError: As `refuse_token`.
    """
    refuse_token(path, [content] if isinstance(content, str) else [])
    with _prepared(path, content, force=force, new_folder=new_folder, private=private) as move:
        move()


@contextmanager
def _prepared(
    path: str,
    content: str | bytes,
    *,
    force: bool,
    new_folder: bool = False,
    private: bool = False,
) -> Iterator[Callable[[], None]]:
    """Write a new file beside its place; the returned function moves it there.

    Both raise as `write_file`.
    """
    target = check_target(path, force=force, new_folder=new_folder)
    aside = target.with_name(f".{target.name}.{os.urandom(4).hex()}.new")

    def move() -> None:
        with _refusing(path):
            _move(aside, target, force=force)
        _flush_folder(target.parent)

    try:
        with _refusing(path):
            if new_folder:
                target.parent.mkdir(parents=True, exist_ok=True)
            with aside.open("xb") as file:
                if os.name == "posix" and (private or target.exists()):
                    aside.chmod(0o600 if private else target.stat().st_mode & 0o777)
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
        yield move
    finally:
        with suppress(OSError):
            aside.unlink()  # gone already when it was moved


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Raise `FileError` for an error of the system while a file is written."""
    try:
        yield
    except FileExistsError as error:  # another program was quicker
        raise FileError(f"{path} exists already", hint=_REPLACE) from error
    except OSError as error:
        raise _refused(path, error) from error


def append_to_file(path: str, text: str) -> None:
    """Append to a file that other programs also write, such as a runner's; raises `FileError`."""
    try:
        with Path(path).open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise _refused(path, error) from error


def temporary_folder(name: str, *, within: str = "") -> Path:
    """Create a folder for files of a run, in a folder or among the system's temporary files.

    Raises `FileError` if it cannot be created.
    """
    try:
        folder = tempfile.mkdtemp(prefix=f"commandsync-{name}-", dir=within or None)
    except OSError as error:
        message = f"a folder for files cannot be created: {reason(error)}"
        raise FileError(message, hint="check folder and disk") from error
    return Path(folder).absolute()


def write_edits(edits: Sequence[FileEdit], *, new_folder: bool = False) -> None:
    """Write files, all of them or none, and none over a file that somebody changed.

    All are prepared beside their places before the first one is moved there. With `new_folder`,
    their folders are created.

    Raises `FileError` if a file changed since it was read, or cannot be written, and `RefusedError`
    as `refuse_token`. If a file cannot be moved after others were, the message names these.
    """
    for edit in edits:
        # A pipe would be read for ever.
        check_target(edit.path, force=edit.before is not None, new_folder=new_folder)
        refuse_token(edit.path, [edit.after])
        if (
            edit.before is not None
            and read_file(edit.path, most=MOST_BYTES) != edit.before.encode()
        ):
            raise FileError(f"{edit.path} has changed in the meantime", hint="run it again")
    with ExitStack() as files:
        moves = [
            files.enter_context(
                _prepared(
                    edit.path, edit.after, force=edit.before is not None, new_folder=new_folder
                )
            )
            for edit in edits
        ]
        for number, move in enumerate(moves):
            try:
                move()
            except FileError as error:
                if not number:
                    raise
                written = " and ".join(edit.path for edit in edits[:number])
                hint = "restore it from version control, or run the command again"
                message = f"{error.message}; {written} was written before"
                raise error.having(message=message, hint=hint) from error


def refuse_token(path: str, texts: Iterable[str]) -> None:
    """Refuse to write a file: in it, or in its name, others could read a token.

    Raises `RefusedError` if the path or one of the texts contains a token of the run.
    """
    if any(map(contains_token, (path, *texts))):
        raise RefusedError(
            f"{path} is not written: a token of this run would be in it",
            hint="remove the token where it is now, and renew it: others may have read it",
        )


def ci_workspace(environ: Mapping[str, str]) -> Path | None:
    """Return the folder that a CI job works in; None outside CI.

    It may contain an untrusted pull request, whose links could lead to files of the machine.
    """
    if workspace := environ.get("GITHUB_WORKSPACE", ""):
        return Path(workspace).absolute()
    if environ.get("CI", "").lower() in NOT_CI:
        return None
    here = Path.cwd()
    return next((path for path in (here, *here.parents) if (path / ".git").exists()), here)


def check_in_workspace(path: str) -> None:
    """Refuse a path of a manifest that leads out of the checkout in CI; raises `FileError`."""
    if (workspace := ci_workspace(os.environ)) and not real(path).is_relative_to(real(workspace)):
        hint = "in CI a manifest names only sources in the checkout"
        raise FileError(f"{path} is not in the workspace, and is not read", hint=hint)


def relative(path: str, folder: str = ".") -> str:
    """Return a path relative to a folder, with `/` between folders."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # pragma: no cover - on another drive of Windows
        return Path(path).absolute().as_posix()


def read_file(path: str, *, most: int) -> bytes:
    """Read a file of at most `most` bytes; raises `FileError`, also if it is larger."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason(error)}", hint="check the path") from error
    if len(content) > most:
        raise FileError(f"{path} is larger than {most:,} bytes", hint="is it the right file?")
    return content


def read_text(path: str, *, most: int) -> str:
    """Read a file as `read_file` does, in UTF-8."""
    try:
        return read_file(path, most=most).decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8", hint="save it as UTF-8") from error


def read_token(path: str) -> str:
    """Read a token file; no message names it, since some users give the token instead of a path.

    Raises `FileError` if it cannot be read, or does not contain a token.
    """
    try:
        return read_file(path, most=_LARGEST_TOKEN).decode("utf-8-sig")
    except (FileError, ValueError) as error:
        cause = error.__cause__
    if isinstance(cause, OSError):
        hint = "give the path of a file that contains the token"
        raise FileError(f"cannot read the token file: {reason(cause)}", hint=hint)
    raise FileError("the token file does not contain a token", hint="put only the token into it")


def read_env_file(path: str) -> dict[str, str]:
    """Return the tokens in a file by their variables; they are hidden from now on.

    Other variables are not read, and `${NAME}` in a value is not replaced: a file would name other
    secrets of the environment. No error names the path, as for a token file.

    Raises `ValueError` if the file cannot be read, or a line with such a variable is not valid.
    """
    from dotenv.parser import parse_stream  # noqa: PLC0415 - only a run with such a file needs it

    if not path:
        raise ValueError("the path is empty")
    found = {}
    for binding in parse_stream(io.StringIO(_env_text(path))):
        if binding.error and SECRET_VARIABLE.search(binding.original.string):
            raise ValueError(f"line {binding.original.line} of the file is not NAME=VALUE")
        name, value = binding.key or "", (binding.value or "").strip()
        if value and SECRET_VARIABLE.fullmatch(name):
            found[name] = value
    for value in found.values():
        with suppress(UsageError):  # an invalid token is refused where it is needed
            if not (token := Token(value)).is_short:  # the run may not use it
                keep_secret(token)
    return found


def _env_text(path: str) -> str:
    try:
        return read_file(path, most=_LARGEST_ENV_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the file is not UTF-8") from None
    except FileError as error:
        cause = error.__cause__
    most = f"it is larger than {_LARGEST_ENV_FILE:,} bytes"
    known = reason(cause) if isinstance(cause, OSError) else most
    raise ValueError(f"cannot read the file: {known}")


def in_usual_file(names: Iterable[str]) -> str:
    """Return the first of the variables that `.env` in this folder sets; empty for none.

    In CI it is not opened: tokens are secrets there, and the file may be a stranger's.
    """
    if ci_workspace(os.environ):
        return ""
    with suppress(FileError):
        if Path(USUAL_ENV_FILE).is_file():  # a pipe could be read only once
            text = read_file(USUAL_ENV_FILE, most=_LARGEST_ENV_FILE).decode("utf-8", "replace")
            for name in names:
                if re.search(
                    rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=[ \t]*[^\s#]", text, re.MULTILINE
                ):
                    return name
    return ""


def missing_token(names: Iterable[str], otherwise: str | Hint) -> str | Hint:
    """Return the hint about a token that none of the variables has."""
    if name := in_usual_file(names):
        return Do.USE_ENV_FILE(variable=name, file=USUAL_ENV_FILE, otherwise=otherwise)
    return otherwise


def _target_of(path: Path) -> Path:
    """Return the file to write: a link is followed only inside its own folder.

    No link to a folder on the way may lead out of the working folder, or of a CI job's workspace.
    """
    workspace = ci_workspace(os.environ)
    roots = [real(root) for root in (Path.cwd(), workspace) if root]
    here = Path(path.absolute().anchor)
    for name in path.absolute().parent.parts[1:]:
        there = real(here / name)
        left = [root for root in roots if here.is_relative_to(root) > there.is_relative_to(root)]
        if left and name != "..":
            message = f"{path}: the folder {name} is a link out of {left[0]}, and is not followed"
            raise FileError(message, hint="name the folder it points to, or another one")
        here = there
    if not path.is_symlink():
        return path
    target = real(path)
    if not target.is_relative_to(real(path.parent)):
        message = f"{path} is a link out of its folder, and is not followed"
        raise FileError(message, hint="name the file it points to, or another one")
    return target


def real(path: str | Path) -> Path:
    """Return the path that links lead to."""
    return Path(os.path.realpath(path))  # resolve() fails on a link to itself before Python 3.13


def _move(aside: Path, target: Path, *, force: bool) -> None:
    """Move into place; without `force`, fail if the file has been created in the meantime."""
    if not force:
        try:
            os.link(aside, target)
        except FileExistsError:
            raise
        except (OSError, AttributeError):
            pass  # a system without hard links: the earlier check has to do
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
    # Whether the run has written other files is not known here.
    return FileError(f"cannot write {path}: {reason(error)}", hint="check folder and disk")


def reason(error: OSError) -> str:
    """Return the system's reason for an error."""
    return (error.strerror or type(error).__name__).lower()
