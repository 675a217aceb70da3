"""Which files are read: sources of -f, folders, and includes that stay inside."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.cli.output import OPTIONS
from commandsync.diagnostics import Location, in_words
from commandsync.errors import ManifestError
from commandsync.manifest import Manifest, load_manifests, same_target_problems
from commandsync.records.texts import Resource

Folder = Callable[..., Path]

MEMORY = Path("/proc/self/mem")
PREFIX = 'prefix: "/"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Write files into the current folder, a fresh one; what includes others has a prefix."""
    monkeypatch.chdir(tmp_path)

    def write(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            is_bare = "\ninclude:" in text and "\nprefix:" not in text and text.endswith("\n")
            path.write_text(text + PREFIX * is_bare, encoding="utf-8")
        return tmp_path

    return write


def never() -> bytes:
    pytest.fail("standard input was read")


def load(*sources: str) -> tuple[Manifest, ...]:
    return load_manifests(sources, stdin=never)


def complaints(*sources: str) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        load(*sources)
    return [
        f"{p}" + (f" | {in_words(p.hint, OPTIONS)}" if p.hint else "")
        for p in caught.value.problems
    ]


def names(manifest: Manifest) -> list[str]:
    return [entry.name for entry in manifest.snapshot.collections[Resource.COMMAND]]


def commands(*names: str) -> str:
    lines = [f"- {{name: {name}, description: d, syntax: '{{prefix}}s'}}\n" for name in names]
    return "commands:\n" + "".join(lines)


VALID = "version: 1\ncommands: []\n"
TARGET = "version: 1\nbot: 1\nbase_url: https://x.example"
PART = {"bots__a_yaml": commands("x")}
TWICE = {
    "main_yaml": "version: 1\ninclude: part.yaml\n",
    "part_yaml": "version: 1\n" + commands("a").replace("{prefix}", "/"),  # it is read alone, too
}
WRONG: list[tuple[str, dict[str, str]]] = [
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": "{{{"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": "\tversion: 1\ncommands: []\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": " version: 1\ncommands: []\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": " verison: 1\n commands: []\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": " verison: 1\ncommands: []\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": " version: 2\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": "base_url: x\nVersion: 1\n"}),
    ("bots", {"bots__a_yaml": VALID, "bots__b_yaml": "x: {}\nsync: {}\n"}),
    (
        ".",
        {
            "a_yaml": "version: 1\ninclude: [part.yaml",
            "part_yaml": commands("b"),
            "z_yaml": "verison: 1\nbot: x\n",
        },
    ),
    ("bots bots/x.yaml", {"bots__part_yaml": "services: []\n"}),
    (
        "b.yaml gone.yaml c.yaml",
        {
            "b_yaml": "version: 1\ninclude: [z.yaml, a.yaml]\nx: 1\n",
            "z_yaml": "commands: 1\n",
            "a_yaml": "\ny: 1\n",
            "c_yaml": "[",
        },
    ),
    (
        "main.yaml",
        {"main_yaml": "version: 1\ninclude: a.yaml\n" + commands("x"), "a_yaml": commands("x")},
    ),
    ("main.yaml", PART | {"main_yaml": "version: 1\ninclude: bots\n"}),
    ("main.yaml", PART | {"main_yaml": "version: 1\ninclude: bots/\n"}),
    ("main.yaml", PART | {"main_yaml": "version: 1\ninclude: bots\\no*.yaml\n"}),
    ("main.yaml", PART | {"main_yaml": f"version: 1\ninclude: {'x' * 300}*\n"}),
    (
        "main.yaml",
        {
            "main_yaml": "version: 1\ninclude: ['[ab].yaml']\n",
            "a_yaml": "version: 1\ninclude: [main.yaml]\nbot: 1",
            "b_yaml": "- name: x\n",
        },
    ),
    (
        "a.yaml b.yaml c.yaml",
        {"a_yaml": TARGET, "b_yaml": TARGET + "/v1/", "c_yaml": "version: 1\nbot: 1\n"},
    ),
    (".", TWICE),
    ("part.yaml main.yaml", TWICE),
    ("main.yaml", PART | {"main_yaml": "version: 1\ninclude: '**'\n"}),
    ("main.yaml", {"main_yaml": "version: 1\ninclude: a.yaml\n", "a_yaml": "listings: []\n"}),
    (
        ".",
        {
            f"{name}_yaml": f"version: 1\n{bot}listings: [{{service: top.gg}}]\ncommands: []\n"
            for name, bot in {"a": "bot: 42\n", "b": "bot: 43\n", "c": "bot: 42\n", "d": ""}.items()
        },
    ),
]


def test_the_wording_of_file_problems(folder: Folder, golden: Callable[[str, str], None]) -> None:
    cases = []
    for sources, files in WRONG:
        root = folder(**files)
        cases.append("\n".join(["$ " + sources, *complaints(*sources.split())]))
        for path in root.rglob("*.yaml"):
            path.unlink()
    (folder(a_yaml="version: 1\n") / "b.yaml").write_bytes("version: 1\n".encode("utf-16"))
    cases.append("\n".join(["$ .", *complaints(".")]))

    golden("\n\n".join(cases) + "\n", "files.txt")


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


def test_a_file_that_a_manifest_in_the_folder_includes_is_not_reported(folder: Folder) -> None:
    folder(a_yaml="version: 1\ninclude: part.yaml\n" + commands("a"), part_yaml=commands("b"))

    assert [m.paths for m in load(".")] == [("a.yaml", "part.yaml")]
    folder(**TWICE)
    assert [m.paths for m in load("main.yaml")] == [("main.yaml", "part.yaml")]


def test_what_cannot_be_opened_says_why(folder: Folder) -> None:
    folder(a_yaml="version: 1\n")

    assert list(map(str, complaints("a.yaml/b", "a\0b", "x" * 300))) == [
        "a.yaml/b: the file cannot be read: Not a directory",
        "a\u0000b: the file cannot be read: embedded null byte",
        f"{'x' * 300}: the file cannot be read: File name too long",
    ]


@pytest.mark.skipif(not MEMORY.exists(), reason="needs a file that opens and cannot be read")
def test_a_file_in_a_folder_that_cannot_be_read_is_not_passed_over(folder: Folder) -> None:
    (folder(a_yaml="version: 1\n") / "b.yaml").symlink_to(MEMORY)

    assert list(map(str, complaints("."))) == [
        "b.yaml: the file cannot be read: Input/output error",
    ]


def test_standard_input_is_read_once(folder: Folder) -> None:
    folder(more_yaml=commands("b"))
    reads = iter([f"version: 1\n{PREFIX}include: more.yaml\n{commands('a')}".encode()])
    (manifest,) = load_manifests(["-", "-"], stdin=lambda: next(reads))

    assert names(manifest) == ["a", "b"]
    assert manifest.paths == ("-", "more.yaml")


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
    assert manifest.paths == ("bot/main.yaml", "bot/fun/x.yaml", "bot/fun/y.yaml", "bot/a.yaml")
    assert manifest.snapshot.scope == (Resource.COMMAND, Resource.ANNOUNCEMENT)
    second = manifest.snapshot.collections[Resource.COMMAND][1]
    assert second.text == ("x", "d", "!x", "C")
    assert second.location == Location("bot/fun/x.yaml", 1, 12)


@pytest.mark.promise("yaml-tags")
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

    found = complaints("bot/main.yaml")

    assert [line.split(": ")[0] for line in found] == [f"bot/main.yaml:{n}:3" for n in range(3, 11)]
    assert list(map(str, [*found[:6]])) == [
        (
            'bot/main.yaml:3:3: "../out.yaml" leads out of the manifest\'s folder | move the file '
            "into the manifest's folder, or the manifest beside it"
        ),
        (
            'bot/main.yaml:4:3: "/etc/*" leads out of the manifest\'s folder | move the file into '
            "the manifest's folder, or the manifest beside it"
        ),
        (
            'bot/main.yaml:5:3: "C:\\x" leads out of the manifest\'s folder | move the file into '
            "the manifest's folder, or the manifest beside it"
        ),
        (
            'bot/main.yaml:6:3: "gone/*.yaml" matches no file | patterns are relative to the '
            "manifest's folder"
        ),
        (
            'bot/main.yaml:7:3: "bot/link.yaml" leads out of the manifest\'s folder | move the '
            "file into the manifest's folder, or the manifest beside it"
        ),
        "bot/main.yaml:8:3: the manifest includes itself | remove it from include:",
    ]


def test_limits_hold_for_a_manifest_with_all_its_includes(folder: Folder) -> None:
    part = "commands: [" + ",".join(["{}"] * 60) + "]\n#" + "x" * (4 * 1024 * 1024)
    folder(main_yaml="version: 1\ninclude: '?.yaml'\n", a_yaml=part, b_yaml=part, c_yaml=part)

    (complaint,) = (c for c in complaints("main.yaml") if "10 MiB" in c)
    assert complaint.startswith("c.yaml:1:1: ")


def test_targets_are_compared_only_when_known() -> None:
    targets = [("a", "", "1"), ("b", "", "1"), ("c", "u", ""), ("d", "u", "")]

    assert same_target_problems(targets) == ()
    assert len(same_target_problems([(p, "u", "1") for p in "abc"])) == 2


LINKS = pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
FILE_NAMES = st.text("abcxyz", min_size=1, max_size=6)


@LINKS
@given(
    links=st.lists(FILE_NAMES, min_size=1, max_size=4, unique=True),
    files=st.lists(FILE_NAMES, min_size=1, max_size=4, unique=True),
    depth=st.integers(0, 60),
)
def test_links_to_a_folder_are_read_once(links: list[str], files: list[str], depth: int) -> None:
    looks = 0
    scandir = os.scandir

    def counted(path: str) -> "os._ScandirIterator[str]":
        nonlocal looks
        looks += 1
        return scandir(path)

    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        for link in links:
            (folder / link).symlink_to(".")
        for file in files:
            (folder / f"{file}.yml").write_text(commands(file))
        (folder / "main.yaml").write_text(f"version: 1\n{PREFIX}include: '{'*/' * depth}*.yml'\n")
        patch.setattr(os, "scandir", counted)
        (manifest,) = load(str(folder / "main.yaml"))

    assert sorted(names(manifest)) == sorted(files)
    assert looks <= depth + 1


def test_patterns_look_at_so_much(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commandsync.manifest.source._MOST_PLACES", 4)
    folder(main_yaml="version: 1\ninclude: [a.yml, '*.yml']\n", a_yml="commands: []\n")
    load("main.yaml")

    folder(b_yml="commands: []\n", c_yml="commands: []\n")

    (complaint,) = complaints("main.yaml")
    assert str(complaint) == (
        "main.yaml:2:18: the patterns up to this one read more than 4 files and folders | name "
        "the folder, such as commands/*.yaml"
    )


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is not part of any workspace."""
    path = tmp_path_factory.mktemp("elsewhere") / "commands.yaml"
    path.write_text(f"version: 1\n{PREFIX}{commands('a')}")
    return path


@pytest.mark.promise("ci-links")
@LINKS
@pytest.mark.parametrize("source", ["link.yaml", "bots/link.yaml", "bots", "folder/commands.yaml"])
def test_no_link_out_of_a_workspace_is_read(folder: Folder, elsewhere: Path, source: str) -> None:
    workspace = folder(bots__a_yaml="version: 1\n")
    (workspace / "folder").symlink_to(elsewhere.parent)
    (workspace / "link.yaml").symlink_to(elsewhere)
    (workspace / "bots" / "link.yaml").symlink_to("../link.yaml")
    load(source)

    with pytest.raises(ManifestError) as caught:
        load_manifests([source], stdin=never, workspace=workspace)

    (problem,) = caught.value.problems
    assert str(problem).endswith(": this is a link out of the workspace, and is not read")


@pytest.mark.promise("ci-outside")
@LINKS
def test_links_inside_and_paths_outside_are_read(folder: Folder, elsewhere: Path) -> None:
    workspace = folder(main_yaml="version: 1\n")
    (workspace / "link.yaml").symlink_to("main.yaml")

    loaded = load_manifests(["link.yaml", str(elsewhere)], stdin=never, workspace=workspace)

    assert [m.path for m in loaded] == ["link.yaml", str(elsewhere)]
