"""Commands of an exact kind for tests: single ones, and generated ones with all their parts.

The names are few, so that commands of two sides, and of different types, often have one name.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import ManifestError
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.losses import Instead, Loss, LossReason
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Ability, ApplicationCommand, Resource, Text, object_of
from commandsync.services.abilities import DISCORD_ABILITIES
from tests.support.plans import UNTRUSTED

KIND = Resource.APPLICATION_COMMAND
MOST = {"1": 6, "2": 2, "3": 2}
"""How many commands of each type a list may have in tests."""

TARGET = Target(
    bot="42", base_url="https://discord.example", abilities={KIND: Ability(edit=True, most=MOST)}
)
NO_LIMIT = SyncRules(max_deletes=DeleteLimit())


def slash(name: str, description: str = "Does it.", **keys: object) -> ApplicationCommand:
    """Return a slash command with more keys of its object."""
    return ApplicationCommand.of({"type": 1, "name": name, "description": description, **keys})


def menu(name: str, type: int = 2, **keys: object) -> ApplicationCommand:  # noqa: A002 - Discord's word
    """Return a command in a menu."""
    return ApplicationCommand.of({"type": type, "name": name, **keys})


def option(name: str, type: int = 3, **keys: object) -> dict[str, Any]:  # noqa: A002 - as above
    """Return an option of a command."""
    return {"type": type, "name": name, "description": "An option.", **keys}


def choices(*names: str) -> list[dict[str, Any]]:
    """Return choices whose values are their names."""
    return [{"name": name, "value": name} for name in names]


def group(name: str, *names: str) -> ApplicationCommand:
    """Return a command with these sub-commands."""
    return slash(name, options=[option(each, 1) for each in names])


def listed(*texts: ApplicationCommand) -> tuple[Entry, ...]:
    """Return commands as a service lists them, with the ids `r0`, `r1` and so on."""
    return tuple(
        Entry(text, id=f"r{n}", own=({"id": f"r{n}", **text.node},)) for n, text in enumerate(texts)
    )


def entry(text: ApplicationCommand, pin: str = "", *formerly: str, line: int = 1) -> Entry:
    """Return a command of the manifest."""
    return Entry(text, pin, Location("commands.yaml", line, 5), formerly)


def plan_of(
    wanted: tuple[Entry, ...],
    here: tuple[Entry, ...],
    rules: SyncRules = NO_LIMIT,
    **more: Any,  # noqa: ANN401 - arguments of `make_plan`
) -> RecordPlan:
    """Return the plan that makes a list match."""
    sides = Snapshot({KIND: wanted}), Snapshot({KIND: here})
    return make_plan(desired=sides[0], listed=sides[1], target=TARGET, rules=rules, **more)


NAMES = st.sampled_from(["ban", "Ban", "play", "queue", "a" * 31, "a" * 32])
WORDS = st.sampled_from(["Does it.", "Does it well.", "x" * 100, "Ça va ?"])
_LANGUAGES = st.dictionaries(st.sampled_from(["de", "fr"]), WORDS, min_size=1, max_size=2)
_CHOICES = st.lists(st.sampled_from(["eu", "us/east", "~"]), min_size=1, max_size=3, unique=True)


def _parts(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


def _unique(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(parts, min_size=1, max_size=3, unique_by=lambda part: part["name"])


_NAME = st.sampled_from(["song", "region", "count"])
_OPTIONS = _unique(
    _parts(
        {"type": st.sampled_from([3, 4, 10]), "name": _NAME, "description": WORDS},
        {
            "required": st.just(value=True),
            "choices": _CHOICES.map(lambda names: choices(*names)),
            "min_value": st.sampled_from([0, 1, 2.5]),
            "description_localizations": _LANGUAGES,
        },
    )
)
_TEXTS = {"description": WORDS}
_SUB_COMMANDS = _unique(
    _parts({"type": st.just(1), "name": _NAME, **_TEXTS}, {"options": _OPTIONS})
)
_GROUPS = _unique(_parts({"type": st.just(2), "name": _NAME, "options": _SUB_COMMANDS}, _TEXTS))
_SETTINGS = {
    "default_member_permissions": st.sampled_from(["0", "8"]),
    "contexts": st.sampled_from([[0], [0, 1]]),
    "nsfw": st.just(value=True),
}
TEXTS = st.one_of(
    _parts(
        {"type": st.just(1), "name": NAMES, **_TEXTS},
        {
            **_SETTINGS,
            "description_localizations": _LANGUAGES,
            "options": st.one_of(_OPTIONS, _SUB_COMMANDS, _GROUPS),
        },
    ),
    _parts({"type": st.sampled_from([2, 3]), "name": NAMES}, _SETTINGS),
).map(ApplicationCommand.of)
"""Commands of all types, with all kinds of parts, in the canonical form."""

LISTS = st.lists(TEXTS, max_size=8, unique_by=lambda text: text[:2])
"""Lists in which no two commands have the same type and name."""


def _fitting(texts: Iterable[ApplicationCommand]) -> list[ApplicationCommand]:
    """Return the first texts of each type, as many as a list has room for."""
    room, fitting = Counter(MOST), []
    for text in texts:
        room[text.type] -= 1
        fitting += [text] if room[text.type] >= 0 else []
    return fitting


@st.composite
def sides(draw: st.DrawFn) -> tuple[tuple[Entry, ...], tuple[ApplicationCommand, ...]]:
    """Draw a manifest's commands, with pins and former names, and those that are listed.

    Both fit into a list.
    """
    here = _fitting(draw(LISTS))
    kept = [text for text in here if draw(st.booleans())]
    new = [text for text in draw(LISTS) if text[:2] not in {each[:2] for each in kept}]
    pins = st.sampled_from(["", "", "", *(f"r{n}" for n in range(len(here)))])
    texts = _fitting(draw(st.permutations(kept + new)))
    wanted = [
        entry(text, draw(pins), *draw(st.lists(NAMES, max_size=2)), line=line)
        for line, text in enumerate(texts, start=1)
    ]
    return tuple(wanted), tuple(here)


def drawn_plan(
    wanted: tuple[Entry, ...], here: tuple[Entry, ...], rules: SyncRules = NO_LIMIT
) -> RecordPlan:
    """Return the plan of drawn sides; those that exchange names are drawn again."""
    try:
        return plan_of(wanted, here, rules)
    except ManifestError:
        reject()


_LOSSES = [
    Loss("commands", LossReason.UNKNOWN, names=("play", "stop")),
    Loss("commands", LossReason.NO_OPTIONS, Instead.STAYS, ("ban",)),
    Loss("translations", LossReason.CHANGED, Instead.NOT_SHOWN, ("play",)),
]


@st.composite
def plans(draw: st.DrawFn) -> RecordPlan:
    """Draw the plan of a list at Discord, without what a saved one does not have as values."""
    wanted, here = draw(sides())
    rules = draw(st.sampled_from([NO_LIMIT, SyncRules(), SyncRules(prune=False, ignore=("b*",))]))
    plan = drawn_plan(wanted, listed(*here), rules)
    target = replace(TARGET, abilities=DISCORD_ABILITIES)
    losses = tuple(draw(st.lists(st.sampled_from(_LOSSES), max_size=2)))
    return replace(plan, target=target, label="discord", notices=(), losses=losses, finished=0)


def _spoiled(value: Any, draw: st.DrawFn) -> Any:  # noqa: ANN401 - JSON
    """Return an object with untrusted text in the place of some of its texts and names."""
    if isinstance(value, dict):
        return {
            key: part if key == "name" and draw(st.booleans()) else _spoiled(part, draw)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_spoiled(part, draw) for part in value]
    return draw(st.sampled_from([value, *UNTRUSTED])) if isinstance(value, str) else value


@st.composite
def untrusted_plans(draw: st.DrawFn) -> RecordPlan:
    """Draw the plan of a list at Discord with untrusted text in its names, texts and keys."""

    def spoiled(text: Text) -> ApplicationCommand:
        node = {**(object_of(text) or {}), draw(st.sampled_from(UNTRUSTED)): [draw(WORDS)]}
        return ApplicationCommand.of(_spoiled(node, draw))

    wanted, here = draw(sides())
    changed = [spoiled(each.text) for each in wanted]
    entries = tuple(replace(each, text=text) for each, text in zip(wanted, changed, strict=True))
    others = tuple(text for text in here if draw(st.booleans()))
    plan = drawn_plan(entries, listed(*map(spoiled, (*others, *changed))), SyncRules())
    return replace(plan, notices=())
