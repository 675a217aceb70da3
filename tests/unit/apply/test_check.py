"""No body that a client sends contains the token, whatever its shape."""

from dataclasses import replace

import pytest

from commandsync.api import operations
from commandsync.api.credentials import Token
from commandsync.apply.check import check_call
from commandsync.errors import RefusedError
from commandsync.records.texts import CommandText, Resource

SECRET = "opaque-token-0123456789"
ADD = operations.add("42", Resource.COMMAND, CommandText("ban", "Bans.", "/ban"))


@pytest.mark.parametrize(
    "body",
    [
        {"name": SECRET},
        [{"name": "ban", "options": [{"description": f"Not {SECRET}."}]}],
        {SECRET: [{"name": "ban"}]},
        [{f"x-{SECRET}": "ban"}],
    ],
)
def test_a_token_in_a_body_is_refused(body: object) -> None:
    with pytest.raises(RefusedError, match="contains the bot's token"):
        check_call(replace(ADD, body=body), Token(SECRET), bot="42")


@pytest.mark.parametrize("body", [None, [], {}, [{"name": "ban", "type": 1}]])
def test_a_body_without_the_token_is_sent(body: object) -> None:
    check_call(replace(ADD, body=body), Token(SECRET), bot="42")
