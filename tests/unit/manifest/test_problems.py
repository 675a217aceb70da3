"""Problems are found at their places, and reported in order; their words are in `golden/`."""

from collections.abc import Callable

import pytest

Complaints = Callable[[str | bytes], list[str]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_whatever_ends_them(complaints: Complaints, end: str, mark: str) -> None:
    text = mark + end.join(["bto: 1", "version: 1", "prefix: 'a\u2028\x85b'", "bto2: 1", ""])

    assert [line.split(" a ")[0] for line in complaints(text)] == ["1:1:", "4:1:"]


def test_problems_are_sorted_by_place_and_reported_once(complaints: Complaints) -> None:
    text = "version: 1\nannouncements:\n- {titel: &t [x]}\ncommands:\n- {nam: *t}\n"

    assert [line.split(": ")[0] for line in complaints(text)] == [
        *["3:3", "3:3", "3:4"],
        *["5:3", "5:3", "5:3", "5:4"],
    ]


def test_after_a_thousand_problems_reading_stops(complaints: Complaints) -> None:
    found = complaints("version: 1\n" + "".join(f"key{n}: 1\n" for n in range(1500)))

    assert len(found) == 1001
    assert found[999].startswith("1001:1: ")
    assert found[1000] == "1:1: there may be more problems: only the first 1000 are shown"


def test_a_wrong_entry_does_not_hide_what_is_wrong_between_the_others(
    complaints: Complaints,
) -> None:
    text = (
        "version: 2\ncommands:\n- {name: a, description: b, syntax: c}\n- {name: ''}\n- x\n"
        "- {name: a, description: b, syntax: c, formerly: ['', x]}\ninclude: ['']\n"
    )

    assert [line.split(": ")[0] for line in complaints(text)] == [
        *["1:10", "4:3", "4:3", "4:10", "5:3"],
        *["6:3", "6:51", "7:11"],
    ]
