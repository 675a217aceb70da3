"""What the model judges a run by: its plan, what it sends, what it says, and what is left.

A plan is judged by the oracle: it is enough, it spares, and the guard counts. What a run sends is
within its plan, in its order, and nothing twice. What it says is compared with what was stored. A
story as a whole is judged by what is left to do, came back, was lost, or swings.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.errors import Reply, TransportError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan
from tests.support.cases import (
    Case,
    Problem,
    Trial,
    View,
    cleaned,
    collection_of,
    names_of,
    sent_id,
    sent_text,
)
from tests.support.listing import FIELDS, Listing, Request
from tests.support.oracle import (
    Rules,
    Text,
    Texts,
    Want,
    alike,
    countable,
    fields_that_differ,
    folded,
    left_to_do,
    losses,
    may_be,
    might_be,
    name_may_be,
    refused,
    same_name,
)


def check_plan(trial: Trial) -> Iterator[Problem]:
    """Check a plan that was made from the first reads of its run."""
    case, plan = trial.case, trial.plan
    views = {name: trial.first(name) for name in case.scope}
    shown = {name: view.shown for name, view in views.items() if view}
    if plan is None or len(shown) < len(case.scope) or trial.nameless:
        return
    live = {name: case.rules_of(name).live(texts) for name, texts in shown.items()}
    yield from _guarded(trial, plan, live)
    for name in case.scope:
        changes = trial.of(name)
        yield from _fitting(trial, changes, live[name])
        yield from _enough(trial, name, changes, shown[name])
        yield from _sparing(trial, plan, name, live[name])


def _guarded(trial: Trial, plan: RecordPlan, live: dict[str, Texts]) -> Iterator[Problem]:
    used = trial.service.used
    going: list[tuple[str, str]] = [
        (one.action, one.resource.collection) for one in plan.changes if one.action == "replace"
    ]
    for name, texts in live.items():
        deleted = [one.id for one in trial.of(name) if isinstance(one, Delete) and one.id in texts]
        going += [("delete", name) for _ in losses(deleted, texts, used)]
        yield from _most_used(deleted, texts, used, {want.pin for want in trial.case.wants})
    counts = {name: len(countable(texts, used)) for name, texts in live.items()}
    due = refused(going, counts, trial.case.limit)
    if due != (trial.refusal == "refused"):
        what = "is not refused" if due else "is refused"
        words = f"{sorted(Counter(going).items())} of {counts}, limit {trial.case.limit} {what}"
        yield Problem("guard", words)


def _most_used(
    deleted: Sequence[str], live: Texts, used: Collection[str], pins: Container[str]
) -> Iterator[Problem]:
    """Of records that are equal, one with uses stays."""
    rest = {live[one] for one in live if one not in {*deleted, *used} and one not in pins}
    for one in deleted:
        if one in used and live[one] in rest:
            yield Problem("plan: another equal record loses its uses", f"{one}: {live[one]}")


def _fitting(trial: Trial, changes: list[Change], live: Texts) -> Iterator[Problem]:
    """Every change is of a live record as it is listed, each at most once, towards a wanted one."""
    wanted = Counter(want.text for want in trial.case.wants)
    after = Counter(tuple(one.after) for one in changes if not isinstance(one, Delete))
    if not after <= wanted:
        yield Problem("plan: not wanted", f"{after - wanted}")
    ids = Counter(one.id for one in changes if not isinstance(one, Add))
    for change in changes:
        if isinstance(change, Add):
            continue
        if live.get(change.id) != tuple(change.before) or ids[change.id] > 1:
            yield Problem("plan: not as listed", f"{change}")


def _enough(trial: Trial, name: str, changes: list[Change], shown: Texts) -> Iterator[Problem]:
    """Carried out to the letter, nothing is left to do."""
    case = trial.case
    due = case.due_of(name, shown)
    live = case.rules_of(name).live(shown)
    gone = {one.id for one in changes if isinstance(one, Delete | Replace)}
    then = {one: text for one, text in live.items() if one not in gone}
    for n, change in enumerate(changes):
        if not isinstance(change, Delete):
            one = change.id if isinstance(change, Edit) else f"new {n}"
            then[one] = tuple(change.after)
    left = left_to_do(due, then, case.rules_of(name))
    if left:
        yield Problem("plan: not enough", "; ".join(left))
    if any(want.pin for want in case.wants) or not case.rules_of(name).mirror:
        return
    equal = Counter(live.values()) & Counter(want.text for want in due)
    least = len(due) - equal.total()
    made = sum(not isinstance(one, Delete) for one in changes)
    if least != made:
        yield Problem("plan: not the least", f"{made} changes of {name} where {least} are due")


def _sparing(trial: Trial, plan: RecordPlan, name: str, live: Texts) -> Iterator[Problem]:
    """No record is added or renamed while one that is meant by it is left over."""
    changes = trial.of(name)
    left = [tuple(one.before) for one in changes if isinstance(one, Delete)]
    left += [tuple(entry.text) for kind, entry in plan.unmanaged if kind.collection == name]
    wants = trial.case.wants_of(name)
    names = {folded(text[0]) for text in live.values()}
    for change in changes:
        if isinstance(change, Delete):
            continue
        meant = [want for want in wants if want.text == tuple(change.after)]
        if isinstance(change, Add):
            yield from _not_there(meant[0], left, names, trial.case.rules_of(name))
        elif change.id not in {want.pin for want in meant}:
            yield from _its_own(change, meant[0], left)


def _not_there(want: Want, left: list[Text], names: set[str], rules: Rules) -> Iterator[Problem]:
    for text in left:
        if alike(want.text, text):
            yield Problem("plan: adds what is listed", f"{want.text} beside {text}")
        elif folded(want.text[0]) not in names and any(
            same_name(old, text[0]) for old in want.formerly if not rules.ignores(old)
        ):
            yield Problem("plan: a rename is lost", f"{want.text}, formerly {text}")


def _its_own(change: Edit | Replace, want: Want, left: list[Text]) -> Iterator[Problem]:
    """A record that is renamed for its former name leaves none of the new name over."""
    if might_be(want.text, tuple(change.before)):
        return
    if not any(same_name(old, change.before[0]) for old in want.formerly):
        yield Problem("plan: another record", f"{tuple(change.before)} becomes {want.text}")
    for text in left:
        if same_name(want.text[0], text[0]):
            yield Problem(
                "plan: formerly takes another",
                f"{tuple(change.before)} for {want.text}, not {text}",
            )


def check_result(trial: Trial) -> Iterator[Problem]:
    """Check what a run says, when everything late has arrived."""
    result = trial.result
    if result is None:
        return
    if [one.change for one in result.settled] != [*trial.changes]:
        yield Problem("not every change has its outcome", f"{len(result.settled)}")
    happened = [one for one in trial.writes() if trial.happened(one)]
    if happened and not result.touched:
        yield Problem("says that nothing was changed", f"{happened[0].method} {happened[0].path}")
    for one in result.settled:
        yield from _judged(trial, result, one)
    yield from _adds(trial, result)
    if result.complete or (result.verified and not result.interrupted):
        yield from _complete(trial, result)


def _judged(trial: Trial, result: Result, one: Settled) -> Iterator[Problem]:
    """Judge one outcome by the change's own record; adds are judged together, see `_adds`."""
    change = one.change
    if one.outcome is Outcome.UNKNOWN or isinstance(change, Add):
        return
    kind = "edit" if isinstance(change, Edit) else "delete"
    requests = trial.about(change.id, kind=kind)
    if one.outcome is not Outcome.DONE:
        if any(map(trial.happened, requests)):
            yield Problem(f"{kind} is {one.outcome} and happened", f"{change.name!r}")
        return
    name = change.resource.collection
    last = trial.last(name)
    if not requests and not _seen_so(trial, change):
        yield Problem(f"{kind} is done without a request", f"{change.name!r}")
    if last is None:
        if requests and not any(map(trial.may_be_done, requests)):
            yield Problem(f"{kind} is done and never happened", f"{change.name!r}")
        return
    yield from _shown(trial, result, change, last)


def _shown(
    trial: Trial, result: Result, change: Edit | Replace | Delete, last: View
) -> Iterator[Problem]:
    """Of a change that a service hides, what it shows may be believed as well as the truth."""
    if isinstance(change, Edit):
        by_truth = list(_edited(trial, result, change, last.stored.get(change.id)))
        by_sight = list(_edited(trial, result, change, last.shown.get(change.id)))
        yield from by_truth if by_sight else ()
    elif change.id in last.stored:
        yield Problem("delete is done and the record is there", f"{change.name!r}")


def _seen_so(trial: Trial, change: Edit | Replace | Delete) -> bool:
    """Whether a read showed it done already: before a saved plan, or a delete at any time."""
    views = trial.views(change.resource.collection)
    if isinstance(change, Edit):
        shown = [view.shown.get(change.id) for view in views[:1]]
        return trial.case.saved and shown in ([tuple(change.after)], [])
    looks = views if trial.case.saved else views[1:]
    return any(change.id not in view.shown for view in looks)


def _edited(trial: Trial, result: Result, change: Edit, now: Text | None) -> Iterator[Problem]:
    if now is None:
        yield Problem("edit is done and the record is gone", f"{change.name!r}")
        return
    named = {
        frozenset(way.field for way in one.rewrites)
        for one in result.rewritten
        if isinstance(one.change, Edit) and one.change.id == change.id
    }
    differ = fields_that_differ(names_of(change), tuple(change.after), now)
    if not trial.case.acts and named != ({differ} if differ else set()):
        words = f"{change.name!r} differs in {sorted(differ)}, named {[*map(sorted, named)]}"
        yield Problem("edit is done, and its rewritten fields are not named", words)
    if differ and not named:
        yield Problem("edit is done, and its record says otherwise", f"{change.name!r}: {now}")


def _adds(trial: Trial, result: Result) -> Iterator[Problem]:
    """Judge the adds of each text: those that are done are there, those ruled out are not."""
    settled = [one for one in result.settled if isinstance(one.change, Add | Replace)]
    for text, count in trial.adds().items():
        mine = [one for one in settled if tuple(one.change.after) == text]  # type: ignore[union-attr]
        happened = sum(map(trial.happened, trial.posts(text)))
        out = sum(one.outcome in _RULED_OUT for one in mine if isinstance(one.change, Add))
        removed = any(act.kind == "delete" for act in trial.case.acts)
        removed = removed or trial.case.way.habit == "evicts"
        if out and happened > count - out and not removed:
            yield Problem("add is ruled out and happened", f"{text}")
        done = sum(one.outcome is Outcome.DONE for one in mine)
        if done:
            yield from _added(trial, result, text, done)


_RULED_OUT = {Outcome.FAILED, Outcome.SKIPPED}


def _added(trial: Trial, result: Result, text: Text, done: int) -> Iterator[Problem]:
    name = collection_of(text)
    first, last = trial.first(name), trial.last(name)
    posts = trial.posts(text)
    already = (
        sum(shown == text for shown in first.shown.values()) if trial.case.saved and first else 0
    )
    if done > already + len(posts):
        yield Problem("add is done without a request", f"{text}")
    if first is None or last is None:
        if done > already + sum(map(trial.may_be_done, posts)):
            yield Problem("add is done and never happened", f"{text}")
        return
    by_truth, by_sight = (
        list(_records_of(trial, result, text, done - already, (first, listed)))
        for listed in (last.stored, last.shown)
    )
    yield from by_truth if by_sight else ()


def _records_of(
    trial: Trial, result: Result, text: Text, done: int, looks: tuple[View, Texts]
) -> Iterator[Problem]:
    """Look for the records of as many adds as are done in this run."""
    records = _candidates(trial, text, *looks)
    if done > len(records):
        yield Problem("add is done and not there", f"{text}")
    named = [
        frozenset(way.field for way in one.rewrites)
        for one in result.rewritten
        if isinstance(one.change, Add | Replace) and tuple(one.change.after) == text
    ]
    # only the read at the end is compared with what was sent
    if result.read_back and done - len(named) > sum(now == text for now in records.values()):
        yield Problem("add is done, and its rewritten fields are not named", f"{text}")
    names = FIELDS[collection_of(text)]
    differ = [fields_that_differ(names, text, listed) for listed in records.values()]
    if not trial.case.acts and not Counter(named) <= Counter(differ):
        yield Problem("add names other fields than were rewritten", f"{text}: {named}")


def _candidates(trial: Trial, text: Text, first: View, listed: Texts) -> Texts:
    """Return the records that an add may have made: its own, and those that cannot be told apart.

    Where a second writer is, a new record may have had any text before.
    """
    made = {trial.service.applied[one.number] for one in trial.posts(text) if trial.happened(one)}
    return {
        one: stored
        for one, stored in listed.items()
        if one in made
        or (
            one not in first.stored
            and (trial.case.acts or may_be(text, stored) or same_name(text[0], stored[0]))
        )
    }


def _complete(trial: Trial, result: Result) -> Iterator[Problem]:
    """Exit 0: nothing is left to do, nothing was rewritten, and nothing was made twice."""
    if result.rewritten:
        yield Problem("complete although rewritten", f"{len(result.rewritten)} changes")
    for name in trial.case.scope:
        last = trial.last(name)
        if last is None:
            yield Problem("complete without a read after the last write", name)
            continue
        left = _left(trial, name, last.stored)
        if left and trial.case.acts:  # what is hidden of a second writer, nobody can know
            left = _left(trial, name, last.shown)
        if left:
            yield Problem("complete although something is left", "; ".join(left))
    for text, count in trial.adds().items():
        if sum(map(trial.happened, trial.posts(text))) > count:
            yield Problem("complete although copied", f"{text}")


def _left(trial: Trial, name: str, listed: Texts) -> list[str]:
    """Say what is not yet as wanted; of a saved plan, which of its own changes are not so."""
    if not trial.case.saved:
        return left_to_do(trial.case.due_of(name, listed), listed, trial.case.rules_of(name))
    left = []
    there = Counter(listed.values())
    for change in trial.of(name):
        if isinstance(change, Edit):
            so = listed.get(change.id) == tuple(change.after)
        else:
            so = isinstance(change, Add) or change.id not in listed
        if not isinstance(change, Delete):
            so = so and there[tuple(change.after)] > 0
        if not so:
            left.append(f"{change.action} of {change.name!r}")
    return left


def check_saved(trial: Trial) -> Iterator[Problem]:
    """A saved plan: a record that is neither as it was nor as it is to be makes it stale."""
    if not trial.case.saved or trial.result is None:
        return
    for change in trial.changes:
        first = trial.first(change.resource.collection)
        if isinstance(change, Add) or first is None:
            continue
        now = first.shown.get(change.id)
        allowed: set[Text | None] = {tuple(change.before)}
        allowed.add(tuple(change.after) if isinstance(change, Edit) else None)
        if now not in allowed:
            yield Problem("a stale plan is applied", f"{change.action} of {change.name!r}: {now}")


_LOOKS = 3  # reads that must not show an add before it is sent again
_GATEWAY_TIMEOUT = 504


def check_requests(trial: Trial) -> Iterator[Problem]:
    """Check what a run sent, whether it came to its end or was killed."""
    if trial.refusal in {"refused", "stale", "unreadable"} and trial.writes():
        yield Problem("writes although it could not begin", trial.refusal)
    yield from _within_the_plan(trial)
    kinds = [one.kind for one in trial.writes()]
    if kinds != sorted(kinds, key=lambda kind: kind == "delete"):
        yield Problem("deletes before it has added and edited", " ".join(kinds))
    for name in trial.case.scope:
        yield from _deletes_wait(trial, name)
    yield from _repeats(trial)


def _within_the_plan(trial: Trial) -> Iterator[Problem]:
    edits = {(one.id, tuple(one.after)) for one in trial.changes if isinstance(one, Edit)}
    going = {one.id for one in trial.changes if isinstance(one, Delete | Replace)}
    adds = trial.adds()
    for request in trial.writes():
        match request.kind:
            case "add":
                known = sent_text(request) in adds
            case "edit":
                known = (sent_id(request), sent_text(request)) in edits
            case _:
                known = sent_id(request) in going
        if not known:
            yield Problem("writes outside its plan", f"{request.kind} {request.path}")


def _deletes_wait(trial: Trial, name: str) -> Iterator[Problem]:
    """Deletes come after adds that are there, and replaced announcements after their successors."""
    changes = trial.of(name)
    plain = {one.id for one in changes if isinstance(one, Delete)}
    gone = [one for one in trial.writes(name) if one.kind == "delete"]
    first = next((one for one in gone if sent_id(one) in plain), None)
    needed = Counter(tuple(one.after) for one in changes if isinstance(one, Add))
    for text, count in needed.items():
        if first and _secured(trial, name, text, before=first.number) < count:
            yield Problem("deletes while an add is not done", f"{text} is not there")
    successors = {one.id: tuple(one.after) for one in changes if isinstance(one, Replace)}
    for request in gone:
        new = successors.get(sent_id(request))
        if new and not _shown_since(trial, name, new, before=request.number):
            yield Problem("the old one goes without its successor", f"{new}")


def _secured(trial: Trial, name: str, text: Text, *, before: int) -> int:
    """Count how often an add is known to have happened, by its answer or by a record of it."""
    ids = {one for view in trial.views(name) if view.number < before for one in view.shown}
    told = sum(
        trial.acknowledged(one) or trial.service.applied.get(one.number) in ids
        for one in trial.posts(text)
        if one.number < before
    )
    first = trial.first(name)
    if trial.case.saved and first is not None:
        told += sum(one == text for one in first.shown.values())
    return max(told, sum(name_may_be(text, one) for one in _since(trial, name, text, before)))


def _shown_since(trial: Trial, name: str, text: Text, *, before: int) -> bool:
    """Whether a record was listed before a request that shows the text that was sent."""
    return any(may_be(text, one) for one in _since(trial, name, text, before))


def _since(trial: Trial, name: str, text: Text, before: int) -> list[Text]:
    """Return the records that reads before a request showed, and the first one of the run not."""
    first = trial.first(name)
    views = [view for view in trial.views(name) if view.number < before]
    if first is None or not views:
        return [text] * len(trial.requests)  # nothing that came through unspoiled says no
    seen = {one: shown for view in views for one, shown in view.shown.items()}
    return [
        shown
        for one, shown in seen.items()
        if one not in first.shown or (trial.case.saved and shown == text)
    ]


def _repeats(trial: Trial) -> Iterator[Problem]:
    """An announcement is sent once, a command twice at most, and then for a reason."""
    for text, count in trial.adds().items():
        posts = [one for one in trial.posts(text) if not _never_came(trial, one)]
        if len(text) == len(FIELDS["announcements"]):
            if len(posts) > count:
                yield Problem("an announcement is sent twice", f"{text}")
            continue
        again = len(posts) - count
        if again > count:
            yield Problem("an add is sent more than twice", f"{text}")
        failed = [one for one in posts if _says_it_failed(trial, one)]
        if again > 0 and again > len(failed):
            yield Problem("an add is sent again without a reason", f"{text}")
        if again > 0 and failed and not _looked(trial, failed[0], posts[-1]):
            yield Problem("an add is sent again without looking", f"{text}")


def _never_came(trial: Trial, request: Request) -> bool:
    answer = trial.service.answers[request.number]
    return answer.status == 429 if isinstance(answer, Reply) else not answer.sent


def _says_it_failed(trial: Trial, request: Request) -> bool:
    answer = trial.service.answers[request.number]
    if isinstance(answer, TransportError):
        return False
    return answer.status == 408 or (500 <= answer.status != _GATEWAY_TIMEOUT)


def _looked(trial: Trial, failed: Request, again: Request) -> bool:
    reads = [
        one
        for one in trial.requests
        if one.method == "GET" and failed.number < one.number < again.number
    ]
    return len(reads) >= _LOOKS


def left(case: Case, service: Listing) -> list[str]:
    """Say what is not yet as it is wanted."""
    return [
        one
        for name in case.scope
        for there, rules in [(now(service, name), case.rules_of(name))]
        for one in left_to_do(case.due_of(name, there), there, rules)
    ]


def now(service: Listing, name: str) -> Texts:
    """Return what is stored in truth."""
    records = service.stored[name]
    return cleaned(
        {record["id"]: tuple(record.get(part) or "" for part in FIELDS[name]) for record in records}
    )


def momentary(
    case: Case, service: Listing, there: Counter[Text], others: Counter[Text]
) -> dict[str, object]:
    """Say what must not be there, or not be missing, even for a moment."""
    before = Counter(text for _, text in case.before)
    wanted = Counter(want.text for want in case.wants)
    former = {folded(name) for want in case.wants for name in want.formerly}
    staying = Counter({text: n for text, n in before.items() if folded(text[0]) not in former})
    ids = {one for name in FIELDS for one in service.ids(name)}
    return {
        "copied for a moment": there - (before | wanted) - others,
        "lost for a moment": (names(staying) & names(wanted)) - names(there),
        "another record is lost": case.kept - ids,
    }


def cut(case: Case, service: Listing, trial: Trial) -> Iterator[Problem]:
    """After a read that shows a first page alone, nothing is written."""
    if not trial.writes():
        return
    first = trial.writes()[0].number
    looks = {
        look.collection: look
        for one in trial.requests
        if (look := service.looks.get(one.number)) and one.number < first
    }
    for name, look in looks.items():
        if case.way.cuts(len(look.shown)):
            count = f"{len(look.shown)} {name} in pages of {case.way.page}"
            yield Problem("adds what another page has", count)


def gone(service: Listing, trial: Trial) -> Iterator[Problem]:
    """What is deleted is gone, whoever else writes: no record comes back."""
    for one in trial.result.settled if trial.result else ():
        change = one.change
        if one.outcome is not Outcome.DONE or not isinstance(change, Delete):
            continue
        if change.id in service.ids(change.resource.collection):
            yield Problem("delete is done and the record is there", f"{change.name!r}")


def copied_or_lost(
    case: Case, service: Listing, plans: Iterable[RecordPlan | None]
) -> Iterator[Problem]:
    changes = [change for plan in plans if plan for change in plan.changes]
    deleted = {one.id for one in changes if isinstance(one, Delete | Replace)}
    kept = {one for one, text in case.before if collection_of(text) in case.scope}
    there = {one for name in case.scope for one in service.ids(name)}
    if lost := kept - deleted - there:
        yield Problem("two runs at once: another record is lost", f"{lost}")
    if missing := left(case, service):
        yield Problem("two runs at once: copied or lost", "; ".join(missing))


def recognizable(case: Case) -> bool:
    """Whether the service changes names only as the tiers of matching see through."""
    return all(alike(want.text, case.way.text(want.text)) for want in case.wants)


def at_rest(case: Case, trials: list[Trial]) -> Iterator[Problem]:
    """Where a service's rewriting can be seen through, nothing is added again or swings."""
    quiet = [trial for trial in trials if trial.quiet]
    posts = case.wants_of("announcements")
    still = {"commands"}
    # a pin gives way to an equal announcement, so that after a post it may mean another
    if case.rules.announcements == "append" and not any(want.pin for want in posts):
        still.add("announcements")
    for trial in quiet[1:]:
        for request in trial.writes():
            if request.kind != "edit" and request.collection in still:
                words = f"{request.kind} {request.path} {dict(request.body or {})}"
                yield Problem(f"{request.collection} swing", words)


def repeated(case: Case, trials: list[Trial]) -> Iterator[Problem]:
    """Over all runs, no more was added of a name than is wanted of it."""
    if not recognizable(case):
        return
    wanted = Counter(want.text for want in case.wants)
    due = trials[0].adds() if case.saved else wanted
    posted = Counter(
        sent_text(request)
        for trial in trials
        for request in trial.writes()
        if request.kind == "add" and trial.happened(request)
        # a mirror posts again what the service changed
        if request.collection == "commands" or case.rules.announcements == "append"
    )
    if too_many := names(posted) - names(due):
        yield Problem("added again in another run", f"{too_many}")


def names(texts: Counter[Text]) -> Counter[tuple[int, str]]:
    """Count names, apart from titles; what is one name when folded, matching may exchange."""
    return Counter((len(text), folded(text[0])) for text in texts.elements())
