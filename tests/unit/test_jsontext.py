from __future__ import annotations

import pytest

from commandsync.jsontext import MOST_VALUES, TooLargeError, check_size, decode, parse


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_json_is_read_in_each_of_its_encodings(encoding: str) -> None:
    assert parse('{"name": "é😀"}'.encode(encoding)) == {"name": "é😀"}


def test_half_of_a_surrogate_pair_is_left_to_the_reader() -> None:
    assert parse(b'["\\ud800"]') == ["\ud800"]


def test_as_many_values_as_there_may_be_are_read() -> None:
    assert len(parse(b"[" + b"0," * (MOST_VALUES - 1) + b"0]")) == MOST_VALUES


@pytest.mark.parametrize("unit", ["0,", "[],", "{},"])
def test_more_values_are_refused_unread(unit: str) -> None:
    with pytest.raises(TooLargeError, match="1,000,000 values"):
        check_size("[" + unit * MOST_VALUES + "0]")


def test_the_memory_of_a_text_counts_and_not_its_bytes() -> None:
    plain = b"a" * 17_000_000

    assert len(decode(plain)) == len(plain)
    with pytest.raises(TooLargeError, match="64 MiB"):
        decode(plain + "😀".encode())


def test_what_is_no_json_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        parse(b"<html>")
