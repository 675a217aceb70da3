"""One manifest: its file and those that it includes -> its defaults and entries.

`ManifestReader` reads and parses the file, checks its keys (`validation`), and then the keys of
each included file; the entries of all of them are completed by the defaults, and checked together.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from collections.abc import Mapping as AnyMapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import product, repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from commandsync.diagnostics import Do, Location, Problem
from commandsync.manifest.checks import CommandDefaults, ValidationContext
from commandsync.manifest.entries import registrables, snapshot_of
from commandsync.manifest.keys import (
    DISCORD,
    MANIFEST,
    MARKS,
    ImportKeys,
    ListingKeys,
    ManifestKeys,
    manifest_keys,
)
from commandsync.manifest.nodes import Mapping, ParsedYaml, Scalar, Sequence, parse, strings
from commandsync.manifest.overlay import ImportedPart, Overlay, Own, laid_over, read_imported
from commandsync.manifest.source import (
    STDIN,
    Allowance,
    FileProblems,
    Origin,
    Problems,
    UnreadableError,
    did_you_mean,
    included_paths,
    quoted,
    read_source,
)
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import (
    ImportedFile,
    ImportedPlace,
    Levels,
    Override,
    Registrable,
    Snapshot,
    Standing,
    imported_path,
    names_place,
    objects_by_name,
)
from commandsync.records.texts import OF_MANIFEST, Patterns, Resource, canonical
from commandsync.services.abilities import LIST_ABILITIES

if TYPE_CHECKING:
    from commandsync.manifest.listings import ManifestListing


_INCLUDED = "an included file"
_LANGUAGE = "a file of descriptions in a language"
_NO_TEXTS = "a file of descriptions must have keys and values: a description for each name"
_OF_DISCORD = ("bot", "base_url", "token_env", "lossy", "guild")  # keys beside `service`
_LARGEST_JSON = 1024 * 1024  # characters
_PLAN_KEYS = {"changes", "fingerprint", "digest"}
_PLAN = ("a saved plan", Do.APPLY_PLAN())
_OTHER_PROGRAM = "the JSON of another program", Do.WRITE_STARTER()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordListing:
    """The commands of an application at Discord, global or of one server."""

    guild: str = ""  # the id of the server; empty for the global commands
    base_url: str = ""  # the scheme and host in place of Discord's own; empty for these
    token_env: str = ""  # the variable that holds the token; empty for the service's own
    bot: str = ""  # the id of the bot or its application; empty if the token decides
    lossy: tuple[str, ...] = ()  # the parts that may be missing without a warning
    location: Location
    service: ClassVar[str] = DISCORD

    @property
    def name(self) -> str:
        """Its name in output: `discord`, or `discord (server 613425648685547541)`."""
        return f"{DISCORD} (server {self.guild})" if self.guild else DISCORD


@dataclass(frozen=True, slots=True)
class Manifest:
    """A valid manifest with everything it includes."""

    path: str  # the file as the user named it, with `/` between folders; `-` for standard input
    paths: tuple[str, ...] = ()  # that file and every included one, in reading order
    include: tuple[str, ...] = ()  # the patterns of the files that it includes
    snapshot: Snapshot = field(default_factory=Snapshot)  # the desired entries
    name: str = ""  # the bot's name; empty when the manifest has none
    bot: str = ""  # the bot's id; empty when the manifest has none
    base_url: str = ""  # in its one spelling; empty when the manifest has none
    token_env: str = ""  # the variable that holds the token; empty when the manifest has none
    prefix: str | None = None  # the text in place of `{prefix}`; None when the manifest has none
    category: str = ""  # the category of commands that have none
    rules: SyncRules = field(default_factory=SyncRules)
    imports: ImportKeys = field(default_factory=ImportKeys)  # where commands are imported from
    imported: ImportedFile | None = None  # the imported file; None without `import:`
    overrides: tuple[Override, ...] = ()  # the entries that mean an imported command
    # The entries that meant an imported command once, and mean none now: names and places.
    strays: tuple[tuple[str, Location], ...] = ()
    listings: tuple[ManifestListing, ...] = ()  # the other services that take the list of commands
    discord: DiscordListing | None = None  # the listing of Discord, which has records
    registrables: tuple[Registrable, ...] = ()  # the commands as they would be registered there
    # The platform's own objects, by the names of commands.
    objects: AnyMapping[str, Levels] = field(default_factory=dict, repr=False)
    warnings: tuple[Problem, ...] = ()  # problems that do not make it invalid

    @property
    def has_page(self) -> bool:
        """Whether the page is synced: with listings alone, a base URL from elsewhere adds none."""
        return bool(self.base_url) or not (self.listings or self.discord)

    @property
    def unread(self) -> tuple[ImportedPlace, ...]:
        """The places that the import did not read, without those that `import.unread` names."""
        places = self.imported.unread if self.imported else ()
        patterns = self.imports.unread
        return tuple(each for each in places if not names_place(patterns, each.source, each.name))

    def is_untouched(self, name: str) -> bool:
        """Whether a command of a name is neither written nor deleted at Discord.

        That is true of the names in `sync.ignore`, and of those in `import.exclude` that no entry
        has.
        """
        registered = (each for each in self.registrables if each.standing is Standing.REGISTERED)
        return self.rules.ignores(name) or (
            Patterns(self.imports.exclude).match(name)
            and all(each.name != name for each in registered)
        )


class CheckedFile(NamedTuple):
    """A checked file, the manifest itself or one it includes, without its wrong parts."""

    report: FileProblems
    root: Mapping
    model: ManifestKeys
    broken: bool


@dataclass(slots=True)
class ManifestReader:
    """Reads one manifest; `has_prefix` is also true if a syntax error may have cost the prefix."""

    origin: Origin
    problems: Problems = field(default_factory=Problems)
    allowance: Allowance = field(default_factory=Allowance)
    has_prefix: bool = False
    has_import: bool = False
    # The descriptions in each language, by the names of commands.
    texts: dict[str, dict[str, str]] = field(default_factory=dict)

    def parsed(self, path: str, what: str = MANIFEST) -> ParsedYaml | None:
        """Read and parse a file; None when it cannot be read, which is reported."""
        self.problems.opened(path)
        try:
            source = read_source(path, origin=self.origin, allowance=self.allowance)
        except UnreadableError as error:
            self.problems.error(Problem(*error.args))
            return None
        report = FileProblems(source, self.problems)
        other = None if what == _LANGUAGE else _other_json(source.text)  # its texts may be JSON
        if other is not None:
            is_plan = isinstance(other, dict) and other.keys() >= _PLAN_KEYS
            kind, hint = _PLAN if is_plan else _OTHER_PROGRAM
            report.error(0, f"this is {kind}, not {what}", hint)
            return ParsedYaml(report, None, refused=True)
        return parse(report, self.allowance)

    def manifest(self, file: ParsedYaml) -> Manifest | None:
        """Check a manifest and its includes; None when too little of it can be read."""
        main = self.main(file)
        if main is None:
            return None
        model, rules = main.model, main.model.sync
        defaults = CommandDefaults(
            self.allowance,
            prefix="?" if model.prefix is None else model.prefix,  # no syntax uses it then
            category=model.category,
        )
        parts: list[CheckedFile] = [main, *self.included(main)]
        own = _owned(parts)
        overlay = self.overlay(main, own.get(Resource.COMMAND, ()), defaults)
        if self.has_import:
            own[Resource.COMMAND] = list(overlay.entries)
        snapshot = snapshot_of(own, defaults, rules)
        if not snapshot.collections:
            keys = " and no ".join(f"{kind.collection}:" for kind in OF_MANIFEST)
            main.report.warning(0, f"the manifest has no {keys}, so nothing is synced")
        if any(part.broken for part in parts):
            return None
        listings, discord = self.listings(main, snapshot)
        return Manifest(
            path=main.report.source.path,
            paths=(
                *(part.report.source.path for part in parts),
                *overlay.paths,
                *self.texts,
            ),
            include=model.files,
            snapshot=snapshot,
            name=model.name,
            bot=model.bot,
            base_url=model.base_url,
            token_env=model.token_env,
            prefix=model.prefix,
            category=defaults.category,
            rules=rules,
            imports=model.imports,
            imported=overlay.content,
            overrides=overlay.overrides,
            strays=overlay.strays,
            objects=objects_by_name(
                (each.model.name, each.model.discord)
                for each in overlay.entries
                if each.model.object and each.model.discord
            ),
            listings=listings,
            discord=discord,
            registrables=registrables(overlay.entries, overlay.left_out, prefix=model.prefix),
            warnings=self.problems.warnings,
        )

    def main(self, file: ParsedYaml) -> CheckedFile | None:
        """Check a manifest's own file; None when too little of it can be read."""
        root = file.root
        self.has_prefix = file.broken or (isinstance(root, Mapping) and "prefix" in root)
        self.has_import = isinstance(root, Mapping) and "import" in root
        return self.checked(file, MANIFEST)

    def overlay(self, main: CheckedFile, own: Iterable[Own], defaults: CommandDefaults) -> Overlay:
        """Lay the entries of a manifest over its imported commands, if it has `import:`."""
        entries, model = tuple(own), main.model
        if not self.has_import:
            return Overlay(entries)
        imported = self.imported(main)
        if imported is None:  # which is reported, or an earlier version did not have it
            return Overlay(tuple(entry for entry in entries if not entry.missing))
        order, ignored = model.imports.order, Patterns(model.sync.ignore)
        return laid_over(
            entries, imported, defaults, prefix=model.prefix, order=order, ignored=ignored
        )

    def imported(self, main: CheckedFile) -> ImportedPart | None:
        """Read the imported file of a manifest; None if it is not there, or wrong.

        A wrong file is reported, and so is a missing one unless an earlier version is read: nothing
        that loads a manifest takes it for an empty list.
        """
        manifest = main.report.source.path
        if manifest == STDIN:
            if not self.origin.needs_imported:
                return None
            message = "a manifest from standard input has no imported file beside it"
            main.report.error(0, message, Do.EJECT_IMPORT())
            return None
        path = imported_path(manifest)
        is_there = path in self.origin.contents or os.path.lexists(path)
        if not is_there and not self.origin.needs_imported:
            return None
        self.problems.opened(path)
        try:
            part = read_imported(path, self.origin, self.problems)
        except UnreadableError as error:
            place, message, hint = error.args
            if not is_there:
                message, hint = "the imported file does not exist", "commandsync import writes it"
            self.problems.error(Problem(place, message, hint))
            return None
        if part.is_edited:
            message = "this file was edited, and commandsync import writes it again"
            part.report.warning(
                0, message, "commandsync import prints the entries that keep the edit"
            )
        return part

    def included(self, main: CheckedFile) -> list[CheckedFile]:
        """Read and check the files that a manifest includes."""
        patterns = {each.at: each for each in strings(main.root.get("include"))}
        paths = included_paths(main.report, patterns, self.origin.folders)
        files = [self.parsed(path, _INCLUDED) for path in paths]
        parts = [self.checked(file, _INCLUDED) for file in files if file]
        return [part for part in parts if part]

    def listings(
        self, main: CheckedFile, snapshot: Snapshot
    ) -> tuple[tuple[ManifestListing, ...], DiscordListing | None]:
        """Check the listings of a manifest, with the texts of their languages."""
        if not main.model.listings:
            return (), None
        from commandsync.manifest.listings import read_listings  # noqa: PLC0415 - seldom needed

        names = {command.name.removeprefix("/") for command in snapshot.commands}
        report, root, model = main.report, main.root, main.model
        listings = read_listings(
            report,
            root,
            model.listings,
            bot=model.bot,
            texts_of=lambda file: self.language(report, file, names),
        )
        discord = _discord_listing(report, root, model.listings, bot=model.bot)
        if not LIST_ABILITIES.keys() <= {*snapshot.collections}:
            services: list[ManifestListing | DiscordListing] = [
                *listings,
                *([discord] if discord else ()),
            ]
            for each in services:
                message = f"the manifest has no commands: to send to {each.service}"
                hint = "add commands:, or remove the listing"
                self.problems.error(Problem(each.location, message, hint))
        return listings, discord

    def language(
        self, report: FileProblems, file: Scalar, names: AbstractSet[str]
    ) -> AnyMapping[str, str]:
        """Read the file of a language: descriptions by the names of commands; report problems."""
        texts: dict[str, str] = {}
        for path in included_paths(report, {file.at: file}, self.origin.folders):
            if path not in self.texts:
                parsed = self.parsed(path, _LANGUAGE)
                self.texts[path] = _texts(parsed, names) if parsed and not parsed.refused else {}
            texts |= self.texts[path]
        return texts

    def checked(self, file: ParsedYaml, what: str) -> CheckedFile | None:
        """Check a file; None when too little of it can be read, which is reported."""
        report, root, broken, refused = file
        if refused:
            return None
        if root is None or (isinstance(root, Scalar) and root.plain and not root):
            report.error(0, "the file is empty", "commandsync init writes a starter")
        elif isinstance(root, Mapping) and "imported" in root:
            message = f"this is a file that commandsync import writes, not {what}"
            report.error(0, message, "name the manifest beside it, which has import:")
        elif isinstance(root, Mapping):
            context = ValidationContext(report.source.text, self.has_prefix, [], self.has_import)
            keys = manifest_keys(root, context, included=what == _INCLUDED)
            if keys is None:
                from commandsync.manifest.validation import validated  # noqa: PLC0415 - loads pydantic

                root, keys = validated(root, report, context, what=what, broken=broken)
            for node in context.cut:
                message = f'the string ends before the " #": {quoted(node)}'
                report.warning(node.end, message, "quote the string if the # belongs to it")
            return CheckedFile(report, root, keys, broken)
        else:
            message = f"{what} must have keys at its top level, such as version: and commands:"
            is_list = isinstance(root, Sequence)
            report.error(0, message, "put the list under commands:" if is_list else "")
        return None


def _discord_listing(
    report: FileProblems, root: Mapping, models: Iterable[ListingKeys], *, bot: str
) -> DiscordListing | None:
    """Return the listing of Discord; None without one. Problems beside other keys are reported."""
    first: DiscordListing | None = None
    entries = cast("list[Mapping]", root.get("listings", []))
    for node, model in zip(entries, models, strict=True):
        if model.service != DISCORD:
            if "guild" in node:
                message = f"guild is allowed for {DISCORD} only"
                report.error(node["guild"].at, message, "remove guild:")
            continue
        for key in sorted({*node} - {"service", *_OF_DISCORD}):
            report.error(node[key].at, f"{key} is not allowed for {DISCORD}", f"remove {key}:")
        location = report.source.location(node.at)
        if first:
            message = f"duplicate listing {DISCORD} (first at {first.location})"
            hint = "keep one: each run can name a server instead"
            report.error(node.at, message, hint)
            continue
        values = {key: getattr(model, key) for key in _OF_DISCORD}
        first = DiscordListing(**values | {"bot": model.bot or bot}, location=location)
    return first


def _texts(file: ParsedYaml, names: AbstractSet[str]) -> dict[str, str]:
    """Check the file of a language, and return its descriptions."""
    report, root, texts = file.report, file.root, dict[str, str]()
    if not isinstance(root, Mapping):
        if not file.broken:
            report.error(0, _NO_TEXTS, "write a line for each command: help: ...")
        return {}
    for key in root.written_keys():
        value, name = root[key], canonical(key).removeprefix("/")
        if not isinstance(value, Scalar) or value.is_null or not canonical(value):
            report.error(key.at, f"the description of {quoted(name)} is missing")
        elif name not in names:
            message = f"{quoted(name)} is not a command of the manifest"
            report.warning(key.at, message, did_you_mean(name, names))
        else:
            texts[name] = canonical(value)
    return texts


def _other_json(text: str) -> Any:  # noqa: ANN401 - JSON is anything
    """Return the JSON of a file that is a saved plan or no manifest at all; None for another."""
    if text.lstrip()[:1] not in {"{", "["} or len(text) > _LARGEST_JSON:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        foreign = bool(value) and (MARKS.isdisjoint(value) or value.keys() >= _PLAN_KEYS)
    else:
        from commandsync.manifest.model import TABLES  # noqa: PLC0415 - loads pydantic

        keys = {key for kind in OF_MANIFEST for key in TABLES[kind.collection].model_fields}
        foreign = any(not isinstance(entry, dict) or not keys.issuperset(entry) for entry in value)
    return value if foreign else None


def _owned(parts: Iterable[CheckedFile]) -> dict[Resource, list[Own]]:
    """Return the entries of all files by their kinds, of the kinds that one of them manages."""
    own: dict[Resource, list[Own]] = {}
    for part, kind in product(parts, OF_MANIFEST):
        if kind.collection in part.root:
            nodes = cast("list[Mapping]", part.root[kind.collection])
            models = part.model.entries[kind]
            own.setdefault(kind, []).extend(map(Own, repeat(part.report), nodes, models))
    return {kind: own[kind] for kind in OF_MANIFEST if kind in own}
