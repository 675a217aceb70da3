"""`listings:` in a manifest stays as it is written, whatever edits or reads the manifest."""

import pytest

from tests.support.bots import Service
from tests.support.home import Home, fields

LISTINGS = """\
listings:   # elsewhere
  - {service: top.gg, lossy: [category]}
  - service: 'our-list'
    bot: "7"
    token_env: COMMANDSYNC_TOKEN_OUR_LIST
    replace:
      method: PUT

      url: "https://list.example/{bot}"
      authorization: Bearer {token}
"""
PLAIN = fields(("help",))


@pytest.mark.parametrize("command", ["pull", "docs COMMANDS.md --check", "validate"])
def test_nothing_of_the_listings_is_printed(home: Home, service: Service, command: str) -> None:
    home.knows(service.bot(["play"]))
    base_url = f"base_url: {service.url}\n"
    home.write(PLAIN + base_url)
    assert home.run("docs", "COMMANDS.md").code == 0
    plain = home.run(*command.split())
    home.write(PLAIN + base_url + LISTINGS)

    ran = home.run(*command.split(), exits=0)

    assert (ran.out, ran.err) == (plain.out, plain.err)


def test_a_listing_that_names_the_bot_needs_its_id(home: Home) -> None:
    text = "version: 1\n{}listings: [{{service: discordbotlist.com}}]\ncommands: []\n"
    home.write(text.format(""))

    refused = home.run("validate", exits=4)
    planned = home.run("plan", exits=2)
    home.write(text.format('bot: "7"\n'))

    assert "commands.yaml:2:12: error: the bot's id is missing" in refused.out + refused.err
    assert "write bot: in its entry" in planned.err
    home.run("validate", exits=0)


def test_an_unknown_listing_is_named_before_a_missing_page(home: Home) -> None:
    home.write("version: 1\ncommands: [{name: ping, description: Says pong., syntax: /ping}]\n")

    ran = home.run("plan", "--listing", "foo", exits=2)

    assert ran.err.splitlines() == [
        "error: no listing is called 'foo'",
        "  hint: the listings are: none",
    ]
