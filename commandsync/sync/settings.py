"""The settings of a run, its listings, its manifests, and the progress that it reports.

A door makes one `Settings` of its options (flag over environment over manifest), and every step of
the job takes it. `load` reads the manifests of the settings, and a strict run refuses those with
warnings. `Site` is a listing of the run, with its service, its id and the token that may write.
While a run goes on, it passes one value for each thing to `Settings.on_progress`: files that were
read, a request that waits, the next step of an apply.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from commandsync.api.arguments import Address, service_of
from commandsync.api.credentials import Token, known_tokens, token_refusal
from commandsync.api.operations import Operation
from commandsync.api.policy import Send, Wait
from commandsync.diagnostics import Do, Hint, Notice, Problem
from commandsync.errors import CommandsyncError, ManifestError, UsageError
from commandsync.plan.changes import sent_texts
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.services.service import PAGE, RecordService, Service
from commandsync.sync import DEFAULT_MANIFESTS, setting
from commandsync.sync.files import ci_workspace, missing_token

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Step
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Site:
    """A bot's listing and its token, if any; `token_from` is the token's variable or file.

    `bot_from` and `base_url_from` are the sources of the two; empty for the manifest.
    """

    address: Address
    bot: str
    token: Token | None
    token_from: str
    service: Service = PAGE
    bot_from: str = ""
    base_url_from: str = ""

    @property
    def name(self) -> str:
        """The name of the listing among several: its service's name, or the host of a page."""
        return service_of(self.address.base_url) if self.service is PAGE else self.service.name

    @property
    def identity(self) -> str:
        """The identity of the listing, which no spelling changes."""
        return f"{service_of(self.address.base_url)} {self.bot}"

    @property
    def records(self) -> RecordService:
        """The service, of a page."""
        if not isinstance(self.service, RecordService):
            raise AssertionError(f"{self.service.name} takes whole lists")  # noqa: TRY004 - a defect
        return self.service

    def warnings(self, changes: Iterable[Change] = ()) -> tuple[Notice, ...]:
        """Return the warning about a token with which apply would refuse changes."""
        refused = token_refusal(self.token, self.bot, sent_texts(changes), others=known_tokens())
        if refused is None:
            return ()
        return (Notice(refused.message, Do.APPLY_LATER(first=refused.hint)),)

    def check_token(self) -> None:
        """Refuse to write without this bot's token, before anything is read.

        Raises `UsageError` if there is no token, and `WrongBotError` if it belongs to another bot.
        """
        if self.token is None:
            of_bot = f" for bot {self.bot}" if self.bot.strip() else ""
            hint = missing_token([self.token_from], Do.SET_TOKEN(variable=self.token_from))
            raise UsageError(f"no token was given{of_bot}", hint=hint)
        if refused := token_refusal(self.token, self.bot):
            raise refused


class FilesRead(NamedTuple):
    """Manifests, or the saved plan that is all of `content`, were read in so many seconds."""

    paths: Sequence[str]
    content: tuple[Manifest, ...] | Plan
    seconds: float
    is_found: bool = False  # whether no option names the manifest, and it is in a folder above


class CallProgress(NamedTuple):
    """A call of the service waits: for its answer (`Send`) or for a retry (`Wait`).

    It may come from any thread. The step is None when the call has ended.
    """

    site: Site
    operation: Operation[Any]
    step: Send | Wait | None


class ApplyProgress(NamedTuple):
    """A plan is applied: the next step; None when it has ended."""

    plan: Plan
    step: Step | None


class LockProgress(NamedTuple):
    """An apply waits for another one on this machine; or, with a problem, none waits for others."""

    site: Site
    process: str = ""  # the number of the other one's process; empty if it is not known
    problem: str = ""

    @property
    def sentence(self) -> str:
        """The sentence for users."""
        if self.problem:
            return f"another apply on this machine would not wait for this one: {self.problem}"
        process = f"process {self.process}" if self.process else "another process"
        bot = f"bot {self.site.bot} at " if self.site.bot else ""
        return f"waiting for the apply of {bot}{self.site.address.base_url} in {process}"


Progress = FilesRead | CallProgress | ApplyProgress | LockProgress


E = TypeVar("E", bound=CommandsyncError)

TOKEN_VARIABLE = "COMMANDSYNC_TOKEN"  # noqa: S105 - the variable's name
DISCORD_VARIABLE = "DISCORD_TOKEN"
"""The variable that contains the bot's token for Discord."""

HOSTS_VARIABLE = "COMMANDSYNC_HOSTS"
"""The hosts, separated by commas or spaces, that may get a token though a manifest names them."""

STDIN = "-"
"""The path of a manifest that is read from standard input."""

_LONGEST_STDIN = 10 * 1024 * 1024 + 1  # bytes: one more than a manifest may have


def read_clock() -> datetime:
    """Return the time, in UTC to the second: the only place where it is read."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of the settings of a run, under their names in `setting`, and the time of the run.

    An empty value or None comes from the manifest, the token or the default. `now` is given once,
    so that the plan, the plan that is made again after a question, and the verification agree on
    the entries that are due. `base_url_from` and `bot_from` name the flag, variable or input of
    each. `state` is None for a run that remembers nothing in a file. `on_progress` is called with
    the progress of the run, from any thread.
    """

    now: datetime = field(kw_only=True, compare=False)
    files: tuple[str, ...] = setting.FILES.default
    base_url: str = setting.BASE_URL.default
    base_url_from: str = ""
    bot: str = setting.BOT.default
    bot_from: str = ""
    token_file: str = setting.TOKEN_FILE.default
    env_file: Mapping[str, str] | None = field(  # tokens by their variables
        default=setting.ENV_FILE.default, repr=False, hash=False
    )
    insecure_http: bool = setting.INSECURE_HTTP.default
    timeout: float = setting.TIMEOUT.default
    retries: int = setting.RETRIES.default
    concurrency: int = setting.CONCURRENCY.default
    prune: bool = setting.PRUNE.default
    max_deletes: DeleteLimit | None = setting.MAX_DELETES.default
    only: str = setting.ONLY.default
    strict: bool = setting.STRICT.default
    owned: bool = setting.OWNED.default
    since: str = setting.SINCE.default
    unseen: bool = setting.UNSEEN.default
    listing: tuple[str, ...] = setting.LISTING.default
    guild: str = setting.GUILD.default
    state: str | None = setting.STATE.default
    on_progress: Callable[[Progress], object] = field(
        default=lambda _progress: None, repr=False, compare=False
    )


def token_in(settings: Settings, variable: str) -> str:
    """Return the token in a variable of the environment, or else of the file; empty for none."""
    return os.environ.get(variable, "").strip() or (settings.env_file or {}).get(variable, "")


def rules_of(settings: Settings, manifest: Manifest) -> SyncRules:
    """Return a manifest's rules, overridden by the flags."""
    rules = manifest.rules
    if not settings.prune:
        rules = replace(rules, prune=False)
    if settings.max_deletes is not None:
        rules = replace(rules, max_deletes=settings.max_deletes)
    return rules


def about(error: E, path: str, *, of: int) -> E:
    """Return an error with the path of its manifest in the message, if there are several."""
    return error if of == 1 else error.having(message=f"{path}: {error.message}")


def default_manifest(folder: str | None = None) -> str:
    """Return the path of the manifest that no option names: the first name if there is none.

    Without a folder, it is looked for here and in the folders above, up to the root of the
    repository. Raises `UsageError` if a folder has both names.
    """
    above = len(Path(repository_root() or "").parts) if folder is None else 0
    for each in [Path(folder or "", *[".."] * count) for count in range(above + 1)]:
        found = [path for name in DEFAULT_MANIFESTS if os.path.lexists(path := str(each / name))]
        if len(found) > 1:
            message = f"{found[0]} and {found[1]} both exist, and each is the manifest by default"
            raise UsageError(message, hint="name the one to use, or remove the other")
        if found:
            return found[0]
    return str(Path(folder or "", DEFAULT_MANIFESTS[0]))


def repository_root() -> str | None:
    """Return the path of the root of the git repository, such as `../..`; None outside one."""
    here = Path.cwd()
    for count, each in enumerate((here, *here.parents)):
        if os.path.lexists(each / ".git"):
            return "/".join([".."] * count) or "."
    return None


def load(
    settings: Settings, *, contents: dict[str, bytes] | None = None, folders: set[str] | None = None
) -> tuple[Manifest, ...]:
    """Load the manifests that the settings name.

    `contents` and `folders` are as for `load_manifests`. Raises `ManifestError` as `load_files`; if
    the settings are strict, also with all warnings.
    """
    start = monotonic()
    files, in_memory = settings.files or (default_manifest(),), {*(contents or ())}
    manifests = load_files(files, contents=contents, folders=folders)
    paths = [path for manifest in manifests for path in manifest.paths if path not in in_memory]
    is_found = not settings.files and files[0].startswith("..")
    if paths:
        settings.on_progress(FilesRead(paths, manifests, monotonic() - start, is_found))
    check_notices([warning for each in manifests for warning in each.warnings], settings)
    return manifests


def load_single(
    settings: Settings,
    problem: str,
    *,
    hint: str | Hint,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
) -> Manifest:
    """Load the one manifest that the settings name; `UsageError` with the problem if several."""
    manifests = load(settings, contents=contents, folders=folders)
    if len(manifests) != 1:
        paths = " and ".join(manifest.path for manifest in manifests[:2])
        raise UsageError(f"{problem}, not several: {paths}", hint=hint)
    return manifests[0]


def check_stdin(paths: Sequence[str]) -> None:
    """Raise `UsageError` if standard input would be read twice."""
    if paths.count(STDIN) > 1:
        hint = "give one of the two as a file"
        raise UsageError("standard input can be read only once", hint=hint)


def check_notices(notices: Sequence[Notice | Problem], settings: Settings) -> None:
    """Refuse warnings about a manifest's entries if the settings are strict.

    Raises `ManifestError` if they are, and there is one.
    """
    placed = [(each.location, each) for each in notices] if settings.strict else []
    if warnings := [Problem(at, each.message, each.hint) for at, each in placed if at]:
        hint = "a strict run refuses warnings about the manifest, too"
        raise ManifestError(warnings).having(hint=hint)


def load_files(
    paths: Sequence[str],
    *,
    contents: dict[str, bytes] | None = None,
    folders: set[str] | None = None,
    needs_imported: bool = True,
) -> tuple[Manifest, ...]:
    """Load manifests; in CI, no link out of the workspace is followed.

    `contents`, `folders` and `needs_imported` are as for `load_manifests`. Raises `ManifestError`
    with all problems of all of them.
    """
    from commandsync.manifest import load_manifests  # noqa: PLC0415 - loads yaml

    return load_manifests(
        paths,
        stdin=lambda: sys.stdin.buffer.read(_LONGEST_STDIN),
        workspace=ci_workspace(os.environ),
        contents=contents,
        folders=folders,
        needs_imported=needs_imported,
    )
