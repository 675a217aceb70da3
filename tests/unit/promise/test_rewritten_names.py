"""Whatever a service makes of names, each keeps its record: no id moves, nothing is added again."""

import html
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.draws import examples
from tests.support.listing import Listing
from tests.support.oracle import alike, without_emoji
from tests.support.runs import command, sync, wanted

Way = Callable[[str], str]


def escape(times: int, text: str) -> str:
    return reduce(lambda escaped, _: html.escape(escaped), range(times), text)


def cut(length: int, text: str) -> str:
    return text[:length]


def trim(text: str) -> str:
    return " ".join(text.split())


WAYS: st.SearchStrategy[Way] = st.one_of(
    st.integers(1, 12).map(lambda times: partial(escape, times)),
    st.integers(40, 100).map(lambda length: partial(cut, length)),
    st.sampled_from([str.lower, str.upper, str.title, trim, without_emoji]),
)
DOTLESS = "\u0131s\u0131r"  # bites, in Turkish
WORDS = st.sampled_from(["play", "Stop", "ban", "ROCK", "it's", DOTLESS, "größe", "of  all", "<b>"])
PIECES = WORDS | st.sampled_from(["&", "&amp;", "&lt;", "&#39;", "&quot;", "amp;", "🎉", "☎️"])
SEVERAL = st.lists(PIECES, min_size=1, max_size=14)
HALF_ESCAPE = 8  # characters of an escape that may be left of one that was cut
NEVER_CUT = 30  # characters: a cut name with another description may be another command


def is_recognizable(name: str, stored: str) -> bool:
    """Whether the tiers of matching see through it, but for an escape at the end that was cut."""
    halves = [n for n in range(1, HALF_ESCAPE) if "&" in stored[-n:]]
    rests = [stored, *(stored[:-n] for n in halves)]
    return any(alike((name, "same"), (rest, "same")) for rest in rests)


@settings(max_examples=examples(200, soak=500))
@example(
    ways=[partial(escape, 1)],
    names=["&"],
    twins=[(0, partial(escape, 1))],
    edits=[0],
    everywhere=False,
)
@example(
    ways=[partial(escape, 2), partial(cut, 47)],
    names=["play & " * 8],
    twins=[],
    edits=[],
    everywhere=False,
)
@example(
    ways=[partial(cut, 40)],
    names=["playplayplayplayplaygröße&amp;playplayplay"],
    twins=[],
    edits=[],
    everywhere=False,
)
@example(
    ways=[partial(cut, 42)],
    names=["playplayplayplayplayplay&amp;&amp;&amp;play"],
    twins=[],
    edits=[],
    everywhere=False,
)
@example(ways=[str.title], names=[f"{DOTLESS} &amp; &lt;"], twins=[], edits=[0], everywhere=True)
@given(
    ways=st.lists(WAYS, min_size=1, max_size=3),
    names=st.lists(SEVERAL.map(" ".join) | SEVERAL.map("".join), min_size=1, max_size=3),
    twins=st.lists(st.tuples(st.integers(0, 4), WAYS), max_size=3),
    edits=st.lists(st.integers(0, 4), max_size=4),
    everywhere=st.booleans(),
)
def test_a_name_keeps_its_record_over_all_runs(
    ways: Sequence[Way],
    names: Sequence[str],
    twins: Sequence[tuple[int, Way]],
    edits: Sequence[int],
    *,
    everywhere: bool,
) -> None:
    def way(text: str) -> str:
        return reduce(lambda rewritten, one: one(rewritten), ways, text).strip()

    def store(record: dict[str, Any]) -> dict[str, Any]:
        fields = record if everywhere else {"name"}
        return {key: way(text) if key in fields else text for key, text in record.items()}

    variants = [change(names[n % len(names)]) for n, change in twins]
    names = [name for name in dict.fromkeys(map(str.strip, [*names, *variants])) if name]
    names = [name for name in names if is_recognizable(name, way(name))]
    descriptions = [f"does {n} of it" for n in range(len(names))]
    service = Listing(store=store)

    def run() -> set[str]:
        texts = [command(name, text) for name, text in zip(names, descriptions, strict=True)]
        begun = len(service.requests)
        sync(service, wanted(texts))
        return {request.kind for request in service.writes(begun)}

    def records() -> list[tuple[str, str]]:
        """Return the id of each record and the number of its entry."""
        return [
            (record["id"], record["description"].split()[1])
            for record in service.stored["commands"]
        ]

    run()
    first = records()
    for n in [None, *edits, None]:
        if n is not None and n < len(names) and len(names[n]) < NEVER_CUT:
            descriptions[n] += " more"

        assert run() <= {"edit"}
        assert records() == first
    assert len(first) == len(names)
