"""`listings:` in a manifest stays as it is written, whatever edits or reads the manifest."""

import pytest

from tests.support.bots import Service
from tests.support.home import Home, fields

LISTINGS = """\
listings:   # elsewhere
  - {service: top.gg, lossy: [category]}
  - service: 'our-list'
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
