import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.content import (
    MOST_VALUES,
    TooManyValuesError,
    check_size,
    decode_json,
    parse_json,
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_json_is_read_in_each_of_its_encodings(encoding: str) -> None:
    assert parse_json('{"name": "é😀"}'.encode(encoding)) == {"name": "é😀"}


@given(text=st.text(st.one_of(st.characters(categories=["Cs"]), st.characters(), st.just("\\"))))
def test_half_of_a_surrogate_pair_is_an_unknown_character(text: str) -> None:
    units = text.encode("utf-16-le", "surrogatepass")  # in which halves that meet are a pair

    assert parse_json(json.dumps([text]).encode()) == [units.decode("utf-16-le", "replace")]


@given(text=st.text(st.one_of(st.characters(codec="utf-8"), st.just("\\"), st.sampled_from("ud8"))))
@pytest.mark.parametrize("escaped", [False, True])
def test_whole_text_stays_as_it_is(text: str, *, escaped: bool) -> None:
    assert parse_json(json.dumps([text], ensure_ascii=escaped).encode()) == [text]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_half_of_a_surrogate_pair_that_is_not_escaped_is_unknown_too(encoding: str) -> None:
    assert parse_json('["a\ud800"]'.encode(encoding, "surrogatepass")) == ["a\ufffd"]


def test_as_many_values_as_there_may_be_are_read() -> None:
    assert len(parse_json(b"[" + b"0," * (MOST_VALUES - 1) + b"0]")) == MOST_VALUES


@pytest.mark.parametrize("unit", ["0,", "[],", "{},"])
def test_more_values_are_refused_unread(unit: str) -> None:
    with pytest.raises(TooManyValuesError, match="1,000,000 values"):
        check_size("[" + unit * MOST_VALUES + "0]")


def test_the_memory_of_a_text_counts_and_not_its_bytes() -> None:
    plain = b"a" * 17_000_000

    assert len(decode_json(plain)) == len(plain)
    with pytest.raises(TooManyValuesError, match="64 MiB"):
        decode_json(plain + "😀".encode())
