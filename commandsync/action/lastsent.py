"""The version that an unread list is compared with: the base branch's, or the last sent.

An apply marks its commit with a status before it sends a list that cannot be read back, and again
when the service has accepted it. The description of that status has the number of commands, the
time and the digest of the request. So the newest commit whose status is a success has the manifest
that the list shows. The list is sent again, even if nothing seems to differ, if a later commit may
have sent its own, if the recorded request is not the one that this version makes of that manifest,
or if the branch lost commits by a forced push. A proposal is compared with the branch that it is
merged into. Where nothing was sent yet, the list is replaced unseen only if the merged change adds
the listing to the manifest, or the run is for `apply: current`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from commandsync.action.branch import (
    MOST_COMMITS,
    Branch,
    CommitStatus,
    context_of,
    place,
    refusal,
    statuses_of,
)
from commandsync.action.rest import GitHubError
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.manifest import Manifest
from commandsync.plan.baseline import Baseline, LastSent, OfVersion, PossibleList
from commandsync.records.snapshot import Audience
from commandsync.sync.destinations import ListSite
from commandsync.sync.earlier import EarlierVersion, version_at
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.listcontent import Before, Memory, audiences_of, list_of, nothing_known
from commandsync.sync.settings import Settings

_MOST_COMMITS = 10 * MOST_COMMITS
_NO_COMMIT = "0" * 40


def memory_of(
    settings: Settings,
    branch: Branch,
    bases: Mapping[str, EarlierVersion],
    *,
    current: bool,
    only_read: bool,
) -> Memory:
    """Return what is known of each list before the run.

    `bases` are the manifests of the base branch of a proposal, by its own paths. `current` is for
    a run of a manifest that nobody reviewed, which may not be in git. `only_read` is for a run that
    plans no other lists. The memory raises `RefusedError` if statuses or the history are needed,
    and cannot be read.
    """
    history = _SentHistory(settings, branch, bases, current=current)

    def before(manifest: Manifest, site: ListSite) -> Before:
        if site.is_read:
            audiences = _audiences(manifest, site, branch, bases)
            return Before(nothing_known(settings, site), audiences)
        if only_read:
            return Before(nothing_known(settings, site))
        return Before(history.baseline(manifest, site))

    return before


def _audiences(
    manifest: Manifest, site: ListSite, branch: Branch, bases: Mapping[str, EarlierVersion]
) -> tuple[Audience, ...]:
    """Return the audiences of the lists that the manifest had before, of a service with several."""
    if not site.service.for_audience:
        return ()
    before = branch.event.before
    with suppress(CommandsyncError):  # only a warning depends on it
        version = bases.get(manifest.path) or (
            version_at(before, manifest.path) if before else None
        )
        return audiences_of(version, site.entry, manifest.bot) if version else ()
    return ()


@dataclass(slots=True)
class _SentHistory:
    """The newest commits of a branch, with the list that was sent at each."""

    settings: Settings
    branch: Branch
    bases: Mapping[str, EarlierVersion]
    current: bool
    statuses: list[Mapping[str, CommitStatus]] = field(default_factory=list)  # as far as read
    known: list[str] | None = None  # the newest commits; None before they are read

    def commits(self, path: str) -> list[str]:
        """Return the newest commits of the branch, by the first manifest that needs them.

        Raises `RefusedError` if git does not know them.
        """
        if self.known is None:
            commits: list[str] = []
            try:
                commits = first_parents(path, most=_MOST_COMMITS)
            except RefusedError:
                if not self.current:
                    raise
            is_known = self.branch.head in {"", *commits}
            self.known = commits if is_known else [self.branch.head, *commits]
        return self.known

    def dropped(self, commits: Sequence[str]) -> str:
        """Return the commit that the branch had before a forced push; empty for none."""
        before = self.branch.event.before
        return "" if before in {"", _NO_COMMIT, *commits} else before

    def baseline(self, manifest: Manifest, site: ListSite) -> Baseline:
        """Return what a list is compared with that is not read."""
        commits = self.commits(manifest.path)
        found: Baseline | None = None
        if self.branch.event.proposes:
            if base := self.bases.get(manifest.path):
                known = list_of(self.settings, base, site.entry.identity(manifest.bot))
                found = known and OfVersion((known,), name=base.name)
        elif commits:
            try:
                found = self._sent(manifest, site, commits)
            except GitHubError as error:
                if not site.returned:
                    what = "what was sent last is not known: the statuses of commits cannot be read"
                    raise refusal(what, error) from error
        if found:
            return found
        accepted = not site.returned and self._is_new(manifest, site, commits)
        return nothing_known(self.settings, site, accepted=accepted)

    def _sent(self, manifest: Manifest, site: ListSite, commits: Sequence[str]) -> Baseline | None:
        """Return the list that was sent last, if the statuses of commits name it."""
        identity = site.entry.identity(manifest.bot)
        # Another list may have been sent from commits that are not known here.
        again = bool(self.dropped(commits)) or self.branch.head not in {"", *self.branch.commits}
        count = self._dropped_count(manifest, site, commits)
        for version, status in self._of_versions(manifest, site, commits):
            if status is None:
                continue
            if not status.is_success:
                again = True
                continue
            known = version and self._list_then(version, status, identity)
            if known is None or known.digest != status.digest:
                again, count = True, max(count, status.commands)
            if version and known:
                others = (PossibleList(count),) if again else ()
                return LastSent((known, *others), name=version.name)
            break
        return nothing_known(self.settings, site, most=count) if count else None

    def _list_then(
        self, version: EarlierVersion, status: CommitStatus, identity: str
    ) -> PossibleList | None:
        """Return the list of a version, with the commands that were due when it was sent."""
        now = datetime.fromisoformat(status.at) if status.at else self.settings.now
        return list_of(replace(self.settings, now=now), version, identity)

    def _dropped_count(self, manifest: Manifest, site: ListSite, commits: Sequence[str]) -> int:
        """Return how many commands were sent at the commit that a forced push dropped."""
        if not (dropped := self.dropped(commits)):
            return 0
        (lost,) = statuses_of([dropped], self.branch)
        identity = site.entry.identity(manifest.bot)
        status = lost.get(context_of(site.name, identity, place(manifest.path)))
        return status.commands if status else 0

    def _of_versions(
        self, manifest: Manifest, site: ListSite, commits: Sequence[str]
    ) -> Iterator[tuple[EarlierVersion | None, CommitStatus | None]]:
        """Yield the version of each commit, and the status of the list there, the newest first."""
        identity, start = site.entry.identity(manifest.bot), 0
        for end, version in versions_since(manifest.path, commits):
            path = version.path if version else place(manifest.path)
            context = context_of(site.name, identity, path)
            for number in range(start, end):
                if number >= len(self.statuses):
                    some = commits[number : number + MOST_COMMITS]
                    self.statuses += statuses_of(some, self.branch)
                yield version, self.statuses[number].get(context)
            start = end

    def _is_new(self, manifest: Manifest, site: ListSite, commits: Sequence[str]) -> bool:
        """Whether the list is a new one of the manifest, which may be replaced unseen."""
        if self.current:
            return True
        before = self.branch.event.before
        start = commits.index(before) if before in commits else None
        versions = versions_since(manifest.path, commits, start or 0)
        earlier = islice(versions, start is None, None)
        return not any(_is_in(version, manifest, site) for _, version in earlier)


def _is_in(version: EarlierVersion | None, manifest: Manifest, site: ListSite) -> bool:
    """Whether an earlier version has a list at an address that is no other one of today's."""
    if version is None:
        return False
    bot, own, then = manifest.bot, site.entry, version.manifest
    others = {each.identity(bot) for each in manifest.listings} - {own.identity(bot)}
    return any(
        each.address(then.bot) == own.address(bot) and each.identity(then.bot) not in others
        for each in then.listings
    )
