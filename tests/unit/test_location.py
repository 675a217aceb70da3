from commandsync.diagnostics import Location, Notice, Problem


def test_places_and_problems_read_as_compilers_write_them() -> None:
    assert str(Location("commands.yaml", 9, 5)) == "commands.yaml:9:5"
    assert str(Location("commands.yaml")) == "commands.yaml:1:1"
    assert str(Problem(Location("-", 2, 3), "unknown key", hint="x")) == "-:2:3: unknown key"
    assert Notice("two records are equal").location is None


def test_problems_sort_by_file_line_and_column() -> None:
    places = [("b", 1, 1), ("a", 10, 1), ("a", 2, 9), ("a", 2, 10)]
    ordered = sorted(Problem(Location(*place), "x") for place in places)

    assert [str(each.location) for each in ordered] == ["a:2:9", "a:2:10", "a:10:1", "b:1:1"]
