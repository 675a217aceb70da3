"""A rename without `formerly`: the plan prints the line that declares it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bots import Service
from tests.support.home import Home, fields
from tests.support.rawserver import RawServer, answering

TEXTS = st.text(
    st.characters(categories=["Ll", "Lu", "Lo", "Nd", "Po", "Sm"], include_characters="[]<> 😀"),
    min_size=3,
    max_size=20,
).map(str.strip)


def letters(name: str) -> str:
    """Return what is left of a name when a service has rewritten it."""
    return "".join(filter(str.isalnum, normalize("NFKC", normalize("NFKC", name).casefold())))


@dataclass(frozen=True)
class Rename:
    """A listed command and what it is wanted as."""

    old: str
    new: str
    description: str
    syntax: str
    category: str

    def fields(self, name: str) -> dict[str, str]:
        syntax = self.syntax.replace("NAME", name)
        texts = {"description": self.description, "syntax": syntax, "category": self.category}
        return {"name": name} | texts


SYNTAXES = st.builds("{}{}{}".format, TEXTS, st.sampled_from(["", " NAME "]), TEXTS)
RENAMES = st.builds(
    Rename, TEXTS, TEXTS, TEXTS, SYNTAXES.map(str.strip), TEXTS | st.just("")
).filter(
    lambda one: (
        min(letters(one.old), letters(one.new)) != ""
        and letters(one.old) != letters(one.new)
        and one.description != ""
        and one.syntax != ""
    )
)


@pytest.fixture
def other() -> dict[str, str]:
    return {"name": "0 stays", "description": "As it is.", "syntax": "/stays", "category": ""}


@pytest.mark.promise("kept-ids")
@given(rename=RENAMES)
def test_a_printed_line_makes_a_rename(home: Home, other: dict[str, str], rename: Rename) -> None:
    wanted = rename.fields(rename.new)

    planned = plan(home, other, rename, wanted)
    (hint,) = [problem["hint"] for problem in planned["warnings"] if "formerly" in problem["hint"]]
    former = json.loads(hint.partition("formerly: ")[2])
    declared = plan(home, other, rename, wanted | {"formerly": former})

    assert former == [rename.old]
    assert [change["action"] for change in planned["changes"]] == ["add", "delete"]
    (change,) = declared["changes"]
    assert (change["action"], change["renamed_from"]) == ("edit", rename.old)


def plan(
    home: Home, other: dict[str, str], rename: Rename, wanted: Mapping[str, object]
) -> dict[str, Any]:
    """Plan against a listing over HTTP, with both pages of it."""
    manifest = {"version": 1, "commands": [other, wanted]}
    home.write(json.dumps(manifest, ensure_ascii=False))
    listed = [other | {"id": "1"}, rename.fields(rename.old) | {"id": "2"}]
    with RawServer() as server:
        server.then(answering(listed))
        ran = home.run("plan", "--bot", "42", "--base-url", server.url, "--format", "json")
    assert ran.code == 0, ran.said
    document: dict[str, Any] = ran.document
    return document


@pytest.mark.parametrize("count", [2, 15])
def test_many_renames_are_one_table(home: Home, service: Service, count: int) -> None:
    names = [f"name-{chr(97 + n) * (n + 1)}" for n in range(count)]
    about = [(f"Does the thing of {name} in the server.", f"/{name} <x>") for name in names]
    home.knows(
        service.bot(
            [
                {
                    "name": f"t!{name}",
                    "description": text,
                    "syntax": f"t!{name} <x>",
                    "uses": 160 + n,
                }
                for n, (name, (text, _)) in enumerate(zip(names, about, strict=True))
            ]
        )
    )
    manifest = fields(*((name, *texts) for name, texts in zip(names, about, strict=True)))
    manifest += "sync: {max_deletes: all}\n"
    home.write(manifest)

    planned = {form: home.run("plan", "--format", form) for form in ("text", "markdown", "json")}

    width = max(map(len, names))
    for shown in (planned["text"].out, planned["markdown"].out):
        assert f"warning: {count} " in shown
        assert shown.count("hint:") == 1
        for n, name in enumerate(names):
            assert (
                f"    {name:{width}}  ← t!{name:{width}}  {160 + n} uses  (commands.yaml:" in shown
            )
    hints = [one["hint"] for one in planned["json"].document["warnings"]]
    assert [hint.partition("formerly: ")[2] for hint in hints] == [
        f'["t!{name}"]' for name in names
    ]

    keys = ("name", "description", "syntax")
    entries = [
        dict(zip(keys, (name, *texts), strict=True)) | {"formerly": [f"t!{name}"]}
        for name, texts in zip(names, about, strict=True)
    ]
    home.write(json.dumps({"version": 1, "commands": entries}))
    assert "no longer needed" not in home.run("apply", "--yes", exits=0).out
    needless = home.run("plan", "--strict")

    assert f"\n{count} formerly: " in needless.out
    assert "no longer needed: remove them from the manifest" in needless.out
    home.write(manifest)
    assert "formerly" not in home.run("plan", "--detailed-exitcode", exits=0).out
