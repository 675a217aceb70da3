"""Three-way: what the sources say reaches the manifest, and nobody's edit is lost."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources.changeset import Added, Declared, Edited, Merge, Removed, ReviewReason
from commandsync.sources.entry import SourceEntry
from commandsync.sources.merge import three_way

DEFAULT = "General"


def text_of(entry: SourceEntry) -> CommandText:
    syntax = entry.syntax.replace("{prefix}", "!")
    return CommandText(entry.name, entry.description, syntax, entry.category or DEFAULT)


def declared(
    name: str,
    description: str = "Does it.",
    syntax: str = "",
    *,
    category: str | None = None,
    key: str | None = None,
    source: str = "bot/",
) -> Declared:
    return Declared(
        source,
        SourceEntry(
            name=name,
            description=description,
            syntax=syntax or f"{{prefix}}{name}",
            category=category,
            key=key,
        ),
    )


def written(command: Declared, *formerly: str, **edits: str) -> Entry:
    """Return the manifest's entry of a command, edited by hand."""
    return Entry(text_of(command.entry)._replace(**edits), formerly=formerly)


@dataclass
class Sides:
    """A manifest with what was imported into it, and what the sources contain now."""

    base: list[Declared]
    theirs: list[Declared]
    ours: list[Entry]
    sources: tuple[str, ...] = ("bot/",)

    def merged(self, **decisions: Any) -> Merge:  # noqa: ANN401 - of `three_way`
        return three_way(
            base=self.base,
            theirs=self.theirs,
            ours=self.ours,
            sources=self.sources,
            text_of=text_of,
            **decisions,
        )


def applied(merge: Merge, ours: list[Entry]) -> list[Entry]:
    """Return the entries of the manifest after a merge, with those to add at the end."""
    entries: dict[int, Entry] = dict(enumerate(ours))
    for change in merge.changes:
        match change:
            case Added(text=text):
                entries[len(entries) + len(ours)] = Entry(text)
            case Removed(index=index):
                del entries[index]
            case Edited(index=index, fields=fields, formerly=formerly):
                entry = entries[index]
                edits = {edit.field: edit.new for edit in fields}
                assert [getattr(entry.text, each.field) for each in fields] == [
                    each.old for each in fields
                ]
                former = entry.formerly if formerly is None else formerly
                text = CommandText(*entry.text)._replace(**edits)
                entries[index] = Entry(text, entry.id, formerly=former)
    return list(entries.values())


BAN = declared("ban", "Bans a member.", "{prefix}ban <user>", category="Moderation")
HELP = declared("help", "Shows the help.")


def test_the_category_of_a_command_that_was_written_by_hand_counts_without_a_review() -> None:
    bare = Entry(text_of(BAN.entry)._replace(category=""))
    merge = Sides([], [BAN], [written(BAN, category="Safety")]).merged()
    without = Sides([], [BAN], [bare]).merged()

    assert (merge.changes, merge.reviews) == ((), ())
    assert [(review.field, review.there) for review in without.reviews] == [
        ("category", "Moderation")
    ]


USER = declared("ban", "Bans a user.", "{prefix}ban <user>", category="Moderation")
PLAY = declared("play", source="music.json")
BY_HAND = Entry(text_of(BAN.entry)._replace(name="Ban", description="Removes a member."))


@pytest.mark.parametrize(
    ("base", "theirs", "ours", "reviews"),
    [
        pytest.param([BAN], [USER], [written(USER)], [], id="both changed alike"),
        pytest.param(
            *([PLAY, HELP], [HELP], [written(PLAY), written(HELP)], []), id="source not read"
        ),
        pytest.param(
            *([], [HELP], [written(declared("dashboard")), written(HELP)], []), id="never imported"
        ),
        pytest.param(
            *([BAN, HELP], [USER, HELP], [written(HELP)], [(ReviewReason.DELETED, "")]),
            id="deleted here, changed there",
        ),
        pytest.param(
            *([], [BAN, HELP], [BY_HAND, written(HELP)]),
            [(ReviewReason.DIFFERS, "name"), (ReviewReason.DIFFERS, "description")],
            id="written before the first import",
        ),
        pytest.param([BAN, HELP], [BAN, HELP], [written(HELP)], [], id="deleted here"),
    ],
)
def test_what_is_in_the_manifest_stays_and_what_differs_is_for_review(
    base: list[Declared],
    theirs: list[Declared],
    ours: list[Entry],
    reviews: list[tuple[ReviewReason, str]],
) -> None:
    merge = Sides(base, theirs, ours).merged()
    not_read = [each for each in base if each.source != "bot/"]

    assert merge.changes == ()
    assert [(review.reason, review.field) for review in merge.reviews] == reviews
    assert merge.imported == (*theirs, *not_read)
    here = {entry.name.lower() for entry in ours}
    assert merge.unwanted == tuple(each for each in theirs if each.entry.name not in here)


def test_what_is_gone_from_the_source_and_edited_here_is_for_review_until_it_is_decided() -> None:
    sides = Sides([BAN, HELP], [HELP], [written(BAN, category="Staff"), written(HELP)])
    merge = sides.merged()
    again = replace_base(sides, merge)
    removed = replace(again, ours=[written(HELP)]).merged()
    kept = again.merged(is_kept="ban".__eq__)

    assert merge.changes == ()
    assert [(review.reason, review.index) for review in merge.reviews] == [(ReviewReason.KEPT, 0)]
    assert again.merged() == merge
    assert (removed.reviews, removed.gone) == (kept.reviews, kept.gone) == ((), ())
    assert removed.changes == kept.changes == ()


def test_a_new_command_goes_after_the_last_one_of_its_category() -> None:
    kick = declared("kick", category="Moderation")
    ours = [written(BAN), written(HELP)]
    merge = Sides([BAN, HELP], [BAN, kick, HELP, declared("play", category="Music")], ours).merged()

    assert [(add.entry.name, add.after) for add in merge.changes if isinstance(add, Added)] == [
        ("kick", 0),
        ("play", None),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (declared("h", key="discord:1"), declared("help", "Shows more.", key="discord:1")),
        (declared("h", "Shows the help."), HELP),
        (declared("config set", category="config"), declared("settings set", category="settings")),
    ],
)
def test_a_new_name_is_written_with_the_old_one(old: Declared, new: Declared) -> None:
    sides = Sides([old, BAN], [new, BAN], [written(old, "hilfe"), written(BAN)])
    merge = sides.merged()
    (change,) = merge.changes

    assert isinstance(change, Edited)
    assert change.formerly == ("hilfe", old.entry.name)
    assert applied(merge, sides.ours)[0].text == text_of(new.entry)


@pytest.mark.parametrize(
    ("names", "description"),
    [(["one", "two"], "Plays."), (["one"], "…")],
    ids=["equal rests", "no description"],
)
def test_an_ambiguous_command_is_not_a_rename(names: list[str], description: str) -> None:
    old = [declared(name, description) for name in names]
    merge = Sides(old, [declared("new", description)], [written(each) for each in old]).merged()

    assert [type(change) for change in merge.changes] == [Removed] * len(names) + [Added]


def test_a_name_that_was_edited_here_is_not_replaced() -> None:
    old = declared("h", "Shows the help.", key="discord:1")
    new = declared("help", "Shows the help.", key="discord:1")
    sides = Sides([old], [new], [written(old, name="hilfe")])
    merge = sides.merged()

    assert [(review.field, review.here, review.there) for review in merge.reviews] == [
        ("name", "hilfe", "help")
    ]
    assert applied(merge, sides.ours)[0].formerly == ()


def test_an_old_name_that_another_command_has_now_is_not_written() -> None:
    old = declared("play", "Plays a song.", key="discord:1")
    new = [
        declared("song", "Plays a song.", key="discord:1"),
        declared("play", "Plays a game.", key="discord:2"),
    ]
    sides = Sides([old], new, [written(old)])
    merge = sides.merged()

    assert [review.reason for review in merge.reviews] == [ReviewReason.NAME_TAKEN]
    assert [(each.name, each.formerly) for each in applied(merge, sides.ours)] == [
        ("song", ()),
        ("play", ()),
    ]


def test_two_commands_of_one_name_are_distinct() -> None:
    text, slash = declared("afk", syntax="{prefix}afk"), declared("afk", syntax="/afk")
    new = declared("afk", syntax="/afk [why]")
    sides = Sides([text, slash], [text, new], [written(slash), written(text)])

    assert [CommandText(*entry.text).syntax for entry in applied(sides.merged(), sides.ours)] == [
        "/afk [why]",
        "!afk",
    ]


def test_a_command_that_is_in_the_manifest_under_another_category_is_not_added_twice() -> None:
    twin = declared("ban", "Bans a member.", "{prefix}ban <user>", category="Moderation")
    ours = [written(BAN), written(BAN, category="Old")]
    merge = Sides([BAN], [BAN, twin], ours).merged()

    assert not any(isinstance(change, Added) for change in merge.changes)


def replace_base(sides: Sides, merge: Merge) -> Sides:
    """Return the sides after an import, whose file is sorted."""
    base = sorted([*merge.imported, *merge.gone], key=in_file)
    return replace(sides, base=base, ours=applied(merge, sides.ours))


def in_file(command: Declared) -> tuple[str, str, str]:
    return command.entry.name, command.entry.syntax, command.source


def with_key(command: Declared, key: str | None) -> Declared:
    return Declared(command.source, replace(command.entry, key=key))


NAMES = st.sampled_from(["ban", "kick", "help", "play", "afk", "a b"])
TEXTS = st.sampled_from(["One.", "Two.", "Three.", "…"])
COMMANDS = st.builds(
    declared,
    NAMES,
    TEXTS,
    st.sampled_from(["/x", "{prefix}x", "{prefix}x <y>", ""]),
    category=st.sampled_from([None, "General", "Fun"]),
    key=st.sampled_from([None, "discord:1", "discord:2"]),
    source=st.sampled_from(["bot/", "music.json"]),
)
SIDE = st.lists(COMMANDS, max_size=5, unique_by=lambda each: (each.entry.name, each.entry.syntax))
OURS = st.lists(
    st.builds(
        lambda command, formerly: written(command, *formerly),
        COMMANDS,
        st.lists(st.sampled_from(["old", "older"]), max_size=2, unique=True),
    ),
    max_size=5,
    unique_by=lambda entry: entry.text,
)


@given(SIDE, SIDE, OURS, st.sampled_from([("bot/",), ("bot/", "music.json")]))
def test_a_second_import_changes_nothing(
    base: list[Declared], theirs: list[Declared], ours: list[Entry], sources: tuple[str, ...]
) -> None:
    theirs = [each for each in theirs if each.source in sources]
    sides = Sides(sorted(base, key=in_file), theirs, ours, sources)
    merge = sides.merged()
    again = replace_base(sides, merge).merged()

    assert again.changes == ()
    assert [each.name for each in again.reviews] == [
        each.name for each in merge.reviews if each.reason is ReviewReason.KEPT
    ]
    assert again.gone == merge.gone
    assert sorted(map(repr, again.imported)) == sorted(map(repr, merge.imported))


NAMED_ONCE = st.lists(COMMANDS, max_size=5, unique_by=lambda each: each.entry.name)
OURS_NAMED_ONCE = st.lists(COMMANDS.map(written), max_size=5, unique_by=lambda entry: entry.name)


KEYED = st.lists(
    st.builds(with_key, COMMANDS, st.sampled_from([f"discord:{number}" for number in range(6)])),
    max_size=5,
    unique_by=(lambda each: each.entry.name, lambda each: each.entry.key),
)
UNKEYED = st.builds(lambda side: [with_key(each, None) for each in side], NAMED_ONCE)


@given(st.tuples(KEYED, KEYED) | st.tuples(UNKEYED, UNKEYED), OURS_NAMED_ONCE)
def test_an_interrupted_import_is_finished_by_the_next(
    sources: tuple[list[Declared], list[Declared]], ours: list[Entry]
) -> None:
    """The manifest is written first, and then what was imported."""
    base, theirs = sources
    names = {each.entry.name: each.entry.key for each in base}
    # No command gets a name that another one had: that is told apart by what was imported alone.
    assume(all(names.get(each.entry.name, each.entry.key) == each.entry.key for each in theirs))
    sides = Sides(base, theirs, ours, ("bot/", "music.json"))
    after = applied(sides.merged(), ours)
    again = replace(sides, ours=after).merged()

    assert applied(again, after) == after


@given(UNKEYED, UNKEYED, OURS_NAMED_ONCE, st.sets(st.integers(0, 4)))
def test_what_cannot_be_written_is_for_review_and_found_again_by_the_next_import(
    base: list[Declared], theirs: list[Declared], ours: list[Entry], refused: set[int]
) -> None:
    sides = Sides(base, theirs, ours, ("bot/", "music.json"))
    whole = sides.merged()

    merge = sides.merged(
        writable=lambda changes: [each for n, each in enumerate(changes) if n not in refused]
    )
    finished = replace_base(sides, merge).merged()

    left = [each for n, each in enumerate(whole.changes) if n in refused]
    reviewed = {each.name for each in merge.reviews if each.reason is ReviewReason.NOT_WRITTEN}
    names = {each.text.name if isinstance(each, Added) else ours[each.index].name for each in left}
    assert reviewed == names
    texts = [entry.text for entry in applied(finished, applied(merge, ours))]
    assert sorted(texts) == sorted(entry.text for entry in applied(whole, ours))


@given(UNKEYED, UNKEYED, st.lists(st.tuples(TEXTS, NAMES), min_size=5, max_size=5))
def test_no_edit_is_lost_and_no_change_missed(
    base: list[Declared], theirs: list[Declared], edits: list[tuple[str, str]]
) -> None:
    ours = [
        written(each, description=description, category=category)
        for each, (description, category) in zip(base, edits, strict=False)
    ]
    merge = Sides(base, theirs, ours, ("bot/", "music.json")).merged()
    after = {entry.name: entry.text for entry in applied(merge, ours)}
    reviewed = {(review.name, review.field) for review in merge.reviews}
    now = {entry.name: text_of(entry) for _, entry, _ in theirs}

    for command, entry in zip(base, ours, strict=True):
        last, name = text_of(command.entry), entry.name
        if name not in now:
            continue
        for number, field in enumerate(last._fields):
            here, there, result = entry.text[number], now[name][number], after[name][number]
            if here != last[number]:
                assert result == here
            if there != last[number]:
                assert result == there or (name, field) in reviewed
