"""The sentences about the parts that a service does not show."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Do
from commandsync.records.losses import (
    COMMANDS,
    MOST_NAMED,
    OPTIONS,
    SYNC,
    Instead,
    Limit,
    Loss,
    LossReason,
    limit_of_characters,
    loss_notice,
    renewed_notices,
)

LIMIT = Limit(least=3, most=7, allowed="a-z")


@pytest.mark.parametrize("reason", LossReason)
@pytest.mark.parametrize("count", [1, MOST_NAMED, MOST_NAMED + 2])
def test_what_is_left_out_is_counted_and_the_first_are_named(
    reason: LossReason, count: int
) -> None:
    names = tuple(f"name{n}" for n in range(count))
    field = COMMANDS if reason is LossReason.RECORDS else "name"

    said = loss_notice(Loss(field, reason, Instead.LEFT_OUT, names, LIMIT), at="list").message

    assert said.startswith(f"list: {count} command")
    assert [name in said for name in names] == [n < MOST_NAMED for n in range(count)]
    assert (f"{count - MOST_NAMED} more" in said) is (count > MOST_NAMED)
    assert "{" not in said


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (
            Loss("name", LossReason.HAS_SUB_COMMANDS, Instead.GROUP, ("a",)),
            ["1 command is", "group"],
        ),
        (
            Loss("description", LossReason.LONG, Instead.SHORTENED, ("a", "b"), LIMIT),
            ["description of 2 commands is", "7 characters"],
        ),
        (
            Loss("description", LossReason.LONG, Instead.SHORTENED, ("a",)),
            ["description of 1 command"],
        ),
        (
            Loss(OPTIONS, LossReason.NOT_TAKEN, Instead.NOT_SHOWN, ("a",)),
            ["options of 1 command are"],
        ),
        (
            Loss(SYNC, LossReason.NOT_READ, Instead.NOT_KEPT, ("ignore",)),
            ["ignore of the manifest is without effect"],
        ),
        (Loss("name", LossReason.SHORT, Instead.LEFT_OUT, ("a",)), ["shorter than 0"]),
        (
            Loss(COMMANDS, LossReason.UNKNOWN, Instead.STAYS, ("a", "b")),
            ["2 commands are left as registered: the options are not known (a, b)"],
        ),
        (
            Loss(OPTIONS, LossReason.NO_OPTIONS, Instead.STAYS, ("a",)),
            ["the options of 1 command are left as registered: the manifest does not describe"],
        ),
    ],
)
def test_each_loss_says_what_happens_instead(loss: Loss, words: list[str]) -> None:
    said = loss_notice(loss, at="list").message

    assert all(word in said for word in words), said


@pytest.mark.parametrize("reason", LossReason)
def test_an_object_of_the_command_is_the_hint_where_its_options_are_not_known(
    reason: LossReason,
) -> None:
    hint = loss_notice(Loss(COMMANDS, reason, Instead.LEFT_OUT, ("a",)), at="list").hint

    assert (hint == Do.IMPORT_OBJECTS()) is (reason in {LossReason.MENU, LossReason.UNKNOWN})


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ("a", "1 command changed (a: x, y)"),
        ("abc", "3 commands changed (a: x, y; b: x, y; c: x, y)"),
        ("abcde", "5 commands changed (a: x, y; b: x, y; c: x, y; and 2 more)"),
    ],
)
def test_what_else_is_sent_is_named_with_the_parts_that_differ(names: str, shown: str) -> None:
    (notice,) = renewed_notices(dict.fromkeys(names, ("x", "y")), at="list")

    assert notice.message == f"list: the options, permissions or languages of {shown}"
    assert renewed_notices({}, at="list") == []


@given(st.characters(codec="utf-8"), st.characters(codec="utf-8"))
def test_a_range_of_characters_has_what_is_between_its_ends(first: str, last: str) -> None:
    text = f"{first}-{last}"
    if "-" in (first, last) or "\n" in (first, last):
        return
    if first > last:
        with pytest.raises(ValueError, match=re.escape(text)):
            limit_of_characters(text)
        return
    limit = limit_of_characters(text)

    between = chr((ord(first) + ord(last)) // 2)
    assert limit.allows(first + last)
    assert limit.allows(between) or "\ud800" <= between <= "\udfff"
    assert not limit.allows(chr(ord(last) + 1)) or last == "\U0010ffff"
