"""Candidates for commands that nothing has read: places in the text of a file that declare one.

A file is searched for a few words. Each hit leads to the object, the builder or the method around
it in the syntax tree. It is a candidate if that has the shape of a command, and is neither part of
a declaration that is known nor around one. Objects count in files about commands of Discord only:
tools, tests and other programs have names, descriptions and functions, too.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from commandsync.sources.entry import UnreadPart
from commandsync.sources.javascript.document import BROKEN
from commandsync.sources.javascript.handler import RUN
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    Computed,
    ImportedValue,
    Node,
    ScriptFile,
    field,
    first_part,
    is_broken,
    parts,
)

BELOW = re.compile(r"(?:^|/)[\w-]*(?:command|cmd)s?/(?:.*/)?[^/]+$", re.IGNORECASE)
"""The path of a file below a folder of commands."""

_DECORATOR = rb"@(?!\w*(?:Option|Choice|Group|Param|Context))\w*(?:Slash|[cC]ommand)\w*\s*\("
# One pattern for each hit, with its kind: a pattern that begins with a letter or a sign is quick.
_HITS = [
    (re.compile(text), kind)
    for text, kind in (
        (rb"\.setName\(", "builder"),
        (rb"description(?<!\wdescription)[\"']?\s*:", "shape"),
        (_DECORATOR, "decorator"),
        (rb"\.(command\(\s*[\"'`]|onText\(\s*/)", "call"),
    )
]
_HANDLES = re.compile(rb"[\"'](?:telegraf|grammy|node-telegram-bot-api)[\"']")
_ADDS = re.compile(r"add\w+")
_OF_OPTION = re.compile(r"\.(setRequired|addChoices|setAutocomplete|set(Min|Max)\w+)\(")
_OTHER = {  # keys of other objects
    *("once", "event", "emitter", "required", "parameters", "inputSchema", "schema", "path"),
    *("customId", "custom_id", "url", "method"),
}
_OF_DISCORD = re.compile(
    rb"(?:from|require\(|import)\s*[\"'](?:discord|@discord|slash-create|eris|oceanic|@sapphire|seyfert)"
)
_FRAMEWORK = re.compile(
    rb"(?:from|require\(|import)\s*[\"'](discordx|necord|@discord-nestjs/core|telegraf|grammy"
    rb"|slash-create|eris|oceanic\.js|@sapphire/framework|discord-akairo|discord\.js(?:-commando)?"
    rb"|seyfert|discordeno|@buape/carbon|robo\.js|commandkit|wokcommands|node-telegram-bot-api"
    rb"|gramio|@discordeno/bot|revolt\.js|tmi\.js)[\"']"
)
_REASONS = {
    "builder": "the result of this builder is not registered or exported",
    "shape": "this object is not registered or exported as a command",
    "decorator": "this decorator is not known",
    "call": "this handler of a command is not read",
}
_SHAPE = re.compile(r"CommandBuilder|\bname\s*[:=]\s*[\"'`]|\bextends\s+\w*Command|\.command\(")
_TEXT = re.compile(r"[\"'`]([^\"'`$\n]+)[\"'`]")
_MOST_HITS = 5000  # of a file
_HEAD = 4000  # bytes with the imports of a file

Span = tuple[int, int]


def frameworks_in(files: Iterable[ScriptFile]) -> set[str]:
    """Return the frameworks that files import."""
    return {name.decode() for file in files for name in _FRAMEWORK.findall(file.data, 0, _HEAD)}


def candidates_in(
    program: Program, covered: Collection[Computed], *, with_handlers: bool
) -> Iterator[UnreadPart]:
    """Yield the candidates in the files of a bot, but for the `covered` declarations.

    Handlers of Telegram are candidates unless a menu has all commands that are public.
    """
    known: dict[str, list[Span]] = defaultdict(list)
    for at in covered:
        known[at.scope.file.path].append(_span(at.node))
    folders = {posixpath.dirname(path) for path in known}  # with commands that are known
    for file in program.files:
        spans, kinds = known[file.path], _kinds(file, folders, with_handlers=with_handlers)
        for node, kind in _hits(file, spans, kinds):
            if not _overlaps(_span(_around(node, kind)), spans) and not _is_known(
                program, file, node, kind
            ):
                spans.append(_span(node))
                yield UnreadPart(file.place(node), _REASONS[kind], _name(file, node))
        yield from _broken(file, file.error) if file.error else ()


def _kinds(file: ScriptFile, folders: Collection[str], *, with_handlers: bool) -> set[str]:
    """Return the kinds of hits that count in a file.

    Objects count in a folder with commands, and in a file that imports a framework for Discord.
    """
    kinds = {"builder", "decorator"}
    if with_handlers and _HANDLES.search(file.data, 0, _HEAD):
        kinds.add("call")
    is_about = BELOW.search(file.path) or _OF_DISCORD.search(file.data, 0, _HEAD)
    if posixpath.dirname(file.path) in folders or is_about:
        kinds.add("shape")
    return kinds


def _around(node: Node, kind: str) -> Node:
    """Return the class around its decorator; any other hit itself."""
    around = node.parent if kind == "decorator" else None
    return around if around and around.type != "class_body" else node


def _broken(file: ScriptFile, error: Node) -> Iterator[UnreadPart]:
    """Yield the error of a file, if a statement around it has the shape of a command."""
    broken = [node for node in file.tree.children if node.has_error and is_broken(node)]
    if any(_SHAPE.search(_text(file, node)) for node in broken):
        yield UnreadPart(file.place(error), BROKEN)


def _is_known(program: Program, file: ScriptFile, node: Node, kind: str) -> bool:
    """Whether a hit is a part of what is followed, of a class above others, or of a package."""
    if node.id in program.chained or _is_inside(node, {each.id for each in program.above}):
        return True
    scope = program.scopes.get(file.path) if kind == "decorator" else None
    call = first_part(node)  # of a decorator from a package: of those for commands, all are read
    made = program.value(field(call, "function") or call, scope) if scope else None
    return isinstance(made, ImportedValue) and not made.is_file


def _is_inside(node: Node, classes: Collection[int]) -> bool:
    """Whether a node is in one of some classes: those that others extend are not commands."""
    around = node.parent
    while around and around.id not in classes:
        around = around.parent
    return around is not None


def _overlaps(span: Span, spans: Iterable[Span]) -> bool:
    begin, end = span
    return any(begin < other_end and start < end for start, other_end in spans)


def _span(node: Node) -> Span:
    return node.start_byte, node.end_byte


def _hits(
    file: ScriptFile, known: Collection[Span], kinds: Collection[str]
) -> Iterator[tuple[Node, str]]:
    """Yield the parts of a file that have the shape of a command, with the kind of the hit.

    A hit inside a known declaration is passed over: the whole of it would overlap that.
    """
    hits = ((hit.start(), kind) for text, kind in _HITS for hit in text.finditer(file.data))
    for number, (start, kind) in enumerate(sorted(hits)):
        span = (start + 1, start + 2)
        if number > _MOST_HITS or _overlaps(span, known) or kind not in kinds:
            continue
        node = file.tree.descendant_for_byte_range(*span)
        if node is None or node.type in {"comment", "string_fragment"}:
            continue
        if whole := _AROUND[kind](file, node):
            yield whole, kind


def _chain(file: ScriptFile, node: Node) -> Node | None:
    """Return the calls of a builder; None for an option, which is given to another call."""
    while node.parent and node.parent.type in {"member_expression", "call_expression"}:
        node = node.parent
    around = node.parent
    while around and around.type in {"arguments", "arrow_function", "parenthesized_expression"}:
        around = around.parent
        if around and around.type == "call_expression":
            function = field(around, "function")
            if _ADDS.fullmatch(_text(file, field(function, "property"))):
                return None
    text = _text(file, node)
    is_whole = "setDescription" in text or "CommandBuilder" in text
    return node if is_whole and not _OF_OPTION.search(text) else None


def _decorated(file: ScriptFile, node: Node) -> Node | None:
    """Return a decorated method; of a class only if none of its methods is decorated so."""
    while node.parent and node.type != "decorator":
        node = node.parent
    around = node.parent
    if around is None or around.type == "class_body":
        return node
    rest = file.data[node.end_byte : around.end_byte]
    return None if re.search(_DECORATOR, rest) else node


def _object(file: ScriptFile, node: Node) -> Node | None:
    """Return the object around a key, if it has the keys of a command that can be run."""
    while node.parent and node.type != "object":
        if node.type in {"statement_block", "arguments", "class_body"}:
            return None
        node = node.parent
    if node.type != "object":
        return None
    members = {
        _text(file, field(part, "key", "name") or part).strip("\"'"): part for part in parts(node)
    }
    options = re.search(r"\btype\s*:", _text(file, members.get("options")))
    is_run = options is not None or any(map(RUN.fullmatch, members))
    is_command = {"name", "description"} <= {*members} and not _OTHER & {*members}
    return node if is_command and is_run else None


def _parent(_: ScriptFile, node: Node) -> Node | None:
    return node.parent


_AROUND = {"builder": _chain, "shape": _object, "decorator": _decorated, "call": _parent}
"""Functions that find the whole candidate around a hit, by the kind of the hit."""


def _name(file: ScriptFile, node: Node) -> str:
    """Return the first text that follows `name` or opens a call; empty without one."""
    text = _text(file, node)
    named = re.search(r"(?:\bname[\"']?\s*:|setName\(|\.command\()\s*(?=[\"'`])", text)
    found = _TEXT.match(text, named.end()) if named else None
    return found[1] if found else ""


def _text(file: ScriptFile, node: Node | None) -> str:
    return file.data[node.start_byte : node.end_byte].decode(errors="replace") if node else ""
