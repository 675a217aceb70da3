"""The lists that were sent last and cannot be read back, as deployments of the repository.

Each list that is sent is a deployment in the environment `commandsync/SERVICE`, whose payload has
the identity of the listing, the digest of the token, the digest of the request and the names of the
commands. So people see on the repository's page which commit is shown where, and no forced push,
tag or renamed job loses it. A list that is sent again at once gets more statuses instead of a new
deployment.

The statuses of a deployment are its attempts: `in_progress` begins one, and it ends with `success`,
with `failure` if nothing was changed, or with `error` if that is not known. Without an end, a
request may have arrived until the longest time that GitHub lets a job run is over. `inactive` says
nothing about a list: GitHub sets it by itself.

GitHub returns the newest deployments first. They are read from there to the last one that was
accepted, and on to those that may have been in flight at the same time. The order of numbers and
the times are GitHub's own.

Nothing but the deployments, or the file that COMMANDSYNC_STATE names, decides the lists that a run
knows: so they count through forced pushes, tags and runs that are started again. A proposal is
compared with them as an apply is. A list that is returned with a token only is compared with the
base branch if there is no token. An unknown list is replaced unseen only if the merged change adds
the listing to the manifest, or the run is for `apply: current`.
"""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from math import inf
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from commandsync.action.branch import MOST_COMMITS
from commandsync.action.rest import GitHub, GitHubError, part
from commandsync.action.step import Context
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.manifest import Manifest
from commandsync.plan.plan import AsRead, Unknown, Unread
from commandsync.sync.earlier import EarlierVersion, version_at
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.listcontent import KnownList, Memory, baseline_of, other_lists, stored
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import (
    Delivery,
    End,
    Recheck,
    Remembered,
    StateFile,
    Store,
    remembered,
)

TASK = "commandsync"

_LONGEST = timedelta(days=5).total_seconds()  # GitHub ends a job then, on the user's machine too
_VERSION = 1
_MOST_CHARACTERS = 40_000  # of the names: GitHub stores texts of at most 65,535 characters
_MOST_UNPACKED = 16 * 2**20
_STATES = {End.ACCEPTED: "success", End.UNCHANGED: "failure", End.UNKNOWN: "error"}
_DESCRIPTIONS = {  # at most 140 characters
    End.ACCEPTED: "The service accepted the list; it cannot be read back",
    End.UNCHANGED: "Nothing was changed",
    End.UNKNOWN: "It is not known whether the service took the list",
}
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(slots=True)
class Deployments:
    """The store at GitHub.

    The steps of a list (`sync.lists`) begin a delivery before its request, and end it after that.
    """

    github: GitHub | None
    repository: str
    ref: str = ""  # the commit of the workflow, for a list whose manifest is in no commit
    run_url: str = ""
    _read: dict[tuple[str, str], list[Delivery]] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        """Return True: all jobs of the repository use it."""
        return True

    def remembered(self, service: str, identity: str, token: str) -> Remembered:
        """Return the knowledge of a listing, by the digest of its token."""
        with _refused("the list sent last is not known"):
            deliveries = self._deliveries(service, identity, token)
        self._read[identity, token] = [each for each in deliveries if each.token == token]
        return remembered(deliveries, identity=identity, token=token)

    def is_busy(self, identity: str) -> bool:  # noqa: ARG002 - as above
        """Return False: two jobs may send at the same time."""
        return False

    def begin(self, delivery: Delivery, recheck: Recheck) -> Delivery:
        """Keep a delivery before its request is sent.

        Another run may do the same meanwhile. Each one makes its own attempt visible, and then
        reads the others: at least the later one of two sees the other, and asks `recheck`.
        """
        identity, token = delivery.identity, delivery.token
        with _refused("the sent list cannot be recorded"):
            before = self._own(delivery)
            newest = next(iter(before), None)
            again = newest if newest and newest.digest == delivery.digest else None
            begun = replace(delivery, number=again.number if again else self._created(delivery))
            self._set_status(begun, "in_progress", "The list is being sent")
            others = [each for each in self._own(delivery) if each.number != begun.number]
        if again is None:  # the run that created a later one sees this one
            others = [each for each in others if each.number < begun.number]
        known = [again, *others] if again else others
        if known != self._read.get((identity, token), []) and (
            refused := recheck(remembered(known, identity=identity, token=token))
        ):
            self.end(begun, End.UNCHANGED)
            raise refused
        return begun

    def end(self, delivery: Delivery, end: End) -> None:
        """Keep the end of a delivery."""
        with _refused("the end of the sent list cannot be recorded"):
            self._set_status(delivery, _STATES[end], _DESCRIPTIONS[end])

    @property
    def _api(self) -> GitHub:
        if self.github is None:
            raise GitHubError("no github-token was given", hint="give the input")
        return self.github

    @property
    def _path(self) -> str:
        return f"/repos/{self.repository}/deployments"

    def _created(self, delivery: Delivery) -> int:
        body = {
            "ref": delivery.commit or self.ref,
            "task": TASK,
            "environment": _environment(delivery.service),
            "description": f"{delivery.size} commands",
            "auto_merge": False,
            "required_contexts": [],
            "payload": {
                "version": _VERSION,
                "identity": delivery.identity,
                "token": delivery.token,
                "request": delivery.digest,
                "size": delivery.size,
                "names": _packed(delivery.names),
            },
        }
        created = self._api.post(self._path, body)
        return part(created, "id", kind=int)

    def _set_status(self, delivery: Delivery, state: str, description: str) -> None:
        body = {
            "state": state,
            "description": description,
            "log_url": self.run_url,
            "auto_inactive": False,
        }
        self._api.post(f"{self._path}/{delivery.number}/statuses", body)

    def _own(self, delivery: Delivery) -> list[Delivery]:
        """Read the deployments that count for the same listing and token, the newest first."""
        read = self._deliveries(delivery.service, delivery.identity, delivery.token)
        return [each for each in read if each.token == delivery.token]

    def _deliveries(self, service: str, identity: str, token: str) -> list[Delivery]:
        """Read the deployments of a listing and a token, or else the newest of another token."""
        own: list[Delivery] = []
        other: list[Delivery] = []
        replaced = inf  # when the newer one was created, after which nothing sends this list again
        for delivery in self._newest_first(service, identity):
            token = token or delivery.token
            if delivery.token != token:
                other = other or [delivery]
                continue
            accepted = next((each.began for each in own if each.is_sent), inf)
            if replaced + _LONGEST < accepted < inf:
                break
            if attempted := _attempted(delivery, self._statuses(delivery.number)):
                own.append(attempted)
                replaced = delivery.at.timestamp()
        return own or other

    def _newest_first(self, service: str, identity: str) -> Iterator[Delivery]:
        """Yield the deliveries to a listing without their attempts, the newest first."""
        environment = quote(_environment(service), safe="")
        above = None
        for deployment in self._api.pages(f"{self._path}?environment={environment}&task={TASK}"):
            number = part(deployment, "id", kind=int)
            if above is not None and number >= above:
                raise GitHubError(
                    "the server's answer cannot be read: deployments are not in order"
                )
            above, delivery = number, _delivery(deployment, service)
            if delivery and delivery.identity == identity:
                yield delivery

    def _statuses(self, number: int) -> list[tuple[str, float]]:
        """Return the states of a deployment with their times, the oldest first."""
        statuses = {
            part(each, "id", kind=int): (part(each, "state", kind=str), _time(each, "created_at"))
            for each in self._api.pages(f"{self._path}/{number}/statuses")
        }
        return [(state, at.timestamp()) for _, (state, at) in sorted(statuses.items())]


def _environment(service: str) -> str:
    return f"commandsync/{service}"


@contextmanager
def _refused(problem: str) -> Iterator[None]:
    """Raise `RefusedError` for an error of GitHub."""
    try:
        yield
    except GitHubError as error:
        raise RefusedError(f"{problem}: {error.message}", hint=error.hint) from error


def _delivery(deployment: Mapping[str, Any], service: str) -> Delivery | None:
    """Return the delivery of a deployment without its attempts; None for one of another program.

    Raises `GitHubError` for one of ours that cannot be read.
    """
    payload = deployment.get("payload")
    if isinstance(payload, str):
        try:
            payload = json.loads(payload)
        except ValueError:
            return None
    if not isinstance(payload, dict) or "identity" not in payload or "version" not in payload:
        return None
    if payload["version"] != _VERSION:
        raise GitHubError(f"a deployment has a payload of version {payload['version']!r}")
    commit = part(deployment, "sha", kind=str)
    return Delivery(
        service=service,
        identity=part(payload, "identity", kind=str),
        token=part(payload, "token", kind=str),
        digest=part(payload, "request", kind=str),
        names=_unpacked(payload.get("names")),
        size=part(payload, "size", kind=int),
        commit=commit if _COMMIT.fullmatch(commit) else "",
        at=_time(deployment, "created_at"),
        number=part(deployment, "id", kind=int),
    )


def _attempted(delivery: Delivery, statuses: Sequence[tuple[str, float]]) -> Delivery | None:
    """Return a delivery with its attempts; None if each of them certainly changed nothing.

    Two runs may send one list at once. GitHub does not say which of them a status is from, so the
    time of an attempt begins with the earliest one in flight, and ends with the last one.
    """
    counts = Counter(map(itemgetter(0), statuses))
    if not counts["success"] and counts["failure"] >= max(1, counts["in_progress"]):
        return None
    created = delivery.at.timestamp()
    in_flight, earliest, latest = 0, created, created  # how many, and the begins of two of them
    ended, accepted = created, created  # the begin of the last attempt that was accepted
    for number, (state, at) in enumerate([("created", created), *statuses]):
        in_flight = 0 if latest + _LONGEST < at else in_flight
        if state == "in_progress" and number == 1:  # the attempt that began with the deployment
            latest = at
        elif state in {"created", "in_progress"}:
            earliest = earliest if in_flight else at
            in_flight, latest = in_flight + 1, at
        elif state in _STATES.values():
            in_flight, ended = max(0, in_flight - 1), at
            accepted = earliest if state == "success" else accepted
    return replace(
        delivery,
        at=datetime.fromtimestamp(accepted, UTC),
        is_sent=counts["success"] > 0,
        began=accepted,
        ended=latest + _LONGEST if in_flight else ended,
    )


def _packed(names: tuple[str, ...] | None) -> list[str] | str | None:
    """Return names as a payload has them; None if they are too many even when they are packed."""
    if names is None:
        return None
    text = json.dumps(names)
    if len(text) <= _MOST_CHARACTERS:
        return list(names)
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    return packed if len(packed) <= _MOST_CHARACTERS else None


def _unpacked(names: object) -> tuple[str, ...] | None:
    """Return the names of a payload; raises `GitHubError` if they cannot be read."""
    if names is None:
        return None
    try:
        if isinstance(names, str):
            unpacking = zlib.decompressobj()
            text = unpacking.decompress(base64.b64decode(names, validate=True), _MOST_UNPACKED)
            names = json.loads(text)
    except (ValueError, zlib.error, RecursionError) as error:
        raise GitHubError("the names in a deployment cannot be read") from error
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise GitHubError("the names in a deployment cannot be read")
    return tuple(names)


def _time(content: object, key: str) -> datetime:
    try:
        at = datetime.fromisoformat(part(content, key, kind=str))
    except ValueError as error:
        raise GitHubError(f"the server's answer cannot be read: {key} of a deployment") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


_MOST_COMMITS = 10 * MOST_COMMITS


def memory_of(context: Context, bases: Mapping[str, EarlierVersion]) -> Memory:
    """Return the knowledge of each list before the run.

    `bases` are the manifests of the base branch of a proposal, by its own paths. A check for drift
    compares only lists that are read, and a plan does not fail where the store cannot be read.
    """
    settings, event, mode = context.settings, context.event, context.mode
    store: Store = Deployments(context.github, event.repository, event.sha, event.run_url)
    if settings.state:
        store = StateFile(settings.state)
    current = context.inputs.apply == "current"  # nobody reviewed it, and it may not be in git

    def known(manifest: Manifest, site: ListSite) -> KnownList:
        base = bases.get(manifest.path)
        if site.is_read:
            earlier = [base] if base else _earlier(manifest, event.before)
            return KnownList(AsRead(), other_lists(manifest, site, earlier))
        if site.returned:
            of_base = base and mode != "drift" and baseline_of(settings, base, site)
            return KnownList(of_base or Unread())
        if mode == "drift":
            return KnownList(Unknown(accepted=settings.unseen))
        remembered = stored(store, settings, manifest, site)
        baseline = remembered.baseline
        if isinstance(baseline, Unknown) and baseline.error and mode == "plan":
            return KnownList(replace(baseline, accepted=True))
        if isinstance(baseline, Unknown) and (current or _is_new(manifest, site, event.before)):
            return stored(store, settings, manifest, site, accepted=True)
        return remembered

    return Memory(known, bases)


def _earlier(manifest: Manifest, before: str) -> Iterator[EarlierVersion]:
    """Yield the version of a manifest at the commit `before`, if it can be read."""
    with suppress(CommandsyncError):  # only a warning depends on it
        if before and (version := version_at(before, manifest.path)):
            yield version


def _is_new(manifest: Manifest, site: ListSite, before: str) -> bool:
    """Whether the manifest adds a list since the commit `before`: it may be replaced unseen then.

    It is not new if the history cannot be read, or if an earlier version has a list at the same
    address that is not another list of today.
    """
    bot, own = manifest.bot, site.entry
    others = {each.identity(bot) for each in manifest.listings} - {own.identity(bot)}
    try:
        commits = first_parents(manifest.path, most=_MOST_COMMITS)
        start = commits.index(before) if before in commits else None
        versions = versions_since(manifest.path, commits, start or 0)
        return not any(
            each.address(version.manifest.bot) == own.address(bot)
            and each.identity(version.manifest.bot) not in others
            for _, version in islice(versions, start is None, None)
            if version
            for each in version.manifest.listings
        )
    except RefusedError:
        return False
