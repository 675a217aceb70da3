"""`commandsync doctor` with services that take the whole list: the token of each."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from commandsync.api.arguments import service_of
from commandsync.testing import SimulatedListing, serve_simulation
from tests.e2e.test_doctor import checks
from tests.support.bots import Service
from tests.support.home import Home, fields

Simulations = dict[str, SimulatedListing]


@pytest.fixture
def simulations(home: Home) -> Iterator[Simulations]:
    names = ("top.gg", "discordbotlist.com", "telegram")
    with ExitStack() as stack:
        running = {name: stack.enter_context(serve_simulation(name)) for name in names}
        for listing in running.values():
            home.variable(listing.variable, listing.token)
        home.write(manifest(running))
        yield running


def manifest(running: Simulations, *, page: str = "") -> str:
    entries = "".join(each.manifest.removeprefix("listings:\n") for each in running.values())
    return f'{fields(("help",))}\nbot: "812045337190064138"\n{page}listings:\n{entries}'


def test_the_token_of_each_service_is_checked_by_a_request_that_changes_nothing(
    home: Home, simulations: Simulations
) -> None:
    ran = home.run("doctor", "--format", "json")

    found = checks(ran)
    assert (ran.code, ran.err) == (0, "")
    assert "service" not in found
    assert found["top.gg"][0] == "ok"
    assert found["top.gg"][1].endswith(" in COMMANDSYNC_TOKEN_TOPGG")
    assert found["telegram"][0] == "ok"
    assert found["discordbotlist.com"][0] == "skipped"
    assert [each.method for each in simulations["top.gg"].requests] == ["GET"]
    assert simulations["discordbotlist.com"].requests == []
    assert all(each.writes == [] for each in simulations.values())
    assert all(each.token not in ran.said for each in simulations.values())


def test_a_wrong_token_fails_its_own_check_only(home: Home, simulations: Simulations) -> None:
    home.variable("COMMANDSYNC_TOKEN_TELEGRAM", "8120454873:another-secret-token")
    home.forget("COMMANDSYNC_TOKEN_DISCORDBOTLIST")

    ran = home.run("doctor", "--format", "json")

    found = checks(ran)
    assert ran.code == 1
    states = {name: found[name][0] for name in simulations}
    assert states == {"top.gg": "ok", "discordbotlist.com": "failed", "telegram": "failed"}
    assert "another-secret-token" not in ran.said


def test_one_listing_can_be_selected(home: Home, simulations: Simulations) -> None:
    found = checks(home.run("doctor", "--format", "json", "--listing", "telegram"))

    assert found.keys() & {*simulations, "service"} == {"telegram"}
    assert simulations["top.gg"].requests == []


def test_an_unknown_listing_is_a_failed_check(home: Home, simulations: Simulations) -> None:
    ran = home.run("doctor", "--format", "json", "--listing", "top.com")

    assert ran.code == 1
    state, message = checks(ran)["listings"]
    assert (state, "'top.com'" in message) == ("failed", True)
    assert all(each.requests == [] for each in simulations.values())


def test_the_page_is_checked_beside_the_lists_and_can_be_selected(
    home: Home, simulations: Simulations, service: Service
) -> None:
    bot = service.bot(["help"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    text = manifest(simulations, page=f"base_url: {bot.url}\n").replace(
        "812045337190064138", bot.id
    )
    home.write(text)

    both = checks(home.run("doctor", "--format", "json"))
    page = checks(home.run("doctor", "--format", "json", "--listing", service_of(bot.url)))

    assert both["service"][0] == both["top.gg"][0] == "ok"
    assert page["service"][0] == "ok"
    assert "top.gg" not in page


def test_one_token_for_two_listings_is_a_failed_check(home: Home, simulations: Simulations) -> None:
    one = simulations["top.gg"]
    text = manifest({"top.gg": one})
    again = f'  - service: top.gg\n    bot: "1"\n    base_url: {one.base_url}\n'
    home.write(text + again + f"    token_env: {one.variable}\n")

    ran = home.run("doctor", "--format", "json")

    assert ran.code == 1
    state, message = checks(ran)["listings"]
    assert (state, "listings of top.gg" in message) == ("failed", True)
