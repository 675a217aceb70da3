import copy
import json
import pickle
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.credentials import Token
from commandsync.errors import UsageError

SECRET = "marked-token-7f3a9c1e"


def jwt(payload: object, *, parts: int = 3) -> str:
    coded = urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return ".".join(["eyJhbGciOiJIUzI1NiJ9", coded, "c2lnbmF0dXJl", "more"][:parts])


@pytest.mark.parametrize(
    "kept", [SECRET, f"  {SECRET}\n", f"\r\n{SECRET}\t", f"Bot {SECRET}", f"Bot   {SECRET} \n"]
)
def test_blanks_around_a_token_do_not_belong_to_it(kept: str) -> None:
    assert Token(kept).reveal() == SECRET


@pytest.mark.parametrize("kept", ["", " \n", "Bot ", "Bot  "])
def test_nothing_is_no_token(kept: str) -> None:
    with pytest.raises(UsageError) as caught:
        Token(kept)

    assert caught.value.hint


@pytest.mark.parametrize(
    "inside", [" ", "\n", "\r\n", "\x00", "\x7f", "é", "\u202e", "\ud83d", "x" * 8_192]
)
def test_what_cannot_stand_in_a_header_is_no_token_and_is_not_shown(inside: str) -> None:
    with pytest.raises(UsageError) as caught:
        Token(f"marked{inside}token")

    assert "marked" not in str(caught.value) + str(caught.value.hint)


def test_a_token_does_not_show_itself() -> None:
    token = Token(SECRET)

    assert SECRET not in f"{token} {token!r} {[token]}"
    assert not hasattr(token, "__dict__")


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_token_is_not_copied_out(copied: object) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        copied(Token(SECRET))  # type: ignore[operator]  # functions, whatever their types


@pytest.mark.parametrize(
    ("secret", "bot"),
    [
        (jwt({"id": "779641401482805289", "iat": 1}), "779641401482805289"),
        (jwt({"id": 779641401482805289}), "779641401482805289"),
        (jwt({"id": "é😀" * 3}), "é😀" * 3),
        (jwt({"id": True}), ""),
        (jwt({"id": None}), ""),
        (jwt({"iat": 1}), ""),
        (jwt(["id"]), ""),
        (jwt({"id": "1"}, parts=2), ""),
        (jwt({"id": "1"}, parts=4), ""),
        ("a.b.c", ""),
        ("a.bm8ganNvbg.c", ""),
        ("a./w.c", ""),
        (f"a.{urlsafe_b64encode(b'[' * 3_000).decode().rstrip('=')}.c", ""),
        (SECRET, ""),
    ],
)
def test_a_token_tells_its_bot_only_if_it_is_a_jwt_with_an_id(secret: str, bot: str) -> None:
    assert Token(secret).bot == bot


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_any_printable_token_is_taken_as_it_is(secret: str) -> None:
    token = Token(f" {secret} ")

    assert token.reveal() == secret
    assert isinstance(token.bot, str)
