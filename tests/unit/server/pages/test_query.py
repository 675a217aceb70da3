import pytest

from commandsync.server.pages.query import BadQueryError, page_of, wanted_of
from commandsync.server.selection import Wanted


def test_without_a_query_the_first_page_of_all_bots_is_asked_for() -> None:
    assert wanted_of({}) == Wanted()


def test_an_empty_parameter_is_an_absent_one_as_forms_send_it() -> None:
    sent = dict.fromkeys(("q", "sort", "tags", "certified", "page"), "")

    assert wanted_of(sent) == Wanted()


def test_every_parameter_is_read() -> None:
    wanted = wanted_of(
        {"q": "music", "sort": "-servers", "tags": "a, b,,a", "certified": "false", "page": "3"}
    )

    assert wanted == Wanted(page=3, q="music", sort="-servers", tags=("a", "b"), certified=False)


@pytest.mark.parametrize("page", ["0", "-1", "1.5", "two", "٣", "1000000001", "9" * 5_000, " 1"])
def test_a_page_is_a_number_from_1(page: str) -> None:
    with pytest.raises(BadQueryError, match="page must be a whole number from 1 to 1000000000"):
        page_of({"page": page})


def test_the_farthest_page_is_that_of_the_interface() -> None:
    assert page_of({"page": "1000000000"}) == 10**9


def test_certified_is_true_or_false() -> None:
    with pytest.raises(BadQueryError, match="certified must be true or false"):
        wanted_of({"certified": "TRUE"})
