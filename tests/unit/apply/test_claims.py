"""What a run reports of new records that it did not make, and of what waits for them."""

import pytest

from commandsync.api.policy import LOOK, Health
from commandsync.apply.ledger import Ledger, Write
from commandsync.apply.outcomes import Outcome, State
from commandsync.apply.verification import Claims
from commandsync.errors import Reply
from commandsync.plan.changes import Add, Change, Delete, Edit
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Identity, Snapshot, by_identity
from commandsync.records.texts import Resource, Text
from tests.support.driver import Driver
from tests.support.listing import (
    BAD_REQUEST,
    FAILED_BEFORE,
    RESET_BEFORE,
    WRONG_SHAPE_BEFORE,
    Fault,
    Listing,
    Request,
)
from tests.support.runs import (
    EVERYTHING,
    announcement,
    carry_out,
    command,
    plan_now,
    read,
    seed,
    sync,
    wanted,
)
from tests.support.wording import Wording

ACCEPTED = Reply(200, b'{"success": true, "data": {"id": "new"}}')


def beside(service: Listing, *texts: Text) -> None:
    """Let a second writer add records before the first write."""

    def another(request: Request) -> None:
        if request.number == 1:
            seed(service, texts)

    service.choose = another


@pytest.mark.parametrize(
    "desired",
    [wanted(None, [announcement("v")]), wanted([command("a"), command("b")])],
    ids=["one", "several"],
)
def test_several_copies_are_reported_together(wording: Wording, desired: Snapshot) -> None:
    service = Listing()
    beside(service, *(entry.text for entries in desired.collections.values() for entry in entries))

    run = sync(service, desired)

    (notice,) = run.result.notices
    wording(notice.message, notice.hint)
    assert not run.result.verified


@pytest.mark.parametrize(
    "fault", [BAD_REQUEST, FAILED_BEFORE, RESET_BEFORE], ids=["refused", "failed", "unknown"]
)
def test_deletes_wait_for_adds(wording: Wording, fault: Fault) -> None:
    service = Listing(choose=lambda request: fault if request.kind == "add" else None)
    seed(service, [command("old")])

    run = sync(service, wanted([command("new")]), driver=Driver(service, retries=0))

    deleted = run.result.settled[-1]
    assert deleted.outcome is Outcome.SKIPPED
    wording(deleted.error, deleted.hint)


def test_an_add_that_may_be_listed_under_another_name_names_the_candidates(
    wording: Wording,
) -> None:
    service = Listing(choose=lambda request: FAILED_BEFORE if request.kind == "add" else None)
    others = [command(f"x{n}", "Another.") for n in range(5)]
    inner = service.choose

    def another(request: Request) -> Fault | None:
        if request.number == 1:
            seed(service, others)
        return inner(request)

    service.choose = another

    run = sync(service, wanted([command("new")]))

    (one,) = run.result.settled
    assert one.outcome is Outcome.UNKNOWN
    wording(one.error, one.hint)


def test_a_delete_that_does_not_show_names_no_new_record(wording: Wording) -> None:
    service = Listing()
    seed(service, [command("old")])

    def another(request: Request) -> Fault | None:
        if request.kind == "delete":
            seed(service, [command("x")])
            return WRONG_SHAPE_BEFORE
        return None

    service.choose = another

    run = sync(service, wanted([]))

    (one,) = run.result.settled
    assert one.outcome is Outcome.UNKNOWN
    wording(one.error, one.hint)


def test_a_copy_that_the_next_run_would_keep_is_not_verified_either() -> None:
    service = Listing()
    beside(service, announcement("v"))

    run = sync(service, wanted(None, [announcement("v")]), rules=SyncRules())

    assert run.result.remaining == ()
    assert run.result.read_back
    assert run.result.verified is False


@pytest.mark.parametrize(
    ("rules", "desired", "is_reported"),
    [
        (EVERYTHING, wanted(None, [announcement("V")]), True),
        (SyncRules(), wanted(None, [announcement("V")]), False),
        (EVERYTHING, wanted([command("Help")]), False),
    ],
    ids=["mirrored", "appended", "commands"],
)
def test_a_text_that_is_posted_again_by_every_apply_is_reported(
    wording: Wording, rules: SyncRules, desired: Snapshot, *, is_reported: bool
) -> None:
    service = Listing(store=lambda record: {key: text.lower() for key, text in record.items()})

    run = sync(service, desired, rules=rules)

    reported = [notice for notice in run.result.notices if "sync." in str(notice.hint)]
    assert run.result.rewritten
    assert bool(reported) is is_reported
    wording(*(text for notice in reported for text in (notice.message, notice.hint)))


def test_a_delete_that_was_done_before_does_not_wait_for_an_add_that_fails() -> None:
    service = Listing()
    seed(service, [command("old")])
    plan = plan_now(service, wanted([command("new")]))
    for records in (service.stored["commands"], service.shown["commands"]):
        records.clear()
    driver = Driver(service)
    listed = read(driver, plan.scope)
    service.choose = lambda request: BAD_REQUEST if request.kind == "add" else None

    added, deleted = carry_out(plan, listed, driver).settled

    assert (added.outcome, deleted.outcome) == (Outcome.FAILED, Outcome.DONE)


ADDED, EDITED, DELETED = (
    Add(resource=Resource.COMMAND, after=command("a")),
    Edit(resource=Resource.COMMAND, id="1", before=command("a"), after=command("a"), fields=()),
    Delete(resource=Resource.COMMAND, id="1", before=command("a")),
)


@pytest.mark.parametrize(
    ("ids", "changes", "allowed"),
    [
        (["1", "2"], [ADDED, ADDED], 0),  # a service that shows ids shows those of new records
        (["1", ""], [], 1),
        (["1", ""], [ADDED, DELETED], 2),
        (["1", ""], [ADDED, EDITED], 3),  # not only adds: a service may give back a new record
        ([], [ADDED, ADDED], 2),
        ([], [], 0),
        (["", ""], [DELETED], 2),
    ],
)
@pytest.mark.parametrize("sent", [True, False])
def test_a_read_with_more_records_without_an_id_than_the_run_can_have_made_proves_nothing(
    ids: list[str], changes: list[Change], allowed: int, *, sent: bool
) -> None:
    entries = [Entry(command(f"c{n}"), id=identifier) for n, identifier in enumerate(ids)]
    states = [State.PENDING, State.UNCLEAR] if sent else [State.PENDING]
    writes = tuple(Write(n, change, [*states]) for n, change in enumerate(changes))
    plan = plan_now(Listing(), wanted([]))
    claims = Claims.opened(Ledger(plan, Health(), writes), Resource.COMMAND, entries)
    allowed = allowed if sent else ids.count("")

    def without_ids(count: int) -> dict[Identity, Text]:
        return dict(by_identity([Entry(command(f"n{n}")) for n in range(count)]))

    assert not claims.lost_ids(without_ids(allowed))
    assert claims.lost_ids(without_ids(allowed + 1))


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
def test_a_list_that_shows_no_add_may_be_cut(wording: Wording, names: tuple[str, ...]) -> None:
    """Of two adds, the list shows the second one: then it shows what is new."""
    lost = Fault("accepted and dropped", applied=False, answer=lambda _: ACCEPTED)
    service = Listing(choose=lambda request: lost if request.number == 1 else None)

    first, *_ = sync(service, wanted([command(name) for name in names])).result.settled

    assert first.outcome is Outcome.UNKNOWN
    wording(first.hint)


def test_an_add_without_a_good_answer_says_nothing_of_the_list() -> None:
    service = Listing(choose=lambda request: RESET_BEFORE if request.kind == "add" else None)

    (added,) = sync(
        service, wanted([command("a")]), driver=Driver(service, retries=0)
    ).result.settled

    assert (added.outcome, added.hint) == (Outcome.UNKNOWN, LOOK)
