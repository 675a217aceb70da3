"""Whether twice the input takes about twice the time, where a naive way takes four or eight.

In this process and in its own time, of the product's own work alone.
"""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

from commandsync.plan.plan import Target, make_plan
from commandsync.plan.rules import MOST_WILDCARDS, DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.report import render_plans
from commandsync.report.commandlist import Layout, command_list
from commandsync.services.service import PAGE
from tests.benchmarks.budgets import Row, best, milliseconds
from tests.benchmarks.manifests import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandsync.plan.plan import RecordPlan

    Texts = Sequence[CommandText]

_BUDGET = 2.3
_ROUNDS = 5
_MOST_PAIRS = 100  # commands on each side that are still compared for renames
_ALLOWED = SyncRules(max_deletes=DeleteLimit())


def rows() -> list[Row]:
    """Measure them all."""
    return [
        doubled("a plan of one changed text", 250_000, _changed_text, unit="characters"),
        doubled("a plan of edits", 2_500, _edits),
        doubled("a plan of n listed and n added of one name", 1_000, _of_one_name),
        doubled("a plan of n commands and n patterns to ignore", 4_000, _ignored),
        doubled("rename hints of 100 x 100 texts", 50_000, _renames, unit="characters"),
        doubled("a list of one text with links", 20_000, _links),
    ]


def doubled(
    what: str,
    size: int,
    work: Callable[[int], Callable[[], object]],
    *,
    unit: str = "",
    rounds: int = _ROUNDS,
) -> Row:
    """Measure some work on an input of a size, and on one of twice the size.

    Args:
        what: What is measured.
        size: The smaller size.
        work: Prepares the work for a size.
        unit: What the size counts, where `what` does not say.
        rounds: How often each is measured.
    """
    small, large = (timed(work(count)) for count in (size, 2 * size))
    found = best({"small": small, "large": large}, rounds=rounds)
    seen = f"{milliseconds(found['large'])} / {milliseconds(found['small'])}"
    sizes = f"{2 * size:,} / {size:,} {unit}".rstrip()
    return Row(f"{what}, {sizes}", found["large"] / found["small"], _BUDGET, seen=seen)


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Return a run of some work that gives its processor time, in seconds."""

    def run() -> float:
        begun = process_time()
        work()
        return process_time() - begun

    return run


def planning(
    wanted: Texts, listed: Texts, *, rules: SyncRules = _ALLOWED
) -> Callable[[], RecordPlan]:
    """Return the planning of commands."""
    desired, shown = (
        Snapshot({Resource.COMMAND: tuple(entries)})
        for entries in (
            (Entry(text) for text in wanted),
            (Entry(text, id=str(number)) for number, text in enumerate(listed)),
        )
    )
    target = Target(bot="42", base_url="https://listing.example", abilities=PAGE.abilities)
    return lambda: make_plan(desired=desired, listed=shown, target=target, rules=rules)


def _changed_text(size: int) -> Callable[[], object]:
    """Plan and show the edit of a text of so many characters, every line of which differs."""
    listed = "\n".join(sentences(size // 40))[:size]
    make = planning([_text(0, listed.replace("e", "E"))], [_text(0, listed)])
    return lambda: render_plans([make()], format="text")


def _edits(size: int) -> Callable[[], object]:
    texts = list(sentences(2 * size))
    wanted, listed = (
        [_text(n, f"{first}\n{texts[at + n]}") for n, first in enumerate(texts[:size])]
        for at in (0, size)
    )
    return planning(wanted, listed)


def _of_one_name(size: int) -> Callable[[], object]:
    """Plan so many adds of a name of which as many are listed and stay, much alike."""
    texts = [
        CommandText("afk", f"Sets you away from the keyboard: {n}", "/afk") for n in range(2 * size)
    ]
    return planning(texts, texts[:size])


def _ignored(size: int) -> Callable[[], object]:
    patterns = (f"x{n}-*" if n < MOST_WILDCARDS else f"x{n}" for n in range(size))
    rules = SyncRules(ignore=tuple(patterns), prune=False)
    return planning([], [_text(n, text) for n, text in enumerate(sentences(size))], rules=rules)


def _renames(size: int) -> Callable[[], object]:
    """Plan adds and deletes of long texts that are alike, and are no renames."""
    words = " ".join(sentences(size // 40))[:size]
    wanted, listed = (
        [CommandText(f"{side}{n}", f"{n * word} {words}", f"/{n}") for n in range(_MOST_PAIRS)]
        for side, word in (("new", "x"), ("old", "y"))
    )
    return planning(wanted, listed)


def _links(count: int) -> Callable[[], object]:
    text = "http://~*" * count
    commands = [CommandText(text, text, text)]
    return lambda: command_list(commands, Layout(), level=2)


def _text(number: int, description: str) -> CommandText:
    return CommandText(f"command {number}", description, f"/{number}")
