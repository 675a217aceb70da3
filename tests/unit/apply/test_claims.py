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

ACCEPTED = Reply(200, b'{"success": true, "data": {"id": "new"}}')


def beside(service: Listing, *texts: Text) -> None:
    """Let a second writer add records before the first write."""

    def another(request: Request) -> None:
        if request.number == 1:
            seed(service, texts)

    service.choose = another


@pytest.mark.parametrize(
    ("desired", "copies"),
    [
        (wanted(None, [announcement("v")]), "1 more announcement equals what this run added ('v')"),
        (
            wanted([command("a"), command("b")]),
            "2 more commands equal what this run added ('a', 'b')",
        ),
    ],
    ids=["one", "several"],
)
def test_several_copies_are_reported_together(desired: Snapshot, copies: str) -> None:
    service = Listing()
    beside(service, *(entry.text for entries in desired.collections.values() for entry in entries))

    run = sync(service, desired)

    (notice,) = run.result.notices
    assert notice.message == f"{copies}: a second run may have added them at the same time"
    assert notice.hint == "run again: with prune on, it deletes the copies, which no limit counts"
    assert not run.result.verified


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        (BAD_REQUEST, "was refused"),
        (FAILED_BEFORE, "failed"),
        (RESET_BEFORE, "has an unknown result"),
    ],
)
def test_deletes_wait_for_adds(fault: Fault, how: str) -> None:
    service = Listing(choose=lambda request: fault if request.kind == "add" else None)
    seed(service, [command("old")])

    run = sync(service, wanted([command("new")]), driver=Driver(service, retries=0))

    deleted = run.result.settled[-1]
    assert deleted.outcome is Outcome.SKIPPED
    assert deleted.error == f"deletes wait for adds, and the add of 'new' {how}"
    mend = "run again" if fault is RESET_BEFORE else "correct that entry and run again"
    assert str(deleted.hint).startswith(f"{mend}; or make the deletes alone")


def test_an_add_that_may_be_listed_under_another_name_names_the_candidates() -> None:
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
    assert one.error == (
        "it is not listed; new under another name: 'x0', 'x1', 'x2' and 2 more: the service has "
        "an internal error (HTTP 500)"
    )
    assert str(one.hint) == (
        "if the service changed the name, write it in the manifest as it is listed; otherwise "
        "the next apply adds it again"
    )


def test_a_delete_that_does_not_show_names_no_new_record() -> None:
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
    assert one.error == "the service accepted it, but the old one is still listed"
    assert str(one.hint) == ""


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
    rules: SyncRules, desired: Snapshot, *, is_reported: bool
) -> None:
    service = Listing(store=lambda record: {key: text.lower() for key, text in record.items()})

    run = sync(service, desired, rules=rules)

    reported = [notice for notice in run.result.notices if "sync." in str(notice.hint)]
    assert run.result.rewritten
    assert bool(reported) is is_reported
    for notice in reported:
        assert "announcements whose text the service changes are posted again" in notice.message
        assert str(notice.hint).endswith("or set sync.announcements to append")


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
def test_a_list_that_shows_no_add_may_be_cut(names: tuple[str, ...]) -> None:
    """Of two adds, the list shows the second one: then it shows what is new."""
    lost = Fault("accepted and dropped", applied=False, answer=lambda _: ACCEPTED)
    service = Listing(choose=lambda request: lost if request.number == 1 else None)

    first, *_ = sync(service, wanted([command(name) for name in names])).result.settled

    assert first.outcome is Outcome.UNKNOWN
    assert str(first.hint).startswith("the list may be cut") is (len(names) == 1)
    assert ("look for it on the bot's page first" in str(first.hint)) is bool(first.hint)


def test_an_add_without_a_good_answer_says_nothing_of_the_list() -> None:
    service = Listing(choose=lambda request: RESET_BEFORE if request.kind == "add" else None)

    (added,) = sync(
        service, wanted([command("a")]), driver=Driver(service, retries=0)
    ).result.settled

    assert (added.outcome, added.hint) == (Outcome.UNKNOWN, LOOK)
