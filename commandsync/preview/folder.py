"""The page of a preview as a folder of files, which opens from the disk."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from commandsync.errors import FileError
from commandsync.sync.files import check_target, reason, refuse_token, write_file

_PAGE = "index.html"
_GENERATOR = b'<meta name="generator" content="commandsync preview">'
_HEAD = 4_000  # bytes at the beginning of a page that tell who made it


def check_folder(folder: str, *, force: bool, names: Iterable[str] = (_PAGE,)) -> None:
    """Check that a preview may be written into a folder, as far as that is known beforehand.

    An earlier preview is replaced. Files of somebody else are replaced only with `force`: else it
    raises `FileError`, as for a file that cannot be written.
    """
    page = Path(folder, _PAGE)
    check_target(str(page), force=True, new_folder=True)  # a pipe would be read for ever
    force = force or _is_preview(page)
    for name in names:
        check_target(str(Path(folder, name)), force=force, new_folder=True)


def write_folder(folder: str, files: Mapping[str, bytes], *, force: bool) -> str:
    """Write a preview into a folder, created if it is missing; return the page's path.

    Each file is written whole or not at all, and the page after what it loads. Raises `FileError`,
    as `check_folder` does.
    """
    check_folder(folder, force=force, names=files)
    for name, content in files.items():
        refuse_token(str(Path(folder, name)), [content.decode()])
    for name in sorted(files, key=lambda name: name == _PAGE):
        text = files[name].decode()
        write_file(str(Path(folder, name)), text, force=True, new_folder=True)
    return str(Path(folder, _PAGE))


def _is_preview(page: Path) -> bool:
    """Whether an earlier run has written a page."""
    try:
        with page.open("rb") as file:
            return _GENERATOR in file.read(_HEAD)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileError(
            f"cannot read {page}: {reason(error)}", hint="name another folder"
        ) from error
