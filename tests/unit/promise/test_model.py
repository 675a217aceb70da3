"""Generated manifests, listings and services, against an independent model.

A failing case is told step by step, as small as hypothesis could make it. `make soak` tries 50,000
of a page and 20,000 of Discord, in parts that run at once.
"""

import pytest
from hypothesis import given, settings

from tests.support import discorddraws, discordstory
from tests.support.cases import Case
from tests.support.discordcases import DiscordCase
from tests.support.draws import PARTS, cases, examples
from tests.support.story import prove, told


@pytest.mark.promise("planned-changes-only", "verified-exit")
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=examples(500, soak=50_000 // len(PARTS)))
@given(case=cases())
def test_every_invariant_holds_in_generated_cases(part: int, case: Case) -> None:  # noqa: ARG001 - only to share the work
    story = prove(case)

    assert not story.problems, told(story)


@pytest.mark.promise("planned-changes-only", "verified-exit", "discord-untouched")
@pytest.mark.parametrize("part", PARTS)
@settings(max_examples=examples(200, soak=20_000 // len(PARTS)))
@given(case=discorddraws.cases())
def test_every_invariant_holds_at_discord(part: int, case: DiscordCase) -> None:  # noqa: ARG001 - only to share the work
    story = discordstory.prove(case)

    assert not story.problems, discordstory.told(story)
