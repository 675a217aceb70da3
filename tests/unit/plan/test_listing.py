"""When a whole list is sent, and when that is refused."""

from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Do, Notice
from commandsync.plan.listing import THE_LIST, PlannedListing
from commandsync.plan.rules import SyncRules, parse_delete_limit

LIMITS = [SyncRules(), *(SyncRules(max_deletes=parse_delete_limit(n)) for n in ("9", "all"))]
EMPTY = Notice("would send an empty list", Do.ALLOW_DELETES(limit="all"))
ALL_LOST = Notice("would send an empty list: the service shows none of the manifest's commands", "")
UNSEEN = Notice(
    "would replace the whole list of top.gg, of which nothing is known", Do.REPLACE_UNSEEN()
)


@given(
    listing=st.builds(
        PlannedListing,
        name=st.just("top.gg"),
        whole=st.booleans(),
        returned=st.booleans(),
        compared_with=st.sampled_from(["", "v1.2.0", THE_LIST]),
        size=st.sampled_from([0, 1, 113]),
        unseen=st.booleans(),
        resend=st.booleans(),
        wants_none=st.booleans(),
    ),
    rules=st.sampled_from(LIMITS),
    changes=st.booleans(),
)
def test_an_empty_and_an_unknown_list_are_refused(
    listing: PlannedListing, rules: SyncRules, *, changes: bool
) -> None:
    refused = listing.refusal(rules, changes=changes)

    sent = listing.whole and (changes or listing.resend or not listing.compared_with)
    assert listing.sends(changes=changes) is sent
    wanted = listing.wants_none and rules is LIMITS[-1]
    if sent and not listing.size and not wanted:
        assert refused == (EMPTY if listing.wants_none else ALL_LOST)
    elif sent and not (listing.compared_with or listing.unseen or listing.returned):
        assert refused == UNSEEN
    else:
        assert refused is None
