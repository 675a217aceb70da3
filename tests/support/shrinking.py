"""A failing case made smaller: whatever it still fails without is left out, part by part."""

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from tests.support.cases import Case, collection_of
from tests.support.runs import PRODUCT, Parts
from tests.support.story import prove
from tests.support.ways import Way


def shrunk(case: Case, kind: str = "", parts: Parts = PRODUCT) -> Case:
    """Return the smallest case found that has a problem of this kind, or the first one, still."""
    problems = prove(case, parts).problems
    kind = next((one.kind for one in problems if kind in one.kind), "")
    while kind:
        for less in smaller(case):
            if any(one.kind == kind for one in prove(less, parts).problems):
                case = less
                break
        else:
            break
    return case


def smaller(case: Case) -> Iterator[Case]:
    """Yield the case with one thing less, each time another."""
    plain: dict[str, Any] = {"way": Way(), "unordered": False, "saved": False, "width": 4}
    for key, value in plain.items():
        if getattr(case, key) != value:
            yield replace(case, **{key: value})
    for one in fields(case):
        value = getattr(case, one.name)
        if not isinstance(value, tuple) or one.name in {"scope", "flights", "named"}:
            continue
        leave_out = partial(_without, case, one.name)
        yield from map(leave_out, range(len(value)))
    if case.rules.ignore:
        yield replace(case, rules=replace(case.rules, ignore=()))
    for collection in case.scope if len(case.scope) > 1 else ():
        yield _without_collection(case, collection)


def _without(case: Case, part: str, place: int) -> Case:
    value = getattr(case, part)
    less: dict[str, Any] = {part: (*value[:place], *value[place + 1 :])}
    return replace(case, **less)


def _without_collection(case: Case, collection: str) -> Case:
    return replace(
        case,
        scope=tuple(one for one in case.scope if one != collection),
        before=tuple(one for one in case.before if collection_of(one[1]) != collection),
        wants=tuple(want for want in case.wants if collection_of(want.text) != collection),
        acts=tuple(act for act in case.acts if act.collection != collection),
    )
