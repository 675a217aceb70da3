"""The version that a list is compared with which is not read: the base branch's, or the last sent.

An apply marks its commit with a status before it sends a list that cannot be read back, and again
when the service has accepted it. So the newest commit whose status is a success has the manifest
that the list shows. A later commit without success may have sent its own list: then the list is
sent again, even if nothing seems to differ. A proposal is compared with the branch that it is
merged into. Where nothing was sent yet, the list is replaced unseen only if the merged change adds
the listing to the manifest, or the run is for `apply: current`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from commandsync.action.branch import MOST_COMMITS, SUCCESS, Branch, refusal, statuses_of
from commandsync.action.rest import GitHubError
from commandsync.errors import RefusedError
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.job import ManifestJob
from commandsync.sync.lists import ListJob

_MOST_QUERIES = 10  # of `MOST_COMMITS` each


def is_unread(job: ManifestJob) -> bool:
    """Whether a listing is a list that this run does not read."""
    return isinstance(job, ListJob) and not job.is_read


def compared(
    opened: Sequence[ManifestJob],
    branch: Branch,
    bases: Mapping[str, EarlierVersion],
    *,
    current: bool,
) -> list[ManifestJob]:
    """Return the listings of a run, each that is not read with what it is compared with.

    `bases` are the manifests of the base branch of a proposal, by its own paths. `current` is for
    a run of what nobody reviewed, which may not be in git. Raises `RefusedError` if statuses or the
    history are needed, and cannot be read.
    """
    unread = [job for job in opened if isinstance(job, ListJob) and not job.is_read]
    if not unread:
        return [*opened]
    history = _SentHistory(branch, _commits(unread[0], branch, current=current), current=current)
    if not branch.event.proposes:
        history.read_statuses(unread)
    return [
        history.compared(job, bases) if isinstance(job, ListJob) and not job.is_read else job
        for job in opened
    ]


def _commits(job: ListJob, branch: Branch, *, current: bool) -> list[str]:
    """Return the newest commits of the branch; raises `RefusedError` if git does not know them."""
    commits: list[str] = []
    try:
        commits = first_parents(job.manifest.path, most=_MOST_QUERIES * MOST_COMMITS)
    except RefusedError:
        if not current:
            raise
    return commits if branch.head in {"", *commits} else [branch.head, *commits]


@dataclass(slots=True)
class _SentHistory:
    """The newest commits of a branch, and what was sent at each."""

    branch: Branch
    commits: Sequence[str]
    current: bool
    statuses: Sequence[Mapping[str, str]] = ()  # those of the newest commits

    def read_statuses(self, unread: Sequence[ListJob]) -> None:
        """Read the statuses of the newest commits, until each list has a success."""
        names = [self.branch.context_of(job.site) for job in unread]
        statuses: list[Mapping[str, str]] = []
        try:
            for start in range(0, len(self.commits), MOST_COMMITS):
                statuses += statuses_of(self.commits[start : start + MOST_COMMITS], self.branch)
                if all(any(each.get(name) == SUCCESS for each in statuses) for name in names):
                    break
        except GitHubError as error:
            if not all(job.returned for job in unread):
                what = "what was sent last is not known: the statuses of commits cannot be read"
                raise refusal(what, error) from error
            return
        self.statuses = statuses

    def compared(self, job: ListJob, bases: Mapping[str, EarlierVersion]) -> ListJob:
        """Return a list with the version that it is compared with, if one is known."""
        if self.branch.event.proposes:
            return self._allowed(job.beside(bases.get(job.manifest.path)))
        name = self.branch.context_of(job.site)
        states = [each.get(name) for each in self.statuses]
        if SUCCESS in states:
            last = states.index(SUCCESS)
            sent = next(versions_since(job.manifest.path, self.commits, last))
            # The commits between are unknown, of which another one may have been sent.
            again = bool(self.branch.head and self.branch.head not in self.branch.commits)
            job = job.beside(sent, resend=again or any(states[:last]))
        return self._allowed(job)

    def _allowed(self, job: ListJob) -> ListJob:
        """Return a list that may be replaced unseen, if it is a new one of the manifest."""
        if job.earlier or job.returned:
            return job
        if not self.current:
            before = self.branch.event.before
            start = self.commits.index(before) if before in self.commits else None
            versions = versions_since(job.manifest.path, self.commits, start or 0)
            earlier = islice(versions, start is None, None)
            if any(version and job.is_in(version) for version in earlier):
                return job
        return replace(job, settings=replace(job.settings, unseen=True))
