"""The entries of a manifest win over the imported commands that they mean, and say which."""

from pathlib import Path

import pytest

from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest, load_manifests
from commandsync.manifest.dump import ejected
from commandsync.manifest.yamltext import imported_text
from commandsync.records.snapshot import ImportedCommand, ImportedFile
from commandsync.records.texts import CommandText

HEAD = 'version: 1\nprefix: "!"\nimport: {from: src}\n'
PING = ImportedCommand(
    name="ping", description="Says pong.", syntax="/ping", category="Info", source="src/ping.js"
)
AFK = ImportedCommand(name="afk", description="Away.", syntax="{prefix}afk", source="src/afk.js")
AWAY = ImportedCommand(name="afk", description="Away, too.", syntax="/afk", source="src/afk.js")
EVAL = ImportedCommand(name="eval", description="Runs.", syntax="/eval", left_out="owner-only")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(
    entries: str = "", *imported: ImportedCommand, head: str = HEAD, gone: str = ""
) -> Manifest:
    """Load a manifest with these entries and imported commands."""
    listed = f"commands:\n{entries}" if entries else ""
    Path("commands.yaml").write_text(head + listed, encoding="utf-8")
    content = ImportedFile(imported or (PING, AFK), (), tuple(gone.split()))
    Path("commands.imported.yaml").write_text(imported_text(content), encoding="utf-8")
    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes)
    return manifest


def complaints(entries: str, *imported: ImportedCommand, gone: str = "") -> list[str]:
    with pytest.raises(ManifestError) as caught:
        load(entries, *imported, gone=gone)
    return [f"{each} | {each.hint}" for each in caught.value.problems]


def test_the_commands_are_the_imported_ones_even_without_a_list() -> None:
    manifest = load("", PING, EVAL, AFK)

    assert manifest.snapshot.commands == (
        CommandText("ping", "Says pong.", "/ping", "Info"),
        CommandText("afk", "Away.", "!afk", ""),
    )
    assert manifest.paths == ("commands.yaml", "commands.imported.yaml")


def test_each_field_of_an_entry_wins_and_the_others_are_imported() -> None:
    manifest = load("- {name: ping, description: 'Quick.', category: '', formerly: [pong]}\n")
    (entry, _) = next(iter(manifest.snapshot.collections.values()))

    assert entry.text == CommandText("ping", "Quick.", "/ping", "")
    assert entry.formerly == ("pong",)
    assert str(entry.location) == "commands.yaml:5:3"


def test_the_default_category_is_that_of_imported_commands_without_one() -> None:
    manifest = load("", head=HEAD + "defaults: {category: Fun}\n")

    assert [command.category for command in manifest.snapshot.commands] == ["Info", "Fun"]


def test_other_entries_come_last_and_the_named_ones_first() -> None:
    entries = "- {name: site, description: Opens it., syntax: https://x.example}\n"
    entries += "- {name: start, description: Starts., syntax: /start}\n"

    plain = load(entries)
    ordered = load(entries, head=HEAD.replace("}", ", order: [start, afk]}"))

    assert [c.name for c in plain.snapshot.commands] == ["ping", "afk", "site", "start"]
    assert [c.name for c in ordered.snapshot.commands] == ["start", "afk", "ping", "site"]


def test_an_entry_means_the_command_of_the_kind_that_it_shows() -> None:
    manifest = load("- {name: afk, description: Mine., syntax: '!afk [why]'}\n", AFK, AWAY)

    assert [(c.description, c.syntax) for c in manifest.snapshot.commands] == [
        ("Mine.", "!afk [why]"),
        ("Away, too.", "/afk"),
    ]


def test_of_several_commands_an_entry_means_that_of_equal_syntax() -> None:
    other = ImportedCommand(name="afk", description="B.", syntax="{prefix}afk <why>")
    manifest = load("- {name: afk, description: Mine., syntax: '{prefix}afk <why>'}\n", AFK, other)

    assert [c.description for c in manifest.snapshot.commands] == ["Away.", "Mine."]


def test_an_entry_that_may_mean_several_lists_them() -> None:
    (problem,) = complaints("- {name: afk, description: Mine.}\n", AFK, AWAY)

    assert problem.startswith('commands.yaml:5:3: "afk" may mean each of 2 imported commands: ')
    assert '"{prefix}afk" (src/afk.js) and "/afk" (src/afk.js)' in problem


def test_two_entries_for_one_command_are_an_error() -> None:
    (problem,) = complaints("- {name: ping, description: a}\n- {name: ping, category: b}\n")

    assert '"ping" is written twice (first at commands.yaml:5:3)' in problem


@pytest.mark.parametrize(
    ("imported", "gone", "words"),
    [
        ((PING,), "old", '"old" is not imported any more | remove the entry, or complete it'),
        (
            (ImportedCommand(name="new", description="a", syntax="/new", formerly=("old",)),),
            "old",
            '"old" is "new" in the code now | remove the entry, or complete it',
        ),
        (
            (ImportedCommand(name="old", description="a", syntax="/old", left_out="owner-only"),),
            "",
            '"old" is left out of the import (owner-only) | remove the entry',
        ),
        (
            (ImportedCommand(name="olds", description="a", syntax="/olds"),),
            "",
            '"old" is not imported | did you mean olds?',
        ),
    ],
)
def test_an_entry_that_means_none_is_complete(
    imported: tuple[ImportedCommand, ...], gone: str, words: str
) -> None:
    (problem,) = complaints("- {name: old, description: a}\n", *imported, gone=gone)

    assert problem.startswith(f"commands.yaml:5:3: {words}")


@pytest.mark.parametrize("entry", ["{name: Ping, ", "{name: pong, "])
def test_an_entry_that_resembles_an_imported_command_is_an_error(entry: str) -> None:
    text = f"- {entry}description: a, syntax: /ping}}\n"
    (problem,) = complaints(text)

    assert 'is not imported, but "ping" with "/ping" (src/ping.js) is' in problem
    assert "own: true" in problem
    assert len(load(text.replace("}", ", own: true}")).snapshot.commands) == 3


def test_an_entry_of_a_command_that_left_the_code_is_named_until_it_is_owned() -> None:
    entry = "- {name: old, description: a, syntax: /old}\n"
    manifest, owned = load(entry, gone="old"), load(entry.replace("}", ", own: true}"), gone="old")

    assert [name for name, _ in manifest.strays] == ["old"]
    assert "keeps it public" in manifest.warnings[0].message
    assert (owned.strays, owned.warnings) == ((), ())


def test_it_is_known_which_entries_win_and_which_only_repeat() -> None:
    manifest = load(
        "- {name: ping, description: Quick., category: Info}\n"
        "- {name: afk, description: Away., syntax: '!afk'}\n"
    )
    first, second = manifest.overrides

    assert first.fields == {"description": ("Says pong.", "Quick.")}
    assert first.repeated == ("category",)
    assert (first.only_repeats, second.only_repeats) == (False, True)


def test_former_names_of_the_code_stay_as_long_as_no_entry_has_them() -> None:
    new = ImportedCommand(name="new", description="a", syntax="/new", formerly=("old", "older"))
    manifest = load("- {name: old, description: b, syntax: /old, own: true}\n", new)
    (entry, _) = next(iter(manifest.snapshot.collections.values()))

    assert entry.formerly == ("older",)


def test_ignored_imported_commands_are_left_out() -> None:
    manifest = load("", head=HEAD + "sync: {ignore: [af*]}\n")

    assert [command.name for command in manifest.snapshot.commands] == ["ping"]


def test_a_prefix_that_went_is_an_error() -> None:
    with pytest.raises(ManifestError, match='"afk" is called with'):
        load("", head=HEAD.replace('prefix: "!"\n', ""))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "the imported file does not exist"),
        ("commands: [", "YAML reads"),
        ("imported: 1\n<<<<<<< a\n", "merge conflict"),
        ("imported: 1\ncommands: 5\n", "commands: "),
    ],
)
def test_an_imported_file_that_cannot_be_read_is_never_an_empty_list(
    text: str | None, words: str
) -> None:
    Path("commands.yaml").write_text(HEAD, encoding="utf-8")
    if text is not None:
        Path("commands.imported.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(ManifestError, match=words) as caught:
        load_manifests(["commands.yaml"], stdin=bytes)
    assert all("commandsync import" in str(problem.hint) for problem in caught.value.problems)


def test_an_earlier_version_may_be_older_than_the_file() -> None:
    text = (
        HEAD + "commands:\n- {name: a, description: b, syntax: /a}\n- {name: ping, category: c}\n"
    )
    Path("commands.yaml").write_text(text, encoding="utf-8")

    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes, needs_imported=False)

    assert [command.name for command in manifest.snapshot.commands] == ["a"]


def test_an_edit_by_hand_is_a_warning() -> None:
    load()
    file = Path("commands.imported.yaml")
    file.write_text(file.read_text("utf-8").replace("Says pong.", "Pongs."), encoding="utf-8")

    (manifest,) = load_manifests(["commands.yaml"], stdin=bytes)

    (warning,) = manifest.warnings
    assert str(warning).startswith("commands.imported.yaml:1:1: this file was edited")


def test_imported_files_are_no_manifests(folder: Path) -> None:
    load()
    (manifest,) = load_manifests([str(folder)], stdin=bytes)

    assert manifest.path.endswith("/commands.yaml")
    with pytest.raises(UsageError, match="commandsync import writes it"):
        load_manifests(["commands.imported.yaml"], stdin=bytes)
    Path("renamed.yaml").write_bytes(Path("commands.imported.yaml").read_bytes())
    assert len(load_manifests([str(folder)], stdin=bytes)) == 1
    with pytest.raises(ManifestError, match="a file that commandsync import writes, not a manif"):
        load_manifests(["renamed.yaml"], stdin=bytes)


def test_a_pattern_includes_no_imported_file() -> None:
    head = HEAD + "include: ['*.yaml']\n"
    Path("more.yaml").write_text("commands:\n- {name: ping, category: Other}\n", encoding="utf-8")

    manifest = load("", head=head)

    assert manifest.paths == ("commands.yaml", "more.yaml", "commands.imported.yaml")
    assert manifest.snapshot.commands[0].category == "Other"


def test_two_manifests_of_a_folder_have_an_imported_file_each() -> None:
    for name in ("a", "b.test"):
        Path(f"{name}.yaml").write_text(HEAD, encoding="utf-8")
        content = ImportedFile((ImportedCommand(name=name, description="x", syntax=f"/{name}"),))
        file = Path(f"{name}.imported.yaml")
        file.write_text(imported_text(content), encoding="utf-8")

    found = load_manifests(["a.yaml", "b.test.yaml"], stdin=bytes)

    assert [each.snapshot.commands[0].name for each in found] == ["a", "b.test"]


def test_the_objects_of_sub_commands_are_put_together() -> None:
    def part(name: str) -> ImportedCommand:
        option = {"type": 1, "name": name, "description": "x"}
        node = {"type": 1, "name": "go", "description": "y", "options": [option]}
        return ImportedCommand(
            name=f"go {name}", description="x", syntax=f"/go {name}", discord=node
        )

    own = "- {name: go up, discord: {name: up, type: 1, description: x, options: []}}\n"
    objects, changed = load("", part("up"), part("on")).objects, load(own, part("up")).objects

    assert [level["name"] for level in objects["go up"]] == ["go", "up"]
    assert len(objects["go on"]) == 2
    assert changed["go up"][-1] == {"name": "up", "type": 1, "description": "x", "options": []}


def test_ejecting_prints_a_manifest_with_the_same_commands() -> None:
    text = "- {name: ping, description: Quick., formerly: [pong]} # mine\n"
    manifest = load(text, PING, AFK, EVAL, head="# About.\n" + HEAD + "sync: {prune: false} # x\n")

    printed = ejected(manifest, Path("commands.yaml").read_text("utf-8"))

    assert printed.startswith('# About.\nversion: 1\nprefix: "!"\nsync: {prune: false} # x\n')
    assert "import" not in printed
    (again,) = load_manifests(["-"], stdin=printed.encode)
    assert again.snapshot.commands == manifest.snapshot.commands
    assert [e.formerly for e in next(iter(again.snapshot.collections.values()))] == [("pong",), ()]


def test_ejecting_names_the_commands_for_a_policy_that_the_manifest_has() -> None:
    head = HEAD + "sync: {prune: true}\nlistings: [{service: discord}]\n"
    manifest = load("", PING, EVAL, head=head)

    printed = ejected(manifest, Path("commands.yaml").read_text("utf-8"))

    assert "# Not listed, since they are not public: eval.\n# Add them to sync.ignore" in printed
    assert printed.count("sync:") == 1


def test_ejecting_keeps_the_objects_and_names_the_commands_that_only_discord_has() -> None:
    options = [
        {"type": 3, "name": "a", "description": "A text that the bot says.", "choices": None}
    ]
    node = {"name": "say", "description": "Says.", "type": 1, "contexts": None, "options": options}
    say = ImportedCommand(name="say", description="Says.", syntax="/say", discord=node)
    head = HEAD + "listings: [{service: discord}]\n"
    manifest = load("", say, EVAL, head=head)

    printed = ejected(manifest, Path("commands.yaml").read_text("utf-8"))

    (again,) = load_manifests(["-"], stdin=printed.encode)
    assert again.rules.ignore == ("eval",)
    (command,) = again.registrables
    del node["contexts"], options[0]["choices"]
    assert command.discord == node
