"""Which names differ between what a bot serves, its manifest and its listings."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.plan.parity import Cell, Difference, Parity, Place, Role, key_of, parity

LONG = "a name with so many words that some services list its beginning only"
BASES = ("ban", "config set", "afk", "größe", LONG)
SPELLINGS: tuple[Callable[[str], str], ...]
SPELLINGS = (str, str.upper, "/{}".format, " {} ".format, lambda name: name.replace("ö", "&ouml;"))
PLACES = {
    "page": Role.LISTS,
    "code": Role.SERVES,
    "telegram": Role.LISTS,
    "manifest": Role.MANIFEST,
    "discord": Role.SERVES,
}
NOT_SERVED, NOT_LISTED, GONE = Difference
YES, NO, NOT_MEANT, NOT_READ, UNREADABLE = Cell


def compared(cells: dict[str, dict[str, Cell]], *, spell: st.DataObject | None = None) -> Parity:
    """Compare places that have these cells of each name, spelled as services do."""
    found = []
    for place, role in PLACES.items():
        own = {base: each[place] for base, each in cells.items()}
        spellings = dict.fromkeys(own, SPELLINGS)
        if role is Role.LISTS and any(cells[LONG][name] is YES for name in ("code", "manifest")):
            spellings[LONG] = (*SPELLINGS, lambda name: f" {name[:-9]}")
        names = [
            spell.draw(st.sampled_from(spellings[base]))(base) if spell else base
            for base, cell in own.items()
            if cell is YES
        ]
        not_meant = frozenset(key_of(base) for base, cell in own.items() if cell is NOT_MEANT)
        others = next((each for each in own.values() if each in {NOT_READ, UNREADABLE}), NO)
        found.append(Place(name=place, role=role, names=names, not_meant=not_meant, others=others))
    return parity("commands.yaml", *found)


def drawn_cells(others: Cell) -> st.SearchStrategy[dict[str, Cell]]:
    """Return the cells of one place, of which what it does not have is known or not."""
    known = [YES, NO, NOT_MEANT] if others is NO else [YES, others]
    return st.fixed_dictionaries({base: st.sampled_from(known) for base in BASES})


COLUMNS = st.fixed_dictionaries(
    {
        place: st.sampled_from([NO, NO, NOT_READ, UNREADABLE]).flatmap(drawn_cells)
        for place in PLACES
    }
)


@given(COLUMNS, st.data())
def test_every_name_has_one_row_with_what_each_place_is_known_to_have(
    columns: dict[str, dict[str, Cell]], data: st.DataObject
) -> None:
    cells = {base: {place: columns[place][base] for place in PLACES} for base in BASES}

    rows = {key_of(row.name): row for row in compared(cells, spell=data).rows}

    had = {base for base in BASES if YES in cells[base].values()}
    assert rows.keys() == set(map(key_of, had))
    for base in had:
        row = rows[key_of(base)]
        assert dict(zip(PLACES, row.cells, strict=True)) == cells[base]
        lacking = {PLACES[place] for place, cell in cells[base].items() if cell is NO}
        having = {PLACES[place] for place, cell in cells[base].items() if cell is YES}
        assert bool(row.differences) == bool(lacking)
        assert (GONE in row.differences) == bool(lacking and having == {Role.LISTS})
        if GONE not in row.differences:
            assert (NOT_SERVED in row.differences) == (Role.SERVES in lacking)
            assert (NOT_LISTED in row.differences) == bool(lacking & {Role.MANIFEST, Role.LISTS})


@pytest.mark.parametrize(
    ("lacking", "differences"),
    [
        ("", ()),
        ("code", (NOT_SERVED,)),
        ("discord", (NOT_SERVED,)),
        ("manifest", (NOT_LISTED,)),
        ("telegram", (NOT_LISTED,)),
        ("code telegram", (NOT_SERVED, NOT_LISTED)),
        ("code discord manifest", (GONE,)),
        ("code discord manifest page", (GONE,)),
    ],
)
@pytest.mark.parametrize("unknown", [NOT_MEANT, NOT_READ, UNREADABLE])
def test_each_kind_of_difference_alone_and_beside_what_is_not_known(
    lacking: str, differences: tuple[Difference, ...], unknown: Cell
) -> None:
    one = {place: NO if place in lacking.split() else YES for place in PLACES}
    other = dict.fromkeys(PLACES, YES) | {"page": unknown}
    same = compared({"ban": one, LONG: dict.fromkeys(PLACES, YES)})
    beside = compared({"afk": other, LONG: other})

    assert [row.differences for row in same.rows if row.name == "ban"] == [differences]
    assert [row.name for row in same.differing] == ["ban"] * bool(differences)
    assert all(f"1 {kind} (ban)" in same.sentence() for kind in differences)
    assert beside.sentence() == "2 commands, without a difference in what was read"
