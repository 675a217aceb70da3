"""The token is sent to its own service only, and shown nowhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.e2e.test_prompt import bot
from tests.support.bots import Proxy
from tests.support.home import Home
from tests.support.texts import jwts, plain_tokens

__all__ = ["bot"]

MARKED = "marked-token-7f3a9c1e"


@pytest.mark.promise("token-as-base-url")
@settings(max_examples=20)
@given(token=st.one_of(plain_tokens, jwts), as_variable=st.booleans(), known=st.booleans())
@pytest.mark.parametrize("command", ["plan", "pull", "apply --yes", "bots list"])
def test_a_token_given_as_the_base_url_is_not_shown(
    home: Home, command: str, token: str, *, as_variable: bool, known: bool
) -> None:
    home.write("version: 1\nbot: '42'\ncommands: []\n")
    home.variable("COMMANDSYNC_TOKEN", token if known else "")
    home.variable("COMMANDSYNC_BASE_URL", token if as_variable else "")
    flag = () if as_variable else ("--base-url", token)

    ran = home.run(*command.split(), *flag, "-vv", exits=2)

    assert "base URL" in ran.err
    assert token not in ran.said


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b""])
def test_an_empty_token_file_is_reported(home: Home, proxy: Proxy, content: bytes | None) -> None:
    if content is not None:
        home.write(content, "token.txt")

    ran = home.run("plan", "--token-file", "token.txt")

    assert ran.code == (2 if content == b"" else 1)
    assert "token" in ran.err
    assert "hint: " in ran.err
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("variable", ["COMMANDSYNC_TOKEN", "COMMANDSYNC_TOKEN_TELEGRAM"])
def test_an_invalid_token_is_reported(home: Home, proxy: Proxy, variable: str) -> None:
    home.variable(variable, "two\nlines")
    text = home.read("commands.yaml")
    home.write(f"{text}base_url: {proxy.url}\nlistings: [{{service: telegram}}]\n")

    ran = home.run("plan", exits=2)

    assert f"{variable}: " in ran.err
    assert proxy.requests == []


@pytest.mark.promise("planning-without-token")
@pytest.mark.usefixtures("bot")
def test_plan_needs_no_token_and_sends_none(home: Home, proxy: Proxy) -> None:
    home.forget("COMMANDSYNC_TOKEN")

    assert home.run("plan").code == 0
    assert ["authorization" in request.headers for request in proxy.requests] == [False]


@pytest.mark.promise("token-source")
def test_there_is_no_token_option(home: Home) -> None:
    ran = home.run("plan", "--token", MARKED, exits=2)

    assert MARKED not in ran.said


@pytest.mark.promise("token-env")
@pytest.mark.parametrize("variable", ["COMMANDSYNC_TOKEN_TOPGG", "COMMANDSYNC_TOKEN_DISCORD"])
@pytest.mark.parametrize("command", ["plan", "apply --yes", "pull"])
def test_a_services_token_is_its_own(home: Home, proxy: Proxy, variable: str, command: str) -> None:
    home.variable(variable, MARKED)
    home.write(
        f'version: 1\nbase_url: {proxy.url}\nbot: "42"\ntoken_env: {variable}\ncommands: []\n'
    )

    ran = home.run(*command.split(), exits=5)

    assert f"{variable} is the token of a known service" in ran.err
    assert proxy.requests == []
