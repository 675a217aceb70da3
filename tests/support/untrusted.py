"""Judges of untrusted input: each parser returns a value or a designed error, shown escaped.

A judge reads bytes as the program does and renders the result in every format. It raises
AssertionError, or whatever the parser raised, when a promise is broken. The tests and the fuzzers
in `fuzz/` share the judges and the corpus. Manifests are also drawn as people lay them out, with
what each says and where: comments, quotes of every kind, blocks, braces, dashes at odd columns,
CRLF, a byte order mark, no last line break.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import get_args

from commandsync.api import answers
from commandsync.api.operations import reading
from commandsync.diagnostics import Notice
from commandsync.document.plan import digest_of, plan_document
from commandsync.document.saved import load_plan
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
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource
from commandsync.report import Format, render_failure, render_plans, render_validated
from commandsync.services.service import PAGE
from commandsync.sources.entry import SourceReading
from commandsync.sources.imported import imported_text, read_imported
from commandsync.sources.javascript import read as read_script
from commandsync.sources.jsonfile import of_json
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
    *(partial(answers.records, resource) for resource in Resource),
    answers.bot,
    partial(answers.page, "bots"),
    partial(answers.page, "voters"),
    answers.voted,
    answers.acknowledged,
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
        *('"version": 1', '"version": 2', '"commands": [', '{"name": "a", "description": "b",'),
        *('"syntax": "/a"', '"source": "bot"', '"key": ', '"category": ', "null", "1e999"),
        *("\\ud800", "\\u202e", "::error", "##[group]", "<<<<<<<", "[{", "}]", "{", "}", ","),
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
    """What was imported last, which can be written again; or one problem with its place."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return  # the import has its own word for that
    try:
        imported = read_imported(text, path="commands.imported.json")
    except ManifestError as error:
        _judge_failure(error)
        (problem,) = error.problems
        assert len(str(problem)) < 300
        return
    again = imported_text(*imported)
    assert again.encode()
    assert imported_text(*read_imported(again, path="commands.imported.json")) == again


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


Value = str | tuple[str, ...]

KEYS = ("name", "description", "syntax", "category", "formerly", "id")
_COMMENTS = ("# note", "#", "#- name: old", "#: {x", '# it\'s "quoted" # twice', "#    \u00e9")
_LAID_OUT = (
    *("help", "Shows the menu.", "a", "Zoë", "it's", "plays music: now", "C#", "x y  z", "😀 hi"),
)
_ODD = ("off", "8ball", "- x", "[p]help", "a: b", "a #b", "{prefix}x", "&amp;", "*x", "!", "@me",
        'say "hi"', "\\d+", "null", "~", "|", "> x", "%", "`x`", ":: x", "a,b", "}", "tab\there",
        "a\u202eb", "\x1b[31m", "a\u2028b", "x:", "?", "#x", "1e3")  # fmt: skip
_LINES = ("one\ntwo", "one\n\ntwo: x\n  - deeper", "# not a comment\nx", "a\n\n\nb #c", "- a\n- b")


def value(numbers: Random, *, lines: bool = True) -> str:
    """Draw a text: plain, one that YAML would misread, or one of many lines."""
    chance = numbers.random()
    if chance < 0.15 and lines:
        return numbers.choice(_LINES)
    return numbers.choice(_ODD if chance < 0.5 else _LAID_OUT)


def values(numbers: Random) -> dict[str, Value]:
    """Draw the fields of an entry."""
    drawn: dict[str, Value] = {key: value(numbers) for key in KEYS[:3]}
    if numbers.random() < 0.6:
        drawn["category"] = numbers.choice((value(numbers), ""))
    if numbers.random() < 0.4:
        drawn["formerly"] = names(numbers)
    if numbers.random() < 0.3:
        drawn["id"] = value(numbers, lines=False)
    if numbers.random() < 0.4:
        drawn = dict(sorted(drawn.items(), key=lambda _: numbers.random()))
    return drawn


def names(numbers: Random) -> tuple[str, ...]:
    """Draw former names."""
    return tuple(value(numbers, lines=False) for _ in range(numbers.randint(0, 3)))


def changed(numbers: Random, entry: dict[str, Value], key: str) -> Value:
    """Draw another value of a field; a list of names gets more of them."""
    return (*entry.get(key, ()), *names(numbers)) if key == "formerly" else value(numbers)


@dataclass
class File:
    """A file that is being drawn."""

    numbers: Random  # where it is drawn from
    newline: str = "\n"
    text: str = ""  # what is written so far
    entries: list[dict[str, Value]] = field(default_factory=list)  # what its entries say
    # Where the value of a field is: from and to.
    spans: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    # What belongs to an entry or to one of its fields, comments on its lines included.
    written: dict[tuple[int, str], str] = field(default_factory=dict)
    extents: dict[int, tuple[int, int]] = field(default_factory=dict)

    def chance(self, share: float) -> bool:
        return self.numbers.random() < share

    def line(self, text: str = "") -> None:
        self.text += text.replace("\n", self.newline) + self.newline

    def comment(self, share: float) -> str:
        return "  " + self.numbers.choice(_COMMENTS) if self.chance(share) else ""

    def comment_lines(self, indent: int, share: float = 0.3) -> None:
        while self.chance(share):
            self.line(" " * indent + self.numbers.choice((*_COMMENTS, "")))


def file(numbers: Random) -> File:
    """Draw a file with a list of commands."""
    drawn = File(numbers, newline=numbers.choice(("\n", "\n", "\n", "\r\n", "\r")))
    drawn.entries = [values(numbers) for _ in range(numbers.choice((0, 1, 1, 2, 3, 4)))]
    _dashes(drawn)
    drawn.comment_lines(0)
    if drawn.chance(0.3):
        drawn.line("defaults:\n  category: General")
    if drawn.chance(0.3):
        drawn.text = drawn.text.removesuffix(drawn.newline)
    return drawn


def _dashes(file: File) -> None:
    numbers = file.numbers
    _head(file)
    if not file.entries:
        file.line(f"commands: []{file.comment(0.3)}")
        return
    file.line(f"commands:{file.comment(0.2)}")
    indent = numbers.choice((0, 2, 2, 2, 4, 1))
    lead = numbers.choice((" ", " ", " ", "   ", None))
    apart = file.chance(0.5)
    for index in range(len(file.entries)):
        if apart and index:
            file.line()
        file.comment_lines(indent, 0.2)
        start = len(file.text)
        if lead is None:
            file.line(" " * indent + "-")
            _block_entry(file, index, indent + 2, "")
        elif file.chance(0.15):
            file.text += f"{' ' * indent}-{lead}"
            _braces(file, index, ", ")
            file.line(file.comment(0.3))
        else:
            _block_entry(file, index, indent + 1 + len(lead), f"{' ' * indent}-{lead}")
        if file.chance(0.2) and not file.text.endswith(file.newline * 2):
            file.line(f"{' ' * (indent + 2)}{numbers.choice(_COMMENTS)}")
        file.extents[index] = start, len(file.text)


def _block_entry(file: File, index: int, indent: int, dash: str) -> None:
    for number, (key, value) in enumerate(file.entries[index].items()):
        if number:
            file.comment_lines(indent, 0.1)
        start = len(file.text)
        file.text += " " * indent if number or not dash else dash
        name = file.numbers.choice((key, key, key, f'"{key}"', f"'{key}'"))
        file.text += f"{name}:"
        begin = len(file.text)
        _block_value(file, (index, key), value, indent)
        file.written[index, key] = file.text[start:].removeprefix(dash)
        assert begin <= file.spans[index, key][0]


def _block_value(file: File, place: tuple[int, str], value: Value, indent: int) -> None:
    below = " " * (indent + file.numbers.choice((2, 2, 4)))
    if isinstance(value, tuple):
        if value and file.chance(0.5):
            start = len(file.text)
            file.line(file.comment(0.2))
            dash = " " * (indent + file.numbers.choice((0, 2)))
            lines = [f"{dash}- {_quoted(file, item)}" for item in value]
            file.text += file.newline.join(lines)
            file.spans[place] = start, len(file.text)
        else:
            _span(
                file, place, "[" + ", ".join(_quoted(file, item, flow=True) for item in value) + "]"
            )
        file.line(file.comment(0.2))
    elif file.chance(0.6 if "\n" in value else 0.3 if value.isprintable() and value else 0):
        folds = "\n" not in value and file.chance(0.5)
        header = file.numbers.choice(("|", "|-", "|+")).replace("|", ">" if folds else "|")
        lines = [f"{below}{line}" if line else "" for line in value.split("\n")]
        _span(file, place, "\n".join((header + file.comment(0.2), *lines)))
        file.line("\n" if file.chance(0.1) else "")
    else:
        _span(file, place, _quoted(file, value, below=below))
        file.line(file.comment(0.2))


def _span(file: File, place: tuple[int, str], written: str) -> None:
    file.text += " " * file.numbers.choice((1, 1, 1, 3))
    start = len(file.text)
    file.text += written.replace("\n", file.newline)
    file.spans[place] = start, len(file.text)


def _quoted(file: File, value: str, *, flow: bool = False, below: str = "") -> str:
    """Write a text on one line; where it may go on below, also folded onto a second one."""
    kinds = ['"']
    if value.isprintable():
        kinds.append("'")
        if (
            value in _LAID_OUT
            and not (flow and any(sign in value for sign in ":#"))
            and ": " not in value
        ):
            kinds += ["", "", ""]
    kind = file.numbers.choice(kinds)
    if kind == '"':
        written = json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028")
    else:
        written = kind + (value.replace("'", "''") if kind else value) + kind
    middle = written.find(" ", 2)
    if below and middle > 0 and written[middle + 1 : middle + 2].isalpha() and file.chance(0.2):
        written = f"{written[:middle]}\n{below}{written[middle + 1 :]}"
    return written


def _braces(file: File, index: int, gap: str) -> None:
    start = len(file.text)
    file.text += "{"
    for number, (key, value) in enumerate(file.entries[index].items()):
        file.text += gap.replace("\n", file.newline) if number else ""
        before = len(file.text)
        file.text += f"{key}:"
        if isinstance(value, tuple):
            _span(file, (index, key), f"[{', '.join(_quoted(file, v, flow=True) for v in value)}]")
        else:
            _span(file, (index, key), _quoted(file, value, flow=True))
        file.written[index, key] = file.text[before:]
    file.text += "}"
    file.extents[index] = start, len(file.text)


def _head(file: File) -> None:
    file.text = "\ufeff" if file.chance(0.2) else ""
    file.comment_lines(0)
    file.line(f"version: 1{file.comment(0.2)}")
    file.comment_lines(0)
    if file.chance(0.3):
        file.line('prefix: "/"')
