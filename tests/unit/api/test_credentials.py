import copy
import json
import pickle
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from html import escape
from shlex import quote
from time import process_time
from urllib.parse import quote as quoted_in_url

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.api.credentials import (
    Token,
    contains_token,
    keep_secret,
    known_tokens,
    redacted,
    redacting,
    secrets_in,
)
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


PRINTABLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=40)
SPELLINGS = {
    "JSON": json.dumps,
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "a URL": lambda text: quoted_in_url(text, safe=""),
    "HTML": escape,
    "the shell": quote,
    "YAML": lambda text: text.replace("'", "''"),
    "Python": repr,
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
@given(secret=PRINTABLE.filter(lambda text: text[:3] != "Bot" and text != "<hidden>"))
@example(secret="quote'\\\"<&>")
def test_a_token_is_hidden_in_any_spelling(spelled: Callable[[str], str], secret: str) -> None:
    token, text = Token(secret), f"before {spelled(secret)} after"

    assert token.is_in(text)
    assert secret not in token.hide(text)
    assert "<hidden>" in token.hide(text)


def _percent(text: str) -> str:
    return "".join(f"%{ord(each):02x}" for each in text)


def _quoted(text: str) -> str:
    return quoted_in_url(text, safe="")


ENCODERS: dict[str, Callable[[str], str]] = {
    "decimal references": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "hexadecimal references": lambda text: "".join(f"&#x{ord(each):X};" for each in text),
    "references with zeros": lambda text: "".join(f"&#{ord(each):09};" for each in text),
    "percent signs": _percent,
    "percent signs within a URL": lambda text: _quoted(_percent(text)),
    r"\x": lambda text: "".join(f"\\x{ord(each):02x}" for each in text),
    r"\u": lambda text: "".join(f"\\u{ord(each):04X}" for each in text),
    r"\U": lambda text: "".join(f"\\U{ord(each):08x}" for each in text),
    "%u": lambda text: "".join(f"%u{ord(each):04x}" for each in text),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "a URL": _quoted,
    "HTML": escape,
    "Markdown": lambda text: re.sub(r"([!-/:-@[-`{-~])", r"\\\1", text),
}
TOKENS = st.from_regex(r"[A-Za-z0-9_.:=~*-]{8,60}", fullmatch=True).filter(
    lambda text: text[:3] != "Bot"
)


@pytest.mark.promise("token-output", "token-in-text", "token-in-input")
@given(
    secret=TOKENS,
    encoders=st.lists(st.sampled_from(sorted(ENCODERS)), min_size=1, max_size=4),
)
@example(secret=SECRET, encoders=["decimal references"])
@example(secret=SECRET, encoders=["hexadecimal references", "a URL", "JSON"])
@example(secret=SECRET, encoders=["percent signs", "percent signs"])
@example(secret=SECRET, encoders=["%u"])
@example(secret=SECRET, encoders=[r"\x", "JSON"])
def test_a_token_is_found_in_any_encodings_within_each_other(
    secret: str, encoders: list[str]
) -> None:
    token, spelled = Token(secret), secret
    for name in encoders:
        spelled = ENCODERS[name](spelled)
    text = f"before {spelled} after"

    assert token.is_in(text)
    assert token.hide(text) == "before <hidden> after"


@given(
    secret=TOKENS,
    names=st.lists(st.sampled_from(sorted(ENCODERS)), min_size=60, max_size=60),
)
def test_each_character_of_a_token_may_have_another_encoding(secret: str, names: list[str]) -> None:
    spelled = "".join(ENCODERS[name](each) for name, each in zip(names, secret, strict=False))

    assert Token(secret).is_in(f'{{"key": "{spelled}"}}')
    assert Token(secret).hide(f"({spelled})") == "(<hidden>)"


@given(st.text(), TOKENS)
def test_only_the_token_is_hidden(text: str, secret: str) -> None:
    token = Token(secret)

    assert token.is_in(text) or token.hide(text) == text


@pytest.mark.parametrize(
    "spelled", ["a%2Dbc", "&#97;-bc", r"\x61-bc", "%2561-bc", r"\n%61-bc", "%u0061-bc"]
)
def test_a_short_token_is_found_in_any_encoding_as_a_whole_word(spelled: str) -> None:
    token = Token("a-bc")

    assert token.is_in(f'"{spelled}"')
    assert not token.is_in(f"{spelled}d")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["%25", "%", "\\", "\\x", "\\\\u00", "&", "&#", "&amp;", "&#38;", "&#0", ";", "a;", "%u005c"],
)
def test_the_time_is_linear_in_the_text(part: str) -> None:
    token = Token(SECRET)
    seconds = []
    for count in (20_000, 160_000):
        text = part * count
        start = process_time()
        token.hide(text)
        seconds.append(process_time() - start)

    assert seconds[1] < 30 * seconds[0] + 0.5


@given(PRINTABLE, st.integers(min_value=8))
def test_the_beginning_of_a_token_is_hidden_where_a_text_ends_in_it(secret: str, end: int) -> None:
    token = Token(f"s{secret}")
    start = token.reveal()[:end]

    assert token.hide_parts(f"closed: {start}") == "closed: <hidden>"
    assert token.hide_parts("closed: of nobody") == "closed: of nobody"


@pytest.mark.parametrize(("levels", "is_found"), [(1, True), (16, True), (18, False), (99, False)])
def test_escapes_are_read_sixteen_levels_down(levels: int, *, is_found: bool) -> None:
    first = f"%{'25' * (levels - 1)}{ord(SECRET[0]):02x}"

    assert Token(SECRET).is_in(f"see {first}{SECRET[1:]}") is is_found


def test_a_run_hides_its_tokens_and_ends_without_them() -> None:
    with redacting():
        kept = [keep_secret(Token(secret)) for secret in (SECRET, f"{SECRET}-more", "short")]
        text = f"{SECRET}-more, {SECRET} and short"

        assert list(known_tokens()) == kept
        assert redacted(text) == "<hidden>, <hidden> and short"
        assert contains_token(text)
        assert not contains_token("short")

    assert redacted(text) == text
    assert known_tokens() == ()
    assert keep_secret(Token(SECRET)).reveal() == SECRET  # a client of the library has no run
    assert known_tokens() == ()


def test_the_variables_of_tokens_are_known_by_their_names() -> None:
    named = {"COMMANDSYNC_TOKEN": "a", "COMMANDSYNC_TOKEN_X": "b", "TOPGG_TOKEN": "c", "PATH": "d"}

    assert secrets_in(named) == ["a", "b", "c"]
