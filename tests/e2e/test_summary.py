"""The last lines of a run: what was done before, what was read, and what to do next."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bots import Instead, Proxy, Service
from tests.support.home import Home, checked, fields
from tests.support.rawserver import Request

FORMATS = ["text", "json", "markdown", "github"]
generated = settings(max_examples=max(8, settings().max_examples // 4))  # each is several runs


@generated
@given(stay=st.integers(1, 4), go=st.integers(0, 3), new=st.integers(0, 4), edited=st.booleans())
def test_a_saved_plan_that_is_repeated_was_done_already(
    service: Service, home: Home, proxy: Proxy, *, stay: int, go: int, new: int, edited: bool
) -> None:
    names = [f"stays {n}" for n in range(stay)]
    home.knows(service.bot([*names, *(f"goes {n}" for n in range(go))]), url=proxy.url)
    texts = [(name, "Reworded.") if edited else (name,) for name in names]
    home.write(fields(*texts, *((f"comes {n}",) for n in range(new))))
    assert home.run("plan", "--out", "plan.json", "--force", "--max-deletes", "all").code == 0
    count = len(json.loads(home.read("plan.json"))["changes"])
    apply = ("apply", "--plan", "plan.json", "--yes")
    first = checked(home.run(*apply, "--format", "json"), "result")
    proxy.requests.clear()

    again = checked(home.run(*apply, "--format", "json"), "result")
    shown = {form: home.run(*apply, "--format", form).out for form in FORMATS}

    assert [change["already"] for change in first["changes"]] == [False] * count
    assert [change["already"] for change in again["changes"]] == [True] * count
    assert again["outcomes"]["done"] == count
    said = f"Apply: {count} done already. "
    for form in ("text", "markdown", "github"):
        assert (said in shown[form]) == (count > 0)
        assert ("Everything was done" in shown[form]) == bool(count)
    assert (f"#### Done already ({count})" in shown["markdown"]) == (count > 0)
    assert proxy.writes == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("at", ["POST", "GET after"])
def test_no_hint_suggests_to_run_again_with_a_refused_token(
    service: Service, home: Home, proxy: Proxy, *, form: str, status: int, at: str
) -> None:
    home.knows(service.bot(["one"]), url=proxy.url)
    home.write(fields(("one",), ("two",), ("three",)))
    proxy.rule = lambda seen: (
        Instead(status, {"error": "No."})
        if (seen.method == "POST" if at == "POST" else bool(proxy.writes) and not seen.writes)
        else None
    )

    ran = home.run("apply", "--yes", "--format", form)

    assert ran.code == (1 if at == "POST" else 6)
    assert "un again" not in ran.said
    assert ("into the variable" if status == 401 else "this bot") in ran.said


@generated
@given(
    refused=st.sets(st.sampled_from(["two", "three", "four"])),
    reading=st.sampled_from([None, 500, 404]),
)
def test_not_verified_is_shown_only_when_the_listing_was_not_read_again(
    service: Service, home: Home, proxy: Proxy, *, refused: set[str], reading: int | None
) -> None:
    home.knows(service.bot(["one"]), url=proxy.url)
    home.write(fields(*((name,) for name in ("one", "two", "three", "four"))))
    proxy.requests.clear()

    def rule(seen: Request) -> Instead | None:
        if seen.writes:
            return Instead(400, {"error": "No."}) if seen.json["name"] in refused else None
        return Instead(reading) if reading and proxy.writes else None

    proxy.rule = rule

    ran = home.run("apply", "--yes", "--retries", "0")

    last = ran.out.splitlines()[-1]
    changed = len(refused) < 3 or reading is not None  # or may have
    assert ("Not verified" in last) == (reading is not None)
    assert ("The listing was not changed." in last) == (not changed)
    assert ("Verified: " in last) == (not refused and not reading)
    assert ("Read again: " in last) == (changed and bool(refused) and not reading)
