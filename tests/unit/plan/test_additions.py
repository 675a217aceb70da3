from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.plan.additions import Missing, missing_from
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from commandsync.services.service import PAGE

PLACE = Location("commands.yaml", 4, 5)


def wanted(
    name: str, description: str = "", syntax: str = "", formerly: tuple[str, ...] = ()
) -> Entry:
    text = CommandText(name, description or f"Does {name} well.", syntax or f"/{name} <x>")
    return Entry(text, location=PLACE, formerly=formerly)


def listed(name: str, description: str = "", syntax: str = "", *, id: str = "") -> Entry:  # noqa: A002 - the field's name
    text = CommandText(name, description or f"Does {name} well.", syntax or f"/{name} <x>")
    return Entry(text, id=id or f"id of {name}", uses=7)


def missing(ours: Sequence[Entry], theirs: Sequence[Entry], *ignored: str) -> Missing:
    rules = SyncRules(ignore=ignored)
    return missing_from(
        ours,
        theirs,
        resource=Resource.COMMAND,
        rules=rules,
        ability=PAGE.abilities[Resource.COMMAND],
    )


def test_what_matches_in_any_way_is_not_missing() -> None:
    ours = [
        wanted("help"),
        wanted("now playing"),
        wanted("Q&A"),
        wanted("skip", formerly=("next",)),
    ]
    theirs = [
        listed("help"),
        listed("NowPlaying", "x"),
        listed("q&amp;a", "y"),
        listed("next", "z"),
    ]

    assert missing(ours, theirs) == Missing(())


def test_what_is_missing_is_added_in_the_order_of_the_listing() -> None:
    theirs = [listed("b"), listed("help"), listed("a"), listed("beta-x")]

    assert missing([wanted("help")], theirs, "beta-*") == Missing((theirs[0], theirs[2]))


def test_one_that_is_alike_becomes_the_former_one_and_is_named() -> None:
    ours = [wanted("help"), wanted("queue", "Shows the songs that come next.", "/queue [page]")]
    theirs = [
        listed("songs", "Shows the songs that come next.", "/songs [page]"),
        listed("v", "w", "z"),
    ]

    found = missing(ours, theirs)

    assert (found.added, found.renamed) == ((theirs[1],), {1: theirs[0]})
    (notice,) = found.notices
    assert notice.location == PLACE
    assert notice.renaming
    assert list(map(str, [notice.message, *notice.renaming])) == [
        (
            "'queue' and the listed 'songs' have nearly the same text: they become one command, "
            "with its id and uses kept"
        ),
        "queue",
        "songs",
        "7 uses",
        (
            "{count} commands have nearly the same text as a listed one: each pair becomes one "
            "command, with its id and uses kept"
        ),
        "if two are different commands, do not merge: write both into the manifest",
    ]


@pytest.mark.parametrize("adds", [True, False])
@pytest.mark.parametrize("finishes", [True, False])
def test_a_merge_adds_or_drops_finished_names(*, adds: bool, finishes: bool) -> None:
    text = "Shows the songs that come next."
    ours = [wanted("skip", formerly=("next",)), wanted("queue", text, "/queue")]
    found = missing(ours, [listed("skip"), listed("songs", text, "/songs"), listed("v", "w", "z")])

    some = found.only(adds=adds, finishes=finishes)

    assert found.added
    assert found.renamed
    assert found.finished == (0,)
    assert (some.added, some.renamed, some.notices) == (
        (found.added, found.renamed, found.notices) if adds else ((), {}, ())
    )
    assert some.finished == ((0,) if finishes else ())


def test_what_is_matched_already_is_no_candidate_of_another() -> None:
    text = " ".join(f"word{n}" for n in range(24))
    ours = [wanted("play", text, "/x"), wanted("resume", f"{text} again", "/x")]
    for more in ("again", "again soon"):
        theirs = [listed("p", text, "/x"), listed("r", f"{text} {more}", "/x")]

        found = missing(ours, theirs)

        assert (found.added, found.renamed) == ((), {0: theirs[0], 1: theirs[1]})


@pytest.mark.parametrize(
    ("ours", "theirs", "alike", "renamed"),
    [
        (["play", "plays"], ["old"], "'play' or 'plays'", "the new one"),
        (["play"], ["old", "older"], "'play'", "'play'"),
        (list("abc"), ["old"], "'a' or 'b' or 'c'", "the new one"),
        (list("abcde"), ["old"], "'a' or 'b' or 'c' or others", "the new one"),
    ],
)
def test_what_may_be_several_is_added_and_named(
    ours: list[str], theirs: list[str], alike: str, renamed: str
) -> None:
    text = "Plays a song in the channel that you are in."
    there = [listed(name, text, "/x <song>") for name in theirs]

    found = missing([wanted(name, text, "/x <song>") for name in ours], there)

    assert (found.added, found.renamed) == (tuple(there), {})
    for notice, name in zip(found.notices, theirs, strict=True):
        assert f"the listed {name!r} may be an old name of {alike}: it is added" in notice.message
        assert f"write below the name of {renamed}:" in str(notice.hint)
        assert str(notice.hint).endswith(f'formerly: ["{name}"]')


def test_a_notice_says_what_becomes_of_a_record_and_what_to_do() -> None:
    text = "Plays a song in the channel that you are in."
    renamed = missing([wanted("play", text)], [listed("plays", text)]).notices
    doubtful = missing([wanted("help")], [listed("other")]).notices
    cannot = Entry(CommandText("a", "", ""), id="3")
    not_added = missing([wanted("help")], [listed("help"), listed("help", id="2"), cannot]).notices

    notices = [*renamed, *doubtful, *not_added]
    assert [notice.location for notice in notices] == [PLACE, None, None, None]
    assert [f"{notice.message} | {notice.hint}" for notice in notices] == [
        (
            "'play' and the listed 'plays' have nearly the same text: they become one command, "
            "with its id and uses kept | if they are two commands, do not merge: write both into "
            "the manifest"
        ),
        (
            "the listed 'other' may be an old name of 'help': it is added as a separate command "
            "| if it is an old name, remove the entry 'other', and write below the name of "
            "'help':  formerly: [\"other\"]"
        ),
        (
            "the listed command 'help' (id '2') is listed once more, equal in all fields: it is "
            "not added | a manifest can contain it only once"
        ),
        (
            "the listed command 'a' (id '3') has no description and no syntax: it is not added | "
            "add it by hand to keep it: a manifest needs all fields"
        ),
    ]


@pytest.mark.parametrize(("words", "renamed"), [(9, True), (8, False)])
def test_nine_tenths_of_the_words_make_two_texts_one_command(words: int, *, renamed: bool) -> None:
    text = " ".join(f"word{n}" for n in range(words))
    other = text.replace("word0", "other")

    found = missing([wanted("play", text, "/play")], [listed("song", other, "/song")])

    assert bool(found.renamed) == renamed


def test_a_pinned_id_decides_which_of_two_records_a_command_is() -> None:
    entry = replace(wanted("play"), id="1")
    theirs = [listed("play", id="2"), listed("song", "Sings.", "/song", id="1")]

    (notice,) = missing([entry], theirs).notices

    assert "'play' (id '2')" in notice.message


def test_the_text_of_an_announcement_decides_before_a_pinned_id() -> None:
    ours = Entry(AnnouncementText("v1", "a"), id="1")
    theirs = [Entry(AnnouncementText("v2", "b"), id="1"), Entry(ours.text, id="2")]
    found = missing_from(
        [ours],
        theirs,
        resource=Resource.ANNOUNCEMENT,
        rules=SyncRules(),
        ability=PAGE.abilities[Resource.ANNOUNCEMENT],
    )

    assert found.added == (theirs[0],)


def test_a_former_name_never_means_an_ignored_record() -> None:
    ours = [wanted("play", formerly=("beta-play",))]
    theirs = [listed("beta-play", "x", "y"), listed("beta- play", "x", "z")]

    assert missing(ours, theirs, "beta-play") == Missing(())


def test_what_is_alike_only_by_and_large_is_added_and_named() -> None:
    found = missing([wanted("help")], [listed("other")])

    assert (found.added, found.renamed) == ((listed("other"),), {})
    assert "'other'" in found.notices[0].message


def test_what_a_manifest_cannot_contain_is_named_and_not_added() -> None:
    text = CommandText("a", "b", "")
    theirs = [listed("help"), listed("help", id="2"), Entry(text, id="3"), listed("x", id="4")]
    theirs += [listed("x", id="5")]

    found = missing([wanted("help")], theirs)

    assert found.added == (theirs[3],)
    assert [notice.message for notice in found.notices] == [
        (
            "the listed command 'help' (id '2') is listed once more, equal in all fields: it is "
            "not added"
        ),
        "the listed command 'a' (id '3') has no syntax: it is not added",
        (
            "the listed command 'x' (id '5') is listed once more, equal in all fields: it is not "
            "added"
        ),
    ]


def test_what_cannot_be_written_to_is_never_a_former_name() -> None:
    entry = Entry(CommandText("old", "Does play well.", "/old <x>"), id="..")

    assert missing([wanted("play")], [entry]) == Missing((entry,))
    assert missing([wanted("OLD", "other", "other")], [entry]) == Missing(())


def test_announcements_are_added_and_may_repeat() -> None:
    texts = [AnnouncementText("v1", "a b c d e f"), AnnouncementText("v2", "a b c d e f")]
    ours, theirs = [Entry(texts[0])], [Entry(texts[1], id="2"), Entry(texts[1], id="3")]
    found = missing_from(
        ours,
        theirs,
        resource=Resource.ANNOUNCEMENT,
        rules=SyncRules(),
        ability=PAGE.abilities[Resource.ANNOUNCEMENT],
    )

    assert found == Missing(tuple(theirs))


NAMES = st.lists(st.text("abAB -", min_size=1, max_size=3).filter(str.strip), max_size=8)


@given(NAMES, NAMES)
def test_nothing_that_is_listed_is_lost(ours: list[str], theirs: list[str]) -> None:
    entries = [listed(name.strip(), "x y z", id=str(n)) for n, name in enumerate(theirs)]
    mine = {name.strip(): wanted(name.strip(), "x y w") for name in ours}
    found = missing(list(mine.values()), entries)
    after = [*mine.values(), *found.added]

    again = missing(
        [
            Entry(entry.text, formerly=(found.renamed[n].name,)) if n in found.renamed else entry
            for n, entry in enumerate(after)
        ],
        entries,
    )

    assert again.added == ()
    assert not set(found.added) & set(found.renamed.values())
