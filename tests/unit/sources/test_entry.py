import pytest

from commandsync.sources.entry import SourceEntry, Trait, exclusion_reason


def entry(name: str, *traits: Trait) -> SourceEntry:
    return SourceEntry(name=name, description="a", syntax="b", traits=frozenset(traits))


@pytest.mark.parametrize("trait", Trait)
def test_a_command_that_is_not_public_is_left_out_unless_it_is_asked_for(trait: Trait) -> None:
    assert exclusion_reason(entry("ping")) == ""
    assert exclusion_reason(entry("eval", trait)) == f"it is {trait}"
    assert exclusion_reason(entry("eval", trait), wanted=[trait]) == ""


def test_every_trait_has_to_be_asked_for() -> None:
    command = entry("purge", Trait.NSFW, Trait.ADMIN_ONLY)

    assert exclusion_reason(command) == "it is admin-only and nsfw"
    assert exclusion_reason(command, wanted=[Trait.NSFW]) == "it is admin-only"
    assert exclusion_reason(command, wanted=list(Trait)) == ""


def test_patterns_leave_out_names_in_upper_and_lower_case() -> None:
    patterns = ["debug*", "dev *"]

    assert exclusion_reason(entry("Debug-dump"), patterns=patterns) == "its name matches 'debug*'"
    assert exclusion_reason(entry("dev reload"), patterns=patterns) == "its name matches 'dev *'"
    assert exclusion_reason(entry("developers"), patterns=patterns) == ""
