"""Which files are read: sources of -f, folders, and includes that stay inside."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest, ManifestTarget, load_manifests, same_target_problems
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Callable

    Folder = Callable[..., Path]

START = "commandsync init writes a starter; -f names another file"
MEMORY = Path("/proc/self/mem")
INSIDE = "move the file into the manifest's folder, or the manifest beside it"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Write files into the current folder, a fresh one."""
    monkeypatch.chdir(tmp_path)

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def never() -> bytes:
    pytest.fail("standard input was read")


def load(*sources: str) -> tuple[Manifest, ...]:
    return load_manifests(sources, stdin=never)


def complaints(*sources: str) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        load(*sources)
    return [f"{p}" + (f" | {p.hint}" if p.hint else "") for p in caught.value.problems]


def names(manifest: Manifest) -> list[str]:
    return [entry.name for entry in manifest.snapshot.collections[Resource.COMMAND]]


def commands(*names: str) -> str:
    lines = [f"- {{name: {name}, description: d, syntax: s}}\n" for name in names]
    return "commands:\n" + "".join(lines)


def test_files_load_in_the_given_order_each_once(folder: Folder) -> None:
    folder(b_yaml="version: 1\n", a_yaml="version: 1\n")

    assert [m.path for m in load("b.yaml", "./a.yaml", "b.yaml")] == ["b.yaml", "a.yaml"]


def test_a_folder_stands_for_the_manifests_directly_in_it(folder: Folder) -> None:
    version = "version: 1\n"
    folder(
        bots__b_yaml=version,
        bots__a_yml="\ufeff# bot\n'version': 1\n",
        bots__c_yaml="{version: 1}\n",
        bots__compose_yaml="services: {web: {build: .}}\n",
        bots__workflow_yml="# CI\nname: CI\ndefaults: &d {}\n*d : [{a: 1}]\n? [x]\n: y\n",
        bots__cluster_yaml="kind: A\n---\n- !b {}\n---\n[",
        bots__list_yaml="- commands\n- b\n",
        bots__deep_yaml="a: " + "[" * 100 + "]" * 100 + "\ncommands: []\n",
        bots__none_yaml="# nothing\n",
        bots__notes_txt=version,
        bots___hidden_yaml=version,
    )
    (folder() / "bots" / "deeper.yaml").mkdir()

    assert [m.path for m in load("bots")] == ["bots/a.yml", "bots/b.yaml", "bots/c.yaml"]


def test_what_a_manifest_in_the_folder_includes_is_no_stray(folder: Folder) -> None:
    folder(a_yaml="version: 1\ninclude: part.yaml\n" + commands("a"), part_yaml=commands("b"))

    assert [m.paths for m in load(".")] == [("a.yaml", "part.yaml")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{{", '1:1: YAML reads "{{{" as a mapping'),
        ("\tversion: 1\ncommands: []\n", "1:1: a tab appears where YAML expects spaces"),
        (" version: 1\ncommands: []\n", "2:1: more follows after the end of the document"),
        (" verison: 1\n commands: []\n", '1:2: "verison" is not a key of a manifest'),
        (" version: 2\n", '1:11: version must be the number 1, not "2"'),
        ("base_url: x\nVersion: 1\n", '2:1: "Version" is not a key of a manifest'),
        ("x: {}\nsync: {}\n", "2:1: this file has no version:, and no manifest includes it"),
    ],
)
def test_a_broken_manifest_in_a_folder_is_not_passed_over(
    folder: Folder, text: str, expected: str
) -> None:
    folder(bots__a_yaml="version: 1\ncommands: []\n", bots__b_yaml=text)

    assert [line[: len(expected) + 12] for line in complaints("bots")] == [
        f"bots/b.yaml:{expected}"
    ]


def test_what_follows_the_end_of_a_document_hides_nothing_above_it(folder: Folder) -> None:
    folder(bots__a_yaml="version: 1\n", bots__b_yaml=" verison: 1\ncommands: []\n")

    assert [line.split(" | ")[0] for line in complaints("bots")] == [
        'bots/b.yaml:1:2: a manifest has no key "verison"',
        "bots/b.yaml:2:1: more follows after the end of the document",
    ]


def test_a_manifest_in_utf16_is_not_passed_over(folder: Folder) -> None:
    (folder(a_yaml="version: 1\n") / "b.yaml").write_bytes("version: 1\n".encode("utf-16"))

    assert complaints(".") == ["b.yaml:1:1: the file is UTF-16, not UTF-8 | save it as UTF-8"]


def test_where_a_manifest_is_broken_only_a_misspelt_version_is_certain(folder: Folder) -> None:
    folder(
        a_yaml="version: 1\ninclude: [part.yaml",
        part_yaml=commands("b"),
        z_yaml="verison: 1\nbot: x\n",
    )

    assert [line.split(": ")[0] for line in complaints(".")] == ["a.yaml:2:10", "z.yaml:1:1"]
    assert complaints(".")[1].endswith(
        '"verison" is not a key of a manifest, and version is missing | did you mean version?'
    )


def test_a_folder_without_manifests_is_an_error(folder: Folder) -> None:
    folder(bots__part_yaml="services: []\n")

    assert complaints("bots", "bots/x.yaml") == [
        f"bots:1:1: no *.yaml or *.yml file in this folder has a top-level version: | {START}",
        f"bots/x.yaml:1:1: there is no such file | {START}",
    ]


def test_what_cannot_be_opened_says_why(folder: Folder) -> None:
    folder(a_yaml="version: 1\n")

    assert complaints("a.yaml/b", "a\0b", "x" * 300) == [
        "a.yaml/b:1:1: the file cannot be read: Not a directory",
        "a\0b:1:1: the file cannot be read: embedded null byte",
        f"{'x' * 300}:1:1: the file cannot be read: File name too long",
    ]


@pytest.mark.skipif(not MEMORY.exists(), reason="needs a file that opens and cannot be read")
def test_a_file_in_a_folder_that_cannot_be_read_is_not_passed_over(folder: Folder) -> None:
    (folder(a_yaml="version: 1\n") / "b.yaml").symlink_to(MEMORY)

    assert complaints(".") == ["b.yaml:1:1: the file cannot be read: Input/output error"]


def test_standard_input_is_read_once(folder: Folder) -> None:
    folder(more_yaml=commands("b"))
    reads = iter([b"version: 1\ninclude: more.yaml\n" + commands("a").encode()])
    (manifest,) = load_manifests(["-", "-"], stdin=lambda: next(reads))

    assert names(manifest) == ["a", "b"]
    assert manifest.paths == ("-", "more.yaml")


def test_problems_of_all_files_are_said_at_once_in_their_order(folder: Folder) -> None:
    folder(
        b_yaml="version: 1\ninclude: [z.yaml, a.yaml]\nx: 1\n",
        z_yaml="commands: 1\n",
        a_yaml="\ny: 1\n",
        c_yaml="[",
    )

    assert [line.split(": ")[0] for line in complaints("b.yaml", "gone.yaml", "c.yaml")] == [
        *["b.yaml:3:1", "z.yaml:1:11", "a.yaml:2:1"],
        *["gone.yaml:1:1", "c.yaml:1:1"],
    ]


def test_includes_add_their_entries_in_the_order_of_the_patterns(folder: Folder) -> None:
    folder(
        bot__main_yaml="version: 1\nprefix: '!'\ndefaults: {category: C}\n"
        "include: [fun/*.yaml, a.yaml, '**/*.yaml']\n" + commands("first"),
        bot__a_yaml="version: 1\n" + commands("a"),
    )
    fun = folder() / "bot" / "fun"
    fun.mkdir()
    (fun / "y.yaml").write_text(commands("y"))
    (fun / "x.yaml").write_text(
        "commands: [{name: x, description: d, syntax: '{prefix}x'}]\n"
        "announcements: [{title: t, description: d}]\n"
    )
    (manifest,) = load("bot/main.yaml")

    assert names(manifest) == ["first", "x", "y", "a"]
    assert manifest.paths == (
        "bot/main.yaml",
        "bot/fun/x.yaml",
        "bot/fun/y.yaml",
        "bot/a.yaml",
    )
    assert manifest.snapshot.scope == (Resource.COMMAND, Resource.ANNOUNCEMENT)
    second = manifest.snapshot.collections[Resource.COMMAND][1]
    assert second.text == ("x", "d", "!x", "C")
    assert second.location == Location("bot/fun/x.yaml", 1, 12)


def test_doubles_are_found_across_files(folder: Folder) -> None:
    folder(main_yaml="version: 1\ninclude: a.yaml\n" + commands("x"), a_yaml=commands("x"))

    assert complaints("main.yaml") == [
        (
            'a.yaml:2:3: duplicate command "x", equal in all fields (first at main.yaml:4:3) '
            "| remove one; commands of one name are fine when any field differs"
        )
    ]


def test_a_pattern_must_match_inside_the_folder(folder: Folder) -> None:
    outside = folder(out_yaml=commands("x"), bot__a_yaml="version: 1\n") / "out.yaml"
    main = folder() / "bot" / "main.yaml"
    main.write_text(
        "version: 1\ninclude:\n"
        + "".join(
            f"- {pattern}\n"
            for pattern in ["../out.yaml", "/etc/*", "'C:\\x'", "gone/*.yaml", "link.yaml"]
        )
        + "- main.yaml\n- a**b.yaml\n- .\n"
    )
    (folder() / "bot" / "link.yaml").symlink_to(outside)
    out = "leads out of the manifest's folder"
    beside = "patterns are relative to the manifest's folder"

    found = complaints("bot/main.yaml")

    assert found[:6] == [
        f'bot/main.yaml:3:3: "../out.yaml" {out} | {INSIDE}',
        f'bot/main.yaml:4:3: "/etc/*" {out} | {INSIDE}',
        f'bot/main.yaml:5:3: "C:\\x" {out} | {INSIDE}',
        f'bot/main.yaml:6:3: "gone/*.yaml" matches no file | {beside}',
        f'bot/main.yaml:7:3: "bot/link.yaml" {out} | {INSIDE}',
        "bot/main.yaml:8:3: the manifest includes itself | remove it from include:",
    ]
    assert [line.split(": ")[0] for line in found[6:]] == [
        "bot/main.yaml:9:3",
        "bot/main.yaml:10:3",
    ]


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("bots", 'that is a folder; its files are "bots/*.yaml"'),
        ("bots/", 'that is a folder; its files are "bots/*.yaml"'),
        ("bots\\no*.yaml", "between folders write /, on Windows as well"),
        ("x" * 300 + "*", "patterns are relative to the manifest's folder"),
    ],
)
def test_a_pattern_that_matches_nothing_says_what_to_write(
    folder: Folder, pattern: str, hint: str
) -> None:
    folder(main_yaml=f"version: 1\ninclude: {pattern}\n", bots__a_yaml=commands("x"))

    (complaint,) = complaints("main.yaml")

    assert complaint.endswith(f" matches no file | {hint}")


def test_an_included_file_is_no_manifest_of_its_own_beside_the_one_that_includes_it(
    folder: Folder,
) -> None:
    text = "version: 1\n" + commands("a")
    folder(main_yaml="version: 1\ninclude: part.yaml\n", part_yaml=text)
    said = (
        "part.yaml:1:1: this is a manifest of its own here, and main.yaml includes it "
        "| remove its version:, or name only one of the two"
    )

    assert complaints(".") == [said]
    assert complaints("part.yaml", "main.yaml") == [said]
    assert [one.paths for one in load("main.yaml")] == [("main.yaml", "part.yaml")]


def test_an_included_file_holds_only_entries(folder: Folder) -> None:
    folder(
        main_yaml="version: 1\ninclude: ['[ab].yaml']\n",
        a_yaml="version: 1\ninclude: [main.yaml]\nbot: 1\n",
        b_yaml="- name: x\n",
    )

    assert complaints("main.yaml") == [
        (
            'a.yaml:2:1: an included file has no key "include" '
            "| it may have version, commands, announcements"
        ),
        (
            'a.yaml:3:1: an included file has no key "bot" '
            "| it may have version, commands, announcements"
        ),
        (
            "b.yaml:1:1: an included file must have keys at its top level, such as version: and "
            "commands: | put the list under commands:"
        ),
    ]


def test_limits_hold_for_a_manifest_with_all_its_includes(folder: Folder) -> None:
    part = "commands: [" + ",".join(["{}"] * 60) + "]\n#" + "x" * (4 * 1024 * 1024)
    folder(main_yaml="version: 1\ninclude: '?.yaml'\n", a_yaml=part, b_yaml=part, c_yaml=part)

    assert any(
        "c.yaml:1:1: the manifest is larger than 10 MiB" in c for c in complaints("main.yaml")
    )


def test_one_listing_in_two_manifests_is_an_error(folder: Folder) -> None:
    text = "version: 1\nbot: 1\nbase_url: https://x.example"
    folder(a_yaml=text, b_yaml=text + "/v1/", c_yaml="version: 1\nbot: 1\n")

    assert complaints("a.yaml", "b.yaml", "c.yaml") == [
        (
            "b.yaml:1:1: a.yaml is for the same bot on the same host "
            "| keep one manifest per bot: include: this file in a.yaml"
        )
    ]


def test_targets_are_compared_only_when_known() -> None:
    targets = [
        ManifestTarget("a", "", "1"),
        ManifestTarget("b", "", "1"),
        ManifestTarget("c", "u", ""),
        ManifestTarget("d", "u", ""),
    ]

    assert same_target_problems(targets) == ()
    assert len(same_target_problems([ManifestTarget(p, "u", "1") for p in "abc"])) == 2


LINKS = pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
FILE_NAMES = st.text("abcxyz", min_size=1, max_size=6)


@LINKS
@given(
    links=st.lists(FILE_NAMES, min_size=1, max_size=4, unique=True),
    files=st.lists(FILE_NAMES, min_size=1, max_size=4, unique=True),
    depth=st.integers(0, 60),
)
def test_links_to_the_folder_itself_lead_to_each_file_once_and_soon(
    links: list[str], files: list[str], depth: int
) -> None:
    looks = 0
    scandir = os.scandir

    def counted(path: str) -> os._ScandirIterator[str]:
        nonlocal looks
        looks += 1
        return scandir(path)

    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        for link in links:
            (folder / link).symlink_to(".")
        for file in files:
            (folder / f"{file}.yml").write_text(commands(file))
        (folder / "main.yaml").write_text(f"version: 1\ninclude: '{'*/' * depth}*.yml'\n")
        patch.setattr(os, "scandir", counted)
        (manifest,) = load(str(folder / "main.yaml"))

    assert sorted(names(manifest)) == sorted(files)
    assert looks <= depth + 1


def test_patterns_look_at_so_much_and_no_more(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commandsync.manifest.files._MOST_PLACES", 4)
    folder(main_yaml="version: 1\ninclude: [a.yml, '*.yml']\n", a_yml="commands: []\n")
    load("main.yaml")

    folder(b_yml="commands: []\n", c_yml="commands: []\n")

    (complaint,) = complaints("main.yaml")
    assert complaint == (
        "main.yaml:2:18: the patterns up to this one read more than 4 files and folders "
        "| name the folder, such as commands/*.yaml"
    )


def test_two_stars_alone_mean_folders_and_match_no_file(folder: Folder) -> None:
    folder(main_yaml="version: 1\ninclude: '**'\n", deeper__a_yaml=commands("a"))

    (complaint,) = complaints("main.yaml")

    assert complaint.startswith('main.yaml:2:10: "**" matches no file')


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is not part of any workspace."""
    path = tmp_path_factory.mktemp("elsewhere") / "commands.yaml"
    path.write_text("version: 1\n" + commands("a"))
    return path


@LINKS
@pytest.mark.parametrize("source", ["link.yaml", "bots/link.yaml", "bots", "folder/commands.yaml"])
def test_in_a_workspace_no_link_out_of_it_is_followed(
    folder: Folder, elsewhere: Path, source: str
) -> None:
    workspace = folder(bots__a_yaml="version: 1\n")
    (workspace / "folder").symlink_to(elsewhere.parent)
    (workspace / "link.yaml").symlink_to(elsewhere)
    (workspace / "bots" / "link.yaml").symlink_to("../link.yaml")
    load(source)

    with pytest.raises(ManifestError) as caught:
        load_manifests([source], stdin=never, workspace=workspace)

    assert "this is a link out of the workspace, and is not read" in str(caught.value.problems[0])


@LINKS
def test_links_inside_the_workspace_and_paths_outside_it_are_read(
    folder: Folder, elsewhere: Path
) -> None:
    workspace = folder(main_yaml="version: 1\n")
    (workspace / "link.yaml").symlink_to("main.yaml")

    loaded = load_manifests(["link.yaml", str(elsewhere)], stdin=never, workspace=workspace)

    assert [m.path for m in loaded] == ["link.yaml", str(elsewhere)]
