from commandsync.diagnostics import Location, Notice, Problem


def test_a_location_reads_as_compilers_write_it() -> None:
    location = Location("commands.yaml", 9, 5)

    assert str(location) == "commands.yaml:9:5"


def test_a_problem_of_the_whole_file_is_at_its_beginning() -> None:
    assert str(Location("commands.yaml")) == "commands.yaml:1:1"


def test_a_problem_reads_as_one_line() -> None:
    problem = Problem(Location("-", 2, 3), "unknown key", hint="did you mean syntax?")

    assert str(problem) == "-:2:3: unknown key"


def test_problems_sort_by_file_line_and_column() -> None:
    places = [("b", 1, 1), ("a", 10, 1), ("a", 2, 9), ("a", 2, 10)]
    problems = [Problem(Location(*place), "x") for place in places]

    ordered = [str(problem.location) for problem in sorted(problems)]

    assert ordered == ["a:2:9", "a:2:10", "a:10:1", "b:1:1"]


def test_a_notice_needs_no_place() -> None:
    assert Notice("two records are equal").location is None
