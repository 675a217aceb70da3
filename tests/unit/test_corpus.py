"""The inputs of the fuzzers, and what they found: every promise holds on them without atheris."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.untrusted import JUDGES, WORDS, corpus


def mixed(kind: str) -> st.SearchStrategy[bytes]:
    """Draw pieces of known inputs, words of the language and noise, one after another."""
    known = [path.read_bytes() for path in corpus(kind)]
    pieces = st.sampled_from(known).flatmap(
        lambda data: st.tuples(st.integers(0, len(data)), st.integers(0, len(data))).map(
            lambda ends: data[min(ends) : max(ends)]
        )
    )
    noise = st.binary(max_size=4) | st.text(max_size=8).map(str.encode)
    return st.lists(pieces | st.sampled_from(WORDS[kind]) | noise, max_size=8).map(b"".join)


@pytest.mark.promise("untrusted-input")
@pytest.mark.parametrize("kind", JUDGES)
def test_a_known_input_breaks_no_promise(kind: str) -> None:
    for path in corpus(kind):
        JUDGES[kind](path.read_bytes())


@pytest.mark.parametrize("kind", JUDGES)
@given(data=st.data())
def test_nothing_made_of_them_breaks_a_promise(kind: str, data: st.DataObject) -> None:
    JUDGES[kind](data.draw(mixed(kind)))
