"""What must hold of every plan, by the oracle: it is enough, it spares, and the guard counts."""

from collections import Counter
from collections.abc import Collection, Container, Iterator, Sequence

from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import Plan
from tests.support.oracle import (
    Rules,
    Text,
    Texts,
    Want,
    alike,
    countable,
    folded,
    left_to_do,
    losses,
    might_be,
    refused,
    same_name,
)
from tests.support.trial import Problem, Trial


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


def _guarded(trial: Trial, plan: Plan, live: dict[str, Texts]) -> Iterator[Problem]:
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


def _sparing(trial: Trial, plan: Plan, name: str, live: Texts) -> Iterator[Problem]:
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
