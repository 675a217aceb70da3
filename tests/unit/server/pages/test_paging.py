import pytest

from commandsync.server.pages.paging import pages_of


@pytest.mark.parametrize(
    ("page", "last", "linked", "earlier", "later"),
    [
        (1, 1, [1], None, None),
        (1, 2, [1, 2], None, "2"),
        (2, 2, [1, 2], "1", None),
        (5, 9, [1, 3, 4, 5, 6, 7, 9], "4", "6"),
        (9, 9, [1, 7, 8, 9], "8", None),
        (12, 9, [1, 9], None, None),
    ],
)
def test_the_first_the_last_and_the_near_pages_are_linked(
    page: int, last: int, linked: list[int], earlier: str | None, later: str | None
) -> None:
    paging = pages_of(page, last, str)

    assert [number for number, _ in paging.pages] == linked
    assert all(address == str(number) for number, address in paging.pages)
    assert (paging.earlier, paging.later) == (earlier, later)
