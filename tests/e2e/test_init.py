"""`init` writes a manifest of the listing, or a starter with the bot of the token."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.manifest import Manifest, load_manifests
from commandsync.manifest.dump import starter
from commandsync.testing import serve_simulation
from tests.support.bots import Instead, Proxy, Service
from tests.support.home import ROOT, Home, fields

WORDS = st.text("abcXYZ éß😀[]:#{}'\"-/", min_size=1, max_size=12).filter(
    lambda text: text == text.strip()
)
TEXTS = st.fixed_dictionaries({"name": WORDS, "description": WORDS, "syntax": WORDS})
generated = settings(max_examples=8)


def _fresh(home: Home) -> None:
    (home.path / "commands.yaml").unlink(missing_ok=True)


def _written() -> Manifest:
    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes)
    return manifest


@generated
@given(
    commands=st.lists(TEXTS, max_size=6, unique_by=lambda text: tuple(text.values())),
    titles=st.lists(WORDS, max_size=3, unique=True),
)
def test_it_adopts_what_is_listed(
    service: Service, home: Home, proxy: Proxy, *, commands: list[dict[str, str]], titles: list[str]
) -> None:
    bot = home.knows(service.bot(commands, titles), url=proxy.url)
    _fresh(home)
    before = bot.everything()
    proxy.requests.clear()

    ran = home.run("init", exits=0)

    for_the_name = ["GET "] if commands or titles else []
    assert sorted(proxy.shorts()) == [*for_the_name, "GET announcements", "GET commands"]
    if commands or titles:
        assert "commands.yaml contains " in ran.err
        applied = home.run("apply", "--yes", "--max-deletes", "0", exits=0)
        assert "No changes: " in applied.out
    else:
        url = proxy.url
        expected = starter("./schemas/commands.schema.json", bot=bot.id, base_url=url)
        assert home.read("commands.yaml") == expected
    assert home.run("validate").code == 0
    assert bot.everything() == before
    assert proxy.writes == []


@generated
@given(
    st.sampled_from([401, 403, 404, 429, 500, 503]).map(Instead)
    | st.sampled_from([b"", b"{}", b"[", b"<html>", b'{"success": true, "data": null}']).map(
        lambda body: Instead(200, body)
    ),
    st.sampled_from(["commands", "announcements"]),
)
def test_an_unreadable_listing_is_an_error_and_no_starter_is_written(
    service: Service, home: Home, proxy: Proxy, instead: Instead, collection: str
) -> None:
    home.knows(service.bot(["one"], ["News"]), url=proxy.url)
    proxy.rule = lambda seen: instead if seen.path.endswith(collection) else None

    ran = home.run("init", "--retries", "0", exits=1)

    assert ran.err.startswith("error: ")
    assert list(home.path.iterdir()) == []


def test_a_starter_names_the_bot_of_the_token(service: Service, home: Home, proxy: Proxy) -> None:
    bot = service.bot(["one"])
    home.variable("COMMANDSYNC_TOKEN", bot.token)

    home.run("init", exits=0)

    manifest = _written()
    assert (manifest.bot, manifest.base_url) == (bot.id, "")
    assert bot.token not in home.read("commands.yaml")
    assert proxy.requests == []


def test_a_starter_names_the_bot_of_the_flag(home: Home) -> None:
    assert home.run("init", "--bot", "0779").code == 0
    assert _written().bot == "0779"


def test_a_starter_for_an_opaque_token_contains_the_service_only(home: Home, proxy: Proxy) -> None:
    home.variable("COMMANDSYNC_TOKEN", "opaque")
    home.variable("COMMANDSYNC_BASE_URL", proxy.url + "/v1/")

    assert home.run("init").code == 0
    manifest = _written()
    assert (manifest.bot, manifest.base_url) == ("", proxy.url)
    assert proxy.requests == []


@pytest.mark.parametrize("by", ["the flags", "the token's file"])
def test_flags_say_what_to_adopt(service: Service, home: Home, proxy: Proxy, by: str) -> None:
    bot = service.bot(["one", "two"])
    home.write(bot.token, "token.txt")
    bot_flags = ["--bot", bot.id] if by == "the flags" else ["--token-file", "token.txt"]

    ran = home.run("init", "--base-url", proxy.url, *bot_flags, exits=0)

    assert ": 2 commands\n" in ran.err
    manifest = _written()
    assert (manifest.name, manifest.bot) == (f"Bot {bot.id}", bot.id)
    assert manifest.base_url == proxy.url
    schema = "# yaml-language-server: $schema=./schemas/commands.schema.json\n"
    assert home.read("commands.yaml").startswith(schema)
    assert (home.path / "schemas" / "commands.schema.json").read_text("utf-8") == (
        ROOT / "schemas" / "commands.schema.json"
    ).read_text("utf-8")


def test_a_token_of_another_bot_is_warned_about(service: Service, home: Home) -> None:
    bot, other = service.bot(["one"]), service.bot()
    home.knows(bot, token=other.token)

    ran = home.run("init", exits=0)

    assert f"belongs to bot {other.id}, " in ran.err


def test_what_a_manifest_cannot_say_is_warned_about(service: Service, home: Home) -> None:
    twin = {"name": "afk", "description": "Away.", "syntax": "/afk"}
    home.knows(service.bot([twin, twin]))

    ran = home.run("init", exits=0)

    assert "listed once more" in ran.err


def test_a_manifest_is_never_replaced(service: Service, home: Home, proxy: Proxy) -> None:
    home.knows(service.bot(["one"]), url=proxy.url)
    home.write(fields(("mine",)))

    ran = home.run("init", exits=1)

    assert "commands.yaml exists already" in ran.err
    assert "commandsync pull " in ran.err
    assert home.read("commands.yaml") == fields(("mine",))
    assert proxy.requests == []


@pytest.mark.parametrize("given", [[], ["--yes"]])
def test_a_starter_for_telegram_can_be_applied(home: Home, given: list[str]) -> None:
    home.run("init", "--platform", "telegram", *given, exits=0)
    assert home.run("validate", "--strict").code == 0
    text = home.read("commands.yaml")
    assert "base_url" not in text

    with serve_simulation("telegram") as telegram:
        home.variable(telegram.variable, telegram.token)
        service = "  - service: telegram\n"
        home.write(text.replace(service, f"{service}    base_url: {telegram.base_url}\n"))
        home.run("plan", "--detailed-exitcode", "--strict", exits=3)
        applied = home.run("apply", "--yes", exits=0)

        assert "Verified" in applied.out
        assert [command["command"] for command in telegram.commands] == ["help", "ping"]
        assert home.run("plan", "--detailed-exitcode").code == 0


def test_a_starter_for_telegram_reads_no_page(home: Home, service: Service, proxy: Proxy) -> None:
    home.knows(
        service.bot([{"name": "afk", "description": "Away.", "syntax": "/afk"}]), url=proxy.url
    )

    assert home.run("init", "--platform", "telegram").code == 0

    assert proxy.requests == []
    assert "afk" not in home.read("commands.yaml")
