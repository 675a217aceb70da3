import gzip
import zlib
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.client.request import LARGEST_BODY, Body, BodyError

TEXT = b"0123456789" * 1000


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def gather(chunks: Iterable[bytes], *, encoding: str = "", limit: int = LARGEST_BODY) -> bytes:
    """Return the whole body of chunks."""
    body = Body(encoding=encoding, limit=limit)
    for chunk in chunks:
        body.feed(chunk)
    return body.whole()


@pytest.mark.parametrize("encoding", ["", "identity", " Identity ", "gzip", "x-gzip"])
@given(st.binary(max_size=300), st.integers(1, 50), st.integers(0, 9), st.integers(0, 3))
@example(TEXT * 50, 7, 9, 1)
def test_any_chunks_give_what_was_sent(
    encoding: str, data: bytes, size: int, level: int, members: int
) -> None:
    member = gzip.compress(data, level) if "gzip" in encoding else data

    body = gather(cut(member * members, size), encoding=encoding)

    assert body == data * members


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_of_exactly_the_limit_is_taken(encoding: str) -> None:
    sent = gzip.compress(TEXT) if encoding else TEXT

    body = gather([sent], encoding=encoding, limit=len(TEXT))

    assert body == TEXT


def test_reading_stops_right_after_the_limit() -> None:
    chunks = iter([b"x" * 10] * 5)

    with pytest.raises(BodyError, match="larger than"):
        gather(chunks, limit=15)

    assert len(list(chunks)) == 3


def test_a_bomb_is_stopped_before_it_is_unzipped() -> None:
    pieces: list[int] = []
    bomb = gzip.compress(b" " * (8 * 1024 * 1024))

    def counted() -> Iterator[bytes]:
        for chunk in cut(bomb, 100):
            pieces.append(len(chunk))
            yield chunk

    with pytest.raises(BodyError, match="larger than 1 MiB"):
        gather(counted(), encoding="gzip", limit=1024 * 1024)

    assert sum(pieces) < len(bomb) / 4


@pytest.mark.parametrize(
    ("sent", "encoding", "why"),
    [
        (gzip.compress(TEXT)[:-4], "gzip", "is truncated"),
        (b"no gzip at all", "gzip", "not valid gzip"),
        (gzip.compress(TEXT) + b"garbage", "gzip", "not valid gzip"),
        (zlib.compress(TEXT), "deflate", "not requested"),
    ],
    ids=["cut", "plain", "more behind it", "another encoding"],  # gzip holds the time of day
)
def test_what_cannot_be_unzipped_is_an_error(sent: bytes, encoding: str, why: str) -> None:
    with pytest.raises(BodyError, match=why):
        gather([sent], encoding=encoding)
