from pathlib import Path, PurePosixPath

import pytest

from commandsync.sources.entry import SourceReading
from commandsync.sources.python import read
from tests.support.botcode import ReadingOf


@pytest.fixture
def reading_of(tmp_path: Path) -> ReadingOf:
    """Write files into a folder of the test, and read the commands of all of them.

    The files are the content of each by its path in the folder; a text is that of `bot.py`.
    """

    def reading(files: dict[str, str | bytes] | str, *, inside: str = "") -> SourceReading:
        folder = tmp_path / inside
        for path, content in ({"bot.py": files} if isinstance(files, str) else files).items():
            file = folder / PurePosixPath(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return read(folder.as_posix())

    return reading
