"""The state of a file with a page of commands, and the checksum that tells it."""

import pytest

from commandsync.pages.commandlist import commands_page
from commandsync.records.texts import CommandText
from commandsync.report.markdownfile import State, sealed, state_of

OLD = sealed(commands_page([CommandText("ban", "Bans.", "/ban")]))
NEW = sealed(commands_page([CommandText("ban", "Bans a member.", "/ban")]))


@pytest.mark.parametrize(
    ("old", "state"),
    [
        (None, State.STALE),
        (NEW, State.CURRENT),
        (NEW.replace("\n", "\r\n"), State.CURRENT),
        (OLD, State.STALE),
        (OLD.replace("\n", "\r\n"), State.STALE),
        (OLD.replace("Bans.", "Bans!"), State.EDITED),
        (NEW.replace("<title>", "<title>My "), State.EDITED),
        ("<!doctype html>\n<title>Mine</title>\n", State.FOREIGN),
        ("", State.FOREIGN),
    ],
)
def test_only_what_docs_wrote_is_replaced(old: str | None, state: State) -> None:
    assert state_of(old, NEW) is state


def test_the_checksum_is_in_the_head_and_the_file_ends_with_a_line_end() -> None:
    assert ' content="commandsync docs sha256:' in NEW
    assert NEW.endswith("</html>\n")
