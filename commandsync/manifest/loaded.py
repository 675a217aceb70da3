"""A loaded manifest, as the rest of the program uses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commandsync.api.address import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest with everything it includes.

    Attributes:
        path: The file as the user named it, with `/` between folders; `-` for standard input.
        paths: That file and every included one, in reading order.
        snapshot: The desired entries, with their places, pins and former names.
        bot: The bot's id; empty when the manifest has none.
        base_url: The service's base URL in its one spelling; empty when the manifest has none.
        token_env: The variable that holds the token; empty when the manifest has none.
        prefix: What `{prefix}` stands for; None when the manifest has none.
        rules: What a sync may do.
        warnings: Problems that do not make it invalid.
        bot_at: The place of the bot.
        base_url_at: The place of the base URL.
        token_env_at: The place of the token's variable.
    """

    path: str
    paths: tuple[str, ...] = ()
    snapshot: Snapshot = field(default_factory=Snapshot)
    bot: str = ""
    base_url: str = ""
    token_env: str = ""
    prefix: str | None = None
    rules: SyncRules = field(default_factory=SyncRules)
    warnings: tuple[Problem, ...] = ()
    bot_at: Location | None = None
    base_url_at: Location | None = None
    token_env_at: Location | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Which listing a manifest is for; empty where that is not known.

    Attributes:
        path: The manifest.
        base_url: The service, in the spelling of `Address`.
        bot: The bot.
    """

    path: str
    base_url: str
    bot: str


def same_target_problems(targets: Iterable[Target]) -> tuple[Problem, ...]:
    """Refuse two manifests for one listing, however spelled: each would undo the other's changes.

    Args:
        targets: The target of each manifest, also once flags and environment are applied.
    """
    first: dict[tuple[str, str], str] = {}
    problems = []
    for target in targets:
        if not (target.base_url and target.bot):
            continue
        path = first.setdefault((service_of(target.base_url), target.bot), target.path)
        if path != target.path:
            problems.append(
                Problem(
                    Location(target.path),
                    f"{path} is for the same bot on the same host",
                    f"keep one manifest per bot: include: this file in {path}",
                )
            )
    return tuple(problems)
