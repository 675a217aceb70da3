"""Manifests of any length with the shapes of real ones, and the listing that equals each."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20
BOT = "779641401482805289"

_WORDS = (
    *("adds", "shows", "removes", "the", "of", "for", "every", "member", "channel", "role"),
    *("queue", "song", "server", "message", "list", "ticket", "prefix", "level", "warning"),
    *("reminder", "poll", "game", "balance", "daily", "weekly", "random", "current", "next"),
    *("and", "with", "from", "your", "only", "when", "nobody", "else", "is", "talking"),
)
_FOREIGN = (
    "サーバーの設定を表示します",
    "يعرض قائمة الأوامر المتاحة",
    "Zeigt die Größe der Warteschlange",
    "🎵 Plays a song ❤️ right now",
    "Показывает уровень участника",
)
_CATEGORIES = ("General", "Music", "Moderation", "Fun & Games", "Экономика", "")


def records(count: int) -> list[dict[str, str]]:
    """Return so many commands as a service lists them; the same ones every time."""
    chance = random.Random(SEED)  # noqa: S311 - the same numbers every time are the point
    return [_record(number, chance) for number in range(count)]


def sentences(count: int) -> list[str]:
    """Return so many sentences; the same ones every time."""
    chance = random.Random(SEED)  # noqa: S311 - as above
    return [_sentence(chance, 8) for _ in range(count)]


def write_manifest(path: Path, listed: list[dict[str, str]], *, more: str = "") -> str:
    """Write the manifest that equals a listing, and return its path.

    Args:
        path: Where to.
        listed: The commands.
        more: YAML to put after them.
    """
    head = f"version: 1\nbot: '{BOT}'\nprefix: '/'\ncommands:\n"
    text = head + "\n".join(map(_entry, listed)) + more
    path.write_text(text, encoding="utf-8", newline="\n")
    return str(path)


def edited(listed: list[dict[str, str]], count: int) -> list[dict[str, str]]:
    """Return a listing in which the first so many descriptions differ."""
    return [
        {**record, "description": f"Once: {record['description']}"} if number < count else record
        for number, record in enumerate(listed)
    ]


def _record(number: int, chance: random.Random) -> dict[str, str]:
    name = f"{chance.choice(_WORDS)} {chance.choice(_WORDS)} {number}"
    shape = chance.random()
    if shape < 0.15:
        lines = (_sentence(chance, 12) for _ in range(chance.randint(3, 8)))
        description = "\n".join(lines)
    elif shape < 0.3:
        description = f"{chance.choice(_FOREIGN)} ({number})"
    elif shape < 0.45:
        description = f'Says: "{_sentence(chance, 8)}" # to {{0}} | %user%'
    else:
        description = _sentence(chance, 14)
    return {
        "id": f"{number:024x}",
        "name": name if chance.random() < 0.4 else name.replace(" ", ""),
        "description": description,
        "syntax": f"/{name} <member> [reason...]",
        "category": chance.choice(_CATEGORIES),
    }


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words)).capitalize() + "."


def _entry(record: dict[str, str]) -> str:
    """Write an entry as people do: blocks for many lines, quotes where they are needed."""
    description = record["description"]
    if "\n" in description:
        description = "|-\n      " + description.replace("\n", "\n      ")
    elif '"' in description:
        description = json.dumps(description, ensure_ascii=False)
    lines = [
        f"  - name: {record['name']}",
        f"    description: {description}",
        f"    syntax: '{record['syntax'].replace('/', '{prefix}', 1)}'",
    ]
    if record["category"]:
        lines.append(f"    category: {record['category']}")
    return "\n".join(lines) + "\n"
