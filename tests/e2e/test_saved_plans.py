"""A saved plan is applied exactly as it was reviewed."""

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, fields

NAMES = [f"command {number}" for number in range(10)]
WANTED = fields((NAMES[0], "Reworded."), *((name,) for name in NAMES[1:9]), ("new",))
APPLY = ("apply", "--plan", "plan.json", "--yes")


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    """A bot with a saved plan: one edit, one add, one delete."""
    bot = home.knows(service.bot(NAMES), url=proxy.url)
    home.write(WANTED)
    home.run("plan", "--out", "plan.json", exits=0)
    proxy.requests.clear()
    return bot


@pytest.mark.usefixtures("bot")
def test_a_plan_is_saved_as_it_is_printed(home: Home) -> None:
    printed = home.run("plan", "--format", "json").out

    assert home.read("plan.json") == printed


def test_a_saved_plan_needs_no_manifest(home: Home, bot: Bot) -> None:
    (home.path / "commands.yaml").unlink()
    home.forget("COMMANDSYNC_BASE_URL")
    home.forget("COMMANDSYNC_BOT")

    assert home.run(*APPLY).code == 0
    assert bot.names() == [*NAMES[:9], "new"]


@pytest.mark.promise("guard-again")
def test_a_saved_plan_is_guarded_again(service: Service, home: Home, proxy: Proxy) -> None:
    bot = home.knows(service.bot([f"command {number}" for number in range(20)]), url=proxy.url)
    home.write(fields(*((f"command {number}",) for number in range(5, 20))))
    assert home.run("plan", "--out", "plan.json").code == 0
    for name, identifier in bot.ids().items():
        if int(name.split()[1]) >= 9:
            bot.delete(identifier)
    before = bot.everything()

    ran = home.run(*APPLY, exits=5)

    assert "would delete 5 of 9 listed commands" in ran.said
    assert proxy.writes == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
def test_a_refused_plan_can_be_saved_and_stays_refused(home: Home, proxy: Proxy) -> None:
    home.write(fields(("only one",)))
    saved = home.run("plan", "--out", "plan.json", "--force", exits=0)
    assert "--max-deletes all" in saved.out

    ran = home.run(*APPLY, exits=5)

    assert "--max-deletes all" in ran.out
    assert proxy.writes == []


def test_a_plan_carries_the_limits_it_was_made_under(home: Home, bot: Bot) -> None:
    home.write(fields(("only one",)))
    home.run("plan", "--out", "plan.json", "--force", "--max-deletes", "all")

    assert home.run(*APPLY).code == 0
    assert bot.names() == ["only one"]


@pytest.mark.promise("edited-plan")
def test_an_edited_limit_lets_no_plan_through(home: Home, bot: Bot, proxy: Proxy) -> None:
    home.write(fields((NAMES[0],)))
    assert home.run("plan", "--out", "plan.json", "--force").code == 0
    proxy.requests.clear()
    home.write(home.read("plan.json").replace('"max_deletes": null', '"max_deletes": "all"'), "p")

    ran = home.run("apply", "--plan", "p", "--yes", exits=5)

    assert "p was edited" in ran.err
    assert proxy.requests == []
    assert bot.names() == NAMES


@pytest.mark.promise("plan-files")
@pytest.mark.parametrize(
    "flags", [["--bot", "42"], ["--base-url", "https://other.example"]], ids=["bot", "base URL"]
)
def test_another_plan_is_refused(home: Home, bot: Bot, proxy: Proxy, flags: list[str]) -> None:
    ran = home.run(*APPLY, *flags, exits=5)

    assert f"bot {bot.id} at {proxy.url}" in ran.err
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
def test_a_missing_plan_is_named(home: Home) -> None:
    ran = home.run("apply", "--plan", "missing.json", "--yes", exits=1)

    assert "error: cannot read missing.json: no such file or directory" in ran.err


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("flag", [["-f", "commands.yaml"], ["--max-deletes", "9"], ["--no-prune"]])
def test_a_saved_plan_takes_no_other_limits(home: Home, proxy: Proxy, flag: list[str]) -> None:
    ran = home.run(*APPLY, *flag, exits=2)

    assert "a saved plan" in ran.err
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
def test_a_saved_plan_can_be_looked_at_without_a_token(home: Home, proxy: Proxy) -> None:
    home.forget("COMMANDSYNC_TOKEN")

    ran = home.run("apply", "--plan", "plan.json", "--dry-run", exits=0)

    assert "Plan: 1 to add, 1 to edit, 1 to delete, 8 unchanged." in ran.out
    assert proxy.writes == []
