"""What lists are compared with that are not read: the base branch, or what was sent last.

An apply marks its commit with a status before it sends a list that cannot be read back, and again
when the service has accepted it. So the newest commit whose status is a success has the manifest
that the list shows. A later one without success may have sent its own: then the list is sent again,
also where nothing seems to differ.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from commandsync.action.reporter import Reporter
from commandsync.action.rest import GitHubError
from commandsync.action.results import MOST_COMMITS, SUCCESS, contexts_of, refusal, statuses_of
from commandsync.errors import RefusedError
from commandsync.manifest import Manifest
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.job import Job
from commandsync.sync.lists import ListingJob

_MOST_QUERIES = 10  # of `MOST_COMMITS` each, for the statuses of what was sent last


def compared(opened: Sequence[Job], reporter: Reporter, bases: Mapping[str, Manifest]) -> list[Job]:
    """Return the listings of a run, each that is not read with what it is compared with.

    A check for drift leaves these out. `bases` are the manifests of the base branch of a proposal,
    by its own paths. Raises `RefusedError` if statuses or the history are needed, and cannot be
    read.
    """
    unread = _unread(opened)
    if reporter.mode == "drift":
        return [job for job in opened if job not in unread]
    if not unread:
        return [*opened]
    current, before = reporter.inputs.apply == "current", reporter.event.before
    commits: list[str] = []
    with suppress(*[RefusedError] * current):  # what nobody reviewed may not be in git
        commits = first_parents(unread[0].manifest.path, most=_MOST_QUERIES * MOST_COMMITS)
    if reporter.head not in {"", *commits}:
        commits = [reporter.head, *commits]
    if reporter.event.proposes:
        known = [_with(job, bases.get(job.manifest.path), before) for job in unread]
    else:
        known = _all_with_sent(unread, commits, reporter)
    allowed = {id(job.site): _allowed(job, commits, before, current=current) for job in known}
    return [allowed.get(id(job.site), job) for job in opened]


def _unread(opened: Sequence[Job]) -> list[ListingJob]:
    return [job for job in opened if isinstance(job, ListingJob) and not job.is_read]


def _all_with_sent(
    unread: Sequence[ListingJob], commits: Sequence[str], reporter: Reporter
) -> list[ListingJob]:
    """Return listings with what was sent last, if the statuses of commits tell that."""
    names = contexts_of(reporter.sites, reporter.inputs)
    statuses: list[dict[str, str]] = []
    try:
        statuses = _statuses(commits, [names[id(job.site)] for job in unread], reporter)
    except GitHubError as error:
        if not all(job.returned for job in unread):
            what = "what was sent last is not known: the statuses of commits cannot be read"
            raise refusal(what, error) from error
    states = ([each.get(names[id(job.site)]) for each in statuses] for job in unread)
    # The commits between are unknown, of which another one may have been sent.
    again = bool(reporter.head and reporter.head not in reporter.commits)
    known = zip(unread, states, strict=True)
    return [_with_sent(job, commits, of, again=again) for job, of in known]


def _statuses(
    commits: Sequence[str], names: Sequence[str], reporter: Reporter
) -> list[dict[str, str]]:
    """Return the statuses of the newest commits, until each name has a success."""
    statuses: list[dict[str, str]] = []
    for start in range(0, len(commits), MOST_COMMITS):
        some = commits[start : start + MOST_COMMITS]
        statuses += statuses_of(some, reporter.api, reporter.event)
        if all(any(each.get(name) == SUCCESS for each in statuses) for name in names):
            break
    return statuses


def _with_sent(
    job: ListingJob, commits: Sequence[str], states: Sequence[object], *, again: bool
) -> ListingJob:
    """Return a listing with what was sent last, by its states from the newest commit on."""
    if SUCCESS not in states:
        return job
    last = states.index(SUCCESS)
    sent = next(versions_since(job.manifest.path, commits, last))
    return _with(job, sent, commits[last], resend=again or any(states[:last]))


def _with(
    job: ListingJob, sent: Manifest | None, commit: str, *, resend: bool = False
) -> ListingJob:
    settings = replace(job.settings, since=commit[:7], resend=resend)
    return replace(job, sent=sent, settings=settings)


def _allowed(job: ListingJob, commits: Sequence[str], before: str, *, current: bool) -> ListingJob:
    """Return a listing that may be replaced unseen, if it is a new one of the manifest."""
    if job.earlier or job.returned:
        return job
    if not current:
        start = commits.index(before) if before in commits else None
        versions = versions_since(job.manifest.path, commits, start or 0)
        earlier = islice(versions, start is None, None)
        if any(version and job.is_in(version) for version in earlier):
            return job
    return replace(job, settings=replace(job.settings, unseen=True))
