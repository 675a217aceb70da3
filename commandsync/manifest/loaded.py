"""A loaded manifest, as the rest of the program uses it."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from commandsync.api.address import service_of
from commandsync.diagnostics import Location, Problem
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class ImportRules:
    """Where commands are imported from, and which: the manifest's `import:`.

    Attributes:
        sources: Files and folders relative to the manifest's folder, or `discord`.
        exclude: Patterns of names that are not imported.
        categories: The category of each pattern of names, or of cogs, folders and groups.
        traits: The traits that do not keep a command out.
        columns: The columns of a list of one's own, by field.
        locale: The language of Discord's texts; empty for the default texts.
    """

    sources: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    traits: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    locale: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest with everything it includes.

    Attributes:
        path: The file as the user named it, with `/` between folders; `-` for standard input.
        paths: That file and every included one, in reading order.
        include: The patterns of the files that it includes.
        snapshot: The desired entries, with their places, pins and former names.
        bot: The bot's id; empty when the manifest has none.
        base_url: The service's base URL in its one spelling; empty when the manifest has none.
        token_env: The variable that holds the token; empty when the manifest has none.
        prefix: What `{prefix}` stands for; None when the manifest has none.
        category: The category of commands that have none of their own.
        rules: What a sync may do.
        imports: Where commands are imported from.
        warnings: Problems that do not make it invalid.
        bot_at: The place of the bot, as `base_url_at` and `token_env_at` of the others.
    """

    path: str
    paths: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    snapshot: Snapshot = field(default_factory=Snapshot)
    bot: str = ""
    base_url: str = ""
    token_env: str = ""
    prefix: str | None = None
    category: str = ""
    rules: SyncRules = field(default_factory=SyncRules)
    imports: ImportRules = field(default_factory=ImportRules)
    warnings: tuple[Problem, ...] = ()
    bot_at: Location | None = None
    base_url_at: Location | None = None
    token_env_at: Location | None = None


class ManifestTarget(NamedTuple):
    """The listing of the manifest at a path; empty where it is not known."""

    path: str
    base_url: str
    bot: str


def same_target_problems(targets: Iterable[ManifestTarget]) -> tuple[Problem, ...]:
    """Refuse two manifests for one listing, however spelled: each would undo the other's changes.

    A target may come from flags and the environment instead of the manifest.
    """
    first: dict[tuple[str, str], str] = {}
    problems = []
    for path, base_url, bot in targets:
        if not (base_url and bot):
            continue
        other = first.setdefault((service_of(base_url), bot), path)
        if other != path:
            message = f"{other} is for the same bot on the same host"
            hint = f"keep one manifest per bot: include: this file in {other}"
            problems.append(Problem(Location(path), message, hint))
    return tuple(problems)
