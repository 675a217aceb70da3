"""Plan, apply and pull with the lists of real bots."""

import json
import re

import pytest
import yaml

from tests.support.bots import Bot, Service
from tests.support.home import ROOT, Home, checked

LISTED = json.loads((ROOT / "tests" / "fixtures" / "listed.json").read_text(encoding="utf-8"))


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    return home.knows(service.bot(LISTED))


@pytest.mark.parametrize("pin", [[], ["--pin"]], ids=["without ids", "pinned"])
def test_what_is_pulled_is_valid_and_changes_nothing(home: Home, bot: Bot, pin: list[str]) -> None:
    before = bot.everything()
    assert home.run("pull", *pin, "--out", "commands.yaml").code == 0
    assert home.run("validate").code == 0

    plan = checked(home.run("plan", "--format", "json"), "plan")

    assert plan["changes"] == []
    assert plan["summary"]["unchanged"] == len(LISTED) == 656
    assert home.run("apply", "--yes").code == 0
    assert bot.everything() == before


@pytest.mark.promise("kept-ids")
def test_a_mixed_change_keeps_every_kept_id_and_its_uses(home: Home, bot: Bot) -> None:
    home.run("pull", "--out", "commands.yaml")
    listed = bot.commands()
    once = [record for record in listed if [o["name"] for o in listed].count(record["name"]) == 1]
    edited, renamed, deleted = once[:60], once[60:100], once[100:140]
    manifest = yaml.load(home.read("commands.yaml"), yaml.BaseLoader)  # noqa: S506
    entries = manifest["commands"]
    by_id = dict(zip([record["id"] for record in listed], entries, strict=True))
    for record in deleted:
        del by_id[record["id"]]
    for record in edited:
        by_id[record["id"]]["description"] = f"{record['description'].strip()} Now better."
    for number, one in enumerate(renamed):
        by_id[one["id"]] |= {"name": f"renamed {number}", "formerly": [one["name"].strip()]}
    new = [{"name": f"new {n}", "description": "Is new.", "syntax": f"/new {n}"} for n in range(20)]
    manifest |= {"version": 1, "commands": [*by_id.values(), *new]}
    text = json.dumps(manifest, ensure_ascii=False)
    # so written, JSON is YAML, which takes some characters for line ends and others for nothing
    home.write(re.sub("[\x7f-\x9f\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", text))

    applied = checked(home.run("apply", "--yes", "--format", "json"), "result")

    summary = {"add": 20, "edit": 100, "delete": 40, "replace": 0, "unchanged": 656 - 140}
    assert applied.get("summary") == summary, applied.get("problems", applied)
    assert applied["verified"] is True
    now = {record["id"]: record for record in bot.commands()}
    gone = {record["id"] for record in deleted}
    kept = {record["id"]: record["uses"] for record in listed if record["id"] not in gone}
    assert {identifier: now[identifier]["uses"] for identifier in kept} == kept
    assert len(now) == 656 - 40 + 20
    assert gone.isdisjoint(now)
    assert all(now[record["id"]]["description"].endswith("Now better.") for record in edited)
    assert [now[record["id"]]["name"] for record in renamed] == [f"renamed {n}" for n in range(40)]
    assert home.run("plan", "--detailed-exitcode").code == 0
