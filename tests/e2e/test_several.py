"""Several manifests in one run: all or none is begun, and the exit codes combine."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.home import Home, checked, failed, fields
from tests.support.rawserver import Request

LISTED = [f"command {number}" for number in range(10)]


@pytest.fixture
def bots(service: Service, home: Home, proxy: Proxy) -> tuple[Bot, Bot]:
    """Two bots, each with its manifest in bots/ and its token in a variable of its own."""
    pair = service.bot(LISTED), service.bot(LISTED)
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    for name, bot in zip("ab", pair, strict=True):
        home.variable(f"COMMANDSYNC_TOKEN_{name.upper()}", bot.token)
        _write(home, name, bot, *LISTED, f"new of {name}")
    return pair


def _write(home: Home, name: str, bot: Bot, *commands: str) -> None:
    head = f'bot: "{bot.id}"\ntoken_env: COMMANDSYNC_TOKEN_{name.upper()}\n'
    home.write(fields(*((one,) for one in commands)) + head, f"bots/{name}.yaml")


@pytest.mark.parametrize(
    "files", [["-f", "bots"], ["-f", "bots/a.yaml", "-f", "bots/b.yaml"]], ids=["folder", "twice"]
)
def test_each_manifest_goes_to_its_own_bot_with_its_own_token(
    home: Home, bots: tuple[Bot, Bot], proxy: Proxy, files: list[str]
) -> None:
    ran = home.run("apply", "--yes", "--format", "json", *files, exits=0)

    results = checked(ran, "result")["results"]
    assert [result["bot"] for result in results] == [bot.id for bot in bots]
    assert [bot.names()[-1] for bot in bots] == ["new of a", "new of b"]
    tokens = {
        (request.path.split("/")[3], request.headers["authorization"]) for request in proxy.requests
    }
    assert tokens == {(bot.id, f"Bot {bot.token}") for bot in bots}


def test_a_bot_from_outside_joins_no_two(home: Home, bots: tuple[Bot, Bot], proxy: Proxy) -> None:
    by_flag = home.run("apply", "--yes", "-f", "bots", "--bot", bots[0].id)
    home.variable("COMMANDSYNC_BOT", bots[0].id)
    by_variable = home.run("apply", "--yes", "-f", "bots")

    assert (by_flag.code, by_variable.code) == (2, 2)
    assert "--bot " in by_flag.err
    assert f"COMMANDSYNC_BOT is {bots[0].id}" in by_variable.err
    assert f"bots/b.yaml is {bots[1].id}" in by_variable.err
    assert "include" not in by_flag.said + by_variable.said
    assert proxy.requests == []


def test_a_refused_one_stops_all_writes(home: Home, bots: tuple[Bot, Bot], proxy: Proxy) -> None:
    _write(home, "b", bots[1], LISTED[0])

    shown = home.run("apply", "--yes", "-f", "bots")
    ran = home.run("apply", "--yes", "-f", "bots", "--format", "json")

    first, second = checked(ran, "plan")["results"]
    assert (shown.code, ran.code) == (5, 5)
    assert "would delete 9 of 10 listed commands (90 %); the limit is 30 %" in shown.out
    assert proxy.writes == []
    assert first["summary"]["add"] == 1
    assert second["error"]["kind"] == "refused"
    assert second["error"]["message"].startswith("bots/b.yaml: would delete 9 of 10")


def test_an_unread_one_stops_all_writes(home: Home, bots: tuple[Bot, Bot], proxy: Proxy) -> None:
    proxy.rule = lambda seen: Instead(404, {"error": "gone"}) if bots[1].id in seen.path else None

    ran = home.run("apply", "--yes", "-f", "bots", exits=1)

    assert "error: bots/b.yaml: " in ran.err
    assert proxy.writes == []


@pytest.mark.usefixtures("bots")
def test_one_invalid_manifest_keeps_all_from_being_read(home: Home, proxy: Proxy) -> None:
    home.write("version: 1\ncomands: []\n", "bots/c.yaml")

    ran = home.run("apply", "--yes", "-f", "bots", "--format", "json", exits=4)

    assert failed(ran, "invalid")
    assert proxy.requests == []


def test_pending_counts_after_failures(home: Home, bots: tuple[Bot, Bot], proxy: Proxy) -> None:
    plan = ["plan", "-f", "bots", "--detailed-exitcode", "--retries", "0"]
    assert home.run(*plan).code == 3
    proxy.rule = lambda seen: Instead(500) if bots[0].id in seen.path else None

    ran = home.run(*plan, "--format", "json", exits=1)

    first, second = checked(ran, "plan")["results"]
    assert first["error"]["kind"] == "network"
    assert second["summary"]["add"] == 1


@settings(max_examples=12)
@given(st.lists(st.sampled_from([None, 401, 403, 400]), min_size=2, max_size=4))
def test_exit_1_means_that_no_listing_was_changed(
    service: Service, home: Home, proxy: Proxy, answers: list[int | None]
) -> None:
    several = [service.bot(LISTED) for _ in answers]
    for name, bot in zip("abcd", several, strict=False):
        home.variable(f"COMMANDSYNC_TOKEN_{name.upper()}", bot.token)
        _write(home, name, bot, *LISTED, f"new of {name}")
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    answer_of = {bot.id: answer for bot, answer in zip(several, answers, strict=True)}

    def refuse(seen: Request) -> Instead | None:
        status = answer_of[seen.path.split("/")[3]] if seen.writes else None
        return Instead(status, {"error": "No."}) if status else None

    proxy.rule = refuse
    names = [f"bots/{name}.yaml" for name, _ in zip("abcd", several, strict=False)]

    ran = home.run("apply", "--yes", "--format", "json", *(f"-f{name}" for name in names))

    results = checked(ran, "result")["results"]
    changed = [bot.names() != LISTED for bot in several]
    assert changed == [answer is None for answer in answers]
    assert [result["outcomes"]["done"] for result in results] == [int(one) for one in changed]
    assert ran.code == (0 if all(changed) else 6 if any(changed) else 1)


def test_one_listing_twice_is_invalid(home: Home, bots: tuple[Bot, Bot], proxy: Proxy) -> None:
    _write(home, "c", bots[0], "other")
    home.variable("COMMANDSYNC_TOKEN_C", bots[0].token)

    ran = home.run("apply", "--yes", "-f", "bots", exits=4)

    assert "bots/c.yaml" in ran.err.replace("\\", "/")
    assert "include" in ran.err
    assert proxy.requests == []


@pytest.mark.usefixtures("bots")
@pytest.mark.parametrize("option", [["apply", "--yes", "--backup"], ["plan", "--out"]])
def test_several_need_several_files(home: Home, proxy: Proxy, option: list[str]) -> None:
    ran = home.run(*option, "some.file", "-f", "bots", exits=2)

    assert f"{option[-1]} " in ran.err
    assert proxy.requests == []
    assert not (home.path / "some.file").exists()
