"""Plans of listings that show the same are one block; a shared warning is printed once."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Notice
from commandsync.plan.plan import AsRead, ListPlan, Target
from commandsync.report import Screen, render_plans
from commandsync.report.change import blocks_of
from commandsync.services.abilities import LIST_ABILITIES
from tests.support.plans import CHANGED, command, plan_of, whole

NAMES = st.lists(
    st.from_regex(r"[a-z]{3,9}\.(gg|com)", fullmatch=True), min_size=2, max_size=5, unique=True
)


def listed(name: str, *, adds: int, warnings: tuple[str, ...] = ()) -> ListPlan:
    plan = plan_of([command(f"c{n}") for n in range(adds)], [])
    return replace(
        whole(plan, AsRead((CHANGED,)), name=name, digest=name, commands=adds),
        target=Target(bot="1", base_url=f"https://{name}", abilities=LIST_ABILITIES),
        notices=tuple(Notice(f"{name}: {warning}") for warning in warnings),
    )


@given(NAMES, st.integers(1, 3))
def test_listings_with_the_same_changes_are_one_block(names: list[str], adds: int) -> None:
    plans = [listed(name, adds=adds, warnings=("a loss",)) for name in names]
    of_run = Notice("a variable is not used")
    of_command = Notice("a name may be another one")
    plans = [replace(plan, notices=(*plan.notices, of_command)) for plan in plans]
    plans[0] = replace(plans[0], notices=(of_run, *plans[0].notices))
    shown = render_plans(plans, format="text", screen=Screen())

    (block,) = blocks_of(plans)
    assert block.plans == plans
    assert shown.count("  + c0") == 1
    assert shown.count("Plan: ") == 1
    assert shown.count(of_run.message) == 1
    assert shown.count(of_command.message) == shown.count(f"warning: {of_command.message}\n") == 1
    assert f"warning: {', '.join(names)}: a loss\n" in shown
    assert all(f"{name}: bot 1 at https://{name}" in shown for name in names)
    total = f"All listings: {adds * len(names)} to add, "
    assert shown.splitlines()[-1].startswith(total)


@given(NAMES)
def test_other_changes_are_another_block_with_one_warning(names: list[str]) -> None:
    plans = [
        listed(name, adds=number, warnings=("a loss", f"loss {number}"))
        for number, name in enumerate(names, start=1)
    ]
    shown = render_plans(plans, format="text", screen=Screen())

    assert len(blocks_of(plans)) == len(names)
    assert shown.count("a loss") == 1
    assert f"{', '.join(names)}: a loss" in shown
    assert all(shown.count(f"loss {number}") == 1 for number in range(1, len(names) + 1))


def test_plans_of_pages_stay_apart() -> None:
    plans = [plan_of([command("a")], [])] * 2

    assert [block.shown for block in blocks_of(plans)] == plans
