"""A loaded manifest, as the rest of the program uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commandsync.api.address import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.manifest.model import ImportModel
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Levels, Snapshot

if TYPE_CHECKING:
    from commandsync.manifest.listings import Listing


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest with everything it includes."""

    path: str  # the file as the user named it, with `/` between folders; `-` for standard input
    paths: tuple[str, ...] = ()  # that file and every included one, in reading order
    include: tuple[str, ...] = ()  # the patterns of the files that it includes
    snapshot: Snapshot = field(default_factory=Snapshot)  # the desired entries
    bot: str = ""  # the bot's id; empty when the manifest has none
    base_url: str = ""  # in its one spelling; empty when the manifest has none
    token_env: str = ""  # the variable that holds the token; empty when the manifest has none
    prefix: str | None = None  # what replaces `{prefix}`; None when the manifest has none
    category: str = ""  # the category of commands that have none
    rules: SyncRules = field(default_factory=SyncRules)
    imports: ImportModel = field(default_factory=ImportModel)  # where commands are imported from
    listings: tuple[Listing, ...] = ()  # the other services that list the bot
    # The platform's own objects by the names of commands, where `listings` needs them.
    objects: Mapping[str, Levels] = field(default_factory=dict, repr=False)
    warnings: tuple[Problem, ...] = ()  # problems that do not make it invalid
    bot_at: Location | None = None  # the place of the bot, as those below
    base_url_at: Location | None = None
    token_env_at: Location | None = None

    @property
    def has_page(self) -> bool:
        """Whether the page is synced: with listings alone, a base URL from elsewhere adds none."""
        return bool(self.base_url) or not self.listings


def same_target_problems(targets: Iterable[tuple[str, str, str]]) -> tuple[Problem, ...]:
    """Refuse two manifests for one listing, however spelled: each would undo the other's changes.

    A target is the path of a manifest, its base URL and its bot, empty where it is not known. It
    may come from flags and the environment instead of the manifest.
    """
    first: dict[tuple[str, str], str] = {}
    problems = []
    for path, base_url, bot in targets:
        if not (base_url and bot):
            continue
        other = first.setdefault((service_of(base_url), bot), path)
        if other != path:
            message = f"{other} is for the same bot on the same host"
            hint = (
                f"if they are for one bot, keep one: include: this file in {other}; "
                "else write the bot: of each"
            )
            problems.append(Problem(Location(path), message, hint))
    return tuple(problems)
