"""A YAML parser's error -> its real place, a message in plain words, and a hint."""

import re
from typing import NamedTuple

from yaml import YAMLError
from yaml.reader import Reader

from commandsync.manifest.source import Source, quoted

UNPRINTABLE = Reader.NON_PRINTABLE  # the characters that YAML refuses, as PyYAML has them
_VALUE = re.compile(r"[ \t]*(?:- +)*(?:[\w-]+[ \t]*:[ \t]+)?(?P<value>[^\s#].*)")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'")
_LONGEST_EXAMPLE = 200
_READ_AS = {
    "[": "a list",
    "{": "a mapping",
    "*": "an alias",
    "&": "an anchor",
    "!": "a tag",
    "|": "the beginning of a block string",
    ">": "the beginning of a block string",
    "%": "a directive",
    "@": "a reserved sign",
    "`": "a reserved sign",
    "]": "the end of a list",
    "}": "the end of a mapping",
    ",": "a separator",
    "?": "a key",
}
_ENTRY = re.compile(r"\{[ \t]*[\"']?[a-z_]+[\"']?:[ \t]")  # an entry on one line
_READ_AS_ALONE = {"-": "an item of a list", ":": "a value without a key"}  # with a space after it
# A key that YAML reads as a string: a space is missing after its colon, or after its dash.
_GLUED = re.compile(r"[ \t]*(?:- +)*(?P<key>[a-z_]+:(?!//)[^\s:].*|-[a-z_]+:[ \t].*)")
_MARKER = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)")
_ROW = re.compile(r"[ \t]*\|(?:[^|\r\n]*\|){2,}[ \t\r]*")
TYPOGRAPHIC = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb\u2039\u203a"
_LONGEST_SHOWN = 100
_NEAR = 65536  # characters; a conflict is seldom larger


class Explained(NamedTuple):
    """A syntax error in plain words."""

    at: int  # the index of its character
    message: str
    hint: str = ""
    end: int = 0  # the index of its last character, if that is further on


def typographic(text: str) -> tuple[str, str] | None:
    """Return the problem of a string in typographic quotes, and a hint; None without them."""
    ends = len(text) > 1 and text[0] in TYPOGRAPHIC and text[-1] in TYPOGRAPHIC
    if not ends or any(character in TYPOGRAPHIC for character in text[1:-1]):
        return None
    message = f"the quotes around {quoted(text)} are typographic, and part of the string in YAML"
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[0]}...{text[-1]}"
    straight = f'"{shown[1:-1]}"'
    return message, f'write straight ones, {straight}, or both to keep them, "{shown}"'


def conflict(source: Source, at: int) -> Explained | None:
    """Return the merge conflict that a place belongs to."""
    text = source.text
    start, line = source.line_at(at)
    begin = start
    if not line.startswith("<<<<<<<"):
        begin = text.rfind("\n<<<<<<<", max(start - _NEAR, 0), start) + 1
    close = text.find("\n>>>>>>>", begin, begin + _NEAR) + 1
    inside = _MARKER.match(text, begin) is not None and begin <= at <= _end(text, close or begin)
    if not inside:
        if _MARKER.match(text, start) is None:
            return None
        begin = close = start
    message = "this is a merge conflict that is not resolved"
    hint = "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return Explained(begin, message, hint, _end(text, close or begin))


def table(source: Source, at: int) -> Explained | None:
    """Return the Markdown table that a place belongs to."""
    text = source.text
    start, line = source.line_at(at)
    if _ROW.fullmatch(line) is None:
        return None
    end = _end(text, start)
    while _ROW.fullmatch(text, end + 1, _end(text, end + 1)):
        end = _end(text, end + 1)
    message = "this is a table in Markdown, not YAML"
    hint = "write each row as an entry: - name: with description: and syntax: below it"
    return Explained(start + len(line) - len(line.lstrip()), message, hint, end)


def _end(text: str, at: int) -> int:
    """The index of the line feed after a character, or the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def explain(error: YAMLError, source: Source) -> Explained:
    """Explain an error of PyYAML to a reader who does not know YAML's grammar."""
    problem = str(getattr(error, "problem", error))
    # An unfinished value is wrong where it began, others where the parser stopped.
    began, stopped = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    unfinished = ("end of stream", "expected ',' or", "could not find expected ':'")
    mark = began if began and any(words in problem for words in unfinished) else stopped
    at = min(max(mark.index if mark else 0, 0), len(source.text))
    return (
        conflict(source, at)
        or table(source, at)
        or _tab(source.text, at)
        or _unclosed(problem, source, at)
        or _escape(problem, at)
        or _needs_quotes(source, at)
        or _glued(problem, source, at)
        or _other(problem, source, at)
    )


def _tab(text: str, at: int) -> Explained | None:
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    indentation = len(text[begin:at]) - len(text[begin:at].lstrip())
    tab = text.find("\t", begin, begin + indentation)
    if tab < 0 and not text.startswith("\t", at):
        return None
    message = "a tab appears where YAML expects spaces"
    return Explained(at if tab < 0 else tab, message, "indent with spaces only")


def _unclosed(problem: str, source: Source, at: int) -> Explained | None:
    opening = source.text[at : at + 1]
    if "end of stream" in problem and opening in {'"', "'"}:
        _, line = source.line_at(at)
        wrong = f", not with {line.rstrip()[-1]}" if line.rstrip()[-1] in TYPOGRAPHIC else ""
        return Explained(at, "this quote is not closed", f"end the string with {opening}{wrong}")
    start, line = source.line_at(at)
    if "expected ',' or" in problem and line[at - start :].strip() in {"[", "{"}:
        closing = "]" if opening == "[" else "}"
        hint = f"end it with {closing}, or quote the value if it is a string"
        return Explained(at, f"this {opening} is not closed", hint)
    return None


def _needs_quotes(source: Source, at: int) -> Explained | None:
    """Explain a value that YAML reads as something else because of how it begins or goes on."""
    start, line = source.line_at(at)
    match = _VALUE.fullmatch(line)
    if match is None:
        return None
    value, begin = match["value"].rstrip(), start + match.start("value")
    if problem := typographic(value):
        return Explained(begin, *problem)
    if value[0] in "\"'":
        return _after_quotes(value, begin, at)
    is_item = ":" not in line[: begin - start]
    if begin <= at and (misread := _misread(value, begin, is_item=is_item)):
        return misread
    if begin < at and ": " in value and match.start("value") > len(line) - len(line.lstrip()):
        message = 'a ": " inside a string makes YAML read a key'
        return Explained(at, message, f"quote it{_in_quotes(value)}")
    return None


def _misread(value: str, begin: int, *, is_item: bool) -> Explained | None:
    """Explain a value whose first character has a meaning in YAML."""
    if is_item and _ENTRY.match(value):
        hint = "quote the strings in it, and put a comma between the fields"
        return Explained(begin, "YAML cannot read the content of this {", hint)
    read_as = _READ_AS.get(value[0]) or _READ_AS_ALONE.get(value[:2].rstrip())
    if read_as is None:
        return None
    message = f"YAML reads {quoted(value)} as {read_as}"
    return Explained(begin, message, f"quote it{_in_quotes(value)}")


def _after_quotes(value: str, begin: int, at: int) -> Explained | None:
    whole = _QUOTED.match(value)
    if whole is None or not begin <= at or whole.end() == len(value):
        return None
    inside = value[1:-1] if value[-1] == value[0] else value
    message = f"the quoted string {quoted(whole[0][1:-1])} ends here, and more follows"
    hint = f"quote the whole{_in_quotes(inside or value)}"
    return Explained(begin + whole.end(), message, hint)


def _in_quotes(text: str) -> str:
    """Show a string in quotes: single ones where it contains a double quote or a backslash."""
    if len(text) > _LONGEST_EXAMPLE:
        return ""
    if '"' in text or "\\" in text:
        return ": '" + text.replace("'", "''") + "'"
    return f': "{text}"'


def _escape(problem: str, at: int) -> Explained | None:
    if "escape" not in problem:
        return None
    hint = "inside double quotes write \\\\ for a backslash, or use single quotes"
    return Explained(at, "this is not a valid escape in YAML", hint)


def _glued(problem: str, source: Source, at: int) -> Explained | None:
    start, _ = source.line_at(at)
    above, line = source.line_at(max(start - 1, 0))
    match = _GLUED.fullmatch(line)
    if "mapping values" not in problem or match is None:
        return None
    key = match["key"].rstrip()
    where = "dash" if key.startswith("-") else "colon"
    message = f"{quoted(key)} is not a key: a space is missing after the {where}"
    return Explained(above + match.start("key"), message, f"write a space after the {where}")


def _other(problem: str, source: Source, at: int) -> Explained:
    if "document" in problem and source.text[at:].strip():
        hint = "a manifest is one document: remove the rest"
        return Explained(at, "more follows after the end of the document", hint)
    if problem == "could not find expected ':'":
        key = quoted(source.line_at(at)[1].strip())
        hint = "write key: value; a string of many lines is indented deeper than its key"
        return Explained(at, f"{key} is not a key: a colon and a space are missing after it", hint)
    message, hint = f"this is not valid YAML: {problem}", ""
    if "mapping values" in problem or "did not find expected" in problem:
        message = "this does not fit the line above it"
    start, line = source.line_at(at)
    above = source.text[:start].rstrip()
    _, before = source.line_at(max(len(above) - 1, 0))
    column, depth = len(line) - len(line.lstrip()), len(before) - len(before.lstrip(" -"))
    if line.strip() and above and column != depth:
        where = f"it is indented by {column}, the line above it by {depth}"
        hint = f"{where}: keys of one mapping start in one column"
    return Explained(at, message, hint)
