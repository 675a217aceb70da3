"""Any text as inline Markdown that renders as the text, spelled as Markdown formatters spell it.

The escapes are those of mdformat, which writes each page in one way; prettier keeps what is
written. So neither changes what is returned here. Spaces are collapsed, as on every page.
"""

import re
from html.entities import html5
from unicodedata import category

from commandsync.characters import readable
from commandsync.report.lines import RUNNER_PREFIX

_SPECIAL = re.compile(r"[\\*_\[\]<`&~\n]|[ \t]{2}|\t|://|www\.")
_SPACES = re.compile(r"[ \t]+")
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s)")
_BRACKET = re.compile(r"(\[[^\[\]]*\](?![:(]))|[\[\]]")
_LESS = re.compile(r"<(?! )")
_LESS_BEFORE_LESS = re.compile(r"\\<(?=\\<)")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};|#[Xx][0-9A-Fa-f]{1,6};|([A-Za-z0-9]+;))")
# What is linked by itself up to a space or a tag: an escape in it would be another address. A
# comment ends it before what needs an escape; then GitHub does not link it by itself.
_URL = (
    r"(?<![^\s*_(])(?:https?://|www\.)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    r"(?:/(?:(?:[\w./?:#%=+~@,;!$'()-]|&(?![A-Za-z0-9#]+;))*(?:[^\W_]|/))?)?"
)
_AFTER_URL = re.compile(r"[.,:;!?)'\"]*(?: |\Z)")
_OTHER_LINK = r"(?i:(?<![a-z])(?:https?://|ftp://|www\.))"
_ESCAPE_IN_LINK = re.compile(r"[^ \\*_\[\]<`&~]*[\\*_\[\]<`&~]")
# GitHub strikes through what is between two tildes, also single ones, and mdformat escapes only
# pairs. One as in "about ~5 minutes" cannot end such a text; any other one becomes code.
_TILDES = r"(?<!~)(?:(?<=[^ ])~+|~~+|~(?![0-9]))"
_APART = re.compile(f"({_URL}|{_OTHER_LINK}|{_TILDES})")
_COMMENT = "<!-- -->"


def inline(text: str, *, before: str = "", after: str = "") -> str:
    """Return a text as Markdown for a cell, an item or a heading; line ends become `<br>`.

    Where spaces come `before` or `after` it on the page, a mark beside them needs no escape.
    """
    shown = readable(text)
    if not _SPECIAL.search(shown):
        return shown
    first, *others = (_SPACES.sub(" ", line).strip(" ") for line in shown.split("\n"))
    lines = [before + first, *others]
    lines[-1] += after
    return "<br>".join(map(_escaped_line, lines)).strip(" ")


def literal(text: str) -> str:
    """Return a text in the type of code; line ends become `<br>`.

    A code span cannot contain everything: formatters differ about a backtick in it, and in a table
    about a backslash before a bar. Text between `<code>` and `</code>` can.
    """
    return "<br>".join(_literal_line(line) for line in readable(text).split("\n") if line.strip())


def _literal_line(line: str) -> str:
    line = _SPACES.sub(" ", line).strip(" ")
    if "`" in line or "\\|" in line or RUNNER_PREFIX.search(line):
        return f"<code>{_escaped_line(line)}</code>"
    return f"`{line}`"


def _escaped_line(line: str) -> str:
    parts = _APART.split(line)
    shown = [_escaped(part) for part in parts]
    for index in range(1, len(parts), 2):
        part, after = parts[index], "".join(parts[index + 1 : index + 3])
        is_other = part.lower().endswith(("://", "www."))
        if part.startswith("~"):
            shown[index] = f"`{part}`"
        elif _ESCAPE_IN_LINK.match(after) if is_other else not _AFTER_URL.match(after):
            shown[index] = part + _COMMENT
        else:
            shown[index] = part
    return "".join(shown)


def _escaped(text: str) -> str:
    if not _SPECIAL.search(text):
        return text
    text = text.replace("\\", "\\\\")
    text = _STAR.sub(r"\\*", text)
    text = re.sub("_", _underscore, text)
    text = _BRACKET.sub(lambda match: match[1] or f"\\{match[0]}", text)
    # mdformat escapes only the first of several; a comment between them keeps them apart.
    text = _LESS_BEFORE_LESS.sub(rf"\\<{_COMMENT}", _LESS.sub(r"\\<", text))
    text = RUNNER_PREFIX.sub(f"#{_COMMENT}#", text)
    return _REFERENCE.sub(
        lambda match: match[0] if match[1] and match[1] not in html5 else f"\\{match[0]}",
        text.replace("`", "\\`"),
    )


def _underscore(match: re.Match[str]) -> str:
    """Escape an underscore, unless it is inside a word or between two spaces."""
    text, at = match.string, match.start()
    around = {_kind(text[at - 1 : at]), _kind(text[at + 1 : at + 2])}
    return "_" if around in ({"space"}, {"letter"}) else "\\_"


def _kind(character: str) -> str:
    if not character:
        return "end"
    if character.isspace():
        return "space"
    return "mark" if category(character)[0] in "PS" else "letter"
