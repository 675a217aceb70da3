"""Judges of untrusted input: each parser returns a value or a designed error, shown escaped.

A judge reads bytes as the program does and renders the result in every format. It raises
AssertionError, or whatever the parser raised, when a promise is broken. The tests and the fuzzers
in `fuzz/` share the judges and the corpus.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from commandsync.api import operations
from commandsync.api.operations import reading
from commandsync.diagnostics import Notice, Problem
from commandsync.document.plan import digest_of, load_plan, plan_document
from commandsync.document.schemas import failure_document
from commandsync.errors import (
    CommandsyncError,
    FileError,
    ListingError,
    ManifestError,
    RateLimited,
    Reply,
)
from commandsync.manifest import load_manifests
from commandsync.manifest.dump import dump_manifest
from commandsync.manifest.model import TABLES, ManifestModel
from commandsync.manifest.overlay import ImportedPart, read_imported
from commandsync.manifest.source import Origin, Problems, UnreadableError
from commandsync.manifest.yamltext import imported_text
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import OF_MANIFEST, AnnouncementText, CommandText, Resource
from commandsync.report import Format, render_failure, render_plans, render_validated
from commandsync.services.service import PAGE
from commandsync.sources.entry import SourceReading
from commandsync.sources.javascript import read as read_script
from commandsync.sources.listfile import of_json
from commandsync.sources.python import read as read_code
from commandsync.sources.reading import of_list
from tests.support.plans import resource_of

CORPUS = Path(__file__).resolve().parents[1] / "fixtures" / "corpus"
FORMATS: tuple[Format, ...] = get_args(Format)
NOW = "Mon, 06 Jan 2025 10:00:00 GMT"

# Stated apart from the product's own tables: what no terminal and no reader may be shown raw.
_STEERING = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_RUNNER = re.compile(r"##\w*\[")
_OWN_COMMAND = re.compile(r"::(error|warning|notice)( |::)")
_READERS: tuple[Callable[[Reply], object], ...] = (
    *(partial(operations.read_records, resource) for resource in OF_MANIFEST),
    operations.read_bot,
    partial(operations.read_page, "bots"),
    partial(operations.read_page, "voters"),
    operations.read_vote,
    operations.acknowledged,
    reading("42", Resource.COMMAND).read,
    reading("42", Resource.ANNOUNCEMENT).read,
)
_SOURCES: tuple[Callable[[bytes], SourceReading], ...] = (
    lambda data: of_json({"-": data}, columns={}, locale=""),
    lambda data: of_json({"-": data}, columns={"syntax": "description"}, locale="de"),
    lambda data: of_list(data, "-.csv", {}),
    lambda data: of_list(data, "-.txt", {}),
    lambda data: of_list(data, "-.md", {}),
)
_WORDS = {
    "manifest": (
        *(f"{key}: " for key in ManifestModel.model_fields),
        *(f"{key}: " for table in TABLES.values() for key in table.model_fields),
        *("version: 1\n", "\n  - ", "\n    ", "&a ", "*a", "!!str ", "|\n", ">-\n", "<<: "),
        *("{prefix}", "{{prefix}}", "30%", "[", "]", "{", "}", "\u2028"),
        *("---\n", "...\n", "? "),
        *('"\\u202e"', '"\\ud800"', '"\\x1b"', "::error", "##[group]", "\ufeff", "\x85"),
    ),
    "answer": (
        *('"data":', '"commands":', '"success":false', '"success":true', '"message":"'),
        *('"name":', '"id":', '"_id":', '"title":', '"description":', '"uses":'),
        *('"queries":', '"maxPage":'),
        *("429 120\n", "503 \n", "404 \n", "200 \n", "429 Mon, 06 Jan 2025 10:00:09 GMT\n"),
        *("null", "1e999", "NaN", "\\ud800", "\\u001b", "..", "[{", "}]", '"error":"', "-1"),
    ),
    "plan": (
        *('"action": "add"', '"action": "edit"', '"action": "delete"', '"action": "replace"'),
        *('"resource": "command"', '"announcement"', '"id": ".."', '"listed": {'),
        *('"after": null', '"version": 2', '"max_deletes": "all"', "\\ud800"),
        *("1e9", "-1", "true", "null", "{", "}"),
    ),
    "source": (
        *('"name":', '"description":', '"type":', '"options":[', '"choices":[', '"id":'),
        *('"name_localizations":{"de":', '"default_member_permissions":', '"syntax":'),
        *('"commands":[', '"slash_commands":[', "null", "true", "1", "2", "99", "1e999"),
        *("name,description,syntax,category\n", "name;syntax\n", '"a\nb",', "a,b,c,d\n"),
        *("\ufeff", "\\ud800", "\\u202e", "\x1b", "::error", "##[group]", "{prefix}", "\t"),
        *(
            "new SlashCommandBuilder()",
            ".setName('a')",
            ".addSubcommand((o) => ",
            "module.exports = ",
        ),
        *(
            "export default ",
            "class A extends Command {",
            "super({ name: 'a' })",
            "...",
            "`${",
            "=>",
        ),
        *("data: ", "aliases: ['a'], ", "run(message, args) {}", "if (a) ", "const a = ", "a = a"),
    ),
    "imported": (
        *("imported: 1\n", "imported: 2\n", "commands:\n", "  - name: a\n", "    description: b\n"),
        *("    syntax: /a\n", "    from: bot\n", "    discord: {name: a, type: 1}\n", "~", "1e999"),
        *("    kept: true\n", "    left_out: x\n", "unread:\n", "gone: [a]\n", "digest: x\n"),
        *('"\\ud800"', '"\\u202e"', "::error", "##[group]", "<<<<<<< a\n", "[{", "}]", "{", ","),
    ),
    "code": (
        *("from discord.ext import commands\n", "@commands.command(", "@commands.group()\n"),
        *("@bot.tree.command(", "@bot.slash_command()\n", "async def x(ctx, a=1): 'X'\n"),
        *("class A(commands.Cog):\n    ", "app_commands.Group(", "name=", "parent=", "('x')"),
        *("Optional[", "Literal['a', ", "Union[", "Greedy[", "]", "| None", "x = x\n"),
        *("lambda: ", "'''", "# coding: utf-7\n", "\\", "\x0c", "\r", "f'{x}'", "*, "),
    ),
}
WORDS = {kind: tuple(map(str.encode, words)) for kind, words in _WORDS.items()}
"""What is worth trying, for the fuzzers."""

_HELP = CommandText("help", "Shows help.", "/help")
_LISTED = Snapshot(
    {
        Resource.COMMAND: (Entry(_HELP, "1"), Entry(_HELP._replace(name="a"), "2")),
        Resource.ANNOUNCEMENT: (Entry(AnnouncementText("a", "b"), "3"),),
    }
)


def harmless(shown: str, form: Format) -> None:
    """Hold what is printed against what terminals, readers and CI runners obey."""
    steering = _STEERING.search(shown)
    assert steering is None, (form, steering)
    assert _RUNNER.search(shown) is None, form
    for line in shown.split("\n"):
        begins = line.lstrip()
        assert not begins.startswith("::") or (form == "github" and _OWN_COMMAND.match(begins))


def judge_manifest(data: bytes) -> None:
    """A manifest, or problems that each have a place of the file."""
    try:
        (manifest,) = load_manifests(["-"], stdin=lambda: data)
    except ManifestError as error:
        _judge_failure(error)
        _judge_places(error, data)
        return
    for form in FORMATS:
        harmless(render_validated([manifest], format=form), form)
    listed = Snapshot({r: _LISTED.collections[r] for r in manifest.snapshot.scope})
    plan = make_plan(
        desired=manifest.snapshot,
        listed=listed,
        target=Target(
            bot=manifest.bot or "42",
            base_url=manifest.base_url or "https://x.example",
            abilities=PAGE.abilities,
        ),
        rules=manifest.rules,
        manifest=manifest.paths,
        notices=[
            Notice(problem.message, problem.hint, problem.location) for problem in manifest.warnings
        ],
    )
    _judge_plan(plan)
    _judge_dump(manifest.snapshot)


def judge_answer(data: bytes) -> None:
    """A value from every reader, or an error of the listing's; waits are numbers that make sense.

    The first line is the status and what `Retry-After` says, the rest is the body.
    """
    head, _, body = data.partition(b"\n")
    status, _, after = head.decode("latin-1").partition(" ")
    number = int(status) if re.fullmatch("[1-5][0-9]{2}", status) else 200
    reply = Reply(status=number, body=body, headers={"retry-after": after, "date": NOW})
    for read in _READERS:
        try:
            value = read(reply)
        except ListingError as error:
            _judge_failure(error)
            _judge_wait(error)
            continue
        if read in _READERS[-2:]:
            _judge_listing(value)  # type: ignore[arg-type]  # what `reading` reads


def judge_plan(data: bytes) -> None:
    """A plan that says no more than it shows, or a refusal; also with its digest made to match."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return  # the command line has its own word for that
    _judge_saved(text)
    with suppress(ValueError, RecursionError):
        document = json.loads(text.removeprefix("\ufeff"))
        if isinstance(document, dict):
            _judge_saved(json.dumps(document | {"digest": digest_of(document)}))


def judge_source(data: bytes) -> None:
    """Commands that have all their texts, always the same; or an error of the source's.

    They are those of data, and those of JavaScript and TypeScript.
    """
    for name in ("bot.js", "bot.ts"):
        _judge_code(data, name, read_script)
    for read in _SOURCES:
        try:
            reading = read(data)
        except FileError as error:
            _judge_failure(error)
            continue
        assert reading == read(data)
        _judge_reading(reading, data)


def judge_code(data: bytes) -> None:
    """Commands of Python code that have all their texts, always the same; and notes."""
    _judge_code(data, "bot.py", read_code)


def _judge_code(data: bytes, name: str, read: Callable[[str], SourceReading]) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(data)
        reading = read(str(file))
        assert reading == read(str(file))
    _judge_reading(reading, data)
    for note in reading.notes:
        assert note.location is not None
        assert 1 <= note.location.line <= _lines(data)


def _judge_reading(reading: SourceReading, data: bytes) -> None:
    for entry in reading.entries:
        assert entry.name.strip()
        assert entry.description.strip()
        assert entry.syntax.strip()
        assert entry.place is not None
        assert 1 <= entry.place.line <= _lines(data)
    assert all(note.message for note in reading.notes)


def _lines(data: bytes) -> int:
    return data.count(b"\n") + data.count(b"\r") + 1


def judge_imported(data: bytes) -> None:
    """An imported file, which can be written again; or one problem with its place."""
    path = "commands.imported.yaml"

    def read(content: bytes) -> ImportedPart:
        return read_imported(path, Origin(bytes, contents={path: content}), Problems())

    try:
        part = read(data)
    except UnreadableError as error:
        place, message, hint = error.args
        problem = Problem(place, message, hint)
        _judge_failure(ManifestError([problem]))
        assert len(str(problem)) < 300
        return
    try:
        text = imported_text(part.content)
        again = read(text.encode())
    except UnicodeEncodeError:
        return  # half of a surrogate pair: the sources have none
    assert again.content == part.content
    assert not again.is_edited


def _judge_saved(text: str) -> None:
    try:
        plan = load_plan(text, "plan.json")
    except CommandsyncError as error:
        _judge_failure(error)
        return
    _judge_plan(plan)


JUDGES: dict[str, Callable[[bytes], None]] = {
    "manifest": judge_manifest,
    "answer": judge_answer,
    "plan": judge_plan,
    "source": judge_source,
    "code": judge_code,
    "imported": judge_imported,
}


def corpus(kind: str) -> list[Path]:
    """Return the committed inputs of a kind."""
    return sorted((CORPUS / kind).iterdir())


def _judge_failure(error: CommandsyncError) -> None:
    assert error.message.strip()
    for form in FORMATS:
        shown = render_failure(error, format=form)
        assert shown.strip()
        harmless(shown, form)
        if form == "json":
            assert json.loads(shown) == failure_document(error)


def _judge_wait(error: ListingError) -> None:
    asked = error.retry_after if isinstance(error, RateLimited) else None
    assert asked is None or asked >= 0


def _judge_places(error: ManifestError, data: bytes) -> None:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    own = [problem for problem in error.problems if problem.location.path == "-"]
    for problem in own:  # an include may read files of the folder
        assert 1 <= problem.location.line <= len(lines)
        assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 2


def _judge_plan(plan: RecordPlan) -> None:
    for form in FORMATS:
        shown = render_plans([plan], format=form)
        harmless(shown, form)
        if form == "json":
            assert json.loads(shown) == plan_document(plan)
            if plan.target.bot:
                assert load_plan(shown, "plan.json").fingerprint == plan.fingerprint


def _judge_listing(entries: tuple[Entry, ...]) -> None:
    """Hold what was read against pulling it: the manifest says the same, or says why it cannot."""
    if not entries:
        return
    kind = resource_of(entries[0].text)
    listed = Snapshot({kind: entries})
    _judge_dump(listed)
    target = Target(bot="42", base_url="https://x.example", abilities=PAGE.abilities)
    plan = make_plan(desired=Snapshot({kind: ()}), listed=listed, target=target, rules=SyncRules())
    _judge_plan(plan)


def _judge_dump(snapshot: Snapshot) -> None:
    try:
        dumped = dump_manifest(snapshot, bot="42", base_url="https://x.example", pin=True)
    except CommandsyncError as error:
        _judge_failure(error)
        return
    harmless(dumped.text.replace("\t", " "), "text")  # a tab within a block is a tab
    if any("needs" in line for line in dumped.text.split("\n")) or dumped.warnings:
        return  # it says what a manifest cannot
    (again,) = load_manifests(["-"], stdin=dumped.text.encode)
    said = {r: [entry.text for entry in some] for r, some in snapshot.collections.items()}
    assert {r: [e.text for e in some] for r, some in again.snapshot.collections.items()} == said
