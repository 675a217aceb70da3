"""The play of a case at Discord, and what a run is judged by.

Each change of the list is looked at: commands that are left alone stay as they are to the byte,
every id that is to stay is there, and a command is as it was or as it is wanted, never in between.
A plan, its requests and the words of a run are compared with the oracle and with the registered
commands.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.apply.outcomes import Outcome, Result, Settled, exit_code
from commandsync.errors import Exit, Reply
from commandsync.manifest import Manifest, load_manifests
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource, Text, object_of
from commandsync.services.discord import Application, application, discord_service
from commandsync.sync.registrations import RegistrationJob
from commandsync.sync.settings import Settings
from commandsync.sync.sites import DiscordSite
from tests.support import oracle
from tests.support.cases import AnyTrial, Problem
from tests.support.discordcases import (
    INSTALLS,
    DiscordAct,
    DiscordCase,
    Expected,
    Record,
    agrees,
    calls,
    expected,
    key_of,
    shown,
    unknown_keys,
)
from tests.support.discordserver import APPLICATION, DOUBLED, DiscordListing, Request
from tests.support.runs import PRODUCT, Driver, Moments, Parts
from tests.support.story import AnyStory, played

KIND = Resource.APPLICATION_COMMAND
_SETTINGS = Settings(now=datetime(2026, 3, 4, tzinfo=UTC), state=None)
_ADDRESS = parse_address("https://discord.com", version=None)
_TOKEN = Token("a-token-for-discord")


class View(NamedTuple):
    """A read that came through: its request's number, what was shown, and what was so in truth."""

    number: int
    shown: list[Record]
    stored: list[Record]


@dataclass
class DiscordTrial(AnyTrial):
    """One run at Discord."""

    case: DiscordCase
    service: DiscordListing

    @property
    def writes(self) -> list[Request]:
        """The requests that change the list."""
        return [one for one in self.requests if one.writes]

    @property
    def began_to_write(self) -> bool:
        """Whether a write was sent, be it that it never arrived."""
        started = self.driver.started if self.driver else ()
        return bool(self.writes) or any(key >= 0 for key in started)

    @property
    def views(self) -> list[View]:
        """The reads of the list whose answers can be read."""
        found = []
        for one in self.requests:
            answer = self.service.answers[one.number]
            if one.kind == "read" and isinstance(answer, Reply) and answer.status == 200:
                records = _records(answer.body)
                if records is not None:
                    stored = self.service.listed(self.case.guild, after=one.number)
                    found.append(View(one.number, records, stored))
        return found

    @property
    def first(self) -> View | None:
        """The read that the plan was made from, or held against."""
        return next(iter(self.views), None)

    @property
    def last(self) -> View | None:
        """The last read, if nothing was written after it; an interrupted run looks at none."""
        if self.result is not None and self.result.interrupted:
            return None
        views, writes = self.views, self.writes
        late = views and writes and writes[-1].number > views[-1].number
        return views[-1] if views and not late else None

    def happened(self, request: Request) -> bool:
        """Whether a write changed what is registered, be it late."""
        return request.number in self.service.applied

    def acknowledged(self, request: Request) -> bool:
        """Whether a write was answered with a success, or was of no need any more."""
        answer = self.service.answers[request.number]
        if not isinstance(answer, Reply):
            return False
        gone = request.kind == "delete" and answer.status == 404
        return answer.status in {200, 201, 204} or gone

    def about(self, change: Change) -> list[Request]:
        """Return the requests for a change."""
        if isinstance(change, Add):
            key = key_of(_object(change.after))
            return [one for one in self.writes if one.kind == "add" and key_of(one.body) == key]
        kind = "edit" if isinstance(change, Edit) else "delete"
        return [one for one in self.writes if one.kind == kind and _id(one) == change.id]


def _records(body: bytes) -> list[Record] | None:
    try:
        listed = json.loads(body)
    except ValueError:
        return None
    if not isinstance(listed, list) or not all("id" in record for record in listed):
        return None
    return [*{record["id"]: record for record in listed}.values()]


def _id(request: Request) -> str:
    return request.path.rsplit("/", 1)[1]


def _object(text: Text) -> Record:
    node = object_of(text)
    assert node is not None
    return node


@lru_cache(maxsize=64)
def _manifest(content: str) -> Manifest:
    data = content.encode()
    (manifest,) = load_manifests(["m.yaml"], stdin=bytes, contents={"m.yaml": data})
    return manifest


def planning(*, listed: Snapshot, job: RegistrationJob, **_: object) -> RecordPlan:
    """Plan as a run does."""
    return job.plan(listed)


@dataclass
class DiscordStory(AnyStory):
    """A case at Discord being played."""

    case: DiscordCase
    trials: list[DiscordTrial] = field(default_factory=list)
    service: DiscordListing = field(default_factory=DiscordListing)
    ids: list[str] = field(default_factory=list)  # of the commands that are registered at first
    _start: dict[str, Record] = field(default_factory=dict)
    _elsewhere: list[Record] = field(default_factory=list)
    _acting: bool = False

    def __post_init__(self) -> None:
        case = self.case
        self.service = case.opened()
        listed = self.service.listed(case.guild)
        by_key = {key_of(record): record["id"] for record in listed}
        self.ids = [by_key[key_of(record)] for record in case.before]
        self._start = {record["id"]: record for record in listed}
        self._elsewhere = self.service.listed(case.elsewhere_in)
        self._application = Application(
            APPLICATION, APPLICATION, "Lantern", tuple(INSTALLS[case.installs])
        )
        self._service = discord_service(self._application, case.guild)
        self.parts = replace(
            self.parts,
            planning=planning if self.parts.planning is PRODUCT.planning else self.parts.planning,
            replanning=planning,
            reading=self._reading,
            service=self._service,
        )
        self._expected = expected(case, listed, self.ids)
        self.service.witness = self._look

    # What differs from other services.

    def new_trial(self, begun: int, plan: RecordPlan | None = None) -> DiscordTrial:
        return DiscordTrial(self.case, self.service, begun, plan=plan)

    def sides(self, *, rival: bool = False) -> dict[str, Any]:
        return {"desired": Snapshot({KIND: ()}), "job": self.job(rival=rival)}

    def job(self, *, rival: bool = False) -> RegistrationJob:
        """Return the job of a run."""
        case = self.case.rival if rival else self.case
        manifest = _manifest(json.dumps(case.document(self.ids), ensure_ascii=False))
        assert manifest.discord is not None
        site = DiscordSite(
            _ADDRESS,
            APPLICATION,
            _TOKEN,
            "",
            service=self._service,
            listing=manifest.discord,
            application=self._application,
        )
        connection: Any = None  # a driver carries its requests
        return RegistrationJob(site, _SETTINGS, connection, manifest)

    def _reading(self, driver: Driver, _scope: Iterable[Resource]) -> Moments[Snapshot]:
        found = yield from driver.calling(application())
        if found != self._application:
            self.problems.append(Problem("reads another application", f"{found}"))
        entries = yield from driver.calling(self._service.read(APPLICATION, KIND))
        return Snapshot({KIND: entries})

    def act(self, number: int) -> None:
        for act in self.case.acts:
            if act.at == number:
                self._acting = True
                do(act, self.service, self.case)
                self._acting = False

    def operation_of(self, request: Request) -> str:
        return request.kind

    # What must be so at every moment.

    def _look(self, service: DiscordListing) -> None:
        """Look at a change of the list."""
        now = {record["id"]: record for record in service.listed(self.case.guild)}
        found = dict(self._seen(now))
        if service.listed(self.case.elsewhere_in) != self._elsewhere:
            found["another list is touched"] = self.case.elsewhere_in
        if self._acting:
            self._start = now
            return
        known = {problem.kind for problem in self.problems}
        self.problems += [
            Problem(kind, words) for kind, words in found.items() if kind not in known
        ]

    def _seen(self, now: Mapping[str, Record]) -> Iterator[tuple[str, str]]:
        case, start = self.case, self._start
        for one, record in start.items():
            if case.leaves(record) and now.get(one) != record:
                yield "a command that is left alone is touched", f"{record['name']} {now.get(one)}"
        if case.acts or case.other:
            return
        due = self._expected
        if lost := (due.kept | due.edits.keys()) - now.keys():
            yield "a command is lost for a moment", f"{lost}"
        if not case.keeps:
            return
        added = {key_of(record): record for one, record in now.items() if one not in start}
        for key, record in added.items():
            if key not in due.adds or not agrees(due.adds[key], record):
                yield "a command is added that nobody wants", f"{record}"
        for one, record in now.items():
            before, after = start.get(one, record), due.edits.get(one)
            if record != before and not (after and agrees(after, record, in_order=False)):
                yield "a command is neither as it was nor as it is wanted", f"{record}"

    # What must be so after a run.

    def judged_plan(self, trial: DiscordTrial) -> Iterator[Problem]:
        case, plan, view = self.case, trial.plan, trial.first
        if view is None:
            return
        due = expected(case, view.shown, self.ids)
        if (trial.refusal == "invalid") != bool(due.refused):
            words = f"{due.refused}: {trial.why}"
            yield Problem("refuses a valid manifest, or not an invalid one", words)
        if plan is None:
            return
        yield from _guarded(trial, view, due)
        early = {each.id for each in plan.changes if isinstance(each, Delete) and each.first}
        if early != due.first:
            yield Problem("plan: wrong deletes go first", f"{early}, not {due.first}")
        adds = {key_of(_object(one.after)) for one in plan.changes if isinstance(one, Add)}
        edits = {one.id for one in plan.changes if isinstance(one, Edit)}
        deletes = {one.id for one in plan.changes if isinstance(one, Delete)}
        for kind, mine, theirs in (
            ("adds", adds, {*due.adds}),
            ("edits", edits, {*due.edits}),
            ("deletes", deletes, due.deletes),
        ):
            if mine != theirs:
                words = f"{mine - theirs} too many, {theirs - mine} missing"
                yield Problem(f"plan: wrong {kind}", words)
        for change in plan.changes:
            if isinstance(change, Add | Edit):
                after = shown(case, _object(change.after))
                wanted = due.adds.get(key_of(after)) if isinstance(change, Add) else None
                wanted = due.edits.get(change.id) if isinstance(change, Edit) else wanted
                if wanted and not agrees(wanted, after, in_order=False):
                    yield Problem("plan: not as wanted", f"{wanted} is planned as {after}")

    def judged(self, trial: DiscordTrial) -> Iterator[Problem]:
        yield from check_requests(trial)
        if trial.result is not None:
            yield from check_result(trial, trial.result, self.ids)

    def _put_right(self) -> None:
        trials = self.trials
        if self.case.faults or self.case.other or any(trial.refusal for trial in trials):
            return
        third = self._run({})
        self._judge(third)
        if self.case.keeps and (third.result is None or not third.result.complete):
            why = third.refusal or "not complete"
            self.problems.append(Problem("two runs at once are not put right", why))

    def left(self) -> list[str]:
        """Say what is not yet as it is wanted."""
        return expected(self.case, self.service.listed(self.case.guild), self.ids).left

    def _judge_the_end(self) -> None:
        case = self.case
        if troubles := self.service.troubles:
            self.problems.append(
                Problem("a body that Discord's schema does not allow", troubles[0])
            )
        if any(trial.refusal in {"refused", "invalid"} for trial in self.trials):
            return
        self.problems += self._stayed()
        if case.keeps and not case.saved:
            if left := self.left():
                self.problems.append(Problem("it does not converge", "; ".join(left)))
            further = self._run({})
            if further.writes:
                first = further.writes[0]
                self.problems.append(
                    Problem("a further run writes", f"{first.method} {first.body}")
                )
            if further.result is None or not further.result.complete:
                self.problems.append(Problem("a further run is not complete", further.refusal))
        elif case.saved and case.keeps:
            stale = any(trial.refusal == "stale" for trial in self.trials)
            last = self.trials[-1].result
            if stale and not case.acts:
                self.problems.append(Problem("a saved plan is stale with nobody else there", ""))
            if not stale and not (last and last.complete):
                self.problems.append(Problem("a saved plan is never complete", ""))

    def _stayed(self) -> Iterator[Problem]:
        """Ids stay, what is equal is not written, and unknown keys are kept."""
        if self.case.acts or self.case.other:
            return
        now = {record["id"]: record for record in self.service.listed(self.case.guild)}
        for one in self._expected.kept:
            if now.get(one) != self._start[one]:
                yield Problem("a command is written that is as it is wanted", f"{now.get(one)}")
        for one in self._expected.edits if self.case.keeps else ():
            record = now.get(one)
            if record is None:
                yield Problem("an edited command has lost its id", self._start[one]["name"])
            elif lost := {*unknown_keys(self._start[one])} - {*unknown_keys(record)}:
                there = _places(record)
                if lost := {(path, key) for path, key in lost if path in there}:
                    yield Problem("unknown keys are lost", f"{lost}")


def _places(node: Record, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the places of all parts of a command."""
    found = {path}
    for name in ("options", "choices"):
        for part in node.get(name) or ():
            found |= _places(part, (*path, f"{name} {part['name']} {part.get('type', '')}"))
    return found


def do(act: DiscordAct, service: DiscordListing, case: DiscordCase) -> None:
    """Do what another editor does, for all to see; Discord may refuse it."""
    with suppress(AssertionError):
        _do(act, service, case)


def _do(act: DiscordAct, service: DiscordListing, case: DiscordCase) -> None:
    listed = service.listed(case.guild)
    mine = [record for record in listed if not case.leaves(record)]
    one = mine[act.nth % len(mine)] if mine else None
    path = service.path(case.guild)
    match act.method:
        case "POST" if not case.leaves({"type": 1, **act.body}):
            service.other("POST", path, act.body)
        case "PUT":
            others = [record for record in listed if record is not one]
            keys = {key_of(record) for record in others}
            new = [] if key_of(act.body) in keys else [act.body]
            service.other("PUT", path, [*others, *new])
        case "PATCH" if one:
            body = {key: value for key, value in act.body.items() if key not in {"name", "type"}}
            is_same = act.body.get("type", 1) == one["type"]
            service.other("PATCH", f"{path}/{one['id']}", body if is_same else {"nsfw": True})
        case "rename" if one:
            name = {"name": f"other-{act.at}"}
            service.other("PATCH", f"{path}/{one['id']}", name)
        case "DELETE" if one:
            service.other("DELETE", f"{path}/{one['id']}")
        case _:
            pass


# What a run sends, and what it says.


def _guarded(trial: DiscordTrial, view: View, due: Expected) -> Iterator[Problem]:
    """Callable commands are counted, of groups and of edits, too."""
    case, before = trial.case, {record["id"]: record for record in view.shown}
    lost = sum(len([*calls(before[one])]) for one in due.deletes)
    for one, after in due.edits.items():
        left = {path[1:] for path in calls(after)}
        lost += sum(path[1:] not in left for path in calls(before[one]))
    live = [
        record for record in view.shown if not case.leaves(record) and record["id"] not in due.apart
    ]
    count = sum(not case.ignores(" ".join(path)) for record in live for path in calls(record))
    is_due = oracle.refused([("delete", "commands")] * lost, {"commands": count}, case.limit)
    if is_due != (trial.refusal == "refused"):
        what = "is not refused" if is_due else "is refused"
        yield Problem("guard", f"{lost} of {count}, limit {case.limit} {what}")


def check_requests(trial: DiscordTrial) -> Iterator[Problem]:
    """Check what a run sent, whether it came to its end or was killed."""
    case, writes = trial.case, trial.writes
    if trial.refusal in {"refused", "stale", "unreadable", "invalid"} and writes:
        yield Problem("writes although it could not begin", trial.refusal)
    path = trial.service.path(case.guild)
    adds = {key_of(_object(one.after)) for one in trial.changes if isinstance(one, Add)}
    edits = {one.id: one for one in trial.changes if isinstance(one, Edit)}
    deletes = {one.id for one in trial.changes if isinstance(one, Delete)}
    first = {one.id for one in trial.changes if isinstance(one, Delete) and one.first}
    last = max((one.number for one in writes if one.kind != "delete"), default=0)
    for one in writes:
        if one.kind == "delete" and one.number < last and _id(one) not in first:
            yield Problem("deletes before it has added and edited", one.path)
        match one.kind:
            case "add" if one.path == path:
                known = key_of(one.body) in adds
            case "edit" if one.path == f"{path}/{_id(one)}":
                known = _id(one) in edits
                yield from _only_changes(one, edits.get(_id(one)))
            case "delete" if one.path == f"{path}/{_id(one)}":
                known = _id(one) in deletes
            case _:
                known = False
        if not known:
            yield Problem("writes outside its plan", f"{one.method} {one.path} {one.body}")


def _only_changes(request: Request, change: Edit | None) -> Iterator[Problem]:
    """A PATCH has no key that stays as it is, and never a type."""
    if change is None:
        return
    before, after = _object(change.before), _object(change.after)
    known = {*before, *after, "dm_permission"}
    same = {key for key in known if before.get(key) == after.get(key)} - {"dm_permission"}
    if wrong := ({"type"} | same) & request.body.keys():
        yield Problem("a PATCH has keys that stay", f"{sorted(wrong)}")


def check_result(trial: DiscordTrial, result: Result, ids: Sequence[str]) -> Iterator[Problem]:
    """Check what a run says, when everything late has arrived."""
    if [one.change for one in result.settled] != [*trial.changes]:
        yield Problem("not every change has its outcome", f"{len(result.settled)}")
    for one in result.settled:
        yield from _judged(trial, one)
    code = exit_code(result)
    happened = [one for one in trial.writes if trial.happened(one)]
    match code:
        case Exit.DONE:
            yield from _done(trial, ids)
        case Exit.FAILED if happened:
            yield Problem("exit 1 although something was changed", f"{happened[0].method}")
        case Exit.INCOMPLETE if not trial.began_to_write:
            yield Problem("exit 6 although nothing was sent", result.stopped)
        case Exit.FAILED | Exit.INCOMPLETE:
            pass
        case _:
            yield Problem("another exit code", f"{code}")
    doubled = any(one.fault is DOUBLED for one in trial.requests)
    foreign = trial.case.acts or trial.case.turns
    if not (doubled or foreign) and any(
        "was listed meanwhile" in n.message for n in result.notices
    ):
        yield Problem("says that somebody else writes", result.notices[0].message)


def _judged(trial: DiscordTrial, one: Settled) -> Iterator[Problem]:
    """Judge the outcome of a change."""
    change, requests = one.change, trial.about(one.change)
    kind, name = change.action, change.name
    if one.outcome in {Outcome.FAILED, Outcome.SKIPPED}:
        if any(map(trial.happened, requests)):
            yield Problem(f"{kind} is {one.outcome} and happened", name)
        return
    if one.outcome is not Outcome.DONE:
        return
    if not requests and not one.already:
        yield Problem(f"{kind} is done without a request", name)
    last = trial.last
    if last is None:
        if requests and not any(trial.happened(r) or trial.acknowledged(r) for r in requests):
            yield Problem(f"{kind} is done and never happened", name)
        return
    for listed in (last.shown, last.stored):
        record = _record_of(change, listed)
        if isinstance(change, Delete):
            wrong = record is not None
        else:
            assert not isinstance(change, Replace)
            after = shown(trial.case, _object(change.after))
            # another editor may have renamed it meanwhile
            wrong = not one.rewrites and (record is None or not agrees(after, record))
        if not wrong:
            return
    yield Problem(f"{kind} is done and the list shows something else", name)


def _record_of(change: Change, listed: Sequence[Record]) -> Record | None:
    if isinstance(change, Add):
        key = key_of(_object(change.after))
        return next((record for record in listed if key_of(record) == key), None)
    return next((record for record in listed if record["id"] == change.id), None)


def _done(trial: DiscordTrial, ids: Sequence[str]) -> Iterator[Problem]:
    """Exit 0: the list shows the manifest, and was read after the last write."""
    case, last = trial.case, trial.last
    if last is None:
        yield Problem("exit 0 without a read after the last write", "")
        return
    if case.saved:
        for change in trial.changes:
            record = _record_of(change, last.stored)
            if isinstance(change, Delete):
                wrong = record is not None
            else:
                after = shown(case, _object(change.after))
                wrong = record is None or not agrees(after, record)
            if wrong:
                yield Problem("exit 0 although a change is not shown", change.name)
        return
    # What is hidden of another editor, nobody can know.
    lists = [last.shown] if case.acts else [last.shown, last.stored]
    if left := [each for listed in lists for each in expected(case, listed, ids).left]:
        yield Problem("exit 0 although something is left", "; ".join(left))


def prove(case: DiscordCase, parts: Parts = PRODUCT) -> DiscordStory:
    """Play a case to its end, and judge it."""
    return played(DiscordStory(case, parts))


def told(story: DiscordStory) -> str:
    """Tell a case from its beginning to its end."""
    case = story.case
    lines = [f"{case}: guild={case.guild!r} installs={case.installs} drops={case.drops}"]
    lines.append(
        f"saved={case.saved} unordered={case.unordered} width={case.width} stops={case.stops} "
        f"lands={case.lands} flights={case.flights} turns={case.turns} lag={case.lag}"
    )
    lines.append(f"{case.rules}")
    lines += [f"  registered {one}: {record}" for one, record in zip(story.ids, case.before)]  # noqa: B905 - all of them
    lines += [f"  wanted {want}" for want in case.wants]
    lines += [f"  fault #{at}: {fault.name}" for at, fault in case.faults]
    lines += [f"  {act}" for act in (case.met, *case.acts) if act]
    for number, trial in enumerate(story.trials):
        lines.append(
            f"run {number + 1}{' (quiet)' if trial.quiet else ''}: {trial.refusal} {trial.why}"
        )
        lines += [f"    {change.action} {change.name}" for change in trial.changes]
        for one in trial.requests:
            fault = f"   [{one.fault.name}]" if one.fault else ""
            lines.append(f"    #{one.number} {one.method} {one.path} {one.body}{fault}")
            answer = story.service.answers[one.number]
            said = answer.body[:300] if isinstance(answer, Reply) and one.writes else ""
            lines.append(f"        -> {getattr(answer, 'status', answer)} {said!r}")
        if trial.result is not None:
            lines += [
                f"  {each.outcome.upper()}: {each.change.action} {each.change.name} {each.error}"
                for each in trial.result.settled
            ]
            lines += [f"  NOTICE: {notice.message}" for notice in trial.result.notices]
            lines.append(f"  exit {exit_code(trial.result)!r} stopped={trial.result.stopped!r}")
    lines += [f"  in the end {record}" for record in story.service.listed(case.guild)]
    lines += [f"PROBLEM {kind}: {words}" for kind, words in story.problems] or ["no problem"]
    return "\n".join(line if len(line) < _LONGEST else f"{line[:_LONGEST]} ..." for line in lines)


_LONGEST = 600  # characters of a line of a story
