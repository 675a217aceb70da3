"""Where the commands of an application are registered, and which listing that is."""

from dataclasses import replace

import pytest

from commandsync.diagnostics import Location
from commandsync.manifest import Manifest
from commandsync.manifest.reader import DiscordListing
from commandsync.services.discord import Application, discord_service
from commandsync.sync.settings import Settings
from commandsync.sync.sites import DiscordSite, discord_of, discord_site
from tests.support.plans import day

SETTINGS = Settings(now=day(1))
LISTING = DiscordListing(location=Location("commands.yaml"))
# The first part is the id of the bot's user, in base64.
TOKEN = "NzcxMjM0NTY3ODkwMTIzNDU2.X5hvTg.marked-token-7f3a9c1e"


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "COMMANDSYNC_TOKEN_DISCORD"):
        monkeypatch.delenv(name, raising=False)


def site(listing: DiscordListing = LISTING, settings: Settings = SETTINGS) -> DiscordSite:
    return discord_site(settings, None, listing)


@pytest.mark.parametrize(
    ("listing", "identity"),
    [
        (LISTING, "discord.com 771234567890123456"),
        (replace(LISTING, bot="42"), "discord.com 42"),
        (replace(LISTING, guild="6"), "discord.com 771234567890123456 6"),
        (replace(LISTING, base_url="https://DISCORD.com"), "discord.com 771234567890123456"),
    ],
)
def test_a_listing_has_one_identity_before_and_after_it_is_read(
    monkeypatch: pytest.MonkeyPatch, listing: DiscordListing, identity: str
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    found = Application("771234567890123456", "", "Lantern", (0,))

    unread = site(listing)
    read = replace(
        unread, bot=found.id, application=found, service=discord_service(found, unread.guild)
    )

    assert unread.identity == read.identity == identity


@pytest.mark.parametrize("token", ["opaque-and-marked", "a.b.c", "4pyTIOKckw.b.c"])
def test_a_token_without_an_id_has_none(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", token)

    assert site().identity == "discord.com"


def test_a_server_of_the_settings_comes_before_that_of_the_manifest() -> None:
    listing = replace(LISTING, guild="6")
    manifest = Manifest("commands.yaml", discord=listing)

    both = [discord_of(settings, manifest) for settings in (SETTINGS, replace(SETTINGS, guild="7"))]

    assert [found and (found.guild, found.name) for found in both] == [
        ("6", "discord (server 6)"),
        ("7", "discord (server 7)"),
    ]


@pytest.mark.parametrize(
    ("selected", "is_selected"),
    [((), True), (("discord",), True), (("discord (server 6)",), True), (("top.gg",), False)],
)
def test_it_is_selected_by_its_service_and_by_its_name(
    selected: tuple[str, ...], *, is_selected: bool
) -> None:
    manifest = Manifest("commands.yaml", discord=replace(LISTING, guild="6"))

    found = discord_of(replace(SETTINGS, listing=selected), manifest)

    assert (found is not None) is is_selected
