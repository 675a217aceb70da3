from commandsync.plan.expected import expected_listing
from commandsync.plan.plan import make_plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from tests.support.runs import EVERYTHING, TARGET, announcement, command, wanted

A, B, C = command("a"), command("b"), command("c")


def listing(*, commands: str = "", posts: str = "") -> Snapshot:
    return Snapshot(
        {
            Resource.COMMAND: tuple(Entry(command(name), id=f"c{name}") for name in commands),
            Resource.ANNOUNCEMENT: tuple(Entry(announcement(n), id=f"a{n}") for n in posts),
        }
    )


def after(desired: Snapshot, here: Snapshot) -> dict[Resource, list[tuple[str, int | None, str]]]:
    """Return each expected record by its text, its old index and what changes it."""
    plan = make_plan(desired=desired, listed=here, target=TARGET, rules=EVERYTHING)
    return {
        resource: [
            (" ".join(record.text[:2]), record.position, record.change.action)
            if record.change
            else (" ".join(record.text[:2]), record.position, "")
            for record in records
        ]
        for resource, records in expected_listing(plan, here).items()
    }


def test_an_edited_command_keeps_its_place_and_new_ones_follow_in_the_order_of_the_manifest() -> (
    None
):
    desired = wanted([command("new"), C, command("b", "Better."), command("newer")])

    assert after(desired, listing(commands="abc"))[Resource.COMMAND] == [
        ("b Better.", 1, "edit"),
        ("c Does it.", 2, ""),
        ("new Does it.", None, "add"),
        ("newer Does it.", None, "add"),
    ]


def test_an_announcement_that_is_replaced_comes_last() -> None:
    desired = wanted([], [announcement("a", "Again."), announcement("b")])

    assert after(desired, listing(posts="ab"))[Resource.ANNOUNCEMENT] == [
        ("b It is out.", 1, ""),
        ("a Again.", None, "replace"),
    ]


def test_a_collection_that_is_not_managed_stays() -> None:
    assert after(wanted([A, B]), listing(commands="a", posts="x")) == {
        Resource.COMMAND: [("a Does it.", 0, ""), ("b Does it.", None, "add")],
        Resource.ANNOUNCEMENT: [("x It is out.", 0, "")],
    }
