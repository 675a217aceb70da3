"""The way in: files -> manifests, or every problem of all of them at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from commandsync.api.address import parse_address
from commandsync.errors import UsageError
from commandsync.manifest.checks import check_announcements, check_commands
from commandsync.manifest.entries import Settings, Stated, read_announcement, read_command
from commandsync.manifest.events import UnparsableError, parse
from commandsync.manifest.files import (
    included_paths,
    manifest_paths,
    note_included,
    note_strays,
)
from commandsync.manifest.foreign import is_other_json
from commandsync.manifest.grammar import INCLUDED, MANIFEST, Key
from commandsync.manifest.loaded import Manifest, Target, same_target_problems
from commandsync.manifest.nodes import Mapping, Scalar
from commandsync.manifest.problems import Problems, TooManyProblemsError
from commandsync.manifest.reading import FLAGS, Reader, Table
from commandsync.manifest.source import Allowance, Origin, UnreadableError, read_source
from commandsync.plan.rules import (
    MOST_WILD_CHARACTERS,
    MOST_WILDCARDS,
    SyncRules,
    has_wildcard,
    parse_delete_limit,
)
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from commandsync.diagnostics import Location
    from commandsync.manifest.folders import Stray

_KEYS = {key.name: key for key in MANIFEST}
_INCLUDED = {key.name: key for key in INCLUDED}
_SYNC = {key.name: key for key in _KEYS["sync"].keys}
_DEFAULTS = {key.name: key for key in _KEYS["defaults"].keys}
_COMMAND = {key.name: key for key in _KEYS["commands"].keys}
_ANNOUNCEMENT = {key.name: key for key in _KEYS["announcements"].keys}
_NO_TABLE = Table(0, {})


class _Part(NamedTuple):
    """The manifest itself, or a file it includes."""

    reader: Reader
    table: Table


@dataclass(slots=True)
class _Loader:
    """Loads one manifest."""

    origin: Origin
    problems: Problems
    allowance: Allowance = field(default_factory=Allowance)

    def load(self, path: str) -> Manifest | None:
        """Load a manifest; None when too little of it can be read, which is noted."""
        self.problems.opened(path, manifest=True)
        main = self.part(path, _KEYS, what="a manifest")
        if main is None:
            return None
        reader, table = main
        rules = _rules(self.inner(main, "sync", _SYNC), reader)
        prefix = table.scalar("prefix")
        settings = Settings(
            self.allowance,
            prefix=prefix.text if prefix else "?" if table.broken else None,
            category=_text(self.inner(main, "defaults", _DEFAULTS), "category"),
        )
        parts = [main, *self.includes(main)]
        if not any(resource.collection in p.table.values for p in parts for resource in Resource):
            reader.warning(
                0, "neither commands: nor announcements: is here, so there is nothing to manage"
            )
        snapshot = _snapshot(parts, settings, rules)
        if any(part.table.broken for part in parts):
            return None
        return Manifest(
            path=path,
            paths=tuple(part.reader.source.path for part in parts),
            snapshot=snapshot,
            bot=_text(table, "bot"),
            base_url=_base_url(main),
            token_env=_text(table, "token_env"),
            prefix=settings.prefix,
            rules=rules,
            warnings=(),
            bot_at=_location(main, "bot"),
            base_url_at=_location(main, "base_url"),
            token_env_at=_location(main, "token_env"),
        )

    def part(self, path: str, keys: dict[str, Key], *, what: str) -> _Part | None:
        try:
            source = read_source(path, origin=self.origin, allowance=self.allowance)
        except UnreadableError as error:
            self.problems.error(error.problem.location, error.problem.message, error.problem.hint)
            return None
        reader = Reader(source, self.problems)
        if is_other_json(source.text):
            hint = "commandsync init writes a starter; -f names another file"
            reader.error(0, f"this is the JSON of another program, not {what}", hint)
            return None
        try:
            root, broken = parse(source, problems=self.problems, allowance=self.allowance)
        except UnparsableError:
            return None
        if root is None or (isinstance(root, Scalar) and root.plain and not root.text):
            reader.error(0, "the file is empty", "commandsync init writes a starter")
            return None
        if not isinstance(root, Mapping):
            reader.error(
                0,
                f"{what} must have keys at its top level, such as version: and commands:",
                "put the list under commands:" if not isinstance(root, Scalar) else "",
            )
            return None
        table = reader.table(root, keys, what=what, broken=broken)
        return None if table is None else _Part(reader, table)

    def inner(self, part: _Part, name: str, keys: dict[str, Key]) -> Table:
        node = part.table.values.get(name)
        if node is None:
            return _NO_TABLE
        return part.reader.table(node, keys, what=name) or _NO_TABLE

    def includes(self, main: _Part) -> list[_Part]:
        parts = []
        for path in included_paths(main.reader, main.table.texts("include")):
            self.problems.opened(path)
            part = self.part(path, _INCLUDED, what="an included file")
            if part is not None:
                parts.append(part)
        return parts


def load_manifests(
    sources: Sequence[str], *, stdin: Callable[[], bytes], workspace: Path | None = None
) -> tuple[Manifest, ...]:
    """Load manifests with everything they include.

    Args:
        sources: What `-f` names: files, `-` for standard input, or folders, which stand for the
            *.yaml and *.yml files directly in them that have a top-level `version:`, or cannot
            be read or parsed.
        stdin: Reads standard input; called at most once.
        workspace: In CI the folder of the checkout: no file in it is read through a link that
            leads out of it.

    Returns:
        The manifests in the order of the sources, each file once.

    Raises:
        ManifestError: With every problem of every file.
    """
    problems = Problems()
    origin = Origin(stdin, workspace)
    found: list[Manifest] = []
    strays: list[Stray] = []
    try:
        paths = manifest_paths(sources, problems, strays, origin)
        loaded = [_Loader(origin, problems).load(path) for path in paths]
        found.extend(manifest for manifest in loaded if manifest is not None)
        note_strays(strays, problems, all_loaded=len(found) == len(loaded))
        included = note_included(found, problems)
        targets = (Target(m.path, m.base_url, m.bot) for m in found if m.path not in included)
        for problem in same_target_problems(targets):
            problems.error(problem.location, problem.message, problem.hint)
    except TooManyProblemsError:
        pass
    problems.raise_if_any()
    return tuple(replace(m, warnings=problems.warnings(m.path)) for m in found)


def _snapshot(parts: Sequence[_Part], settings: Settings, rules: SyncRules) -> Snapshot:
    commands: list[Stated] = []
    announcements: list[Stated] = []
    scope: set[str] = set()
    for reader, table in parts:
        scope |= table.values.keys()
        if node := table.values.get("commands"):
            tables = reader.tables(node, _COMMAND, what="a command")
            read = (read_command(each, reader, settings) for each in tables)
            commands.extend(stated for stated in read if stated)
        if node := table.values.get("announcements"):
            tables = reader.tables(node, _ANNOUNCEMENT, what="an announcement")
            posted = (read_announcement(each, reader) for each in tables)
            announcements.extend(stated for stated in posted if stated)
    check_commands(commands, rules)
    check_announcements(announcements, rules)
    both = {Resource.COMMAND: commands, Resource.ANNOUNCEMENT: announcements}
    return Snapshot(
        MappingProxyType(
            {
                resource: tuple(stated.entry for stated in found)
                for resource, found in both.items()
                if resource.collection in scope
            }
        )
    )


def _rules(table: Table, reader: Reader) -> SyncRules:
    patterns = table.texts("ignore")
    wild = [pattern for pattern in patterns if has_wildcard(pattern.text)]
    lengths = accumulate(len(pattern.text) for pattern in wild)
    allowed = sum(length <= MOST_WILD_CHARACTERS for length in lengths)
    if len(wild) > min(allowed, MOST_WILDCARDS):
        patterns = ()
        reader.error(
            wild[min(allowed, MOST_WILDCARDS)].at,
            f"ignore has more than {MOST_WILDCARDS} patterns with a wildcard, or more than "
            f"{MOST_WILD_CHARACTERS:,} characters in them",
            "one pattern can match many names: beta-*",
        )
    prune, limit = table.scalar("prune"), table.scalar("max_deletes")
    return SyncRules(
        prune=True if prune is None else FLAGS[prune.text],
        ignore=tuple(canonical(pattern.text) for pattern in patterns),
        max_deletes=None if limit is None else parse_delete_limit(limit.text),
        announcements=cast(
            "Literal['append', 'mirror']", _text(table, "announcements") or "append"
        ),
    )


def _text(table: Table, name: str) -> str:
    node = table.scalar(name)
    return "" if node is None else canonical(node.text)


def _base_url(main: _Part) -> str:
    node = main.table.scalar("base_url")
    if node is None:
        return ""
    try:
        # Whether plain http is allowed is for the command line to say.
        return str(parse_address(node.text, insecure_http=True))
    except UsageError as error:
        main.reader.error(node.at, error.message, error.hint)
        return ""


def _location(part: _Part, name: str) -> Location | None:
    node = part.table.scalar(name)
    return None if node is None else part.reader.source.location(node.at)
