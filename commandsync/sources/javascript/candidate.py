"""Candidates for commands that nothing has read: places in the text of a file that look like one.

A file is searched for a few words. Each hit leads to the object, the builder or the method around
it in the syntax tree. It is a candidate if that has the shape of a command, and is neither part of
a declaration that is known nor around one. A file below a folder of commands whose export can be
run, and that declares nothing, is a candidate itself.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from commandsync.diagnostics import Location
from commandsync.sources.entry import Unread
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import Computed, Node, ParsedFile, field, parts

BELOW = re.compile(r"(?:^|/)[\w-]*(?:command|cmd)s?/(?:.*/)?[^/]+$", re.IGNORECASE)
"""The path of a file below a folder of commands."""

BROKEN = "a part of the file cannot be parsed"

_DECORATOR = rb"@(?!\w*(?:Option|Choice|Group|Param|Context))\w*(?:Slash|[cC]ommand)\w*\s*\("
# One pattern for each hit, with its kind: a pattern that begins with a letter or a sign is quick.
_HITS = [
    (re.compile(text), kind)
    for text, kind in (
        (rb"\.setName\(", "builder"),
        (rb"name(?<!\wname)[\"']?\s*:", "shape"),
        (rb"description(?<!\wdescription)[\"']?\s*:", "shape"),
        (rb"aliases(?<!\waliases)[\"']?\s*:", "shape"),
        (_DECORATOR, "decorator"),
        (rb"\.(command\(\s*[\"'`]|onText\(\s*/)", "call"),
    )
]
_RUN = re.compile(
    r"(on)?(message|interaction|chatInput|slash|prefix|text)?(run|exec(ute)?|callback|handler?)"
    r"(slash|message|interaction|command)?",
    re.IGNORECASE,
)
_RUNNING = re.compile(
    rb"\b(?:run|exec|execute|callback|handler?|(?:message|interaction|chatInput|slash)Run"
    rb"|(?:run|execute)(?:Slash|Message|Interaction))\s*[(:=<]"
)
_HEIR = re.compile(rb"\bclass\b[^{]*\bextends\b")
_EXPORT = re.compile(rb"\bexport\s+(?:default|const|class)\b|\bexports\b")
_HANDLES = re.compile(rb"[\"'](?:telegraf|grammy|node-telegram-bot-api)[\"']")
_ADDS = re.compile(r"add\w+")
_OTHER = {"once", "event", "emitter", "required", "autocomplete"}  # keys of other objects
_SHAPES = {"options", "aliases", "usage"}
_FRAMEWORK = re.compile(
    rb"(?:from|require\(|import)\s*[\"'](discordx|necord|@discord-nestjs/core|telegraf|grammy|gramio"
    rb"|slash-create|eris|oceanic\.js|@sapphire/framework|discord-akairo|discord\.js(?:-commando)?"
    rb"|seyfert|discordeno|@buape/carbon|robo\.js|commandkit|wokcommands|node-telegram-bot-api"
    rb"|@discordeno/bot|revolt\.js|tmi\.js)[\"']"
)
_REASONS = {
    "builder": "what this builder makes is not registered or exported",
    "shape": "this object is not registered or exported as a command",
    "decorator": "this decorator is not known",
    "call": "this handler of a command is not read",
}
_TEXT = re.compile(r"[\"'`]([^\"'`$\n]+)[\"'`]")
_MOST_HITS = 5000  # of a file
_HEAD = 4000  # bytes with the imports of a file

Span = tuple[int, int]


def frameworks_in(files: Iterable[ParsedFile]) -> set[str]:
    """Return the frameworks that files import."""
    return {name.decode() for file in files for name in _FRAMEWORK.findall(file.data, 0, _HEAD)}


def candidates_in(
    program: Program, covered: Collection[Computed], *, with_handlers: bool
) -> Iterator[Unread]:
    """Yield the candidates in the files of a bot, but for the `covered` declarations.

    Handlers of Telegram are candidates unless a menu has all commands that are public.
    """
    known: dict[str, list[Span]] = defaultdict(list)
    bases = {node.id for node in program.bases}
    for at in covered:
        known[at.scope.file.path].append(_span(at.node))
    for file in program.files:
        spans = known[file.path]
        handles = with_handlers and _HANDLES.search(file.data, 0, _HEAD) is not None
        for node, kind in _hits(file, spans, handles=handles):
            if not _is_inside(node, bases) and not _overlaps(_span(node), spans):
                spans.append(_span(node))
                yield Unread(file.place(node), _REASONS[kind], _name(file, node))
        if not spans and BELOW.search(file.path):
            yield from _of_file(file, bases)
        if file.error:
            yield from _of_error(file, file.error)


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
    file: ParsedFile, known: Collection[Span], *, handles: bool
) -> Iterator[tuple[Node, str]]:
    """Yield the parts of a file that have the shape of a command, with the kind of the hit.

    A hit inside a known declaration is passed over: the whole of it would overlap that.
    """
    hits = ((hit.start(), kind) for text, kind in _HITS for hit in text.finditer(file.data))
    for number, (start, kind) in enumerate(sorted(hits)):
        span = (start + 1, start + 2)
        if number > _MOST_HITS or _overlaps(span, known) or (kind == "call" and not handles):
            continue
        node = file.tree.descendant_for_byte_range(*span)
        if node is None or node.type in {"comment", "string_fragment"}:
            continue
        if whole := _AROUND[kind](file, node):
            yield whole, kind


def _chain(file: ParsedFile, node: Node) -> Node | None:
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
    return node if "setDescription" in _text(file, node) or "Builder" in _text(file, node) else None


def _decorated(file: ParsedFile, node: Node) -> Node | None:
    """Return a decorated method; of a class only if none of its methods is decorated so."""
    while node.parent and node.type != "decorator":
        node = node.parent
    around = node.parent
    if around is None or around.type == "class_body":
        return node
    rest = file.data[node.end_byte : around.end_byte]
    return None if re.search(_DECORATOR, rest) else node


def _object(file: ParsedFile, node: Node) -> Node | None:
    """Return the object around a key, if its keys are those of a command that can be run."""
    while node.parent and node.type != "object":
        if node.type in {"statement_block", "arguments", "class_body"}:
            return None
        node = node.parent
    if node.type != "object":
        return None
    keys = {_text(file, field(part, "key", "name") or part).strip("\"'") for part in parts(node)}
    return node if _are_of_command(keys) else None


def _are_of_command(keys: set[str]) -> bool:
    is_named = {"name", "description"} <= keys or ("name" in keys and keys & _SHAPES)
    runs = any(map(_RUN.fullmatch, keys)) or {"name", "description", "options"} <= keys
    return bool(is_named and runs and not keys & _OTHER)


def _parent(_: ParsedFile, node: Node) -> Node | None:
    return node.parent


_AROUND = {"builder": _chain, "shape": _object, "decorator": _decorated, "call": _parent}
"""Functions that find the whole candidate around a hit, by the kind of the hit."""


def _of_file(file: ParsedFile, bases: Collection[int]) -> Iterator[Unread]:
    """Yield the export of a file of commands that can be run, unless it is a base class."""
    runs = _RUNNING.search(file.data) or _HEIR.search(file.data)
    export = _EXPORT.search(file.data)
    classes = [node for part in parts(file.tree) for node in (part, *part.named_children)]
    if runs and export and not any(node.id in bases for node in classes):
        node = file.tree.descendant_for_byte_range(export.start(), export.start() + 1)
        place = file.place(node) if node else Location(file.path)
        yield Unread(place, "no command is recognised in this file")


def _of_error(file: ParsedFile, error: Node) -> Iterator[Unread]:
    text = _text(file, error)
    if "CommandBuilder" in text or re.search(r"\bname\s*:\s*[\"'`]", text):
        yield Unread(file.place(error), BROKEN, _name(file, error))


def _name(file: ParsedFile, node: Node) -> str:
    """Return the first text that follows `name` or opens a call; empty without one."""
    text = _text(file, node)
    named = re.search(r"(?:\bname[\"']?\s*:|setName\(|\.command\()\s*(?=[\"'`])", text)
    found = _TEXT.match(text, named.end()) if named else None
    return found[1] if found else ""


def _text(file: ParsedFile, node: Node | None) -> str:
    return file.data[node.start_byte : node.end_byte].decode(errors="replace") if node else ""
