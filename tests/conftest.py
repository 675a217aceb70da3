"""Settings of all tests: a busy machine is not a failure, and each run tries the same examples.

`make soak` tries new examples. `make test-fast` and mutmut try few. `make test`
leaves out what takes longest and seldom fails alone, which `make check` runs.
"""

import gc
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.postgres import database_url, postgres, postgres_url

__all__ = ["database_url", "postgres", "postgres_url"]

# What runs in the background of a shell ignores Ctrl-C, and what nohup starts ignores the end of
# its terminal; so would every program that is started.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True, scope="session")
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let runs keep their locks and states in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


_TESTS = Path(__file__).parent
_GOLDEN = _TESTS / "fixtures" / "golden"

# sockets, processes, databases
_SLOW = {"browser", "conformance", "e2e", "server", "testing", "wire"}
_LONGEST = {
    *("test_demo.py", "test_new_kind.py", "test_readme.py", "test_stories.py"),
    "test_untrusted_sizes.py",
}
_SLOW_FILES = {
    "test_convergence.py",
    "test_model.py",
    "test_rewriting_services.py",
    "test_sendings.py",
    "test_the_proof_can_fail.py",
}
_THOROUGH = (
    "browser/",
    "conformance/test_apply.py::test_every_fault",
    "conformance/test_slow_consumers.py",
    "conformance/test_catching_up.py::test_every_vote",
    "e2e/action/test_forks.py",
    "e2e/action/test_listings.py",
    "e2e/action/test_pitfalls.py",
    "e2e/action/test_report.py::test_a_killed_report",
    "e2e/action/test_start.py::test_only_a_manifest",
    "e2e/listings/test_clients.py",
    "e2e/listings/test_lists.py::test_on_a_terminal",
    "e2e/listings/test_sent.py::test_twenty",
    "e2e/listings/test_several.py",
    "e2e/listings/test_tokens.py::test_no_output",
    "e2e/recording/test_runs.py::test_a_",
    "e2e/recording/test_runs.py::test_c",
    "e2e/server/test_bots.py::test_a_removal_on_a_terminal",
    "e2e/server/test_conditions.py",
    "e2e/server/test_discord.py::test_discord",
    "e2e/server/test_attacks.py::test_writers_at",
    "e2e/server/test_gateway.py",
    "e2e/server/test_model.py",
    "e2e/server/test_process.py",
    "e2e/server/test_processes.py",
    "e2e/server/test_serving.py::test_a_new_database",
    "e2e/server/test_serving.py::test_a_seed",
    "e2e/server/test_simulations.py",
    "e2e/test_demo.py",
    "e2e/test_discord.py",
    "e2e/test_disks.py",
    "e2e/test_examples.py",
    "e2e/test_light.py",
    "e2e/test_locks.py::test_two_applies_of_many",
    "e2e/test_lists_in_pages.py::test_a_first_page",
    "e2e/test_lists_in_pages.py::test_one_page_that",
    "e2e/test_lists_in_pages.py::test_a_list_past",
    "e2e/test_output.py::test_a_terminal",
    "e2e/test_output.py::test_a_closed_pipe",
    "e2e/test_output.py::test_a_result_that",
    "e2e/test_output.py::test_any_console",
    "e2e/test_output.py::test_closed_streams",
    "e2e/test_output.py::test_plans_in_two_runs",
    "e2e/test_several.py::test_exit_1",
    "e2e/test_files.py::test_a_full_disk",
    "e2e/test_growth.py",
    "e2e/test_guard.py",
    "e2e/test_kill.py",
    "e2e/test_list_contract.py::test_exactly_one_rule",
    "e2e/test_listed.py",
    "e2e/test_pre_commit.py::test_the_hook",
    "e2e/test_readme.py::test_every_command_prints",
    "e2e/test_redaction.py::test_a_line_that_a_terminal_cuts",
    "e2e/test_redaction.py::test_no_",
    "e2e/test_secrets.py::test_no_",
    "e2e/test_secrets.py::test_a_redirect",
    "e2e/test_signals.py",
    "e2e/test_situations.py",
    "e2e/test_summary.py",
    "e2e/test_targets.py::test_a_folder_that_is_a_link",
    "e2e/test_targets.py::test_the_outputs",
    "e2e/test_token.py::test_an_echo",
    "e2e/test_types.py",
    "e2e/test_untrusted_sizes.py",
    "unit/promise/test_convergence.py::test_a_fault",
    "unit/promise/test_convergence.py::test_a_stop",
    "unit/promise/test_convergence.py::test_one_of_two_runs",
    "unit/promise/test_convergence.py::test_random_faults",
    "unit/promise/test_fixture.py::test_a_thousand",
    "unit/promise/test_lists.py::test_a_",
    "unit/promise/test_rewritten_names.py",
    "unit/promise/test_sendings.py",
    "unit/promise/test_the_proof_can_fail.py",
    "unit/server/test_simulat",
    "unit/server/test_voting_model.py",
    "unit/services/test_fit.py::test_twice",
    "unit/test_release.py",
    "conformance/test_listening.py::test_no_more_than",
    "unit/plan/test_plan.py::test_a_plan_does_not_depend",
    "unit/sources/javascript/test_forms.py::test_the_documented_line",
    "unit/sources/javascript/test_forms.py::test_code_reads_as_discord_js_makes_it_now",
    "unit/testing/test_plugin.py::test_the_fixture_needs",
    "wire/test_faults.py",
)
_ON_THE_WHEEL = (  # `.ci/wheel.py` runs them where the source tree cannot be seen
    "e2e/test_demo.py",
    "e2e/test_readme.py::test_every_command_prints",
    "unit/testing/test_plugin.py::test_the_fixture_needs",
)
_ONLY_IN_SOAK = (
    "unit/apply/test_ledger.py::test_the_tables_have",
    "unit/promise/test_the_proof_can_fail.py::test_a_former_name_that_goes",
)
_ON_TWO_DATABASES = {"conformance", "server"}
_ON_POSTGRESQL = (  # in `make test` too; the others run on SQLite there
    "conformance/test_operations.py",
    "unit/server/test_database.py",
)

_HOUSE = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # a folder serves all examples
)
settings.register_profile("house", _HOUSE, derandomize=True)
settings.register_profile("less", _HOUSE, max_examples=20, derandomize=True)
settings.register_profile("quick", _HOUSE, max_examples=10, derandomize=True)
settings.register_profile("soak", _HOUSE, max_examples=500, print_blob=True)
settings.load_profile("house")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files of which `-m` would leave nothing: reading them all takes seconds."""
    chosen, path = config.option.markexpr, collection_path.relative_to(_TESTS)
    name = f"{path.as_posix()}{'/' * collection_path.is_dir()}"
    if chosen.startswith("not thorough"):
        return name in _THOROUGH
    if not chosen.startswith("thorough") or not path.name.startswith("test_"):
        return None
    marked = any(each.startswith(name) or name.startswith(each) for each in _THOROUGH)
    on_two_databases = not _ON_TWO_DATABASES.isdisjoint(path.parts)
    if marked or on_two_databases or "mark.thorough" in collection_path.read_text("utf-8"):
        return None
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, and mark those that shorter runs leave out."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)
    for item in items:
        if _is_slow(item.path.parts):
            item.add_marker(pytest.mark.slow)
        if _names(item).startswith(_ONLY_IN_SOAK):
            item.add_marker(pytest.mark.soak)
        elif _is_thorough(item):
            item.add_marker(pytest.mark.thorough)
        if _names(item).startswith(_ON_THE_WHEEL):
            item.add_marker(pytest.mark.wheel)


def pytest_collection_finish() -> None:
    """Leave what was collected out of garbage collection: it stays to the end."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `pytest --write-golden` accept a changed wording."""
    parser.addoption("--write-golden", action="store_true", help="write tests/fixtures/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name, which pins its wording."""

    def compare(text: str, name: str) -> None:
        if request.config.getoption("--write-golden"):
            (_GOLDEN / name).write_text(text, encoding="utf-8", newline="\n")

        assert text == (_GOLDEN / name).read_text(encoding="utf-8"), "pytest --write-golden"

    return compare


def _is_thorough(item: pytest.Item) -> bool:
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    name = _names(item)
    again = "postgresql" in parameters and not name.startswith(_ON_POSTGRESQL)
    return again or name.startswith(_THOROUGH)


def _names(item: pytest.Item) -> str:
    return f"{item.path.relative_to(_TESTS).as_posix()}::{item.name}"


def _is_slow(parts: Iterable[str]) -> bool:
    return not (_SLOW | _SLOW_FILES).isdisjoint(parts)
