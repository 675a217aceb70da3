"""The way in: sources -> manifests, or every problem of all of them at once.

A source is a file, standard input, or a folder. When all are read, `_Loader` reports files that
nobody includes, manifests that are included, and two manifests for one listing.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from commandsync.api.arguments import service_of
from commandsync.diagnostics import Do, Location, Problem
from commandsync.errors import UsageError
from commandsync.manifest.keys import MARKS, ManifestKeys
from commandsync.manifest.nodes import Mapping, ParsedYaml, Scalar, parse
from commandsync.manifest.reader import DiscordListing, Manifest, ManifestReader
from commandsync.manifest.source import (
    STDIN,
    Allowance,
    FileProblems,
    Origin,
    Problems,
    Source,
    StopReadingError,
    did_you_mean,
    identity,
    is_folder,
    quoted,
    yaml_files,
)
from commandsync.records.snapshot import is_imported


@dataclass(slots=True)
class _Loader:
    origin: Origin
    problems: Problems = field(default_factory=Problems)
    manifests: list[Manifest] = field(default_factory=list)
    strays: list[tuple[Problem, bool]] = field(default_factory=list)  # and whether it is certain
    read: set[str | Path] = field(default_factory=set)
    all_loaded: bool = True

    def load(self, source: str) -> None:
        """Load a file, standard input, or a folder's manifests, each file once."""
        path = Path(source).as_posix()  # also of STDIN
        if is_imported(path):
            beside = f"name the manifest beside it: -f {path.rpartition('.imported.')[0]}.yaml"
            raise UsageError(f"{path} is not a manifest: commandsync import writes it", hint=beside)
        if source == STDIN or not is_folder(source):
            self.load_file(path)
            return
        self.origin.folders.add(source)
        loaded = [self.load_file(file, in_folder=True) for file in yaml_files(source)]
        if not any(loaded):
            message = "no *.yaml or *.yml file in this folder has a top-level version:"
            hint = Do.WRITE_STARTER()
            self.problems.error(Problem(Location(path, is_unread=True), message, hint))

    def load_file(self, path: str, *, in_folder: bool = False) -> bool:
        """Load a file, and return whether it is a manifest."""
        if identity(path) in self.read:
            return True
        reader = ManifestReader(self.origin)
        file = reader.parsed(path)
        if in_folder and file and not self.is_manifest(file):
            return False
        self.read.add(identity(path))
        manifest = None
        with suppress(StopReadingError):
            manifest = reader.manifest(file) if file else None
        self.problems.add(reader.problems)
        if manifest:
            self.manifests.append(manifest)
        else:
            self.all_loaded = False
        return True

    def is_manifest(self, file: ParsedYaml) -> bool:
        """Whether a file in a folder is a manifest; one that cannot be parsed counts as one."""
        keys = file.root if isinstance(file.root, Mapping) else Mapping(0)
        if "imported" in keys:
            return False
        if file.broken or "version" in keys:
            return True
        if marks := [key for key in keys.written_keys() if key in MARKS]:
            message = "this file has no version:, and no manifest includes it"
            hint = "begin it with version: 1, include it, or move it out of the folder"
            versions = [key for key in keys.written_keys() if did_you_mean(key, ["version"])]
            for version in versions[:1]:
                message = f"{quoted(version)} is not a key of a manifest, and version is missing"
                hint = "did you mean version?"
            location = file.report.source.location([*versions, *marks][0].at)
            self.strays.append((Problem(location, message, hint), bool(versions)))
        return False

    def report_strays(self) -> None:
        """Report the files of folders that have a manifest's keys, no version, and no includer.

        A manifest that could not be loaded may include any file: only a misspelt version is
        certain then.
        """
        read = {identity(path) for path in self.problems.paths}
        for problem, is_certain in self.strays:
            path = problem.location.path
            if identity(path) not in read and (is_certain or self.all_loaded):
                self.problems.error(problem)

    def report_included(self) -> set[str]:
        """Report the manifests that another one includes, and return their paths.

        Their entries would be managed twice.
        """
        includers = {
            identity(part): manifest.path
            for manifest in self.manifests
            for part in manifest.paths[1:]
        }
        included = set()
        for manifest in self.manifests:
            if includer := includers.get(identity(manifest.path)):
                included.add(manifest.path)
                message = f"this manifest is read by itself, and {includer} includes it too"
                hint = "remove its version:, or name only one of the two"
                self.problems.error(Problem(Location(manifest.path), message, hint))
        return included


def load_manifests(
    sources: Iterable[str],
    *,
    stdin: Callable[[], bytes],
    workspace: Path | None = None,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
    needs_imported: bool = True,
) -> tuple[Manifest, ...]:
    """Load manifests with everything they include.

    Args:
        sources: The values of `-f`: files, `-` for standard input, or folders. A folder has the
            *.yaml and *.yml files directly in it that have a top-level `version:`, or cannot be
            read or parsed.
        stdin: Reads standard input; called at most once.
        workspace: In CI the folder of the checkout: no file in it is read through a link that
            leads out of it.
        contents: The contents of files by their paths, in place of the files on the disk. Files
            that are read are added. With it, a manifest is loaded as it would be after an edit.
        needs_imported: Whether a manifest with `import:` needs its imported file. An earlier
            version may be older than that file: it has its own entries then.
        folders: The folders in which files are looked for are added: a new file in one of them may
            belong to a manifest.

    Returns:
        The manifests in the order of the sources, each file once.

    Raises:
        ManifestError: With every problem of every file.
    """
    contents, folders = {} if contents is None else contents, set() if folders is None else folders
    loader = _Loader(Origin(stdin, workspace, contents, folders, needs_imported))
    with suppress(StopReadingError):
        for source in sources:
            loader.load(source)
        loader.report_strays()
        included = loader.report_included()
        separate = [each for each in loader.manifests if each.path not in included]
        targets = ((each.path, each.base_url, each.bot) for each in separate)
        problems = [*same_target_problems(targets)]
        if listings := [(each.listings, each.bot) for each in separate if each.listings]:
            from commandsync.manifest.listings import same_listing_problems  # noqa: PLC0415 - seldom needed

            problems += same_listing_problems(listings)
        for problem in [*problems, *_same_applications(separate)]:
            loader.problems.error(problem)
    loader.problems.raise_if_any()
    return tuple(loader.manifests)


def _same_applications(manifests: Iterable[Manifest]) -> Iterable[Problem]:
    """Refuse two manifests for the same commands at Discord: each would delete the other's.

    Where no bot is written, the token decides the application, and its variable tells it apart.
    """
    first: dict[tuple[str, ...], DiscordListing] = {}
    for listing in filter(None, (manifest.discord for manifest in manifests)):
        target = listing.base_url, listing.guild, listing.bot or f"${listing.token_env}"
        other = first.setdefault(target, listing)
        if other is not listing:
            message = f"duplicate listing {listing.name} (first at {other.location})"
            hint = "remove one; for another bot, write the bot: of each"
            yield Problem(listing.location, message, hint)


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


def load_head(path: str, content: bytes) -> ManifestKeys:
    """Load the keys of a manifest's own file; those that it includes are not read.

    Raises `ManifestError` with every problem of the file, which name the path.
    """
    reader = ManifestReader(Origin(lambda: b"", contents={path: content}))
    main = None
    with suppress(StopReadingError):
        file = reader.parsed(path)
        main = reader.main(file) if file else None
    reader.problems.raise_if_any()
    assert main is not None  # noqa: S101 - else there is a problem
    return main.model


def load_texts(path: str, text: str) -> dict[str, str]:
    """Return the texts of a bot in YAML or JSON by their keys, joined by dots: `ban.description`.

    Raises `ManifestError` if the file is not valid.
    """
    problems = Problems()
    root = parse(FileProblems(Source(path, text), problems), Allowance()).root
    problems.raise_if_any()
    texts: dict[str, str] = {}
    waiting = [("", root)]
    while waiting:
        key, node = waiting.pop()
        if isinstance(node, Scalar):
            texts[key] = str(node)
        elif isinstance(node, Mapping):
            waiting += [
                (f"{key}.{name}" if key else str(name), part) for name, part in node.items()
            ]
    return texts
