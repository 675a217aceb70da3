"""`commandsync doctor` checks what a sync needs, and compares names, with nothing written."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from commandsync.api.arguments import parse_address, service_of
from commandsync.cli import progress
from commandsync.client.network import proxy_host, surroundings
from commandsync.sync import diagnosis
from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.home import Home, Ran, fields
from tests.support.rawserver import RawServer, Request, answering
from tests.support.terminal import POSIX, Monitor

SECRET = "opaque-and-never-shown"


def checks(ran: Ran) -> dict[str, tuple[str, str]]:
    """Return the state and the message of each check by its name."""
    return {each["name"]: (each["state"], each["message"]) for each in ran.document["checks"]}


def gateway(instead: Instead) -> Callable[[Request], Instead | None]:
    """Return the rule that answers the gateway's handshake."""

    def rule(request: Request) -> Instead | None:
        return instead if request.path.startswith("/v1/gateway") else None

    return rule


@pytest.fixture
def bot(home: Home, service: Service) -> Bot:
    home.write(fields(("help",)))
    return home.knows(service.bot(["help", "play"], ["News"]))


def test_it_shows_each_setting_and_its_source(home: Home, bot: Bot, service: Service) -> None:
    before = bot.everything()
    ran = home.run("doctor")

    lines = [line.split(maxsplit=1) for line in ran.out.splitlines()]
    shown = {text[:13].strip(): text[13:] for state, text in lines[:-2] if state == "ok"}
    assert (ran.code, ran.err) == (0, "")
    assert list(shown) == [
        *("python", "commandsync", "packages", "manifest", "base URL", "bot", "token", "proxy"),
        *("service", "access"),
    ]
    assert shown["manifest"] == "commands.yaml, commands: 1"
    assert shown["base URL"] == f"{service.url}, from COMMANDSYNC_BASE_URL"
    assert shown["bot"] == f"{bot.id}, from COMMANDSYNC_BOT"
    assert shown["token"] == f"in COMMANDSYNC_TOKEN, of bot {bot.id}"
    assert shown["service"].endswith(" ms, commands listed: 2")
    assert shown["access"].endswith(f" {bot.id} (Bot {bot.id})")
    assert "extras: async, html, javascript, postgres, record, server" in shown["commandsync"]
    assert ran.out.splitlines()[-1].startswith("No check failed")
    assert bot.token not in ran.out
    assert bot.everything() == before


def test_a_setting_is_shown_with_its_source(home: Home, bot: Bot, service: Service) -> None:
    home.write(bot.token, "secret")
    by_flag = checks(
        home.run(
            *("doctor", "--base-url", service.url, "--bot", bot.id, "--token-file", "secret"),
            *("--format", "json"),
        )
    )
    for name in ("COMMANDSYNC_BASE_URL", "COMMANDSYNC_BOT"):
        home.forget(name)
    home.write(f"base_url: {service.url}\nbot: {bot.id}\n" + fields(("help",)))
    by_manifest = checks(home.run("doctor", "--format", "json"))
    home.write(f"base_url: {service.url}\n" + fields(("help",)))
    by_token = checks(home.run("doctor", "--format", "json"))

    assert by_flag["base URL"] == ("ok", f"{service.url}, from --base-url")
    assert by_flag["bot"] == ("ok", f"{bot.id}, from --bot")
    assert by_flag["token"] == ("ok", f"in the token file, of bot {bot.id}")
    assert by_manifest["base URL"] == ("ok", f"{service.url}, from base_url: in commands.yaml")
    assert by_manifest["bot"] == ("ok", f"{bot.id}, from bot: in commands.yaml")
    assert by_token["bot"] == ("ok", f"{bot.id}, from the token in COMMANDSYNC_TOKEN")


def test_a_token_that_apply_would_not_use_fails(home: Home, bot: Bot, service: Service) -> None:
    home.variable("COMMANDSYNC_TOKEN", SECRET)
    opaque = home.run("doctor", "--format", "json")
    assert SECRET not in opaque.said + home.run("doctor", "-vv").said
    home.variable("COMMANDSYNC_TOKEN", service.bot().token)
    other = home.run("doctor", "--format", "json")
    home.forget("COMMANDSYNC_TOKEN")
    none = home.run("doctor")

    assert (opaque.code, other.code, none.code) == (1, 5, 1)
    assert checks(opaque)["token"][0] == "ok"
    state, message = checks(opaque)["access"]
    assert state == "failed"
    assert message.startswith("the gateway ")
    assert checks(other)["token"][0] == checks(other)["access"][0] == "failed"
    assert checks(other)["access"][1].endswith(f"not for bot {bot.id}")
    assert "failed   token " in none.out
    assert "hint: set COMMANDSYNC_TOKEN, or give --token-file\n" in none.out
    assert "\n1 of 9 checks failed" in none.out


@pytest.mark.usefixtures("bot")
def test_offline_it_says_so_and_ends_after_one_attempt(home: Home) -> None:
    with RawServer() as server:
        url = server.url
    ran = home.run("doctor", "--base-url", url, "--format", "json", exits=1)

    assert list(checks(ran))[-1] == "service"
    assert checks(ran)["service"] == (
        "failed",
        f"{url.removeprefix('http://')} refuses connections",
    )


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        (Instead(404, {"error": "no"}), "not checked: the service has no gateway"),
        (
            Instead(503, {"error": "busy"}),
            "not checked: the service has an internal error (503: busy)",
        ),
        (
            Instead(200, {"success": True}),
            "the answer to the gateway's handshake is not a WebSocket",
        ),
        (Instead(401, {"error": "bad"}), "the service does not accept the token (401: bad)"),
    ],
    ids=["404", "503", "200", "401"],
)
def test_only_a_refusal_of_the_gateway_is_a_failure(
    home: Home, bot: Bot, proxy: Proxy, instead: Instead, message: str
) -> None:
    home.knows(bot, url=proxy.url)
    proxy.rule = gateway(instead)
    state, hint = "skipped", "no other call checks a token and changes nothing: "
    if instead.status == 401:
        state, hint = "failed", "copy the bot's token again from the service's page "

    ran = home.run("doctor", "--format", "json")

    assert (ran.code, ran.err) == (int(state == "failed"), "")
    access = ran.document["checks"][-1]
    assert (access["name"], access["state"], access["message"]) == ("access", state, message)
    assert access["hint"].startswith(hint)
    assert [request.method for request in proxy.requests] == ["GET", "GET"]


def test_a_silent_gateway_is_not_waited_for(
    home: Home, bot: Bot, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.knows(bot, url=proxy.url)
    monkeypatch.setattr(diagnosis, "_PATIENCE", 0.01)

    def rule(request: Request) -> None:
        if "gateway" in request.path:
            proxy.released.wait(20)

    proxy.rule = rule
    ran = home.run("doctor", "--format", "json", exits=0)
    proxy.released.set()

    state, message = checks(ran)["access"]
    assert (state, "0.01 s" in message) == ("skipped", True)


def test_the_gateway_needs_the_extra(home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "_EXTRAS", {"async": ("not-installed",)})
    monkeypatch.delitem(sys.modules, "commandsync.client.stream", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    ran = home.run("doctor", "--format", "json", exits=0)

    assert checks(ran)["commandsync"][1].endswith(", extras: none")
    assert "the extra [async]: the module 'aiohttp' is not installed" in checks(ran)["access"][1]
    assert "install" in ran.document["checks"][-1]["hint"]
    assert bot.token not in ran.out


def test_a_proxy_is_shown_without_its_password(home: Home, bot: Bot) -> None:
    where = ("--base-url", "https://listing.example", "--format", "json")
    home.variable("HTTPS_PROXY", "http://user:hidden@127.0.0.1:9")
    ran = home.run("doctor", *where)
    home.variable("HTTPS_PROXY", "socks5://user:hidden@127.0.0.1:9")
    invalid = home.run("doctor", *where)
    home.variable("NO_PROXY", "listing.example")
    address = parse_address("https://listing.example")

    assert checks(ran)["proxy"] == ("ok", "127.0.0.1:9, from the environment")
    assert checks(ran)["service"][0] == "failed"
    assert checks(invalid)["proxy"][0] == "failed"
    assert proxy_host(address, surroundings(address)) == ""
    for text in (ran.said, invalid.said):
        assert "hidden" not in text
        assert bot.token not in text


def test_without_a_manifest_or_a_bot_it_checks_what_is_known(home: Home, service: Service) -> None:
    nothing = home.run("doctor", "--format", "json", exits=4)
    no_bot = checks(home.run("doctor", "--base-url", service.url, "--format", "json"))
    home.write("version: 1\ncommands: [{name: a}, {name: b}]\n")
    invalid = checks(home.run("doctor", "--base-url", "ftp://x", "--format", "json"))
    plain = home.run("doctor", "--base-url", "http://listing.example")

    missing = [checks(nothing)[name] for name in ("manifest", "settings")]
    missing += [no_bot["bot"], no_bot["token"], invalid["manifest"]]
    assert {state for state, _ in missing} == {"failed"}
    assert [*(message for _, message in missing)] == [
        "commands.yaml: the file does not exist",
        "the base URL is missing",
        "the bot's id is missing",
        "no token was given",
        "the manifest has 4 problems",
    ]
    assert no_bot["service"][1].startswith("answers in ")
    assert list(invalid)[-1] == "settings"
    assert "--insecure-http" in plain.out


def test_of_several_manifests_each_is_checked(home: Home, service: Service) -> None:
    bots = service.bot(["help"]), service.bot(["play"])
    for number, bot in enumerate(bots):
        variable = f"COMMANDSYNC_TOKEN_{number}"
        home.variable(variable, bot.token)
        target = f"bot: {bot.id}\nbase_url: {service.url}\ntoken_env: {variable}\n"
        text = target + fields(("help", "…" if number else "Helps."))
        home.write(text, f"bots/{number}.yaml")
    ran = home.run("doctor", "-f", "bots", exits=0)
    document = home.run("doctor", "-f", "bots", "--format", "json").document

    assert (
        f"ok       token        bots/1.yaml: in COMMANDSYNC_TOKEN_1, of bot {bots[1].id}\n"
        in ran.out
    )
    assert "warning  manifest     bots/1.yaml: bots/1.yaml, commands: 1, warnings: 1\n" in ran.out
    assert [each["manifest"] for each in document["checks"] if each["name"] == "access"] == [
        "bots/0.yaml",
        "bots/1.yaml",
    ]


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_it_shows_what_it_waits_for_and_wraps_each_message(
    home: Home,
    bot: Bot,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[str, str], None],
    columns: int,
) -> None:
    for name, value in (("version", lambda _: "1.2.3"), ("__version__", "1.2.3")):
        monkeypatch.setattr(diagnosis, name, value)
    monkeypatch.setattr("platform.python_version", lambda: "3.14.0")
    monkeypatch.setattr(diagnosis, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monitor = Monitor(columns, monkeypatch)
    shown = []

    def rule(request: Request) -> Instead | None:
        if not request.path.startswith("/v1/gateway"):
            return None
        shown.append(monitor.until("open the gateway").splitlines()[-1])
        return Instead(401, {"error": "the bot token is invalid"})

    proxy.rule = rule
    home.knows(bot, url=proxy.url)

    assert monitor.run("doctor") == 1
    assert shown[0].lstrip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ").startswith("open the gateway: no answer for ")
    text = monitor.text.replace(bot.id, "779641401482800000").replace(f":{proxy.port}", ":12345")
    golden(re.sub(r"in \d+ ms", "in 12 ms", text), f"screens/doctor-{columns}")


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


def test_each_services_token_is_checked_by_a_read(home: Home, simulations: Simulations) -> None:
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

    ran = home.run("doctor", "--format", "json", exits=1)

    found = checks(ran)
    states = {name: found[name][0] for name in simulations}
    assert states == {"top.gg": "ok", "discordbotlist.com": "failed", "telegram": "failed"}
    assert "another-secret-token" not in ran.said


def test_one_listing_can_be_selected(home: Home, simulations: Simulations) -> None:
    found = checks(home.run("doctor", "--format", "json", "--listing", "telegram"))

    assert found.keys() & {*simulations, "service"} == {"telegram"}
    assert simulations["top.gg"].requests == []


def test_an_unknown_listing_is_a_failed_check(home: Home, simulations: Simulations) -> None:
    ran = home.run("doctor", "--format", "json", "--listing", "top.com", exits=1)

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
    home.write(text + again + "    token_env: COMMANDSYNC_TOKEN_AGAIN\n")
    home.variable("COMMANDSYNC_TOKEN_AGAIN", one.token)

    ran = home.run("doctor", "--format", "json", exits=1)

    state, message = checks(ran)["listings"]
    assert (state, "listings of top.gg" in message) == ("failed", True)


FRESH = """\
@app_commands.command(description="Is new.")
async def fresh(interaction): ...
"""
CODE = f"""\
from discord import app_commands
from discord.ext import commands
@app_commands.command(description="Bans.")
async def ban(interaction): ...
{FRESH}@commands.command(help="Plays.")
async def play(ctx): ...
@commands.command(hidden=True, help="Reloads.")
async def reload(ctx): ...
"""
MANIFEST = """\
version: 1
prefix: "!"
sync: {ignore: ["beta-*"]}
commands:
  - {name: ban, description: Bans., syntax: /ban}
  - {name: old, description: Was there., syntax: /old}
  - {name: play, description: Plays., syntax: "{prefix}play"}
  - {name: Größe, description: Measures., syntax: "!Größe"}
"""


@pytest.fixture
def telegram(home: Home, service: Service) -> Iterator[SimulatedListing]:
    """A bot whose code, manifest, page and lists differ."""
    bot = service.bot(["/Ban", "old", "gone", "beta-x", "GRÖSSE"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    home.write(CODE, "bot.py")
    with serve_simulation("telegram") as running:
        page = f'import: {{from: bot.py}}\nbot: "{bot.id}"\nbase_url: {bot.url}\n'
        home.write(f"{MANIFEST}{page}{running.manifest}  - service: top.gg\n")
        home.write(CODE.replace(FRESH, ""), "bot.py")
        assert home.run("import").code == 0
        home.write(CODE, "bot.py")
        home.variable(running.variable, running.token)
        assert home.run("apply", "--yes", "--listing", "telegram").code == 0
        yield running


@pytest.mark.promise("discord-host")
def test_each_name_is_compared(home: Home, telegram: SimulatedListing) -> None:
    home.variable("DISCORD_TOKEN", "a-token-for-discord")
    registered = [
        {"id": str(number), "name": name, "description": "Does it."}
        for number, name in enumerate(("ban", "stray", "reload"), start=1)
    ]
    with RawServer() as discord:
        home.variable("DISCORD_BASE_URL", discord.url)
        discord.then(answering({"id": "42"}), answering(registered))
        ran = home.run("doctor", "--format", "json")

    (result,) = ran.document["names"]
    unread = "cannot be read"
    assert (ran.code, ran.err) == (1, "")  # there is no token for top.gg
    assert {each["name"]: [each["differences"], *each["cells"]] for each in result["commands"]} == {
        # differences, code, Discord, manifest, page, Telegram, top.gg
        "ban": [[], "yes", "yes", "yes", "yes", "yes", unread],
        "old": [["not served"], "not meant", "no", "yes", "yes", "yes", unread],
        "play": [["not listed"], "yes", "not meant", "yes", "no", "not meant", unread],
        "Größe": [[], "not meant", "not meant", "yes", "yes", "not meant", unread],
        "fresh": [["not served", "not listed"], "yes", "no", "no", "no", "no", unread],
        "stray": [["not served", "not listed"], "no", "yes", "no", "no", "no", unread],
        "gone": [["gone"], "no", "no", "no", "yes", "no", unread],
    }
    assert "a-token-for-discord" not in ran.said
    assert telegram.token not in ran.said


@pytest.mark.promise("doctor-names")
def test_what_was_not_read_is_never_missing(home: Home, telegram: SimulatedListing) -> None:
    home.write(home.read("commands.yaml").replace("  - service: top.gg\n", ""))
    text = home.run("doctor")
    found = checks(home.run("doctor", "--format", "json"))["parity"]
    home.forget(telegram.variable)
    unread = home.run("doctor")

    assert (text.code, unread.code) == (3, 1)
    assert "not read: discord: DISCORD_TOKEN is not set\n" in text.out
    assert text.out.endswith("\nNo check failed: plan and apply can work.\n")
    (row,) = (line for line in text.out.splitlines() if line.startswith("fresh"))
    assert re.split(r" {2,}", row) == ["fresh", *("not listed", "yes", "not read"), *["no"] * 3]
    assert found[0] == "warning"
    assert found[1].startswith("3 of 6 commands differ: 2 not listed (play, fresh), 1 gone (gone)")
    assert f"Parity of commands.yaml: {found[1]}.\n" in text.out
    assert "not read: telegram: COMMANDSYNC_TOKEN_TELEGRAM is not set\n" in unread.out


def test_only_equal_names_that_were_read_exit_with_0(home: Home, service: Service) -> None:
    bot = service.bot(["ban", "old"])
    commands = [
        {"name": name, "description": "A.", "syntax": f"/{name}"} for name in ("ban", "old")
    ]
    home.write(json.dumps(commands), "list.json")
    own = "version: 1\nimport: {from: list.json}\n"
    home.write(own)
    home.run("import", exits=0)
    alone = home.run("doctor")
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    home.write(f'{own}bot: "{bot.id}"\nbase_url: {bot.url}\n')
    same = home.run("doctor")
    home.write("[{}]", "list.json")
    broken = home.run("doctor")

    assert (alone.code, same.code, broken.code) == (1, 0, 1)
    assert "not read: page: " in alone.out
    assert "0 of 2 commands differ in what was read.\n" in same.out
    assert "cannot be read: code: list.json" in broken.out
