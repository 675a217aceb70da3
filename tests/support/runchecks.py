"""What must hold of what a run says, by what was stored in truth."""

from collections import Counter
from collections.abc import Iterator

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.plan.changes import Add, Delete, Edit, Replace
from tests.support.cases import collection_of
from tests.support.listing import FIELDS
from tests.support.oracle import Text, Texts, fields_that_differ, left_to_do, may_be, same_name
from tests.support.trial import Problem, Trial, View, names_of


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
