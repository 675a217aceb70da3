from __future__ import annotations

import pytest

from commandsync.sources.entry import SourceEntry, Trait
from commandsync.sources.exclusion import Excluded, select


def entry(name: str, *traits: Trait) -> SourceEntry:
    return SourceEntry(name=name, description="a", syntax="b", traits=frozenset(traits))


@pytest.mark.parametrize("trait", Trait)
def test_a_command_that_is_not_public_is_left_out_unless_it_is_asked_for(trait: Trait) -> None:
    public, other = entry("ping"), entry("eval", trait)

    selection = select([other, public])

    assert selection.kept == (public,)
    assert selection.excluded == (Excluded(other, f"it is {trait}"),)
    assert select([other, public], wanted=[trait]).kept == (other, public)


def test_every_trait_has_to_be_asked_for() -> None:
    command = entry("purge", Trait.NSFW, Trait.ADMIN_ONLY)

    assert select([command]).excluded[0].reason == "it is admin-only and nsfw"
    assert select([command], wanted=[Trait.NSFW]).excluded[0].reason == "it is admin-only"
    assert select([command], wanted=list(Trait)).kept == (command,)


def test_patterns_leave_out_names_in_upper_and_lower_case() -> None:
    debug, group, other = entry("Debug-dump"), entry("dev reload"), entry("developers")

    selection = select([debug, group, other], patterns=["debug*", "dev *"])

    assert selection.kept == (other,)
    assert [excluded.reason for excluded in selection.excluded] == [
        "its name matches 'debug*'",
        "its name matches 'dev *'",
    ]
