from __future__ import annotations

import gzip

import pytest
from fastapi import Request

from commandsync.server.pages.answer import compressed

LONG, SHORT = b"page " * 1_000, b"page"


def asking(encodings: str) -> Request:
    """Return a request of a client that can read these encodings."""
    return Request({"type": "http", "headers": [(b"accept-encoding", encodings.encode())]})


def test_a_client_that_reads_gzip_gets_it() -> None:
    answer = compressed(asking("gzip, deflate, br"), LONG, "text/css")

    assert gzip.decompress(answer.body) == LONG
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-length"] == str(len(answer.body))


@pytest.mark.parametrize(("encodings", "content"), [("", LONG), ("br", LONG), ("gzip", SHORT)])
def test_what_is_not_worth_it_or_not_read_is_not_compressed(encodings: str, content: bytes) -> None:
    answer = compressed(asking(encodings), content, "text/css")

    assert answer.body == content
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("encodings", ["", "gzip"])
def test_a_cache_keeps_both_apart(encodings: str) -> None:
    assert compressed(asking(encodings), LONG, "text/css").headers["vary"] == "Accept-Encoding"
