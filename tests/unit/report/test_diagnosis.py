import pytest

from commandsync.diagnostics import Check
from commandsync.report.diagnosis import check_lines
from commandsync.report.lines import Screen

CHECK = Check("access", "failed", "the service does not accept the token", "copy the token again")


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (
            None,
            [
                "failed   access       the service does not accept the token",
                "                      hint: copy the token again",
            ],
        ),
        (
            54,
            [
                "failed   access       the service does not accept the",
                "                      token",
                "                      hint: copy the token again",
            ],
        ),
        (
            24,
            [
                "failed   access",
                "  the service does not",
                "  accept the token",
                "  hint: copy the token",
                "  again",
            ],
        ),
    ],
)
def test_a_check_is_wrapped_once_beside_its_name_or_below_it(
    width: int | None, lines: list[str]
) -> None:
    assert check_lines(CHECK, screen=Screen(width=width)).splitlines() == lines


def test_a_name_that_fills_its_column_is_apart_from_the_message() -> None:
    check = Check("discordbotlist.com", "ok", "not checked")

    assert "discordbotlist.com not checked" in check_lines(check, screen=Screen(width=None))
