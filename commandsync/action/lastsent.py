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
    refusal,
    statuses_of,
)
from commandsync.action.rest import GitHubError
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.sync.earlier import EarlierVersion, version_at
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.lists import ListJob, ManifestJob

_MOST_COMMITS = 10 * MOST_COMMITS
_NO_COMMIT = "0" * 40


def compared(
    opened: Sequence[ManifestJob],
    branch: Branch,
    bases: Mapping[str, EarlierVersion],
    *,
    current: bool,
) -> list[ManifestJob]:
    """Return the listings of a run, each unread one with the version that it is compared with.

    `bases` are the manifests of the base branch of a proposal, by its own paths. `current` is for
    a run of a manifest that nobody reviewed, which may not be in git. Raises `RefusedError` if
    statuses or the history are needed, and cannot be read.
    """
    opened = [_with_others(job, branch, bases) for job in opened]
    unread = [job for job in opened if isinstance(job, ListJob) and not job.is_read]
    if not unread:
        return [*opened]
    commits = _commits(unread[0], branch, current=current)
    history = _SentHistory(branch, commits, current=current)
    return [
        history.compared(job, bases) if isinstance(job, ListJob) and not job.is_read else job
        for job in opened
    ]


def _with_others(
    job: ManifestJob, branch: Branch, bases: Mapping[str, EarlierVersion]
) -> ManifestJob:
    """Return a list that is read with those that the manifest had before, if it has several."""
    if not (isinstance(job, ListJob) and job.is_read and job.site.service.for_audience):
        return job
    path, before = job.manifest.path, branch.event.before
    with suppress(CommandsyncError):  # only a warning depends on it
        version = bases.get(path) or (version_at(before, path) if before else None)
        return job.with_others(version)
    return job


def _commits(job: ListJob, branch: Branch, *, current: bool) -> list[str]:
    """Return the newest commits of the branch; raises `RefusedError` if git does not know them."""
    commits: list[str] = []
    try:
        commits = first_parents(job.manifest.path, most=_MOST_COMMITS)
    except RefusedError:
        if not current:
            raise
    return commits if branch.head in {"", *commits} else [branch.head, *commits]


@dataclass(slots=True)
class _SentHistory:
    """The newest commits of a branch, with the list that was sent at each."""

    branch: Branch
    commits: Sequence[str]
    current: bool
    statuses: list[Mapping[str, CommitStatus]] = field(default_factory=list)  # as far as read

    @property
    def dropped(self) -> str:
        """The commit that the branch had before a forced push; empty for none."""
        before = self.branch.event.before
        return "" if before in {"", _NO_COMMIT, *self.commits} else before

    def compared(self, job: ListJob, bases: Mapping[str, EarlierVersion]) -> ListJob:
        """Return a list with the version that it is compared with, if one is known."""
        if self.branch.event.proposes:
            return self._allowed(job.beside(bases.get(job.manifest.path)))
        try:
            found = self._with_sent(job) if self.commits else job
        except GitHubError as error:
            if not job.returned:
                what = "what was sent last is not known: the statuses of commits cannot be read"
                raise refusal(what, error) from error
            found = job
        return self._allowed(found)

    def _with_sent(self, job: ListJob) -> ListJob:
        """Return a list with the version sent last, if the statuses of commits name it."""
        # Another list may have been sent from commits that are not known here.
        again = bool(self.dropped) or self.branch.head not in {"", *self.branch.commits}
        count, found = self._dropped_count(job), job
        for version, status in self._of_versions(job):
            if status and status.is_success:
                now = datetime.fromisoformat(status.at) if status.at else job.settings.now
                found = job.beside(version, settings=replace(job.settings, now=now))
                if found.earlier is None or found.earlier.digest != status.digest:
                    again, count = True, max(count, status.commands)
                break
            again = again or status is not None
        unseen = job.settings.unseen or (found.earlier is None and count > 0)
        settings = replace(job.settings, unseen=unseen)
        return replace(found, settings=settings, resend=again, sent=count)

    def _dropped_count(self, job: ListJob) -> int:
        """Return how many commands were sent at the commit that a forced push dropped."""
        if not self.dropped:
            return 0
        (lost,) = statuses_of([self.dropped], self.branch)
        status = lost.get(context_of(job))
        return status.commands if status else 0

    def _of_versions(
        self, job: ListJob
    ) -> Iterator[tuple[EarlierVersion | None, CommitStatus | None]]:
        """Yield the version of each commit, and the status of the list there, the newest first."""
        path, start = job.manifest.path, 0
        for end, version in versions_since(path, self.commits):
            context = context_of(job, version.path if version else None)
            for number in range(start, end):
                if number >= len(self.statuses):
                    some = self.commits[number : number + MOST_COMMITS]
                    self.statuses += statuses_of(some, self.branch)
                yield version, self.statuses[number].get(context)
            start = end

    def _allowed(self, job: ListJob) -> ListJob:
        """Return a list that may be replaced unseen, if it is a new one of the manifest."""
        if job.earlier or job.returned or job.sent:
            return job
        if not self.current:
            before = self.branch.event.before
            start = self.commits.index(before) if before in self.commits else None
            versions = versions_since(job.manifest.path, self.commits, start or 0)
            earlier = islice(versions, start is None, None)
            if any(job.is_in(version) for _, version in earlier):
                return job
        return replace(job, settings=replace(job.settings, unseen=True))
