"""Limits are read as users write them, and the guard counts the records that a plan takes away."""

import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Do
from commandsync.plan.changes import Change, Delete, Replace
from commandsync.plan.rules import (
    ALWAYS_ALLOWED,
    DeleteLimit,
    SyncRules,
    countable,
    deletes_refusal,
    parse_delete_limit,
    removals_refused,
    with_copies,
)
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("12", DeleteLimit(count=12)),
        ("0", DeleteLimit(count=0)),
        ("30%", DeleteLimit(percent=30.0)),
        ("12.5%", DeleteLimit(percent=12.5)),
        ("100%", DeleteLimit(percent=100.0)),
        ("0%", DeleteLimit(percent=0.0)),
        ("all", DeleteLimit()),
    ],
)
def test_a_limit_is_a_number_a_percentage_or_all(text: str, limit: DeleteLimit) -> None:
    parsed = parse_delete_limit(text)

    assert parsed == limit
    assert str(parsed) == text


def test_only_all_is_unlimited() -> None:
    limits = [parse_delete_limit(text) for text in ("all", "0", "0%", "100%")]

    assert [limit.unlimited for limit in limits] == [True, False, False, False]


@pytest.mark.parametrize("text", ["ALL", " 30 % ", "030%", "007"])
def test_a_limit_may_be_spelled_loosely(text: str) -> None:
    again = str(parse_delete_limit(text))

    assert again in {"all", "30%", "7"}


@pytest.mark.parametrize("text", ["", "-1", "1.5", "101%", "100.1%", "%", "half", "١٢", "1e3"])
def test_anything_else_is_no_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit"):
        parse_delete_limit(text)


def test_names_are_ignored_by_patterns_in_upper_or_lower_case() -> None:
    rules = SyncRules(ignore=("beta-*", "Exact"))

    assert [rules.ignores(name) for name in ("Beta-1", "exACT", "help")] == [True, True, False]
    assert not SyncRules().ignores("help")


TEXT = CommandText("a", "b", "c")
POST = AnnouncementText("a", "b")
REPLACE = Replace(
    resource=Resource.ANNOUNCEMENT, id="1", before=POST, after=POST, fields=(), same_text=0
)
NONE_KEPT = ", which keeps none of them"


def deletes(count: int, resource: Resource = Resource.COMMAND) -> list[Change]:
    return [Delete(resource=resource, id=str(n), before=TEXT) for n in range(count)]


def rules(limit: str | None = None, *ignored: str) -> SyncRules:
    parsed = None if limit is None else parse_delete_limit(limit)
    return SyncRules(max_deletes=parsed, ignore=ignored)


def refused(changes: list[Change], listed: int, limit: str | None = None) -> str:
    """Return the arithmetic of a refusal; empty when there is none."""
    found = deletes_refusal(changes, sizes=dict.fromkeys(Resource, listed), rules=rules(limit))
    return found.message if found else ""


def test_the_arithmetic_is_shown_with_what_allows_it() -> None:
    found = deletes_refusal(deletes(12), sizes={Resource.COMMAND: 30}, rules=rules())

    assert found is not None
    assert found.hint == Do.ALLOW_DELETES(limit=12)
    assert found.message == "would delete 12 of 30 listed commands (40 %); the limit is 30 %"


def test_what_does_not_count_is_named() -> None:
    copy = Delete(resource=Resource.COMMAND, id="c", before=TEXT, exact_copy=True)
    ended = Delete(resource=Resource.COMMAND, id="e", before=TEXT, until=datetime.now(UTC))

    assert str(refused([*deletes(8), copy], 9)) == (
        "would delete 8 of 9 listed commands (exact copies do not count) (88.89 %); the limit is "
        "30 %"
    )
    assert (
        str(refused([*deletes(8), ended], 10))
        == "would delete 8 of 9 listed commands that have not ended (88.89 %); the limit is 30 %"
    )


def test_a_saved_plan_is_allowed_by_a_new_one() -> None:
    found = deletes_refusal(deletes(3), sizes={Resource.COMMAND: 9}, rules=rules("2"), saved=True)

    assert found is not None
    assert found.hint == Do.ALLOW_DELETES_OF_NEW_PLAN(limit=3)


@pytest.mark.parametrize(
    ("count", "listed", "limit"),
    [
        (3, 4, None),
        (4, 14, None),
        (30, 100, None),
        (5, 9, "5"),
        (99, 100, "99"),
        (100, 100, "all"),
    ],
)
def test_so_much_may_go(count: int, listed: int, limit: str | None) -> None:
    assert refused(deletes(count), listed, limit) == ""


@pytest.mark.parametrize(
    ("count", "listed", "limit", "why"),
    [
        (4, 13, None, " (30.77 %); the limit is 30 %"),
        (31, 100, None, " (31 %); the limit is 30 %"),
        (1, 100, "0", "; the limit is 0"),
        (1, 100, "0%", " (1 %); the limit is 0 %"),
        (2, 100, "1", "; the limit is 1"),
        (1, 3, "30%", " (33.33 %); the limit is 30 %"),
        (3, 10, "29.96%", " (30 %); the limit is 29.96 %"),  # to the last decimal of the limit
        (100, 100, "100", NONE_KEPT),
        (100, 100, "100%", NONE_KEPT),
        (1, 1, None, NONE_KEPT),
        (3, 3, None, NONE_KEPT),
        (6001, 20000, None, " (30.005 %); the limit is 30 %"),
    ],
)
def test_more_may_not(count: int, listed: int, limit: str | None, why: str) -> None:
    found = str(refused(deletes(count), listed, limit))

    assert found == f"would delete {count} of {listed} listed commands{why}"


@given(commands=st.integers(1, 20), announcements=st.integers(1, 20), limit=st.integers(0, 40))
def test_a_number_counts_over_the_listing(commands: int, announcements: int, limit: int) -> None:
    total = commands + announcements
    changes = [*deletes(commands), *[REPLACE] * announcements]

    said = refused(changes, 1000, str(limit))

    assert bool(said) == (total > limit)
    assert not said or re.findall(r"\d+", said) == [
        *(str(commands), "1000", str(announcements), "1000", str(limit))
    ]
    assert bool(refused(changes, 21)) == (
        total > ALWAYS_ALLOWED and max(commands, announcements) > 6
    )


def test_ignored_records_are_not_counted_and_the_message_says_so() -> None:
    names = ("a", "b", "c", "d", "beta-1", "beta-2")
    listed = Snapshot({Resource.COMMAND: tuple(Entry(CommandText(n, "", "")) for n in names)})
    limits = rules("50%", "beta-*")

    found = deletes_refusal(deletes(3), sizes=countable(listed, listed.scope, limits), rules=limits)

    assert found is not None
    assert (
        found.message
        == "would delete 3 of 4 listed commands that are not ignored (75 %); the limit is 50 %"
    )


@given(total=st.integers(1, 30_000), share=st.floats(0, 1.2), percent=st.decimals(0, 100, places=6))
def test_a_percentage_holds_to_the_last(total: int, share: float, percent: Decimal) -> None:
    count = min(int(percent * total / 100 * Decimal(share)) + 1, total - 1)
    message = deletes_refusal(
        deletes(count) if count < 500 else deletes(1) * count,
        sizes={Resource.COMMAND: total},
        rules=rules(f"{percent}%"),
    )

    assert (message is not None) == (count * 100 > percent * total)
    if message is not None:
        said, limit = (
            Decimal(part.split(" %")[0])
            for part in message.message.split(" (")[1].split("the limit is ")
        )
        assert said > limit


@given(count=st.integers(1, ALWAYS_ALLOWED), more=st.integers(1, 20))
def test_three_are_always_allowed_when_nothing_was_configured(count: int, more: int) -> None:
    assert refused(deletes(count), count + more) == ""


@pytest.mark.parametrize(
    ("removed", "of", "limit", "is_refused"),
    [
        *((0, 5, None, False), (3, 5, None, False), (4, 5, None, True)),
        *((5, 5, "9", True), (5, 5, "all", False), (4, 50, "3", True)),
    ],
)
def test_an_import_is_limited_as_a_plan_is(
    removed: int, of: int, limit: str | None, *, is_refused: bool
) -> None:
    rules = SyncRules(max_deletes=parse_delete_limit(limit) if limit else None)

    assert (removals_refused(removed, of=of, rules=rules) is not None) is is_refused


def test_a_replace_counts_as_a_delete_but_leaves_something() -> None:
    assert refused([REPLACE] * 3, 3) == ""
    assert refused([REPLACE] * 4, 4, "4") == ""
    assert (
        str(refused([REPLACE] * 4, 4))
        == "would delete or replace 4 of 4 listed announcements (100 %); the limit is 30 %"
    )
    assert (
        str(refused([REPLACE], 1, "30%"))
        == "would delete or replace 1 of 1 listed announcements (100 %); the limit is 30 %"
    )
    assert str(refused([*deletes(4), REPLACE, REPLACE], 1000, "5")) == (
        "would delete or replace 4 of 1000 listed commands and 2 of 1000 listed announcements; "
        "the limit is 5"
    )


@pytest.mark.parametrize("kept", [0, 1])
def test_of_copies_that_all_go_one_counts(kept: int) -> None:
    records = [Entry(TEXT, id=str(n)) for n in range(3 + kept)]
    going = [Delete(resource=Resource.COMMAND, id=str(n), before=TEXT) for n in range(3)]

    marked = with_copies(going, Snapshot({Resource.COMMAND: tuple(records)}))

    copies = [isinstance(change, Delete) and change.exact_copy for change in marked]
    assert copies == [bool(kept), True, True]
