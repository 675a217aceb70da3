"""The body of an answer: unzipped while it is read, and limited in size."""

import zlib
from collections.abc import Iterator

LARGEST_BODY = 32 * 1024 * 1024
"""Bytes of an unzipped answer; 20,000 commands fit many times."""

_PIECE = 64 * 1024
_GZIP = 31  # zlib's code for a gzip header and any window


class BodyError(Exception):
    """A body that cannot be read; the message is the end of a sentence about the answer."""


class Body:
    """A body that is being read; the limit is of the unzipped body, in bytes.

    Its encoding, its size or its content may raise `BodyError`, at any step.
    """

    def __init__(self, *, encoding: str = "", limit: int = LARGEST_BODY) -> None:
        self._limit = limit
        self._body = bytearray()
        self._unzip: zlib._Decompress | None = None  # of the member that is being read
        self._zipped = encoding.strip().lower() in {"gzip", "x-gzip"}
        if not self._zipped and encoding.strip().lower() not in {"", "identity"}:
            raise BodyError("has a content encoding that was not requested")

    def feed(self, chunk: bytes) -> None:
        """Add bytes from the network."""
        for piece in self._unzipped(chunk) if self._zipped else (chunk,):
            self._body += piece
            if len(self._body) > self._limit:
                raise BodyError(f"is larger than {self._limit // 1024 // 1024} MiB")

    def whole(self) -> bytes:
        """Return the whole body, at its end."""
        if self._unzip is not None and not self._unzip.eof:
            raise BodyError("is truncated gzip")
        return bytes(self._body)

    def _unzipped(self, rest: bytes) -> Iterator[bytes]:
        """Unzip in small pieces, so that the limit is checked before memory fills up."""
        try:
            while rest:
                unzip = self._unzip
                if unzip is None or unzip.eof:  # there may be several members (RFC 1952, 2.2)
                    unzip = self._unzip = zlib.decompressobj(_GZIP)
                yield unzip.decompress(rest, _PIECE)
                rest = unzip.unconsumed_tail or unzip.unused_data
        except zlib.error as error:
            raise BodyError("is not valid gzip") from error
