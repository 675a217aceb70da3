"""`run` and `run_async` over real HTTP: a manifest is applied through either client."""

from collections.abc import Callable
from pathlib import Path

import pytest

import commandsync.sync
from commandsync import ArgumentError, TransportError, UsageError
from commandsync.apply.outcomes import Settled
from commandsync.errors import ManifestError, WrongBotError
from commandsync.sync import Outcome
from commandsync.sync.settings import load_files
from tests.support.bots import Service
from tests.support.clients import Open
from tests.support.discordserver import DiscordServer
from tests.support.rawserver import RawServer, closing

OLD = """
  - {name: help, description: Shows all., syntax: /help}
  - {name: ping, description: Does it., syntax: /ping}
"""
NEW = "  - {name: new, description: Is new., syntax: /new}\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write(commands: str, head: str = "") -> Path:
        path = tmp_path / "commands.yaml"
        path.write_text(f"version: 1\n{head}commands:\n{commands}", encoding="utf-8")
        return path

    return write


def test_a_manifest_is_applied_and_verified(
    open_client: Open, service: Service, write: Callable[[str], Path]
) -> None:
    bot = service.bot(["help", "ping", "gone"])
    client = open_client(bot.token, bot.url)
    told: list[Settled] = []

    result = client.run(write(OLD + NEW), on_settled=told.extend)
    again = client.run(write(OLD + NEW))

    assert result.complete
    assert [settled.outcome for settled in result.settled] == [Outcome.DONE] * 3
    assert sorted(settled.change.action for settled in told) == ["add", "delete", "edit"]
    assert bot.names() == ["help", "ping", "new"]
    assert bot.commands()[0]["description"] == "Shows all."
    assert again.complete
    assert again.plan.changes == ()
    assert len(client.get_commands()) == 3  # the connection stays open


def test_the_listings_of_a_manifest_are_left_alone(
    open_client: Open, service: Service, write: Callable[..., Path]
) -> None:
    bot = service.bot(["help", "ping"])
    with DiscordServer() as discord:
        result = open_client(bot.token, bot.url).run(write(OLD, discord.entry))

    assert result.complete
    assert bot.commands()[0]["description"] == "Shows all."
    assert discord.requests == []


def test_options_narrow_what_is_done(
    open_client: Open, service: Service, write: Callable[[str], Path]
) -> None:
    bot = service.bot(["help", "ping", "gone"])
    client = open_client(bot.token, bot.url)

    dry = client.run(write(OLD + NEW), dry_run=True)
    untouched = bot.names()
    only = client.run(write(OLD + NEW), only="n*", unordered=True)
    kept = client.run(write(OLD + NEW), prune=False)

    assert len(dry.plan.changes) == 3
    assert (dry.complete, dry.touched, dry.interrupted) == (False, False, False)
    assert {settled.outcome for settled in dry.settled} == {Outcome.SKIPPED}
    assert untouched == ["help", "ping", "gone"]
    assert [settled.change.action for settled in only.settled] == ["add"]
    assert [settled.change.action for settled in kept.settled] == ["edit"]
    assert bot.names() == ["help", "ping", "gone", "new"]


def test_an_invalid_manifest_is_refused_with_all_its_problems(
    open_client: Open, server: RawServer, write: Callable[[str], Path]
) -> None:
    with pytest.raises(ManifestError) as caught:
        open_client("opaque", server.url, bot="42").run(write("  - {name: help}\n"))

    assert len(caught.value.problems) == 2
    assert server.requests == []


def test_a_manifest_of_another_bot_is_refused(
    open_client: Open, server: RawServer, service: Service, write: Callable[..., Path]
) -> None:
    bot = service.bot()
    path = write(NEW, head='bot: "1"\n')

    with pytest.raises(WrongBotError, match=r"bot 1\b.* bot 42"):
        open_client("opaque", server.url, bot="42").run(path)
    with pytest.raises(WrongBotError, match=bot.id):
        open_client(bot.token, server.url, bot="1").run(path)

    assert server.requests == []


def test_what_a_run_needs_is_checked_before_anything_is_sent(
    open_client: Open, server: RawServer, write: Callable[..., Path]
) -> None:
    path = write(NEW)
    (loaded,) = load_files([str(path)])

    with pytest.raises(UsageError, match="no token"):
        open_client(None, server.url, bot="42").run(loaded)
    with pytest.raises(UsageError, match="which bot"):
        open_client("opaque", server.url).run(path)
    with pytest.raises(ArgumentError, match="max_deletes: 'many'"):
        open_client("opaque", server.url, bot="42").run(path, max_deletes="many")
    with pytest.raises(TypeError, match="force"):
        open_client("opaque", server.url, bot="42").run(path, force=True)  # type: ignore[call-arg]
    path.with_name("other.yaml").write_text(path.read_text("utf-8"), encoding="utf-8")
    with pytest.raises(UsageError, match="one manifest"):
        open_client("opaque", server.url, bot="42").run(path.parent)

    assert server.requests == []


def test_a_listing_that_cannot_be_read_is_an_error(
    open_client: Open, server: RawServer, write: Callable[[str], Path]
) -> None:
    server.then(closing)

    with pytest.raises(TransportError):
        open_client("opaque", server.url, bot="42", retries=0).run(write(NEW))


def test_the_names_of_the_job_load_when_first_used() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        commandsync.sync.nothing  # noqa: B018 - it must not be there
