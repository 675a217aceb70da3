"""The report of a run about new records, and the evidence of reads for each change."""

from dataclasses import replace

import pytest

from commandsync.api.policy import LOOK, Health
from commandsync.apply.check import compare
from commandsync.apply.ledger import Claims, Evidence, Ledger, Write, evidence_of
from commandsync.apply.outcomes import Outcome, State
from commandsync.diagnostics import Location, Notice
from commandsync.errors import Reply
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.plan import RecordPlan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Identity, Snapshot, by_identity
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text
from tests.support.listing import (
    BAD_REQUEST,
    FAILED_BEFORE,
    RESET_AFTER,
    RESET_BEFORE,
    WITHOUT_IDS,
    WRONG_SHAPE_BEFORE,
    Fault,
    Listing,
    Request,
)
from tests.support.runs import (
    EVERYTHING,
    TARGET,
    Driver,
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
        (wanted(None, [announcement("v")]), "1 more announcement equals an add of this run ('v')"),
        (
            wanted([command("a"), command("b")]),
            "2 more commands equal adds of this run ('a', 'b')",
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
    assert notice.hint == "run again: with prune on, it deletes the copies; no limit counts them"
    assert not run.result.verified


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
    """The list shows the second of two adds: then it shows new records."""
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


OLD = CommandText("a", "Old words", "s")
NEW = CommandText("a", "New words", "s")
LOWER = CommandText("a", "new words", "s")
OTHER = CommandText("a", "Something", "s")
POST, POSTED = AnnouncementText("t", "Now"), AnnouncementText("t", "Then")

ADD = Add(resource=Resource.COMMAND, after=NEW)
EDIT = Edit(resource=Resource.COMMAND, id="1", before=OLD, after=NEW, fields=())
DELETE = Delete(resource=Resource.COMMAND, id="1", before=OLD)
REPLACE = Replace(resource=Resource.ANNOUNCEMENT, id="1", before=POSTED, after=POST, fields=())


SHOWN = Evidence()
PENDING, UNCLEAR, FAILED = State.PENDING, State.UNCLEAR, State.FAILED


def plan_of(*changes: Change) -> RecordPlan:
    return RecordPlan(
        target=TARGET,
        manifest=(),
        scope=(Resource.COMMAND,),
        changes=changes,
        unchanged=0,
        sizes={},
    )


def test_an_add_shows_by_its_record_alone() -> None:
    listed: dict[Identity, Text] = {"2": NEW, "3": LOWER}

    assert evidence_of(ADD, listed=listed, record="2") == SHOWN
    assert [one.how for one in evidence_of(ADD, listed=listed, record="3").rewrites] == [
        "lower-cased"
    ]
    assert evidence_of(ADD, listed=listed) == evidence_of(ADD, listed=listed, record="9")
    assert (
        str(evidence_of(ADD, listed=listed)) == "Evidence(missing='it is not listed', rewrites=())"
    )


def test_an_edit_shows_by_its_id() -> None:
    assert evidence_of(EDIT, listed={"1": NEW}) == SHOWN
    assert (
        str(evidence_of(EDIT, listed={"2": NEW}))
        == "Evidence(missing='it is no longer listed', rewrites=())"
    )
    assert (
        str(evidence_of(EDIT, listed={"1": OLD}))
        == "Evidence(missing='it is listed with its old text', rewrites=())"
    )


def test_reading_again_is_of_use_until_it_shows_or_is_explained() -> None:
    explained = evidence_of(EDIT, listed={"1": LOWER})
    unexplained = evidence_of(EDIT, listed={"1": OTHER})

    assert explained.rewrites
    assert unexplained.rewrites
    assert SHOWN.conclusive
    assert explained.conclusive
    assert not unexplained.conclusive
    assert not Evidence("x").conclusive


def test_an_edit_that_leaves_the_old_text_says_how_the_two_differ_and_proves_nothing() -> None:
    again = replace(EDIT, before=LOWER)

    found = evidence_of(again, listed={"1": LOWER})

    assert found.missing == evidence_of(EDIT, listed={"1": OLD}).missing
    assert [one.how for one in found.rewrites] == ["lower-cased"]
    assert not found.conclusive


def test_a_delete_shows_when_the_record_is_gone() -> None:
    assert evidence_of(DELETE, listed={"2": OLD}) == SHOWN
    assert (
        str(evidence_of(DELETE, listed={"1": NEW}))
        == "Evidence(missing='the old one is still listed', rewrites=())"
    )


def test_a_record_that_only_lost_its_id_is_not_gone() -> None:
    assert evidence_of(DELETE, listed={(NEW, 0): NEW}) == SHOWN
    assert (
        str(evidence_of(DELETE, listed={(OLD, 0): OLD}))
        == "Evidence(missing='an equal one is listed without an id', rewrites=())"
    )


def test_a_replace_shows_when_the_new_one_is_there_and_the_old_one_is_not() -> None:
    rewritten = AnnouncementText("T", "now")

    assert evidence_of(REPLACE, listed={"2": POST}, record="2") == SHOWN
    assert len(evidence_of(REPLACE, listed={"2": rewritten}, record="2").rewrites) == 2
    assert (
        str(evidence_of(REPLACE, listed={"1": POSTED, "2": POST}, record="2"))
        == "Evidence(missing='the old one is still listed', rewrites=())"
    )
    assert (
        str(evidence_of(REPLACE, listed={"1": POSTED}))
        == "Evidence(missing='it is not listed', rewrites=())"
    )


def changing_another(request: Request, service: Listing) -> None:
    """Let a second writer change a wanted command before the first write."""
    if request.number == 1:
        for records in (service.stored["commands"], service.shown["commands"]):
            records[0]["description"] = "Changed."


def test_what_is_left_to_do_is_named() -> None:
    service = Listing()
    seed(service, [command("kept"), command("a", "Old.")])
    service.choose = lambda request: changing_another(request, service)

    run = sync(service, wanted([command("kept"), command("a")]))

    assert [change.name for change in run.result.remaining] == ["kept"]
    (notice,) = run.result.notices
    assert (
        notice.message
        == "the listing still differs from the manifest, left to do: edit command 'kept'"
    )
    assert str(notice.hint) == (
        "somebody else changed it meanwhile, or the service did not keep the text: run "
        "plan, then apply again"
    )
    assert not run.result.verified


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (FAILED_BEFORE, "HTTP 500"),
        (WITHOUT_IDS, ": records are listed without the ids that they had"),
    ],
    ids=["failed", "without ids"],
)
def test_a_listing_that_cannot_be_read_again_is_reported(fault: Fault, why: str) -> None:
    service = Listing()
    seed(service, [command("a", "Old."), command("b")])
    service.choose = lambda request: fault if request.kind == "read" and request.number else None

    run = sync(service, wanted([command("a"), command("b")]), driver=Driver(service, retries=0))

    assert [why in one.message for one in run.result.notices] == [True]
    assert run.result.read_back is False


def test_an_edit_with_an_unknown_result_names_what_differs() -> None:
    service = Listing(store=lambda record: {key: text.lower() for key, text in record.items()})
    seed(service, [command("a", "Old.")])
    service.choose = lambda request: RESET_AFTER if request.kind == "edit" else None

    run = sync(service, wanted([command("a", "New.")]), driver=Driver(service, retries=0))

    assert [one.outcome for one in run.result.settled] == [Outcome.UNKNOWN]
    assert [one.how for one in run.result.rewritten[0].rewrites] == ["lower-cased"]


def test_a_change_that_was_done_before_and_is_undone_meanwhile_is_unknown() -> None:
    service = Listing()
    seed(service, [command("a", "Something else."), command("b", "Old.")])
    plan = plan_now(service, wanted([command("a"), command("b")]))

    def describe(text: str) -> None:
        for records in (service.stored["commands"], service.shown["commands"]):
            records[0]["description"] = text

    describe(command("a")[1])
    driver = Driver(service)
    listed = read(driver, plan.scope)
    service.choose = lambda request: describe("Something else.") if request.kind == "edit" else None

    done_before, edited = carry_out(plan, listed, driver).settled

    assert (done_before.outcome, edited.outcome) == (Outcome.UNKNOWN, Outcome.DONE)
    assert done_before.error == "it was done before, but it is listed with its old text"


def test_an_edit_that_a_service_takes_back_asks_for_its_text_in_the_manifest() -> None:
    service = Listing(store=lambda record: {key: text.lower() for key, text in record.items()})
    seed(service, [command("a", "new.")])

    (edited,) = sync(service, wanted([command("a", "New.")])).result.settled

    assert edited.outcome is Outcome.UNKNOWN
    assert edited.error == "the service accepted it, but it is listed with its old text"
    assert str(edited.hint) == "write it in the manifest as the service stores it"


def test_a_new_plan_repeats_nothing_that_the_run_reports() -> None:
    edit, gone = replace(EDIT, location=Location("commands.yaml", 3)), replace(DELETE, id="2")
    known, general = Notice("known"), Notice("general")
    here, elsewhere = (Notice("x", location=Location("commands.yaml", n)) for n in (3, 5))
    plan = replace(plan_of(edit), notices=(known,))
    ledger = Ledger(plan, Health(), (Write(0, edit, [PENDING, UNCLEAR, FAILED]),))
    claims = {Resource.COMMAND: Claims.opened(ledger, Resource.COMMAND, ())}
    again = replace(plan_of(edit, gone), notices=(known, here, elsewhere, general))

    compare(ledger, Snapshot(), replan=lambda _: again, claims=claims)

    assert ledger.remaining == (gone,)
    assert ledger.notices[:2] == [elsewhere, general]
    assert len(ledger.notices) == 3


def test_a_record_that_equals_an_edited_one_is_not_called_a_copy_of_an_add() -> None:
    service = Listing()
    seed(service, [OLD])

    def another(request: Request) -> Fault | None:
        if request.kind == "edit":
            seed(service, [NEW])
        return None

    service.choose = another

    run = sync(service, wanted([NEW]))

    assert [change.action for change in run.result.remaining] == ["delete"]
    assert (
        run.result.notices[0].message
        == "the listing still differs from the manifest, left to do: delete command 'a'"
    )


def test_an_add_that_an_earlier_run_made_and_that_is_gone_at_the_end_is_not_verified() -> None:
    service = Listing()
    plan = plan_now(service, wanted([command("a"), command("b")]))
    seed(service, [command("a")])
    driver = Driver(service)
    listed = read(driver, plan.scope)

    def remove(request: Request) -> None:
        if request.kind == "add":
            for records in (service.stored["commands"], service.shown["commands"]):
                records[:] = [record for record in records if record["name"] != "a"]

    service.choose = remove

    result = carry_out(plan, listed, driver)

    assert [settled.already for settled in result.settled] == [True, False]
    assert [settled.outcome for settled in result.settled] == [Outcome.DONE] * 2
    assert not result.verified


def test_a_copy_that_the_next_run_would_keep_is_not_verified_either() -> None:
    service = Listing()
    beside(service, announcement("v"))

    run = sync(service, wanted(None, [announcement("v")]), rules=SyncRules())

    assert run.result.remaining == ()
    assert run.result.read_back
    assert run.result.verified is False


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
