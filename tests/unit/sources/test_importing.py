"""The next imported file is a function of the sources and of the file before, and a fixed point."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.records.snapshot import ImportedCommand, ImportedFile, Kind
from commandsync.sources.changeset import differences
from commandsync.sources.entry import NO_DESCRIPTION, PartlyRead, UnreadPart
from commandsync.sources.importing import SourceEvidence, next_import
from commandsync.sources.telegrammenu import NOT_IN_MENU

_NAMES = ["ban", "kick", "ping", "pong", "queue add", "queue show"]
_FILES = ["src/a.js", "src/b.js", "src/c.js"]


def command(name: str = "ping", **fields: object) -> ImportedCommand:
    """Return a command with texts of its own."""
    texts = {"description": f"Does {name}.", "syntax": f"/{name}", "source": "src/a.js"}
    return ImportedCommand(name=name, **{**texts, **fields})  # type: ignore[arg-type]


def evidence(*files: str, **fields: object) -> SourceEvidence:
    """Return evidence in which these files were searched."""
    return SourceEvidence(files=files or _FILES, **fields)  # type: ignore[arg-type]


def marked(
    file: str = "src/a.js", name: str = "", reason: str = "Base is not found"
) -> SourceEvidence:
    """Return evidence in which a file, or a command in it, is partly read."""
    return evidence(partly=[(file, PartlyRead(Location(file, 3), reason, name))])


@st.composite
def commands(draw: st.DrawFn) -> ImportedCommand:
    name = draw(st.sampled_from(_NAMES))
    sign = draw(st.sampled_from(["/", "{prefix}"]))
    options = draw(st.lists(st.sampled_from([" <user>", " [reason]"]), unique=True))
    return command(
        name,
        description=draw(st.sampled_from(["Bans.", "Kicks.", "Answers.", NO_DESCRIPTION])),
        syntax=sign + name + "".join(options),
        category=draw(st.sampled_from(["", "Fun"])),
        source=draw(st.sampled_from(_FILES)),
        left_out=draw(st.sampled_from(["", "", "owner-only"])),
        discord=draw(st.sampled_from([None, None, {"name": name, "id": "1"}]))
        if sign == "/"
        else None,
    )


def _declared(each: ImportedCommand) -> str:
    """Return the key of a command, of which a source has one; prefix commands may have several."""
    return str((*each.key, each.syntax if each.kind is Kind.PREFIX else ""))


def _registered(each: ImportedCommand) -> str:
    """Return the id of a command at Discord with the names below it, which no other one has."""
    return str(each.name.split(" ")[1:]) if each.discord else _declared(each)


_lists = st.lists(commands(), max_size=6, unique_by=(_declared, _registered))


@st.composite
def known(draw: st.DrawFn) -> SourceEvidence:
    files = draw(st.lists(st.sampled_from(_FILES), unique=True))
    marks = draw(
        st.lists(
            st.builds(
                lambda file, name: (file, PartlyRead(Location(file), "not followed", name)),
                st.sampled_from(_FILES),
                st.sampled_from(["", *_NAMES]),
            ),
            max_size=2,
        )
    )
    unread = draw(st.lists(st.sampled_from(["", *_NAMES]), max_size=1))
    texts = draw(st.sampled_from([b"", b'name: "ban"', b"def kick(): 'ping'"]))
    return SourceEvidence(
        files=files,
        partly=marks,
        unread=[
            ("src/a.js", UnreadPart(Location("src/a.js"), "computed", name)) for name in unread
        ],
        content=lambda _file: texts,
    )


@given(_lists, _lists, _lists, known(), known())
@example(
    [],
    [command("ban", description="Bans.", source="src/a.js")],
    [command("ban", description=NO_DESCRIPTION, source="src/b.js")],
    SourceEvidence(),
    SourceEvidence(partly=[("src/a.js", PartlyRead(Location("src/a.js"), "not followed"))]),
)
@example(
    [],
    [command("ban", category="Fun", discord={"name": "ban", "id": "1"})],
    [command("ban"), command("kick", discord={"name": "kick", "id": "1"})],
    SourceEvidence(),
    SourceEvidence(partly=[("src/a.js", PartlyRead(Location("src/a.js"), "not followed", "ban"))]),
)
def test_two_imports_in_a_row_are_equal(
    first: list[ImportedCommand],
    second: list[ImportedCommand],
    third: list[ImportedCommand],
    before: SourceEvidence,
    now: SourceEvidence,
) -> None:
    file = next_import(first, ImportedFile(), before).content
    file = next_import(second, file, before).content

    once = next_import(third, file, now).content

    assert next_import(third, file, now).content == once
    assert next_import(third, once, now).content == once
    assert not differences(once, next_import(third, once, now).content)


@given(_lists, _lists, known())
def test_nothing_of_a_file_that_is_partly_read_is_lost(
    old: list[ImportedCommand], new: list[ImportedCommand], now: SourceEvidence
) -> None:
    before = next_import(old, ImportedFile(), SourceEvidence()).content

    after = next_import(new, before, now).content

    of_file = {file for file, mark in now.partly if not mark.name}
    for each in before.commands:
        if each.source in of_file:
            same = [
                other
                for other in after.commands
                if other.key == each.key
                or (each.discord and other.discord and each.name in other.formerly)
            ]
            assert same, each
            assert any(other.description != NO_DESCRIPTION for other in same) or (
                each.description == NO_DESCRIPTION
            )


def test_the_order_is_that_of_the_sources() -> None:
    before = ImportedFile((command("ban"), command("kick"), command("ping")))

    after = next_import([command("ping"), command("ban")], before, evidence()).content

    assert [each.name for each in after.commands] == ["ping", "ban"]
    assert after.gone == ("kick",)


def test_a_renamed_command_has_its_old_name_under_formerly() -> None:
    before = ImportedFile((command("kick", description="Removes a member."), command("ban")))
    now = [command("remove", description="Removes a member."), command("ban")]

    once = next_import(now, before, evidence()).content
    again = next_import(now, once, evidence()).content

    assert once.commands[0].formerly == ("kick",)
    assert again == once


@pytest.mark.parametrize("name", ["prefix", "p"])
def test_a_renamed_command_whose_name_is_in_the_word_prefix_is_recognized(name: str) -> None:
    old, new = (
        command(each, description="Changes the sign.", syntax=f"{{prefix}}{each} <sign>", source=at)
        for each, at in ((name, "src/a.js"), ("sign", "src/b.js"))
    )

    after = next_import([new], ImportedFile((old,)), evidence()).content

    assert [each.formerly for each in after.commands] == [(name,)]


def test_formerly_goes_when_another_command_has_the_name() -> None:
    before = ImportedFile((command("remove", formerly=("kick",)),))
    now = [command("remove"), command("kick")]

    after = next_import(now, before, evidence()).content

    assert [each.formerly for each in after.commands] == [(), ()]


def test_two_renames_that_fit_are_named_and_none_is_written() -> None:
    before = ImportedFile((command("old", description="Says it."),))
    now = [command("one", description="Says it."), command("two", description="Says it.")]

    result = next_import(now, before, evidence())

    assert [each.formerly for each in result.content.commands] == [(), ()]
    assert [note.message for note in result.notes] == [
        "'one' may be 'old' under a new name, or another command",
        "'two' may be 'old' under a new name, or another command",
    ]


def test_the_same_id_at_discord_is_a_rename() -> None:
    before = ImportedFile((command("old", discord={"id": "5"}),))

    after = next_import([command("new", discord={"id": "5"})], before, evidence()).content

    assert after.commands[0].formerly == ("old",)


@pytest.mark.parametrize("name", ["", "kick"])
def test_a_command_that_is_partly_read_stays(name: str) -> None:
    before = ImportedFile((command("ban"), command("kick"), command("ping")))
    now = [command("ban"), command("ping")]

    result = next_import(now, before, marked(name=name))

    assert [each.name for each in result.content.commands] == ["ban", "kick", "ping"]
    assert [each.kept for each in result.content.commands] == [False, True, False]
    assert [(each.name, each.reason) for each in result.kept] == [("kick", "Base is not found")]


def test_a_kept_command_goes_when_it_is_forgotten() -> None:
    before = ImportedFile((command("kick", kept=True),))

    after = next_import([], before, replace(marked(), forgotten={"kick"})).content

    assert after.commands == ()
    assert after.gone == ("kick",)


def test_a_kept_command_goes_when_it_is_excluded() -> None:
    before = ImportedFile((command("kick", kept=True),))

    after = next_import([], before, replace(marked(), is_excluded=lambda _: True)).content

    assert after.commands == ()


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({"description": NO_DESCRIPTION}, {"description": "Does ping."}),
        ({"syntax": "/ping"}, {"syntax": "/ping <times>"}),
        ({"discord": None}, {"discord": {"name": "ping"}}),
        ({"category": ""}, {"category": "Fun"}),
    ],
)
def test_what_is_partly_read_takes_nothing_from_a_command(
    now: dict[str, object], expected: dict[str, object]
) -> None:
    old = command(syntax="/ping <times>", discord={"name": "ping"}, category="Fun")
    new = replace(old, **now)  # type: ignore[arg-type]

    (after,) = next_import([new], ImportedFile((old,)), marked()).content.commands

    assert after == replace(old, kept=True)
    assert {key: getattr(after, key) for key in expected} == expected


def test_what_is_partly_read_may_add_to_a_command() -> None:
    old = command(syntax="/ping <times>")
    new = command(syntax="/ping <times> [unit]", description="Answers in a unit.")

    (after,) = next_import([new], ImportedFile((old,)), marked()).content.commands

    assert after == new


def test_what_is_partly_read_turns_no_slash_command_into_a_prefix_command() -> None:
    old, new = command(), command(syntax="{prefix}ping")

    (after,) = next_import([new], ImportedFile((old,)), marked()).content.commands

    assert after.syntax == "/ping"


def test_a_command_that_an_unread_part_may_declare_stays() -> None:
    part = UnreadPart(Location("src/b.js", 2), "its options are computed", "add")
    now = evidence(unread=[("src/b.js", part)])

    result = next_import([], ImportedFile((command("queue add"),)), now)

    assert result.content.commands == (command("queue add", kept=True),)
    assert result.content.unread[0].name == "add"


_OPEN = [UnreadPart(Location("src/c.js", 2), "its name is computed", "")]
_OPEN += [UnreadPart(Location("src/c.js", 2), "its name is computed", "on_it", is_guessed=True)]


@pytest.mark.parametrize("part", _OPEN, ids=["without a name", "with its function's name"])
@pytest.mark.parametrize("files", [_FILES, ["src/c.js"]], ids=["file stays", "file is gone"])
def test_a_command_that_a_new_place_without_its_name_may_declare_stays(
    part: UnreadPart, files: list[str]
) -> None:
    now = evidence(*files, unread=[("src/c.js", part)])

    result = next_import([], ImportedFile((command(),)), now)

    assert result.content.commands == (command(kept=True),)
    assert result.kept[0].reason == "the code that may declare it is not read: its name is computed"
    assert next_import([], result.content, now).content == result.content
    assert next_import([], result.content, evidence(*files)).content.commands == ()


def test_a_place_that_was_not_read_beside_a_command_is_not_that_command() -> None:
    now = evidence(unread=[("src/c.js", _OPEN[0])])
    before = next_import([command()], ImportedFile(), now).content

    assert next_import([], before, now).content.commands == ()


def test_a_place_with_another_name_is_not_the_command_that_is_gone() -> None:
    now = evidence(unread=[("src/c.js", _OPEN[0]._replace(name="pong"))])

    assert next_import([], ImportedFile((command(),)), now).content.commands == ()


def test_a_command_that_a_whole_run_lacks_is_at_no_place_that_is_not_read() -> None:
    recorded = ImportedFile((command(source="program", recorded=True),))
    now = evidence(is_recorded=True, sources={"program"}, unread=[("src/c.js", _OPEN[0])])

    assert next_import([], recorded, now).content.commands == ()


@pytest.mark.parametrize(("text", "stays"), [(b'"ping"', True), (b"def ping(", True), (b"", False)])
def test_a_command_of_a_file_that_may_have_moved_stays(text: bytes, *, stays: bool) -> None:
    now = SourceEvidence(files=["src/new.js"], content=lambda _file: text)

    once = next_import([], ImportedFile((command(),)), now).content

    assert bool(once.commands) is stays
    assert next_import([], once, now).content == once


def test_a_recorded_object_stays_where_nothing_is_recorded() -> None:
    node = {"name": "ping", "description": "Recorded.", "type": 1}
    old = command(
        description="Recorded.", syntax="/ping [times]", discord=node, recorded=True, digest="1"
    )
    new = command(category="Fun")

    result = next_import([new], ImportedFile((old,)), evidence(digests=lambda _file: "2"))

    assert result.content.commands == (replace(old, category="Fun"),)
    assert "src/a.js has changed since 'ping' was recorded" in result.notes[0].message


def test_a_recorded_command_without_code_stays_until_a_run_lacks_it() -> None:
    old = command(source="program", recorded=True)

    without = next_import([], ImportedFile((old,)), evidence())
    whole = next_import([], ImportedFile((old,)), evidence(is_recorded=True, sources={"program"}))

    assert without.content.commands == (old,)
    assert without.kept == ()
    assert whole.content.commands == ()


def test_differences_name_what_changed() -> None:
    before = ImportedFile((command("ban"), command("kick"), command("ping")))
    after = ImportedFile(
        (command("ban", description="Bans."), command("remove", formerly=("kick",)))
    )

    changes = differences(before, after)

    assert [(c.before and c.before.name, c.after and c.after.name) for c in changes] == [
        ("ban", "ban"),
        ("kick", "remove"),
        ("ping", None),
    ]
    assert all(change.is_shown for change in changes)
    mark = differences(before, ImportedFile((*before.commands[:2], command(kept=True))))
    assert [change.is_shown for change in mark] == [False]


def test_a_command_of_a_file_that_moved_stays_if_its_new_place_is_partly_read() -> None:
    before = ImportedFile((command(source="src/gone.js"),))
    moved = evidence(
        "lib/gone.js", partly=[("lib/gone.js", PartlyRead(Location("lib/gone.js"), "Base"))]
    )
    importing = replace(
        marked("src/a.js"), content=lambda _: b"from .gone import Base", files=("src/a.js",)
    )

    assert [each.name for each in next_import([], before, moved).content.commands] == ["ping"]
    assert [each.name for each in next_import([], before, importing).content.commands] == ["ping"]
    assert (
        next_import([], before, replace(importing, content=lambda _: b"gone")).content.commands
        == ()
    )


def test_a_command_may_have_moved_into_a_file_that_is_not_read_completely() -> None:
    before = ImportedFile((command(), command("pong")))
    unread = [("src/b.js", UnreadPart(Location("src/b.js", 3), "not valid", "on_ping"))]
    result = next_import(
        [command("pong")], before, evidence(unread=unread, content=lambda _: b'name="ping"')
    )

    assert [each.name for each in result.content.commands] == ["ping", "pong"]
    assert next_import(
        [command("pong")], before, evidence(content=lambda _: b'name="ping"')
    ).content.commands == (command("pong"),)


def test_a_command_that_was_in_no_menu_does_not_become_public_by_a_part_that_is_not_read() -> None:
    before = ImportedFile((command(left_out=NOT_IN_MENU),))

    (kept,) = next_import([command()], before, marked()).content.commands
    (public,) = next_import([command()], before, evidence()).content.commands

    assert (kept.left_out, public.left_out) == (NOT_IN_MENU, "")


def test_a_renamed_command_of_a_partly_read_file_keeps_its_options_under_its_name() -> None:
    old = command(
        "ban", syntax="/ban <user>", source="src/a.js", discord={"name": "ban", "id": "1"}
    )
    new = command("kick", syntax="/kick", source="src/a.js", discord={"name": "kick", "id": "1"})
    partly = [("src/a.js", PartlyRead(Location("src/a.js"), "not followed"))]
    before = next_import([old], ImportedFile(), SourceEvidence()).content

    content = next_import([new], before, SourceEvidence(partly=partly)).content

    assert [each.syntax for each in content.commands] == ["/kick <user>"]


def test_a_command_that_leaves_a_partly_read_file_keeps_its_text_at_each_import() -> None:
    before = ImportedFile((command("ban", source="src/a.js"),))
    found = [command("ban", description=NO_DESCRIPTION, source="src/b.js")]

    once = next_import(found, before, marked("src/a.js")).content
    whole = next_import(found, once, evidence()).content

    assert once.commands == (replace(before.commands[0], kept=True),)
    assert next_import(found, once, marked("src/a.js")).content == once
    assert whole.commands == tuple(found)
