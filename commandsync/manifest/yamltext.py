"""Texts, objects and entries in YAML, so that they read well and load as exactly these texts.

Scalars are written by hand rather than by PyYAML's emitter, which is slow, folds long lines, and
quotes texts that people would write plain. `flow` writes an object on one line, `block` on several.
`imported_text` writes a whole file: `NAME.imported.yaml` beside a manifest.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from commandsync.records.snapshot import ImportedFile

_HEAD = "# Written by `commandsync import`. Do not edit: entries of {} win."

# Characters that need an escape: YAML refuses them or takes them for a line break, or they are
# invisible (bidi overrides and marks, spaces of no width, a byte order mark, tags). Joiners stay:
# emoji and scripts need them.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_HIDDEN = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_UNSAFE = _CONTROLS + _HIDDEN
_ESCAPED = re.compile(rf'[{_UNSAFE}"\\\n\t]|#(?=#\w*\[)')
_UNPRINTABLE = re.compile(rf"[{_UNSAFE}]")
_BREAKING = re.compile(rf"[{_UNSAFE}\n]")
# Texts at the beginning of a line that a CI runner would obey when it prints a pulled manifest.
_OBEYED = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
# A letter first, then nothing that could end the text or make it a key.
_PLAIN = re.compile(rf"[^\W\d_](?:[^{_UNSAFE}\n\t:#]|:(?=[^\s])|(?<! )#)*")
_FLOW_SIGNS = re.compile(r"[\[\]{},:#]")
# Words that some YAML reader takes for something other than a string.
_WORDS = re.compile(r"true|false|yes|no|on|off|y|n|null", re.IGNORECASE)
_LARGE = 0x10000
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class WrittenScalar(NamedTuple):
    """A value as YAML: the rest of its key's line, and the lines below."""

    line: str
    below: tuple[str, ...] = ()  # without indentation; an empty one stays empty


def is_plain(text: str, *, in_flow: bool = False) -> bool:
    """Whether a text needs no quotes; inside `[]` and `{}` more signs need them."""
    if text.isalpha() and text.isascii():  # as the keys of objects are: quicker than patterns
        return not _WORDS.fullmatch(text)
    if _OBEYED.search(text) or text != text.strip() or (in_flow and _FLOW_SIGNS.search(text)):
        return False
    return bool(_PLAIN.fullmatch(text)) and not _WORDS.fullmatch(text)


def written(text: str, *, always: bool = False) -> WrittenScalar:
    """Write a text; one of many lines becomes a block where that is possible.

    No text has half of a surrogate pair. `always` quotes it where that is not necessary, too.
    """
    if "\n" in text and text == text.strip() and not _needs_escapes(text):
        return WrittenScalar("|-", tuple(text.split("\n")))
    return WrittenScalar(inline(text, always=always))


def flow(value: Any) -> str:  # noqa: ANN401 - of JSON
    """Write a value of JSON on one line, with its texts as they are written elsewhere."""
    match value:
        case str():
            return inline(value, in_flow=True)
        case Mapping():
            return f"{{{', '.join(f'{flow(key)}: {flow(part)}' for key, part in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(flow, value))}]"
        case _:
            return json.dumps(value)


def block(value: Any, *, width: int) -> WrittenScalar:  # noqa: ANN401 - of JSON
    """Write a value of JSON on one line if it is not wider, else its parts below each other."""
    line, below = flow(value), list[str]()
    if len(line) <= width or not isinstance(value, Mapping | list):
        return WrittenScalar(line)
    if isinstance(value, Mapping):
        for key, part in value.items():
            mark = f"{flow(key)}:"
            first, inside = block(part, width=width - len(mark) - 1)
            below += [f"{mark} {first}".rstrip(), *(f"  {each}" for each in inside)]
    else:
        for part in value:
            first, inside = block(part, width=width - 2)
            lines = inside or (first,)
            below += [f"- {lines[0]}", *(f"  {each}" for each in lines[1:])]
    return WrittenScalar("", tuple(below))


def inline(text: str, *, in_flow: bool = False, always: bool = False) -> str:
    """Write a text on one line, in double quotes where single ones cannot express it."""
    if not always and is_plain(text, in_flow=in_flow):
        return text
    is_escaped = _ESCAPED.search(text) and "'" not in text
    if is_escaped and not (_needs_escapes(text) or "\t" in text or "\n" in text):
        return f"'{text}'"
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def one_line(text: str) -> str:
    """Return a text as a comment can contain it."""
    return _BREAKING.sub(" ", text)


def _needs_escapes(text: str) -> bool:
    return bool(_UNPRINTABLE.search(text) or _OBEYED.search(text))


def _escape(match: re.Match[str]) -> str:
    character, code = match[0], ord(match[0])
    return _SHORT.get(character) or (f"\\u{code:04X}" if code < _LARGE else f"\\U{code:08X}")


def imported_text(content: ImportedFile, *, manifest: str = "commands.yaml") -> str:
    """Return the text of an imported file: its entries in their order, and their digest."""
    lines = [_HEAD.format(one_line(manifest.rpartition("/")[2])), "imported: 1"]
    for key, entries in (("commands", content.commands), ("unread", content.unread)):
        if entries or key == "commands":
            lines.append(f"{key}:" if entries else f"{key}: []")
            lines += (line for each in entries for line in entry_lines(each.values()))
    if content.gone:
        lines.append(f"gone: {flow(content.gone)}")
    lines.append(f"digest: {content.digest}")
    return "\n".join(lines) + "\n"


def entry_lines(values: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of one entry of a list, whose keys are indented by four spaces."""
    dash = "  - "
    for name, value in values.items():
        if isinstance(value, str):
            line, below = written(value)
        else:
            line, below = flow(value), ()
        yield f"{dash}{name}: {line}"
        yield from (each and f"      {each}" for each in below)
        dash = "    "
