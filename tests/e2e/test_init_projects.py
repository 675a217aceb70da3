"""`init` in a bot's project: it is recognised, its commands are read, and a plan works at once."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.manifest import Manifest, load_manifests
from commandsync.services.catalogue import LISTS
from commandsync.sources.reading import LIBRARIES, platform_of, project_in
from commandsync.sync.importplan import EXAMPLES
from commandsync.sync.init import recommended_lossy
from tests.support.bots import Proxy, Service
from tests.support.fence import fenced
from tests.support.home import PROJECTS, ROOT, UNREAD, Home, Kind
from tests.support.terminal import POSIX, Terminal

NAMES = st.lists(
    st.from_regex("[a-z][a-z0-9]{2,9}", fullmatch=True).filter(str.isidentifier),
    min_size=1,
    max_size=6,
    unique=True,
).filter(lambda names: not {"bot", "for", "and", "del", "def", "not", "try", "async"} & {*names})
KINDS = pytest.mark.parametrize("kind", PROJECTS.values(), ids=PROJECTS)
TEXT_COMMAND = (
    'module.exports = {{ name: "{0}", description: "Does {0}.", aliases: ["x"], run() {{}} }};\n'
)
GIT = shutil.which("git") or "git"
BOT = "812045337190064138"


def manifest_at(path: str = "commands.yaml") -> Manifest:
    (manifest,) = load_manifests([path], stdin=bytes)
    return manifest


def empty(home: Home) -> None:
    for path in sorted(home.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


@KINDS
@settings(max_examples=8)
@given(names=NAMES)
def test_a_project_has_a_manifest_at_once(home: Home, kind: Kind, names: list[str]) -> None:
    empty(home)
    kind.write(home, names)

    ran = home.run("init", "--yes", exits=0)

    manifest = manifest_at()
    assert sorted(each.name for each in manifest.snapshot.commands) == sorted(names)
    assert [listing.service for listing in manifest.listings] == [kind.service]
    assert list(manifest.listings[0].lossy) == recommended_lossy(LISTS[kind.service])
    assert manifest.imports.sources == (kind.source,)
    assert home.run("validate", "--strict").code == 0
    home.run("plan", "--strict", exits=0)
    assert home.run("import", "--check").code == 0
    first = LISTS[kind.service].variables[0]
    assert f"export {first}=...\n" in ran.err


def test_the_built_code_of_a_bot_is_not_its_source(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping", "play"])
    shutil.copytree(home.path / "src", home.path / "dist")

    ran = home.run("init", "--yes", exits=0)

    assert "This bot uses discord.js: 2 commands in src.\n" in ran.err
    assert manifest_at().imports.sources == ("src",)


@settings(max_examples=3)
@given(names=NAMES)
def test_commands_that_no_code_says_are_to_be_recorded(home: Home, names: list[str]) -> None:
    empty(home)
    UNREAD.write(home, names)

    ran = home.run("init", "--yes", exits=0)

    assert [listing.service for listing in manifest_at().listings] == ["telegram"]
    assert "which are examples, or remove them and record a run of the bot:\n" in ran.err
    assert "       commandsync import -- node src/bot.js\n" in ran.err
    assert home.run("plan", "--strict").code == 0


def test_the_recommended_losses_are_what_the_facts_say_and_never_options() -> None:
    for service in LISTS.values():
        lossy = recommended_lossy(service)

        assert "options" not in lossy
        assert not any(service.facts.takes(field) for field in lossy)
        assert {*lossy} == {f for f in ("category", "syntax") if not service.facts.takes(f)}


def test_the_prefix_is_from_the_code_or_text_commands_are_left_out_and_named(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    home.write(TEXT_COMMAND.format("away"), "src/legacy/away.js")
    without = home.run("init", "--yes")
    assert [each.name for each in manifest_at().snapshot.commands] == ["ping"]
    assert "1 command is left out: called with a prefix" in without.err
    assert "(away)" in without.err

    (home.path / "commands.yaml").unlink()
    home.write('{"prefix": "!", "owner": "1"}', "config.json")
    home.run("init", "--yes", exits=0)

    assert manifest_at().prefix == "!"
    assert sorted(each.syntax for each in manifest_at().snapshot.commands) == ["!away", "/ping"]


def test_options_are_the_answers_off_a_terminal(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping", "play"])
    home.write(TEXT_COMMAND.format("away"), "old/away.js")
    services = ["--listing", "top.gg", "--listing", "discordbotlist.com"]

    ran = home.run("init", *services, "--bot", BOT, "--from", "old", "--prefix", "$", "--workflow")

    assert ran.code == 0, ran.said
    manifest = manifest_at()
    assert (manifest.bot, manifest.prefix, manifest.imports.sources) == (BOT, "$", ("old",))
    assert [each.syntax for each in manifest.snapshot.commands] == ["$away"]
    assert (home.path / ".github/workflows/commands.yml").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listing", "discordbotlist.com"], "discordbotlist.com needs the bot's id"),
        (["--listing", "top.gq"], '"top.gq" is not a known service'),
        (["--from", "nowhere"], "nowhere"),
    ],
)
def test_a_wrong_answer_writes_nothing(home: Home, arguments: list[str], said: str) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    before = sorted(home.path.rglob("*"))

    ran = home.run("init", *arguments)

    assert ran.code in {1, 2}
    assert said in ran.err
    assert sorted(home.path.rglob("*")) == before


@pytest.mark.parametrize("arguments", [["--platform", "telegram"], ["--yes"], []])
@pytest.mark.parametrize("edit", ["", "Answers."])
def test_an_import_names_the_examples_of_each_starter(
    home: Home, arguments: list[str], edit: str
) -> None:
    assert home.run("init", *arguments).code == 0
    home.write('[{"name": "roll", "description": "Rolls.", "type": 1}]', "list.json")
    text = home.read("commands.yaml").replace(EXAMPLES["ping"], edit or EXAMPLES["ping"])
    home.write(text)

    ran = home.run("import", "list.json", exits=0)

    assert ("has the examples of commandsync init" in ran.err) is not bool(edit)
    assert {each.name for each in manifest_at().snapshot.commands} == {*EXAMPLES, "roll"}


@pytest.mark.parametrize(
    "before", [None, "*.png binary", "*.imported.yaml linguist-generated=true\n"]
)
def test_github_is_told_that_the_imported_file_is_generated(home: Home, before: str | None) -> None:
    kind = PROJECTS["grammY"]
    kind.write(home, ["roll"])
    if before is not None:
        home.write(before, ".gitattributes")
    home.run("init", "--listing", "telegram", "--from", kind.source, exits=0)

    lines = home.read(".gitattributes").splitlines()
    assert lines.count("*.imported.yaml linguist-generated=true") == 1
    assert ("*.png binary" in lines) == (before == "*.png binary")


def test_without_code_the_manifest_has_examples(home: Home) -> None:
    home.run("init", "--yes", exits=0)

    assert [each.name for each in manifest_at().snapshot.commands] == ["help", "ping"]
    assert home.run("plan").code == 0


def test_what_is_listed_is_merged_with_code(home: Home, service: Service, proxy: Proxy) -> None:
    listed = {"name": "ping", "description": "Answers.", "syntax": "/ping", "category": "Tools"}
    old = {"name": "stats", "description": "Counts.", "syntax": "/stats"}
    home.knows(service.bot([listed, old]), url=proxy.url)
    PROJECTS["discord.js"].write(home, ["ping", "play"])

    home.run("init", "--yes", "--listing", proxy.url, exits=0)

    texts = {each.name: each for each in manifest_at().snapshot.commands}
    assert texts.keys() == {"ping", "stats", "play"}
    assert (texts["ping"].description, texts["ping"].category) == ("Answers.", "Tools")
    planned = home.run("plan")
    assert "1 to add, 0 to edit, 0 to delete, 2 unchanged" in planned.out
    assert proxy.writes == []


def test_the_workflow_calls_the_reusable_one_with_inputs_that_it_has(home: Home) -> None:
    subprocess.run([GIT, "init", "-q"], check=True, cwd=home.path)
    PROJECTS["discord.js"].write(home, ["ping"])
    folder = home.path / "bots" / "music"
    folder.mkdir(parents=True)
    ran = home.run(
        "init", "bots/music/commands.yaml", "--workflow", "--from", "src", "--listing", "top.gg"
    )

    assert ran.code == 0, ran.said
    first = ran.err.partition("Left to do:\n")[2]
    assert first.startswith("  1. Replace OWNER and COMMIT in .github/workflows/commands.yml")
    workflow = yaml.safe_load((home.path / ".github/workflows/commands.yml").read_text("utf-8"))
    called = yaml.safe_load((ROOT / ".github/workflows/sync.yml").read_text("utf-8"))
    job, own = workflow["jobs"]["commands"], called[True]["workflow_call"]
    assert job["uses"] == "OWNER/commandsync/.github/workflows/sync.yml@COMMIT"
    assert job["with"] == {"environment": "listing", "file": "bots/music/commands.yaml"}
    assert {*job["with"]} <= {*own["inputs"]}
    assert {*job["secrets"]} == {"COMMANDSYNC_TOKEN_TOPGG"} <= {*own["secrets"]}
    needed = [each["permissions"] for each in called["jobs"].values() if each.get("permissions")]
    assert all(
        workflow["permissions"][key] == value
        for each in needed
        for key, value in each.items()
        if value == "write"
    )


BRANCHES = st.from_regex("[a-z][a-z0-9-]{1,9}(/[a-z]{1,5})?", fullmatch=True)


@settings(max_examples=4)
@given(branch=BRANCHES, is_cloned=st.booleans())
def test_the_workflow_applies_the_default_branch(home: Home, branch: str, is_cloned: bool) -> None:  # noqa: FBT001 - drawn
    shutil.rmtree(home.path / ".git", ignore_errors=True)
    empty(home)
    subprocess.run([GIT, "init", "-q", "-b", branch], check=True, cwd=home.path)
    if is_cloned:  # as `git clone` leaves it
        remote = ["symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{branch}"]
        subprocess.run([GIT, *remote], check=True, cwd=home.path)
        subprocess.run([GIT, "checkout", "-q", "-b", "topic"], check=True, cwd=home.path)
    PROJECTS["discord.js"].write(home, ["ping"])

    ran = home.run("init", "--yes", "--workflow", exits=0)

    workflow = yaml.safe_load((home.path / ".github/workflows/commands.yml").read_text("utf-8"))
    assert workflow[True]["push"]["branches"] == [branch]
    assert (f"Check that {branch}, its branch, is the default" in ran.err) is not is_cloned


def test_a_workflow_that_exists_is_not_touched(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    (home.path / ".github" / "workflows").mkdir(parents=True)
    home.write("name: Mine\n", ".github/workflows/commands.yml")

    assert home.run("init", "--yes").code == 0
    refused = home.run("init", "other.yaml", "--workflow", exits=1)

    assert ".github/workflows/commands.yml exists already" in refused.err
    assert home.read(".github/workflows/commands.yml") == "name: Mine\n"


@pytest.mark.parametrize("depth", [1, 3])
def test_a_manifest_above_is_named(home: Home, monkeypatch: pytest.MonkeyPatch, depth: int) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    assert home.run("init", "--yes").code == 0
    folder = home.path.joinpath(*"abc"[:depth])
    folder.mkdir(parents=True)
    above = "/".join([".."] * depth) + "/commands.yaml"
    monkeypatch.chdir(folder)
    home.run("validate", exits=4)
    subprocess.run([GIT, "init", "-q"], check=True, cwd=home.path)

    inside = home.run("validate")
    planned = home.run("plan")
    again = home.run("init", "--yes", exits=1)

    assert (inside.code, planned.code) == (0, 0)
    for ran in (inside, planned):
        assert f"using {above}\n" in ran.err
        assert above in ran.out
    assert f"{above} exists already" in again.err
    assert not (folder / "commands.yaml").exists()


def test_the_repository_bounds_the_search(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write("version: 1\ncommands: []\n")
    (home.path / "bot").mkdir()
    subprocess.run([GIT, "init", "-q"], check=True, cwd=home.path / "bot")
    monkeypatch.chdir(home.path / "bot")

    assert home.run("validate").code == 4


OPTION = '.addStringOption((option) => option.setName(NAME).setDescription("The title."))'


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
@pytest.mark.parametrize("has_unknown_option", [False, True])
def test_on_a_terminal_each_question_has_a_default(home: Home, has_unknown_option: bool) -> None:  # noqa: FBT001 - a parameter of the test
    PROJECTS["discord.js"].write(home, ["ping"])
    file = next(home.path.glob("src/**/ping.js"))
    if has_unknown_option:
        text = file.read_text("utf-8")
        file.write_text(re.sub(r"(\.setDescription\(.*?\))", rf"\1{OPTION}", text), "utf-8")
    with Terminal.running(home, "init") as terminal:
        for question, answer in (
            ("listings [discord top.gg]:", ""),
            ("registered by [bot]:", ""),
            ("code [", "src"),
            ("[y/N]:", ""),
        ):
            terminal.until(question)
            terminal.type(f"{answer}\n")
        code, rest, _ = terminal.ended()

    assert code == 0, rest
    assert "wrote commands.imported.yaml, commands.yaml" in rest
    assert ("does not show all options" in rest) is has_unknown_option
    assert [each.service for each in manifest_at(str(home.path / "commands.yaml")).listings] == [
        "top.gg"
    ]


@fenced
def test_a_bot_that_registers_is_recorded_first_and_read_if_that_fails(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    home.write("require('not-installed')", "deploy-commands.js")
    with Terminal.running(home, "init") as terminal:
        for question, answer in (
            ("listings [discord top.gg]:", "top.gg"),
            ("code [record]:", ""),
            ("program [node deploy-commands.js]:", ""),
            ("'not-installed' is missing", None),
            ("code [src]:", ""),
            ("[y/N]:", ""),
        ):
            terminal.until(question)
            if answer is not None:
                terminal.type(f"{answer}\n")
        code, rest, _ = terminal.ended()

    assert (code, "1 to add" in rest) == (0, True), rest


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
def test_answers_on_a_terminal_are_asked_again_until_they_work(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    home.write(TEXT_COMMAND.format("away"), "src/away.js")
    answers = (
        ("listings [discord top.gg]:", "nobody"),
        ('"nobody" is not a known service', ""),
        ("listings [discord top.gg]:", "discord, top.gg, discordbotlist.com"),
        ("registered by [bot]:", "me"),
        ("me is not an answer", ""),
        ("registered by [bot]:", "commandsync"),
        ("bot:", BOT),
        ("code [", "nowhere"),
        ("nowhere does not exist", ""),
        ("code [", "src"),
        ("prefix [none]:", "!!"),
        ("[y/N]:", "y"),
    )
    with Terminal.running(home, "init") as terminal:
        for shown, answer in answers:
            terminal.until(shown)
            if answer:
                terminal.type(f"{answer}\n")
        code, rest, _ = terminal.ended()

    assert code == 0, rest
    manifest = manifest_at(str(home.path / "commands.yaml"))
    assert (manifest.bot, manifest.prefix) == (BOT, "!!")
    assert (home.path / ".github/workflows/commands.yml").exists()


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
def test_no_answer_writes_nothing(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    with Terminal.running(home, "init") as terminal:
        terminal.until("listings [discord top.gg]:")
        terminal.type("\x04")
        code, rest, _ = terminal.ended()

    assert code == 1, rest
    assert "nothing was written" in rest
    assert not (home.path / "commands.yaml").exists()


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_is_recognised_by_its_dependency(tmp_path: Path, library: str) -> None:
    is_python = not re.search(
        r"\.js$|@|discordx|necord|slash|eris|seyfert|deno|akairo|gram", library
    )
    name, text = "package.json", f'{{"dependencies": {{"{library}": "1.0.0"}}}}'
    if is_python or library in {"aiogram", "pyrogram", "kurigram", "python-telegram-bot"}:
        name, text = "requirements.txt", f"# the bot\n{library}[fast]==1.0 ; python_version > '3'\n"
    (tmp_path / name).write_text(text, encoding="utf-8")

    assert project_in(tmp_path).library == library
    assert platform_of(tmp_path) == LIBRARIES[library]


def test_the_bot_of_a_program_is_run_that_registers_its_commands(home: Home) -> None:
    PROJECTS["discord.js"].write(home, ["ping"])
    assert project_in(Path()).program == "node deploy-commands.js"
    home.write(
        '{"scripts": {"start": "node .", "register": "tsx src/register.ts"}}', "package.json"
    )
    assert project_in(Path()).program == "tsx src/register.ts"
