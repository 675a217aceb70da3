"""What must hold of what a run sends: within its plan, in its order, nothing twice."""

from collections import Counter
from collections.abc import Iterator

from commandsync.errors import Reply, TransportError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from tests.support.listing import FIELDS, Request
from tests.support.oracle import Text, may_be, name_may_be
from tests.support.trial import Problem, Trial, sent_id, sent_text

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
