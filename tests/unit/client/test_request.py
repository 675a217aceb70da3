"""No error and no log shows the token, and a body is unzipped within its limits."""

import gzip
import json
import logging
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from traceback import TracebackException
from urllib.parse import quote, unquote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commandsync.api.content import parse_json
from commandsync.api.credentials import Token
from commandsync.api.operations import add, list_records
from commandsync.client.connection import Connection
from commandsync.client.events import Vote
from commandsync.client.gateway import Ended, Session
from commandsync.client.request import LARGEST_BODY, BodyError, LimitedBody, Secrecy
from commandsync.errors import CommandsyncError
from commandsync.records.texts import CommandText, Resource
from tests.support.clients import TOKEN
from tests.support.rawserver import (
    Act,
    RawServer,
    answer,
    answering,
    closing,
    hanging,
    resetting,
    sending,
)
from tests.support.texts import ENCODINGS, folded, plain_tokens, spelled, texts_in, tokens

Connect = Callable[..., Connection]

ECHO = {"Location": f"https://x.example/{TOKEN}", "Retry-After": TOKEN, "X-Echo": TOKEN}
ACTS: dict[str, Act] = {
    "closed": closing,
    "reset": resetting,
    "silence": hanging,
    "no HTTP": sending(f"{TOKEN} Bot {TOKEN}\r\n\r\n".encode()),
    "a strange version": sending(f"HTTP/9.9 200 {TOKEN}\r\n\r\n".encode()),
    "a strange status": sending(f"HTTP/1.1 {TOKEN} OK\r\n\r\n".encode()),
    "a strange length": sending(f"HTTP/1.1 200 OK\r\nContent-Length: {TOKEN}\r\n\r\n[".encode()),
    "a strange chunk": sending(
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{TOKEN}\r\n".encode()
    ),
    "a strange encoding": sending(answer(b"[]", headers={"Content-Encoding": TOKEN})),
    "no gzip": sending(answer(TOKEN.encode(), headers={"Content-Encoding": "gzip"})),
    "cut off": sending(answer(b"[", headers={"Content-Length": "99"})),
    "no JSON": answering(TOKEN.encode()),
    "a broken header": sending(f"HTTP/1.1 200 OK\r\nX {TOKEN}: a\r\n\r\n[".encode()),
    "a nameless header": sending(f"HTTP/1.1 200 OK\r\n: {TOKEN}\r\n\r\n[".encode()),
    "a malformed record": answering([{"name": {"a": TOKEN}}]),
    **{
        str(status): answering({"error": f"You sent Bot {TOKEN}"}, status=status, headers=ECHO)
        for status in (302, 400, 401, 403, 404, 408, 409, 418, 422, 429, 500, 503, 504)
    },
}


@pytest.mark.promise("token-output")
@pytest.mark.parametrize("what", ACTS)
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
def test_no_error_shows_it(
    server: RawServer,
    connect: Connect,
    caplog: pytest.LogCaptureFixture,
    what: str,
    write: bool,  # noqa: FBT001 - pytest gives it by name
) -> None:
    server.then(ACTS[what])
    caplog.set_level(logging.NOTSET)
    connection = connect(server.url, timeout=1.0 if what == "silence" else 20.0)
    text = CommandText("a", "b", "c")
    operation = add("42", Resource.COMMAND, text) if write else list_records("42", Resource.COMMAND)
    harmless_write = write and what == "a malformed record"  # what a write answers is not read

    error: BaseException | None = None
    try:
        connection.call(operation)
    except CommandsyncError as caught:
        error = caught
    shown = [caplog.text, repr(connection), repr(operation)]
    if error is not None:
        assert error.__traceback__ is not None
        frames = error.__traceback__.tb_next  # without this test's own, which knows the token
        shown += TracebackException(type(error), error, frames, capture_locals=True).format()
    while error is not None:
        shown += [repr(error), str(error), repr(vars(error)), repr(error.args)]
        error = error.__cause__ or error.__context__

    assert harmless_write or len(shown) > 3
    assert TOKEN not in "\n".join(shown)
    assert server.requests[0].headers["authorization"] == f"Bot {TOKEN}"


def test_a_connection_takes_it_into_no_copy(server: RawServer, connect: Connect) -> None:
    connection = connect(server.url)

    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(connection)
    assert TOKEN not in repr(connection)


around = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=9)


@pytest.mark.promise("token-in-response")
@given(
    data=st.data(), token=tokens, before=around, after=around, encoding=st.sampled_from(ENCODINGS)
)
def test_no_answer_shows_it_once_it_is_decoded(
    data: st.DataObject, token: str, before: str, after: str, encoding: str
) -> None:
    text = data.draw(spelled(before + token + after))
    body = f'{{"error": {text}, {text}: [{text}], "message": "not it"}}'.encode(encoding)

    reply = Secrecy(Token(token)).reply(400, body, [("X-Echo", f"{before}{quote(token)}{after}")])

    assert token not in unquote(reply.headers["x-echo"])
    assert token.encode(encoding) not in reply.body
    with suppress(ValueError):  # a token may look like JSON itself, and leave none
        assert all(token not in text for text in texts_in(parse_json(reply.body)))


@given(data=st.data(), token=plain_tokens, folds=st.integers(0, 3))
def test_no_event_shows_it_once_it_is_decoded(data: st.DataObject, token: str, folds: int) -> None:
    user = data.draw(spelled(f"I am {token}"))
    said = (
        f'{{"event": "vote", "data": {{"user": {{"id": "1", "username": {user}}}, "bot": {{}}}}}}'
    )
    said = data.draw(folded(said, folds))

    event = Session(greet=False, secrecy=Secrecy(Token(token))).receive(f'42["message",{said}]')

    assert isinstance(event, Vote)
    assert event.user.username == "I am <hidden>"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    token=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=80),
    cut=st.tuples(st.integers(0, 80), st.integers(0, 80)),
    before=around,
    after=around,
    start=st.sampled_from(["close", "44", "43", "x", "42"]),
)
def test_no_part_of_it_is_in_the_reason_of_a_close_or_in_the_log(
    caplog: pytest.LogCaptureFixture,
    token: str,
    cut: tuple[int, int],
    before: str,
    after: str,
    start: str,
) -> None:
    caplog.clear()
    text = before + token[slice(*cut)] + after
    session = Session(greet=False, secrecy=Secrecy(Token(token)))
    parts = {token[at : at + 8] for at in range(len(token) - 7)}

    with caplog.at_level(logging.DEBUG):
        ended = session.ended(1008, text) if start == "close" else session.receive(start + text)

    shown = [*caplog.messages, ended.reason if isinstance(ended, Ended) else ""]
    assert [part for part in parts if any(part in one for one in shown)] == []


def test_every_character_is_found_in_each_of_its_spellings() -> None:
    for code in range(0x21, 0x7F):
        character = chr(code)
        hide = Secrecy(Token(character * 9)).hide
        spellings = (rf"\u{code:04x}", rf"\\u{code:04x}", f"%{code:02X}", rf"\{character}")
        for spelling in (character, *spellings):
            assert hide(f" {spelling * 9} ") == " <hidden> ", spelling


@given(token=plain_tokens, text=around)
def test_an_answer_without_it_stays_as_it_is(token: str, text: str) -> None:
    body = json.dumps({"name": text, "description": token[1:]}).encode()

    assert Secrecy(Token(token)).reply(200, body, []).body == body


@pytest.mark.parametrize("token", ["a", "bob", "opaque7", "-.-", "a/b"])
def test_a_short_token_is_hidden_as_a_whole_word(token: str) -> None:
    texts = (
        "Bot {}",
        "{}",
        "token={}&x=1",
        "%20{}%20",
        '"{}"',
        r"\n{}\n",
        r"\u0020{}\u0020",
        "({}).",
    )
    for text in texts:
        assert Secrecy(Token(token)).hide(text.format(token)) == text.format("<hidden>")


@pytest.mark.parametrize("text", ["abacus", "a1", "1a", "Aa", "banana"])
def test_a_short_token_in_a_longer_word_is_not_one(text: str) -> None:
    secrecy = Secrecy(Token("a"))

    assert secrecy.hide(text) == text
    assert secrecy.reply(400, text.encode(), [("X", text)]).body == text.encode()


@pytest.mark.promise("token-in-response")
def test_a_short_token_does_not_change_a_listing() -> None:
    body = b'{"name": "help", "description": "help me"}'

    assert Secrecy(Token("help")).reply(200, body, []).body == body
    assert b"help" not in Secrecy(Token("help")).reply(400, body, []).body


TEXT = b"0123456789" * 1000


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def gather(chunks: Iterable[bytes], *, encoding: str = "", limit: int = LARGEST_BODY) -> bytes:
    """Return the whole body of chunks."""
    body = LimitedBody(encoding=encoding, limit=limit)
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
