"""A repository, a service that does not return its list, and runs that are drawn at random.

A `World` has the commits of a branch, the lists that the service shows to each token, and the
deployments of the repository. Its events are those of a project: pushes, forced pushes, reverts,
merges, tags, runs that are started again, dispatches, another token, another program that sets
`inactive`, and a failure at each request. Each run is the product's own: its store, its baseline,
its plan and its steps. Only the two networks, git and the choice of the commit are the model's.

After each step the model says what must be true, by the list that the service really shows.
"""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

from commandsync.action.deployments import Deployments
from commandsync.action.rest import GitHub, GitHubError
from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Failure
from commandsync.apply.outcomes import Answered, Outcome, Result
from commandsync.errors import CommandsyncError, Invalid, Reply, TransportError
from commandsync.manifest import Manifest, load_manifests
from commandsync.plan.plan import ListPlan, Unknown
from commandsync.sync import listcontent, lists
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.job import Planned
from commandsync.sync.listcontent import fitted_list, stored
from commandsync.sync.lists import ListJob
from commandsync.sync.settings import Settings
from commandsync.sync.sites import ListSite
from tests.support.deployments import SimulatedDeployments

Names = tuple[str, ...]

REPOSITORY = "octo/bots"
START = datetime(2026, 1, 1, tzinfo=UTC)
FIRST_LISTED = ("old1", "old2", "old3")
POOL = [f"c{number}" for number in range(24)]
EVENTS = (
    *("push", "push", "push", "forced push", "revert", "merge", "tag", "run again", "dispatch"),
    *("token", "inactive", "long pause"),
)
ANSWERS = ("accepted",) * 5 + ("refused", "lost before", "lost after", "killed")
GITHUB = ("",) * 12 + ("create", "begin", "end", "read")


class BrokenError(AssertionError):
    """What must be true is not."""


@dataclass(frozen=True)
class InMemory(GitHub):
    """GitHub's API without a network."""

    world: "World | None" = None

    def _send(self, method: str, url: str, body: Any = None) -> tuple[Any, str]:  # noqa: ANN401 - JSON
        assert self.world
        parts = urlsplit(url)
        if self.world.github_fails(method, parts.path, body):
            raise GitHubError("GitHub answers 502", status=502)
        answer = self.world.deployments.answer(
            method, parts.path, dict(parse_qsl(parts.query)), json.loads(json.dumps(body))
        )
        assert answer
        status, content, link = answer
        assert status in {200, 201}, content
        return content, f'<{self.url}{link}>; rel="next"' if link else ""


@cache
def manifest_of(names: Names) -> Manifest:
    own = {"method": "POST", "url": "https://list.example/c", "authorization": "{token}"}
    entry = {"service": "ours", "token_env": "COMMANDSYNC_TOKEN_OURS", "replace": own}
    commands = [{"name": name, "description": "Does it.", "syntax": f"/{name}"} for name in names]
    document = {"version": 1, "commands": commands, "listings": [entry]}
    content = json.dumps(document).encode()
    (manifest,) = load_manifests(["m.yaml"], stdin=bytes, contents={"m.yaml": content})
    return manifest


@dataclass
class World:
    """All that there is, and the draws."""

    draws: random.Random
    commits: dict[str, Names] = field(default_factory=dict)  # in the order of their making
    head: str = ""
    shown: dict[str, Names] = field(default_factory=dict)  # by the token
    tokens: list[str] = field(default_factory=lambda: ["token-of-lantern", "token-of-beacon"])
    deployments: SimulatedDeployments = field(default_factory=SimulatedDeployments)
    fails: str = ""  # the request of GitHub that fails in this run
    clocks: dict[int, int] = field(default_factory=dict)  # of the machines, by deployment
    story: list[str] = field(default_factory=list)
    done: int = 0  # runs that said done
    nested: bool = False
    records_refusals: bool = False  # a mutant
    crossed: bool = False  # whether another run came between a request and its arrival
    running: str = ""  # the commit of the run

    def github_fails(self, method: str, path: str, body: Any) -> bool:  # noqa: ANN401 - JSON
        if method == "GET":
            return self.fails == "read"
        if path.endswith("/deployments"):
            return self.fails == "create"
        begins = bool(body) and body.get("state") == "in_progress"
        return self.fails == ("begin" if begins else "end")

    def commit(self, names: Names) -> str:
        commit = f"{len(self.commits):040x}"
        self.commits[commit] = names
        self.head = commit
        return commit

    def job(self, commit: str, *, accepted: bool, everything: bool) -> ListJob:
        manifest = manifest_of(self.commits[commit])
        (entry,) = manifest.listings
        service = entry.list_service
        address = parse_address(service.origin, version=None)
        site = ListSite(address, "", Token(self.tokens[0]), "", service=service, entry=entry)
        clock = START + timedelta(seconds=self.draws.randrange(10**7))  # of this machine
        limit = baselines_limit() if everything else None
        settings = Settings(now=clock, state=None, max_deletes=limit)
        store = Deployments(InMemory("https://api", "t", world=self), REPOSITORY, commit)
        connection: Any = None
        return ListJob(
            site=site,
            settings=settings,
            connection=connection,
            manifest=manifest,
            fitted=fitted_list(settings, manifest, entry),
            known=stored(store, settings, manifest, site, accepted=accepted),
        )

    # The events.

    def step(self) -> None:
        event = self.draws.choice(EVENTS)
        commit, dispatched = self.head, False
        match event:
            case "push":
                commit = self.commit(self.changed(self.commits[self.head]))
            case "forced push":
                commit = self.head = self.draws.choice([*self.commits])
            case "revert":
                commit = self.commit(self.commits[self.draws.choice([*self.commits])])
            case "merge":
                other = self.commits[self.draws.choice([*self.commits])]
                commit = self.commit(tuple(dict.fromkeys((*self.commits[self.head], *other))))
            case "tag" | "run again":
                commit = self.draws.choice([*self.commits])
            case "dispatch":
                dispatched = True
            case "token":
                if not self.nested:
                    self.tokens.reverse()
            case "inactive":
                for deployment in self.deployments.deployments:
                    self.deployments.append(deployment["id"], "inactive", "")
            case _:  # a long pause
                self.deployments.now += timedelta(days=self.draws.randint(1, 9))
        self.story.append(f"{event} {commit[-3:]} {self.commits[commit]}")
        if event != "run again" or self.commits[commit] == self.commits[self.head]:
            self.run(commit, dispatched=dispatched)

    def changed(self, names: Names) -> Names:
        """Return a manifest with few changes, or another one."""
        few = {*names} ^ {*self.draws.sample(POOL, self.draws.randint(0, 3))}
        if few and self.draws.random() < 0.5:
            return tuple(sorted(few))
        return tuple(self.draws.sample(POOL, self.draws.randint(1, 20)))

    def run(self, commit: str, *, dispatched: bool) -> None:
        """Plan and apply a commit, and check what is said and done."""
        token, everything = self.tokens[0], self.draws.random() < 0.4
        self.running = commit
        self.fails = self.draws.choice(GITHUB) if not self.nested else ""
        job = self.job(commit, accepted=dispatched, everything=everything)
        plan = job.plan(job.start_reading()())
        self.check_said(plan, token)
        if plan.refusal:
            self.story.append(f"  refused: {plan.refusal.message}")
            if self.records_refusals and not plan.unseen:
                self.record(job, plan)
            return
        if not plan.writes:
            self.story.append("  nothing was sent")
            self.check_done(commit, token)
            return
        count = len(self.deployments.deployments)
        planned = Planned(job, job.start_reading()(), plan)
        result = self.send(job.steps(planned, health=None), commit, token, plan, everything)  # type: ignore[arg-type]  # it is not used
        for deployment in self.deployments.deployments[count:]:
            self.clocks[deployment["id"]] = int(job.settings.now.timestamp())
        if result and result.complete and result.sent is Outcome.SENT and not self.crossed:
            self.done += 1
            self.check_done(commit, token)

    def send(
        self,
        steps: Iterator[Any],
        commit: str,
        token: str,
        plan: ListPlan,
        everything: bool,  # noqa: FBT001
    ) -> Result | None:
        """Carry out the steps of a run: its one request is answered, or not."""
        answer = self.draws.choice(ANSWERS)
        self.story.append(f"  {answer}{', GitHub: ' + self.fails if self.fails else ''}")
        self.crossed = False
        try:
            next(steps)
            if not self.nested and self.draws.random() < 0.1:
                self.nested, fails = True, self.fails
                self.step()  # another run, from its begin to its end
                self.nested, self.fails, self.crossed = False, fails, True
            if answer in {"accepted", "lost after"} or (
                answer == "killed" and self.draws.random() < 0.5
            ):
                self.arrive(commit, token, plan, everything=everything)
            if answer == "killed":
                return None
            value: Any = None
            if answer == "refused":
                value = Failure(Invalid("HTTP 400", reply=Reply(400, b"")))
            elif answer.startswith("lost"):
                value = Failure(TransportError("reset"))
            steps.send(Answered(-2, value))  # type: ignore[attr-defined]  # a generator
        except StopIteration as end:
            result: Result = end.value
            self.story.append(f"  {result.sent} {result.stopped}")
            return result
        raise BrokenError("a list needs one request")

    def arrive(self, commit: str, token: str, plan: ListPlan, *, everything: bool) -> None:
        """Let a request take effect, and check what it deletes."""
        before, now = self.shown.get(token, FIRST_LISTED), self.commits[commit]
        gone = len({*before} - {*now})
        unknown = isinstance(plan.baseline, Unknown)
        if not (everything or unknown or self.crossed or self.nested):
            few = gone <= 3 or gone * 100 <= 30 * len(before)
            if gone == len(before) or not few:
                raise BrokenError(f"{gone} of {len(before)} deletes were not refused")
        self.shown[token] = now

    def record(self, job: ListJob, plan: ListPlan) -> None:
        store = job.known.store
        assert store
        try:
            from commandsync.sync.statefile import End  # noqa: PLC0415 - of a mutant

            store.end(store.begin(job.delivery(plan), lambda _known: None), End.ACCEPTED)
        except CommandsyncError:
            return

    # What must be true.

    def check_said(self, plan: ListPlan, token: str) -> None:
        """A plan that knows a list names the one that is shown among those that may be."""
        if not plan.known:
            return
        shown = self.shown.get(token, FIRST_LISTED)
        possible = [tuple(e.name for e in each.commands.commands) for each in plan.baseline.lists]
        if {*shown} not in [{*each} for each in possible]:
            raise BrokenError(f"{shown} is shown, and the plan names {possible}")
        if not plan.pending and {*shown} != {*(entry.name for entry in plan.commands)}:
            raise BrokenError("the plan says that nothing differs")

    def check_done(self, commit: str, token: str) -> None:
        """After a run that says done, the service shows the manifest."""
        if self.shown.get(token, FIRST_LISTED) != self.commits[commit]:
            raise BrokenError("done, and the service shows another list")


def baselines_limit() -> Any:  # noqa: ANN401 - a limit
    from commandsync.plan.rules import DeleteLimit  # noqa: PLC0415 - small

    return DeleteLimit()


@contextmanager
def git_of(world: World) -> Iterator[None]:
    """Let the product see the model's repository in place of git."""

    def version_before(commit: str, _manifest: Manifest) -> EarlierVersion | None:
        names = world.commits.get(commit)
        return None if names is None else EarlierVersion(commit[:7], manifest_of(names))

    with ExitStack() as patches:
        patches.enter_context(patch.object(listcontent, "version_before", version_before))
        patches.enter_context(patch.object(lists, "head_of", lambda _path: world.running))
        yield


def play(seed: int, length: int = 12, change: Callable[[World], object] = lambda _: None) -> World:
    """Play a sequence of events; raises `BrokenError` with the story if something is not true."""
    world = World(random.Random(seed))  # noqa: S311 - no secret
    world.commit(tuple(POOL[:10]))
    change(world)
    with git_of(world):
        try:
            world.run(world.head, dispatched=True)
            for _ in range(length):
                world.step()
        except BrokenError as broken:
            raise BrokenError("\n".join([f"seed {seed}", *world.story, str(broken)])) from None
    return world
