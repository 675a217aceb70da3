"""Manifest files as people lay them out, drawn: with what each says and where it says it.

Comments, quotes of every kind, blocks, braces, dashes at odd columns, CRLF, a byte order mark, no
last line break.
"""

import json
from dataclasses import dataclass, field
from random import Random

Value = str | tuple[str, ...]

KEYS = ("name", "description", "syntax", "category", "formerly", "id")
_COMMENTS = ("# note", "#", "#- name: old", "#: {x", '# it\'s "quoted" # twice', "#    \u00e9")
_WORDS = (
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
    return numbers.choice(_ODD if chance < 0.5 else _WORDS)


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
            value in _WORDS
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
