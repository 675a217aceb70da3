"""The names that differ between a bot, its manifest and its listings."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.differences import Cell, Discrepancy, NamePlace, key_of, parity
from commandsync.records.losses import MOST_NAMED

LONG = "a name with so many words that some services list its beginning only"
BASES = ("ban", "config set", "afk", "größe", LONG)
SPELLINGS: tuple[Callable[[str], str], ...]
SPELLINGS = (str, str.upper, "/{}".format, " {} ".format, lambda name: name.replace("ö", "&ouml;"))
PLACES = ("code", "discord", "manifest", "page", "telegram")
NOT_SERVED, NOT_LISTED, GONE = Discrepancy
YES, NO, NOT_MEANT, NOT_READ, UNREADABLE = Cell


def columns(others: Cell) -> st.SearchStrategy[dict[str, Cell]]:
    """Return the cells of one place; its other cells are known or not."""
    known = [YES, NO, NOT_MEANT] if others is NO else [YES, others]
    return st.fixed_dictionaries({base: st.sampled_from(known) for base in BASES})


COLUMN = st.sampled_from([NO, NO, NOT_READ, UNREADABLE]).flatmap(columns)


@pytest.mark.promise("doctor-names")
@given(st.tuples(*[COLUMN] * 5), st.data())
def test_each_name_has_one_row(drawn: tuple[dict[str, Cell], ...], data: st.DataObject) -> None:
    places = []
    for number, own in enumerate(drawn):
        is_cut = number > 2 and YES in {drawn[other][LONG] for other in (0, 1, 2)}
        spellings = {LONG: (*SPELLINGS, lambda name: f" {name[:-9]}")} if is_cut else {}
        names = [
            data.draw(st.sampled_from(spellings.get(base, SPELLINGS)))(base)
            for base, cell in own.items()
            if cell is YES
        ]
        not_meant = frozenset(key_of(base) for base, cell in own.items() if cell is NOT_MEANT)
        others = next((cell for cell in own.values() if cell in {NOT_READ, UNREADABLE}), NO)
        places.append(NamePlace(PLACES[number], names, not_meant, others))

    compared = parity("commands.yaml", places[2], served=places[:2], listed=places[3:])

    rows = {key_of(row.name): row for row in compared.rows}
    cells = {key_of(base): tuple(own[base] for own in drawn) for base in BASES}
    assert rows.keys() == {key for key, own in cells.items() if YES in own}
    for key, row in rows.items():
        assert row.cells == cells[key]
        assert bool(row.differences) == (NO in row.cells)
        assert (GONE in row.differences) == (NO in row.cells and YES not in row.cells[:3])
        if GONE not in row.differences:
            assert (NOT_SERVED in row.differences) == (NO in row.cells[:2])
            assert (NOT_LISTED in row.differences) == (NO in row.cells[2:])


@pytest.mark.parametrize(
    ("lacking", "differences"),
    [
        ("", []),
        ("discord", [NOT_SERVED]),
        ("manifest", [NOT_LISTED]),
        ("telegram", [NOT_LISTED]),
        ("code telegram", [NOT_SERVED, NOT_LISTED]),
        ("code discord manifest page", [GONE]),
    ],
)
def test_each_kind_of_difference_is_told(lacking: str, differences: list[Discrepancy]) -> None:
    places = [NamePlace(name, ["afk"] if name in lacking else ["afk", "Ban"]) for name in PLACES]

    compared = parity("commands.yaml", places[2], served=places[:2], listed=places[3:])

    told = ", ".join(f"1 {kind} (Ban)" for kind in differences) or "in what was read"
    assert compared.sentence().endswith(told)
    assert (compared.manifest, compared.places) == (
        "commands.yaml",
        (*places[:2], places[2], *places[3:]),
    )


@given(st.integers(1, 2 * MOST_NAMED))
def test_the_first_names_are_told_and_the_others_counted(count: int) -> None:
    names = [f"ban {n}" for n in range(count)]
    compared = parity("commands.yaml", NamePlace("manifest", names), served=[NamePlace("code")])

    more = f" and {count - MOST_NAMED} more" if count > MOST_NAMED else ""
    told = f"{count} not served ({', '.join(names[:MOST_NAMED])}{more})"
    assert compared.sentence() == f"{count} of {count} commands differ: {told}"


def test_only_a_listed_name_is_taken_for_the_beginning_of_another() -> None:
    beginning = LONG[:-9]
    own, code = NamePlace("manifest", [LONG]), NamePlace("code", [beginning])

    assert len(parity("commands.yaml", own, served=[code]).rows) == 2
    assert len(parity("commands.yaml", own, served=[], listed=[code]).rows) == 1


@pytest.mark.parametrize("name", ["/", " / "])
def test_a_name_of_a_slash_alone_is_a_name(name: str) -> None:
    assert key_of(name) == "/" != key_of("ban")


def test_a_name_that_no_place_is_meant_to_have_is_not_a_row() -> None:
    own = NamePlace("manifest", names=("ban",), not_meant=frozenset({key_of("ban")}))

    assert parity("commands.yaml", own, served=[NamePlace("code")]).rows == ()
