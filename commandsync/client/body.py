"""An answer's body, unzipped as it comes and never larger than an answer may be."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of an unzipped answer; 20,000 commands fit many times."""

_PIECE = 64 * 1024
_GZIP = 31  # zlib's way to say: a gzip header, any window


class BodyError(Exception):
    """A body that cannot be taken; the message says why, without saying whose it is."""


class Body:
    """A body that is being put together.

    Args:
        encoding: The `Content-Encoding` of the answer.
        limit: The size in bytes that the unzipped body may have; it is refused right after it.

    Raises:
        BodyError: The encoding is one that nobody asked for.
    """

    def __init__(self, *, encoding: str = "", limit: int = LARGEST_BODY) -> None:
        self._limit = limit
        self._body = bytearray()
        self._begun = False
        match encoding.strip().lower():
            case "" | "identity":
                self._unzip = None
            case "gzip" | "x-gzip":
                self._unzip = zlib.decompressobj(_GZIP)
            case _:
                raise BodyError("comes in an encoding that was not asked for")

    def feed(self, chunk: bytes) -> None:
        """Take the bytes as they come from the network.

        Raises:
            BodyError: It is too large, or is not what its encoding says.
        """
        pieces = (chunk,) if self._unzip is None else self._unzipped(chunk, self._unzip)
        for piece in pieces:
            self._body += piece
            if len(self._body) > self._limit:
                raise BodyError(f"is larger than {self._limit // 1024 // 1024} MiB")

    def whole(self) -> bytes:
        """Return the body, now that nothing comes any more.

        Raises:
            BodyError: It ends too early.
        """
        if self._begun and self._unzip is not None and not self._unzip.eof:
            raise BodyError("ends in the middle of its gzip")
        return bytes(self._body)

    def _unzipped(self, rest: bytes, unzip: zlib._Decompress) -> Iterator[bytes]:
        """Unzip in small pieces, so that a bomb is noticed while it is still small."""
        self._begun = True
        try:
            while rest:
                if unzip.eof:  # gzip allows one member after another (RFC 1952, 2.2)
                    unzip = self._unzip = zlib.decompressobj(_GZIP)
                yield unzip.decompress(rest, _PIECE)
                rest = unzip.unconsumed_tail or unzip.unused_data
        except zlib.error as error:
            raise BodyError("is not the gzip it says it is") from error


def gather(chunks: Iterable[bytes], *, encoding: str = "", limit: int = LARGEST_BODY) -> bytes:
    """Put a body together from what comes one by one; raises as `Body` does."""
    body = Body(encoding=encoding, limit=limit)
    for chunk in chunks:
        body.feed(chunk)
    return body.whole()
