"""The listing of 656 awkward commands goes through plan and apply, and nothing is lost."""

import json
from pathlib import Path

from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText, Resource
from tests.support.listing import Listing
from tests.support.runs import Driver, command, plan_now, read, seed, sync, wanted

RECORDS = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "listed.json").read_text(encoding="utf-8")
)


def new_service() -> Listing:
    service = Listing()
    service.seed("commands", RECORDS)
    return service


LISTED = read(Driver(new_service()), [Resource.COMMAND]).collections[Resource.COMMAND]


def mixed() -> list[Entry]:
    """Return the listing with edits, renames, deletes and adds all over it."""
    desired = []
    for n, entry in enumerate(LISTED):
        text = entry.text
        assert isinstance(text, CommandText)
        match n % 10:
            case 0:
                continue
            case 1:
                desired.append(Entry(text._replace(description=f"{text.description} More.")))
            case 2:
                desired.append(Entry(text._replace(name=f"renamed {n}"), id=entry.id))
            case 3:
                desired.append(Entry(text._replace(category="")))
            case 4:
                desired += [Entry(text), Entry(command(f"added {n}"))]
            case _:
                desired.append(Entry(text))
    return desired


def test_what_is_listed_as_wanted_needs_no_change() -> None:
    plan = plan_now(new_service(), wanted([entry.text for entry in LISTED]))

    assert plan.changes == ()
    assert plan.unchanged == len(RECORDS) == 656


def test_nothing_is_collapsed_on_an_empty_listing() -> None:
    service = Listing()
    desired = wanted([entry.text for entry in LISTED])

    run = sync(service, desired)

    assert run.result.complete
    assert service.texts("commands") == [entry.text for entry in LISTED]
    assert plan_now(service, desired).changes == ()


def test_a_mixed_change_keeps_every_kept_id() -> None:
    service = new_service()
    desired = wanted(mixed())
    deleted = {entry.id for n, entry in enumerate(LISTED) if n % 10 == 0}

    run = sync(service, desired)

    assert run.result.complete
    assert run.plan.count("delete") == len(deleted)
    assert run.plan.count("add") == len([n for n in range(len(LISTED)) if n % 10 == 4])
    assert {entry.id for entry in LISTED} - deleted <= set(service.ids("commands"))
    assert deleted.isdisjoint(service.ids("commands"))
    assert plan_now(service, desired).changes == ()


def test_a_thousand_more_of_one_name_are_all_kept() -> None:
    service = Listing()
    seed(service, [command("afk", f"{n}") for n in range(1000)])
    desired = wanted([command("afk", f"{n} now") for n in range(1000)])

    run = sync(service, desired)

    assert run.plan.count("edit") == 1000
    assert run.result.complete
