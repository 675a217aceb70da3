from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.changes import FieldChange, field_changes
from commandsync.records.texts import AnnouncementText, CommandText
from tests.support.calls import calls_of

WORDS = st.one_of(st.text(max_size=12), st.sampled_from(["1", "1.0", "A", "a", "x\ny", "x\r\ny"]))
TEXTS = st.builds(CommandText, WORDS, WORDS, WORDS, WORDS)


def test_only_fields_that_differ_are_told_in_the_order_of_the_record() -> None:
    old = CommandText("a", "b", "c", "d")
    new = CommandText("a", "B", "c", "D")

    found = field_changes(old, new)

    assert found == (FieldChange("description", "b", "B"), FieldChange("category", "d", "D"))
    assert field_changes(old, old) == ()


def test_announcements_are_compared_by_their_own_fields() -> None:
    found = field_changes(AnnouncementText("a", "b"), AnnouncementText("a", "c"))

    assert found == (FieldChange("description", "b", "c"),)


@given(TEXTS, TEXTS)
def test_it_says_what_comparing_field_by_field_says(
    before: CommandText, after: CommandText
) -> None:
    found = field_changes(before, after)

    assert found == tuple(
        FieldChange(name, old, new)
        for name, old, new in zip(before._fields, before, after, strict=True)
        if old != new
    )


@given(st.lists(WORDS, min_size=4, max_size=4), st.lists(WORDS, min_size=4, max_size=4))
def test_long_texts_are_no_more_work_than_short_ones(old: list[str], new: list[str]) -> None:
    def work(lines: int) -> int:
        before, after = (
            CommandText(*(f"{word}\n" * lines for word in side)) for side in (old, new)
        )
        field_changes(before, after)
        return calls_of(lambda: field_changes(before, after))

    assert work(2) == work(2_000)
