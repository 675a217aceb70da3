"""Tokens that are nested deeper than the interpreter goes."""

from base64 import urlsafe_b64encode

import pytest

from commandsync.server.tokens import BadTokenError, bot_of, sign

SECRET = "a secret of this test, as long as the service's own"
DEEP = urlsafe_b64encode(b"[" * 45_000).decode()


@pytest.mark.parametrize("place", [0, 1])
def test_a_token_nested_without_end_is_invalid(place: int) -> None:
    parts = sign("7", issued_at=1, secret=SECRET).split(".")
    parts[place] = DEEP
    with pytest.raises(BadTokenError, match="the bot token is invalid"):
        bot_of(f"Bot {'.'.join(parts)}", secret=SECRET)
