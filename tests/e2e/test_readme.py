import json
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import jsonschema
import pytest
import yaml

from commandsync.api.policy import FAILURES_IN_A_ROW, LONGEST_WAIT
from commandsync.apply.outcomes import Outcome
from commandsync.cli.program import EPILOG, program
from commandsync.document.schemas import schema_text
from commandsync.errors import CommandsyncError, Exit, FileError, worst_exit
from commandsync.manifest.model import json_schema
from commandsync.manifest.source import MOST_BYTES, MOST_DEPTH, MOST_NODES
from commandsync.plan.changes import Action
from commandsync.plan.rules import ALWAYS_ALLOWED, DEFAULT_LIMIT
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.server.administration import read_seed
from commandsync.server.service import openapi_text
from commandsync.services.catalogue import LISTS
from commandsync.services.discord import VARIABLES as DISCORD_VARIABLES
from commandsync.sync.process import Signals
from commandsync.sync.settings import HOSTS_VARIABLE, TOKEN_VARIABLE
from tests.e2e.readme_blocks import (
    DOCUMENTS,
    ROOT,
    BlockError,
    Walkthrough,
    shows,
    with_real_outputs,
)
from tests.support.home import commands_of
from tests.support.runner import ACTION
from tests.support.terminal import POSIX

TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in DOCUMENTS}
TEXT = "\n".join(TEXTS.values())
LINKED = {
    **TEXTS,
    **{
        path: (ROOT / path).read_text("utf-8")
        for path in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    },
}
RUN = {"console", "yaml", "py", "python", "js", "diff"}
NOT_RUN = {"text", "sh", "json", "yml"}  # NOT_RUN_COMMANDS, formats of files, and manifests
NOT_RUN_COMMANDS = {
    "pipx install",  # tests/e2e/test_pipx.py
    "pip download",  # needs a package index
    "gh release view",  # needs GitHub
    "node -e",  # tests/unit/sources/javascript/test_forms.py
    "commandsync import --allow",  # tests/e2e/recording
    "umask 077",  # tests/e2e/server/test_backups.py; the next two too
    "cp backup.db listing.db",
    "createdb restored",
    "createdb listing",  # needs PostgreSQL; tests/e2e/server/test_processes.py
    "export COMMANDSYNC_TOKEN_TELEGRAM=...",  # a secret
    "export COMMANDSYNC_DATABASE=",  # as createdb
    "commandsync serve --port",  # as createdb
    "commandsync validate",  # the jobs of another CI system; the next three too
    "commandsync plan",
    "commandsync apply",
}
MOST_LINES = 200  # of the README
on_posix = pytest.mark.skipif(not POSIX, reason="a shell of POSIX runs the documents")
NUMBERS = ["no", "one", "two", "three", "four", "five"]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")


COMMANDS = {
    " ".join(words): command
    for words, command in commands_of()
    if not isinstance(command, click.Group)
}


def table(*heads: str) -> list[list[str]]:
    """Return the cells of the only table with this header."""
    head = re.escape("| " + " | ".join(heads) + " |")
    (body,) = re.findall(rf"^{head}\n\|[-|]+\|\n((?:\|.*\|\n)+)", TEXT, re.MULTILINE)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body.splitlines()
    ]


def code(cell: str) -> str:
    match = _CODE.search(cell)
    assert match is not None
    return match[1]


def options_of(command: click.Command) -> dict[str, click.Option]:
    return {
        name: option
        for option in command.params
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


def fenced(language: str) -> list[str]:
    return [content for tag, content in _FENCE.findall(TEXT) if tag == language]


def keys_of(schema: dict[str, Any], inside: str = "") -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield every key of the manifest as the reference shows it, and whether it is required."""
    for name, value in schema["properties"].items():
        yield f"{inside}{name}", value, name in schema.get("required", ())
        if name == "discord":  # its keys are Discord's own
            continue
        if "properties" in value:
            yield from keys_of(value, f"{inside}{name}.")
        elif "properties" in value.get("items", {}):
            yield from keys_of(value["items"], f"{inside}{name}[].")


def keys_in(value: object, inside: str = "") -> Iterator[str]:
    """Yield every key that a manifest contains, as the reference shows it."""
    for name, child in value.items() if isinstance(value, dict) else ():
        yield f"{inside}{name}"
        yield from keys_in(child, f"{inside}{name}.")
        for entry in child if isinstance(child, list) else ():
            yield from keys_in(entry, f"{inside}{name}[].")


def anchors_of(text: str) -> set[str]:
    """Return the anchors that GitHub makes of the headings."""
    return {
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@on_posix
@pytest.mark.parametrize("document", TEXTS)
def test_every_command_prints_the_output_in_the_document(document: str) -> None:
    real, pictures = with_real_outputs(TEXTS[document])

    assert real == TEXTS[document], "python tests/e2e/readme_blocks.py --write"
    for path, picture in pictures.items():
        assert shows(path.read_text(encoding="utf-8"), of=picture), path.name


@on_posix
def test_one_shell_runs_a_page_and_a_wrong_output_is_detected() -> None:
    text = (
        "```console\n$ mkdir bots && cd bots\n$ export COMMANDSYNC_BOT=77\n```\n"
        "```yaml\n# a.yaml\nversion: 1\ncommands: []\n```\n"
        "```console\n$ commandsync schema nothing | head -n 1\nall is well\n"
        "$ basename $PWD $COMMANDSYNC_BOT; ls; (exit 7)\n$ echo $?\n0\n```\n"
    )

    real, _ = with_real_outputs(text)

    assert "all is well" not in real
    assert real.endswith("(exit 7)\nbots\na.yaml\n$ echo $?\n7\n```\n")


@on_posix
def test_an_edit_of_missing_lines_and_a_block_without_a_path_are_refused(tmp_path: Path) -> None:
    with Walkthrough(tmp_path) as walkthrough:
        walkthrough.run_block("yaml", "# a.yaml\nversion: 1\n")

        with pytest.raises(BlockError, match="contains 0 times"):
            walkthrough.edit("--- a.yaml\n-version: 2\n+version: 3\n")
        with pytest.raises(BlockError, match="needs a path"):
            walkthrough.run_block("yaml", "version: 1\n")


def test_every_language_is_run_or_listed_as_not_run() -> None:
    assert {language for language, _ in _FENCE.findall(TEXT)} == (RUN | NOT_RUN)


def test_a_manifest_that_is_shown_before_its_walkthrough_is_one() -> None:
    for content in fenced("yml"):
        jsonschema.validate(yaml.safe_load(content), json_schema())


@pytest.mark.parametrize("document", TEXTS)
def test_every_block_can_be_recognized(document: str) -> None:
    assert TEXTS[document].count("```") == 2 * len(_FENCE.findall(TEXTS[document]))


def test_every_command_is_run_or_listed_as_not_run() -> None:
    commands = re.findall(r"^[a-z]+ .*", "\n".join(fenced("sh")), re.MULTILINE)
    commands += re.findall(r"^\$ .*", "\n".join(fenced("text")), re.MULTILINE)

    assert {line for line in commands if not line.startswith(tuple(NOT_RUN_COMMANDS))} == set()
    assert {start for start in NOT_RUN_COMMANDS if start not in "\n".join(commands)} == set()


def test_every_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    words = "".join(fenced("sh")) + " ".join(_CODE.findall(_FENCE.sub("", TEXT)))
    targets = set(re.findall(r"\bmake ([a-z]+)\b", words))

    assert targets == {"demo", "test"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


@pytest.mark.parametrize("document", LINKED)
def test_every_link_has_a_target(document: str) -> None:
    folder = (ROOT / document).parent

    for link in re.findall(r"\]\((?!https:)([^)]+)\)", LINKED[document]):
        path, _, anchor = link.partition("#")
        target = folder / path if path else ROOT / document
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target.read_text(encoding="utf-8")), link


def test_the_readme_is_short() -> None:
    assert TEXTS["README.md"].count("\n") <= MOST_LINES


def test_the_readme_links_every_document() -> None:
    pages = {document for document in TEXTS if "/" in document}

    assert {page for page in pages if f"]({page})" not in TEXTS["README.md"]} == set()


def test_the_reference_has_every_key_of_the_manifest_and_no_other() -> None:
    keys = [code(row[0]) for row in table("key", "default", "meaning")]

    assert keys == [key for key, _, _ in keys_of(json_schema())]


def test_the_reference_has_the_default_of_every_key() -> None:
    defaults = {code(row[0]): row[1] for row in table("key", "default", "meaning")}

    for key, schema, required in keys_of(json_schema()):
        assert (defaults[key] == "required") is required, key
        if "default" in schema:
            default = schema["default"]
            assert code(defaults[key]) == (
                default if isinstance(default, str) else json.dumps(default)
            )


def test_one_example_shows_every_key_and_agrees_with_the_schema() -> None:
    (example,) = (
        content
        for content in fenced("yaml")
        if content.startswith("# bots/lantern/commands.yaml\n")
    )
    manifest = yaml.safe_load(example)

    jsonschema.validate(manifest, json_schema())

    known = {key for key, _, _ in keys_of(json_schema())}
    users_own = (
        *("import.categories.", "import.columns.", "commands[].discord."),
        *(
            "listings[].replace.fields.",
            "listings[].replace.limits.",
            "listings[].limits.",
            "listings[].languages.",
        ),
    )

    assert {key for key in keys_in(manifest) if not key.startswith(users_own)} == known


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_help_can_be_parsed_and_show_the_command(name: str) -> None:
    command = COMMANDS[name]
    lines = re.findall(r"^ *(?:eval \"\$\()?commandsync (.*)$", command.help or "", re.MULTILINE)
    examples = [
        shlex.split(re.split(r" (?:>>?|&&|\|) |\)\"", line)[0], comments=True) for line in lines
    ]

    shown = [words for words in examples if words[: len(name.split())] == name.split()]
    assert shown or name == "demo"
    for words in shown:
        context = click.Context(command, info_name=name, **program.context_settings)
        command.parse_args(context, words[len(name.split()) :])


def test_the_command_line_names_every_command() -> None:
    named = set(_CODE.findall(TEXTS["docs/command-line.md"]))

    assert {words.split()[0] for words in COMMANDS} - named == set()


def test_the_reference_has_every_variable_of_the_environment() -> None:
    documented = {name for row in table("variable", "meaning") for name in _CODE.findall(row[0])}
    read = {
        str(option.envvar)
        for command in COMMANDS.values()
        for option in options_of(command).values()
        if option.envvar
    }

    assert documented >= read | {TOKEN_VARIABLE, "NO_COLOR"}
    of_lists = {name for service in LISTS.values() for name in service.variables}
    usual = {"NO_COLOR", "HTTPS_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"}
    others = documented - usual
    of_discord = {*DISCORD_VARIABLES, "DISCORD_APPLICATION_ID", "DISCORD_BASE_URL"}
    assert others == read | of_lists | of_discord | {TOKEN_VARIABLE, HOSTS_VARIABLE}


def test_the_reference_has_every_exit_code_in_the_words_of_the_help() -> None:
    documented = dict(table("code", "meaning")[:-1])
    in_help = dict(re.findall(r"^  (\d)  (.*)$", EPILOG, re.MULTILINE))

    assert list(documented) == list(in_help) == [str(int(code)) for code in sorted(Exit)]
    assert table("code", "meaning")[-1][0] == "130, 143"
    for number, words in in_help.items():
        assert documented[number].replace("`", "").startswith(words.partition(":")[0])


def test_the_exit_code_of_several_manifests_follows_the_documented_order() -> None:
    (numbers,) = re.findall(
        r"exit code is the first of 130/143, ([\d, ]+) that applies", " ".join(TEXT.split())
    )
    order = [Exit(int(number)) for number in numbers.split(", ")]
    stopped = Signals(armed=False)
    stopped.handle(signal.SIGINT, None)

    assert order == [*Exit]
    assert [worst_exit(reversed(order[n:])) for n in range(len(order) + 1)] == [*order, Exit.DONE]
    assert [stopped.code(code) for code in order] == [130] * len(order)


def errors_below(error: type[CommandsyncError]) -> Iterator[type[CommandsyncError]]:
    """Yield the errors that a class is the base of."""
    for below in error.__subclasses__():
        yield below
        yield from errors_below(below)


def test_the_reference_has_every_kind_of_failure() -> None:
    (listed,) = re.findall(r"`kind` is one of ([^.]+)\.", " ".join(TEXT.split()))
    kinds = {error.kind for error in errors_below(CommandsyncError)}

    assert set(_CODE.findall(listed)) == kinds | {"interrupted", "declined"}


@pytest.mark.skipif(not ACTION.exists(), reason="the wheel has no Action")
def test_the_action_has_every_reason_of_a_failure() -> None:
    others = {CommandsyncError.failure_reason, "outdated", "defect"}
    reasons = {error.failure_reason for error in errors_below(CommandsyncError)} | others
    (row,) = re.findall(r"^\| `failure-reason` \| (.*) \|$", TEXTS["docs/action.md"], re.MULTILINE)
    described = ACTION.read_text(encoding="utf-8")
    (words,) = re.findall(r"The reason of a failure - ([^;]+);", described)

    assert {*_CODE.findall(re.sub(r"\([^)]*\)", "", row))} == reasons
    assert {*re.split(r",\s+|\s+or\s+", words)} == reasons


def test_the_words_and_the_failures_have_the_exit_codes_of_the_program() -> None:
    named = re.findall(
        r"^\| (\w+) \|.* Exit code (\d)", TEXTS["docs/how-it-works.md"], re.MULTILINE
    )
    unknown = re.findall(r"`unknown` \(exit (\d)\)", TEXTS["docs/how-it-works.md"])

    assert {word: Exit[word.upper()] for word, _ in named} == {
        word: int(code) for word, code in named
    }
    assert {word for word, _ in named} == {"refused", "incomplete"}
    assert {*unknown} == {str(int(Exit.INCOMPLETE))}


def test_the_words_include_every_action_outcome_and_summary_of_a_result() -> None:
    page = TEXTS["docs/how-it-works.md"]
    words = {cell.split(" ")[0] for cell in re.findall(r"^\| ([a-z]+.*?) \|", page, re.MULTILINE)}
    summaries = {"unchanged", "verified", "refused", "stale", "fingerprint", "digest"}

    assert words >= {*get_args(Action), *Outcome, *summaries}


def test_each_word_is_defined_once() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", TEXTS["docs/how-it-works.md"], re.MULTILINE)
    words = [word for word in rows if word not in {"word", "failure", "---"}]

    assert len(words) > 25
    assert len(words) == len(set(words))


@pytest.mark.parametrize(
    "sentence",
    [
        f"{MOST_BYTES // 1024**2} MiB and {MOST_NODES:,} values",
        f"nested {MOST_DEPTH} deep",
        f"{DEFAULT_LIMIT.percent:g} %; {ALWAYS_ALLOWED} are always allowed",
        f"cut to {SHORTEST_CUT} characters or more",
        f"up to {NUMBERS[int(LONGEST_WAIT / 60)]} minutes",
        f"{NUMBERS[FAILURES_IN_A_ROW].title()} network errors, time-outs or 5xx in a row",
    ],
)
def test_the_numbers_are_the_constants_of_the_program(sentence: str) -> None:
    assert sentence in " ".join(TEXT.split())


def test_the_reference_has_every_field_of_plans_and_results() -> None:
    plan = json.loads(schema_text("plan"))["$defs"]["PlanDocument"]["properties"]
    result = json.loads(schema_text("result"))["$defs"]["ResultDocument"]["properties"]
    fields = {
        kind: {
            name for row in table(f"field of a {kind}", "meaning") for name in _CODE.findall(row[0])
        }
        for kind in ("plan", "result")
    }

    assert fields["plan"] == set(plan)
    assert fields["result"] == set(result) - set(plan)
    assert set(plan) - set(result) == {"digest"}


def test_the_reference_has_every_path_of_the_service() -> None:
    paths = json.loads(openapi_text())["paths"]
    documented = {
        code(path): set(methods.split(", ")) for path, methods in table("path", "methods")
    }

    assert documented == {
        path: {method.upper() for method in methods} for path, methods in paths.items()
    }


def test_the_example_of_a_seed_is_valid(tmp_path: Path) -> None:
    (seed,) = fenced("json")
    path = tmp_path / "seed.json"
    path.write_text(seed, encoding="utf-8")

    bot = read_seed(path).bots[0].model_dump()

    assert bot["id"] == "812045337190064138"
    assert (len(bot["commands"]), len(bot["announcements"])) == (1, 1)


def test_a_seed_needs_exactly_the_documented_fields(tmp_path: Path) -> None:
    path = tmp_path / "seed.json"
    path.write_text('{"bots": [{"id": "1", "profile": {"username": "A"}}]}', encoding="utf-8")
    bare = tmp_path / "bare.json"
    bare.write_text('{"bots": [{"id": "1"}]}', encoding="utf-8")

    assert "Each bot needs an `id` and a `profile` with a `username`" in " ".join(TEXT.split())
    assert len(read_seed(path).bots) == 1
    with pytest.raises(FileError, match="profile"):
        read_seed(bare)
