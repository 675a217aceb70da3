from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commandsync.errors import UsageError
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.sync.settings import Settings, read_clock, rules_of
from commandsync.sync.sites import site_of
from tests.support.plans import day

# {"id":"42"} between a header and a signature nobody checks here
JWT = "e30.eyJpZCI6IjQyIn0.c2ln"
URL = "https://listing.example"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COMMANDSYNC_TOKEN", "COMMANDSYNC_BOT", "COMMANDSYNC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def manifest(**said: object) -> Any:  # noqa: ANN401 - stands for a manifest
    return SimpleNamespace(**{"base_url": "", "bot": "", "token_env": "", **said})


def test_the_manifest_goes_before_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMANDSYNC_TOKEN", JWT)

    assert site_of(Settings(now=day(1)), manifest(base_url=URL, bot="2")).bot == "2"
    assert site_of(Settings(now=day(1), base_url=URL), None).bot == "42"


@pytest.mark.parametrize("bot", ["", "  ", ".", ".."])
def test_an_invalid_bot_id_is_refused(bot: str) -> None:
    with pytest.raises(UsageError, match="bot"):
        site_of(Settings(now=day(1), base_url=URL, bot=bot), None)


def test_the_hint_for_a_missing_bot_names_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for empty in ("", " \n"):
        monkeypatch.setenv("COMMANDSYNC_TOKEN", empty)
        with pytest.raises(UsageError, match="and COMMANDSYNC_TOKEN has no token"):
            site_of(Settings(now=day(1), base_url=URL), None)
    monkeypatch.setenv("COMMANDSYNC_TOKEN_LANTERN", "opaque")
    with pytest.raises(UsageError, match="and the token does not contain one") as caught:
        site_of(Settings(now=day(1), base_url=URL), manifest(token_env="COMMANDSYNC_TOKEN_LANTERN"))
    assert "opaque" not in caught.value.message + str(caught.value.hint)


@pytest.mark.parametrize("content", ["{}\n", "\ufeff{}", "  {}\r\n", "Bot {}\n"])
def test_a_token_file_goes_before_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    path = tmp_path / "token"
    path.write_text(content.format("from-the-file"), encoding="utf-8")
    monkeypatch.setenv("COMMANDSYNC_TOKEN", "from-the-variable")

    site = site_of(Settings(now=day(1), base_url=URL, bot="1", token_file=str(path)), None)

    assert site.token is not None
    assert site.token.reveal() == "from-the-file"
    assert site.token_from == str(path)


def test_flags_on_deletes_go_before_the_rules_of_the_manifest() -> None:
    rules = SyncRules(max_deletes=DeleteLimit(count=1))
    limit = DeleteLimit(percent=50.0)

    assert rules_of(Settings(now=day(1)), manifest(rules=rules)) == rules
    assert rules_of(Settings(now=day(1), prune=False), manifest(rules=rules)).prune is False
    assert (
        rules_of(Settings(now=day(1), max_deletes=limit), manifest(rules=rules)).max_deletes
        == limit
    )


def test_the_time_of_a_run_is_read_once_in_utc_to_the_second() -> None:
    settings = Settings(now=read_clock())

    assert settings.now.utcoffset() == timedelta(0)
    assert settings.now.microsecond == 0
    assert timedelta(0) <= datetime.now(UTC) - settings.now < timedelta(hours=1)
    assert replace(settings, bot="1").now is settings.now
