"""What a story is judged by beside its runs: what is left to do, came back, was lost, or swings."""

from collections import Counter
from collections.abc import Iterable, Iterator

from commandsync.apply.outcomes import Outcome
from commandsync.plan.changes import Delete, Replace
from commandsync.plan.plan import Plan
from tests.support.cases import Case, collection_of
from tests.support.listing import FIELDS, Listing
from tests.support.oracle import Text, Texts, alike, folded, left_to_do
from tests.support.trial import Problem, Trial, cleaned, sent_text


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


def copied_or_lost(case: Case, service: Listing, plans: Iterable[Plan | None]) -> Iterator[Problem]:
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
