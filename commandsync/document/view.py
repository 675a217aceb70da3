"""A plan and a result as every format shows them: decided here, and only laid out there.

`plan_view` and `result_view` return values: the changes that are shown, counts, and sentences. A
sentence is a tuple of texts; a format escapes those that are `Foreign`. `blocks_of` joins the plans
of listings that show the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias, assert_never

from commandsync.apply.outcomes import Outcome, Result
from commandsync.diagnostics import Notice, Words, in_words
from commandsync.document.change import (
    ENDS,
    ChangeView,
    SettledView,
    Verb,
    change_view,
    settled_view,
    uses_of,
    verb_of,
)
from commandsync.plan.comparison import Scheduled
from commandsync.plan.plan import (
    AsRead,
    LastSent,
    ListPlan,
    OfVersion,
    Plan,
    RecordPlan,
    Target,
    Unknown,
    Unread,
)
from commandsync.records.snapshot import Phase, Snapshot, shown_time
from commandsync.records.texts import OF_MANIFEST, Resource, counted


class Foreign(str):
    """Untrusted text within a sentence."""

    __slots__ = ()


class Name(Foreign):
    """An untrusted name within a sentence, which may be long."""

    __slots__ = ()


Sentence: TypeAlias = tuple[str, ...]


def laid_out(sentence: Sentence, shown: Callable[[Foreign], str]) -> str:
    """Return a sentence with its foreign texts as a format shows them."""
    return "".join(shown(text) if isinstance(text, Foreign) else text for text in sentence)


def series(texts: Iterable[str], between: str = ", ") -> Sentence:
    """Return the texts of a list, with other text between two of them."""
    return tuple(part for text in texts for part in (between, text))[1:]


class Heading(NamedTuple):
    """The listing of a plan, and where the plan is from."""

    where: Sentence
    source: Sentence


@dataclass(frozen=True, kw_only=True)
class PlanView:
    """A plan as it is shown, or several that show the same.

    The views of its changes are made when a format asks for them: a result has views of its own.
    """

    plan: Plan
    headings: tuple[Heading, ...]  # of each plan
    origin: Sentence  # where the bot's id and the base URL are from, if not from the manifest
    compared: Sentence  # the baseline; empty for none
    scheduled: tuple[Sentence, ...]  # about scheduled entries
    kept: tuple[str, ...]  # about records and former names that the manifest does not need
    unseen: Sentence  # the effect of apply on an unknown list; empty for any other
    nothing: str  # the remark on a plan without changes; empty if it has some
    refusal: Notice | None  # why apply would refuse it
    notices: tuple[Notice, ...]
    explained: frozenset[str] = frozenset()  # the lines of its legend that a block above has

    @cached_property
    def changes(self) -> tuple[ChangeView, ...]:
        """The changes of the plan."""
        return tuple(map(change_view, self.plan.changes))

    @cached_property
    def counts(self) -> Mapping[Verb, int]:
        """How many changes have each verb."""
        return _counts([self.plan])

    @property
    def summary(self) -> str:
        """The counts in words."""
        plan = self.plan
        if not plan.known:
            return f"{counted(plan.size, 'command')} to send{_sub_commands(plan)}."
        return f"{_to_do(self.counts)}, {plan.unchanged} unchanged."

    @property
    def legend(self) -> tuple[str, ...]:
        """The meaning of the signs of its changes that other programs' diffs do not have."""
        # A list that is sent as a whole has neither ids nor uses to keep.
        lines = () if isinstance(self.plan, ListPlan) else _legend(self.shown)
        return tuple(line for line in lines if line not in self.explained)

    @property
    def shown(self) -> tuple[ChangeView, ...]:
        """The changes that are shown to people: none of them is certain for an unknown list."""
        return () if self.unseen else self.changes


def plan_view(plan: Plan, *, applied: bool = False) -> PlanView:
    """Return the view of one plan; once it is `applied`, nothing of it is due any more."""
    return _view(plan, [plan], applied=applied)


def _view(plan: Plan, alike: Sequence[Plan], *, applied: bool = False) -> PlanView:
    """Return the view of a plan that stands for all that show the same."""
    return PlanView(
        plan=plan,
        headings=tuple(map(_heading, alike)),
        origin=_origin(plan.target),
        compared=_compared(plan),
        scheduled=tuple(_scheduled(plan, applied=applied)),
        kept=tuple(_kept(plan)),
        unseen=_unseen(plan, [each.label for each in alike]),
        nothing=_nothing(plan),
        refusal=plan.refusal,
        notices=plan.notices,
    )


VERBS: tuple[Verb, ...] = ("add", "edit", "rename", "replace", "delete")
_ALWAYS = {"add", "edit", "delete"}
_LEGEND = {
    "rename": "» is a rename: the id and the uses are kept.",
    "exact rename": "» is a rename: the id and the permissions are kept.",
    "replace": "± is a replace: a new record is added, then the old one is deleted.",
}


def _counts(plans: Iterable[Plan]) -> Counter[Verb]:
    return Counter(verb_of(change) for plan in plans for change in plan.changes)


def _to_do(counts: Mapping[Verb, int]) -> str:
    return ", ".join(
        f"{counts[verb]} to {verb}" for verb in VERBS if counts[verb] or verb in _ALWAYS
    )


def _legend(changes: Sequence[ChangeView]) -> tuple[str, ...]:
    signs = dict.fromkeys(
        "exact rename" if change.is_exact and change.verb == "rename" else change.verb
        for change in changes
    )
    return tuple(_LEGEND[sign] for sign in signs if sign in _LEGEND)


def total_of(plans: Sequence[Plan]) -> str:
    """Return the counts of all listings of a manifest; empty where there is one only."""
    if len(plans) == 1 or not all(plan.label for plan in plans):
        return ""
    known = [plan for plan in plans if plan.known]
    unknown = len(plans) - len(known)
    counts = _counts(known)
    unchanged = sum(plan.unchanged for plan in known)
    unseen = f"; {counted(unknown, 'list')} to send whose content is not known" if unknown else ""
    return f"All listings: {_to_do(counts)}, {unchanged} unchanged{unseen}."


def question_of(plans: Sequence[Plan]) -> str:
    """Return the counts of the writes to come, with the uses that are lost.

    Of lists that are replaced unseen, it is their number alone.
    """
    known = [plan for plan in plans if plan.known]
    actions = _counts(known)
    counts = ", ".join(f"{actions[verb]:,} to {verb}" for verb in VERBS if actions[verb])
    lost = sum(uses_of(change) for plan in known for change in plan.changes)
    counts += f" ({counted(lost, 'use')})" if lost else ""
    unknown = sum(not plan.known for plan in plans)
    lists = f"{counted(unknown, 'list')} to replace, whatever is there now" if unknown else ""
    return "; ".join(filter(None, (counts, lists)))


def managed(snapshot: Snapshot) -> str:
    """Return the counts of the collections of a manifest."""
    collections = snapshot.collections.items()
    counts = [counted(len(entries), resource) for resource, entries in collections]
    return ", ".join(counts) or "no records"


def _heading(plan: Plan) -> Heading:
    bot, url = Foreign(plan.target.bot), Foreign(plan.target.base_url)
    files = series(map(Foreign, plan.manifest))
    is_list = isinstance(plan, ListPlan)
    if is_list or any(kind.exact for kind in plan.scope):
        who = "bot" if is_list else "application"
        name = (" (", Foreign(plan.target.name), ")") if plan.target.name else ()
        whose = (f"{who} ", bot, *name) if bot else (f"the {who} of the token",)
        compared = _compared(plan)
        how = ("compared with ", *compared) if compared else ("not compared",)
        where = (Foreign(plan.label), ": ", *whose, " at ", url)
        return Heading(where, (" from ", *files, ", ", *how))
    if not bot:  # two manifests are compared, and neither names one
        return Heading(("Manifest",), (" ", *files) if files else ())
    where = ("Bot ", bot, " at ", url) if url else ("Bot ", bot)
    return Heading(where, (" from ", *files) if files else ())


def _compared(plan: Plan) -> Sentence:
    match plan.baseline:
        case AsRead():
            return ("its list",)
        case OfVersion(name=name) | LastSent(name=name):
            return (Foreign(name),)
        case Unread() | Unknown():
            return ()
        case _:
            assert_never(plan.baseline)


def _origin(target: Target) -> Sentence:
    bot, url = target.bot_from, target.base_url_from
    of_url = ("base URL is from ", Foreign(url)) if url else ()
    if bot:
        more = (", and the ", *of_url) if url else ()
        return ("The bot's id is from ", Foreign(bot), *more, ".")
    return ("The ", *of_url, ".") if url else ()


def _unseen(plan: Plan, names: Sequence[str]) -> Sentence:
    if plan.known:
        return ()
    lists = series(map(Foreign, names), " and ")
    size = counted(plan.size, "command") + _sub_commands(plan)
    if isinstance(plan.baseline, Unread):
        returns, it = ("returns its", "it") if len(names) == 1 else ("return their", "them")
        return (
            *lists,
            f" {returns} list only with the token: apply reads and compares {it} first.",
        )
    does, it = ("does not return its", "it") if len(names) == 1 else ("do not return their", "each")
    return (
        *lists,
        f" {does} list: apply replaces {it} as a whole with {size}, whatever is there now.",
    )


def _sub_commands(plan: Plan) -> str:
    """Return the remark that commands are counted as people call them, where that differs."""
    if not isinstance(plan, ListPlan) or not any(" " in each.name for each in plan.commands):
        return ""
    return ", each sub-command counted"


def _nothing(plan: Plan) -> str:
    if plan.changes or plan.pending or not plan.known:
        return ""
    if isinstance(plan, ListPlan) and plan.writes:
        since = f" since {plan.baseline.name}" if isinstance(plan.baseline, LastSent) else ""
        return f"No changes{since}; apply sends the list again."
    if not plan.scope:
        keys = " and no ".join(f"{kind.collection}:" for kind in OF_MANIFEST)
        return f"No changes: the manifest has no {keys}."
    if plan.unwritable:
        count = counted(len(plan.unwritable), "listed record")
        return f"No changes can be made: {count} to change or delete without a usable id."
    return f"No changes: {_nothing_left(plan)}"


def _nothing_left(plan: Plan) -> str:
    if isinstance(plan, RecordPlan) and plan.saved:
        return "the listing shows every change of the saved plan."
    return f"nothing is left to do{' for the selected records' if plan.left_out else ''}."


def _kept(plan: Plan) -> Iterator[str]:
    """Yield the records that stay without the manifest, and the former names it can drop."""
    for resource, count in Counter(kind for kind, _ in plan.unmanaged).items():
        are, stay = ("is", "stays") if count == 1 else ("are", "stay")
        records, why = counted(count, f"listed {resource}"), _why_kept(plan, resource)
        yield f"{records} {are} not in the manifest and {stay} ({why})."
    if isinstance(plan, RecordPlan) and plan.finished and plan.target.base_url:
        entries, them = "1 formerly: entry is", "it"
        if plan.finished > 1:
            entries, them = f"{plan.finished:,} formerly: entries are", "them"
        yield f"{entries} no longer needed: remove {them} from the manifest."


def _why_kept(plan: Plan, resource: Resource) -> str:
    """Return why listed records stay that the manifest does not want; empty if they do not."""
    if not plan.manages(resource):
        return f"{resource.collection} are only appended"
    return "" if plan.rules.prune else "prune is off"


_MOST_NAMES = 10
_SCHEDULE = {  # the verbs of a sentence on one entry, and on several
    "waits": "wait",
    "is due": "are due",
    "ends": "end",
    "has ended and stays listed": "have ended and stay listed",
}
_WAITS, _IS_DUE, _ENDS, _STAYS = _SCHEDULE


def _scheduled(plan: Plan, *, applied: bool) -> Iterator[Sentence]:
    """Yield the sentences on scheduled entries.

    An entry that is listed without an end, or has ended and is no longer listed, needs no sentence,
    nor does one that is due once the plan is applied: the result says how that ended.
    """
    if isinstance(plan, ListPlan):  # only what is due is sent
        return
    for kind in plan.scope:
        why = _why_kept(plan, kind)
        groups: dict[str, list[Scheduled]] = {}
        for entry in plan.scheduled:
            if entry.resource is kind:
                verb = _schedule_verb(entry, stays=bool(why), applied=applied)
                groups.setdefault(verb, []).append(entry)
        for verb, plural in _SCHEDULE.items():
            group = groups.get(verb, [])
            if not group:
                continue
            does = verb if len(group) == 1 else plural
            names: list[str] = []
            for entry in group[:_MOST_NAMES]:
                names += (", ", Name(entry.name), f" {_times(entry)}")
            left = len(group) - _MOST_NAMES
            more = f" and {left:,} more" if left > 0 else ""
            reason = f" ({why})" if verb == _STAYS else ""
            yield (f"{counted(len(group), kind)} {does}{reason}: ", *names[1:], f"{more}.")


def _schedule_verb(entry: Scheduled, *, stays: bool, applied: bool) -> str:
    """Return the verb of a sentence on an entry; empty if it needs none.

    Where none `stays` after its end, the plan deletes it.
    """
    match entry.phase:
        case Phase.WAITING:
            return _WAITS
        case Phase.DUE if not entry.is_listed:
            return "" if applied else _IS_DUE
        case Phase.DUE:
            return _ENDS if entry.schedule.until else ""
        case _:
            return _STAYS if entry.is_listed and stays else ""


def _times(entry: Scheduled) -> str:
    """Return from when and until when an entry is to be listed."""
    publish, until = entry.schedule.publish, entry.schedule.until
    if until and entry.phase is Phase.DUE and entry.is_listed:
        return f"on {shown_time(until)}"
    begin = "from" if entry.phase is Phase.WAITING else "since"
    listed = "(one is listed already, and stays)"
    parts = [
        f"{begin} {shown_time(publish)}" if publish else "",
        f"until {shown_time(until)}" if until else "",
        listed if entry.phase is Phase.WAITING and entry.is_listed else "",
    ]
    return " ".join(filter(None, parts))


_ANY = Target(bot="", base_url="", abilities={})


def blocks_of(plans: Sequence[Plan]) -> list[PlanView]:
    """Return the views of plans, in the order of their first plans; equal ones are joined.

    Plans of whole lists show the same if nothing but the listing and the warnings differ: a warning
    names its listing. A warning that several listings have is in the first block only, and names
    them all. The legend of a sign is in the first block that has it.
    """
    blocks: list[tuple[object, list[Plan]]] = []
    listings: dict[Notice, list[str]] = {}  # those that each notice is about
    for plan in plans:
        # Nothing is equal to a new object.
        key = _without_names(plan) if isinstance(plan, ListPlan) else object()
        alike = next((some for known, some in blocks if known == key), None)
        if alike is None:
            blocks.append((key, alike := []))
        alike.append(plan)
        for notice in plan.notices:
            listings.setdefault(_anonymous(plan, notice), []).append(plan.label)
    views, explained = [], set[str]()
    for _, alike in blocks:
        notices = _notices(alike, listings)
        plan = replace(alike[0], notices=notices)
        if isinstance(plan, ListPlan):
            plan = replace(plan, name=" and ".join(each.label for each in alike), audience=None)
        view = replace(_view(plan, alike), explained=frozenset(explained))
        views.append(view)
        explained.update(view.legend)
    return views


def _notices(alike: Sequence[Plan], listings: dict[Notice, list[str]]) -> tuple[Notice, ...]:
    """Return the notices of a block; each shared one is taken once, with all names."""
    notices: list[Notice] = []
    for own, notice in [(each, notice) for each in alike for notice in each.notices]:
        anonymous = _anonymous(own, notice)
        if anonymous is notice:
            if own is alike[0] or notice not in notices:
                notices.append(notice)
        elif about := listings.pop(anonymous, []):
            named = ", ".join(dict.fromkeys(about))
            notices.append(replace(notice, message=named + anonymous.message))
    return tuple(notices)


def _without_names(plan: ListPlan) -> object:
    """Return a value that is equal for all plans that show the same."""
    anonymous = replace(
        plan,
        target=_ANY,
        name="",
        audience=None,
        baseline=replace(plan.baseline, lists=()),
        commands=(),
        digest="",
        losses=(),
        notices=(),
    )
    return anonymous, plan.size, plan.pending, plan.writes


def _anonymous(plan: Plan, notice: Notice) -> Notice:
    """Return a notice without the name of its listing, with which it begins; else the notice."""
    name = plan.label
    if not name or not notice.message.startswith(f"{name}: "):
        return notice
    return replace(notice, message=notice.message.removeprefix(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """A result as it is shown."""

    result: Result
    plan: PlanView  # as it is once it is applied
    settled: tuple[SettledView, ...]  # every change with its end, in the plan's order
    rewritten: tuple[SettledView, ...]  # those whose text the service changed
    summary: str  # the counts, and whether the listing was verified
    # For a run that ended early: whether it was stopped or interrupted, and its state.
    stop: tuple[str, Sentence] | None
    advice: str  # about a run that ended early
    remaining: tuple[ChangeView, ...]  # what planning again would do besides


def result_view(result: Result, words: Words) -> ResultView:
    """Return the view of a result, with advice in the words of a program."""
    settled = tuple(map(settled_view, result.settled))
    counts = Counter(each.end for each in settled)
    hint = in_words(result.stopped_hint, words) or "run again to finish the rest"
    advice = hint[:1].upper() + hint[1:] + ("" if hint.endswith("?") else ".")
    resent = result.sent in {Outcome.DONE, Outcome.SENT} and not settled
    nothing = "the list was sent again" if resent else "0 done"
    ends = ", ".join(f"{counts[end]} {end}" for end in ENDS if counts[end])
    return ResultView(
        result=result,
        plan=plan_view(result.plan, applied=True),
        settled=settled,
        rewritten=tuple(each for each in settled if each.settled.rewrites),
        summary=f"{ends or nothing}. {_verdict(result)}",
        stop=_stop(result, advice),
        advice=advice,
        remaining=tuple(map(change_view, result.remaining)),
    )


def _stop(result: Result, advice: str) -> tuple[str, Sentence] | None:
    if result.interrupted:
        state = "requests in flight were finished"
        if result.count(Outcome.UNKNOWN) or result.sent is Outcome.UNKNOWN:
            state = "a request in flight may still arrive"
        return "Interrupted", (f"{state}. {advice}",)
    return ("Stopped", (Foreign(result.stopped), f". {advice}")) if result.stopped else None


def _verdict(result: Result) -> str:
    if result.verified is None:
        unread = {
            None: "Nothing was sent.",
            Outcome.SENT: "Accepted; the list cannot be read back.",
            Outcome.UNKNOWN: "Not verified: the list cannot be read back.",
        }
        verdict = unread.get(result.sent, "The listing was not changed.")
        return f"{verdict} The sent list is not recorded." if result.unrecorded else verdict
    if result.verified:
        before = result.settled and all(settled.already for settled in result.settled)
        begin = "Everything was done already" if before else "Verified"
        return f"{begin}: {_nothing_left(result.plan)}"
    if not result.touched:
        return "The listing was not changed."
    if not result.read_back:
        how = "was not" if result.interrupted else "could not be"
        return f"Not verified: the listing {how} read again. Run plan to see the listed records."
    found = "not everything is done"
    if result.remaining:
        found = f"{counted(len(result.remaining), 'more change')} left to do"
    elif result.rewritten:
        count = counted(len(result.rewritten), "record")
        found = f"the service changed the text of {count}"
    return f"Read again: {found}."
