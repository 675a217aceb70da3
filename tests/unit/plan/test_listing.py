"""When a whole list is sent, and when that is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

from commandsync.diagnostics import Do, Notice
from commandsync.plan.plan import THE_LIST, PlannedListing
from commandsync.plan.rules import SyncRules, parse_delete_limit

LIMITS = [SyncRules(), *(SyncRules(max_deletes=parse_delete_limit(n)) for n in ("9", "all"))]
EMPTY = Notice("would send an empty list", Do.ALLOW_DELETES(limit="all"))
ALL_LOST = Notice("would send an empty list: the service shows none of the manifest's commands", "")
UNSEEN = Notice(
    "would replace the whole list of top.gg, of which nothing is known", Do.REPLACE_UNSEEN()
)


def test_an_empty_and_an_unknown_list_are_refused() -> None:
    flags = ("whole", "returned", "unseen", "resend", "wants_none")
    switched: list[dict[str, Any]] = [
        dict(zip(flags, on, strict=True)) for on in product((False, True), repeat=len(flags))
    ]
    for on, known, size in product(switched, ("", "v1.2.0", THE_LIST), (0, 1, 113)):
        listing = replace(PlannedListing(name="top.gg", compared_with=known, size=size), **on)
        for rules, changes in product(LIMITS, (False, True)):
            refused = listing.refusal(rules, changes=changes)

            sent = listing.whole and (changes or listing.resend or not known)
            assert listing.sends(changes=changes) is sent
            assert replace(listing, renewed=("ban",)).sends(changes=changes) is listing.whole
            wanted = listing.wants_none and rules is LIMITS[-1]
            if sent and not size and not wanted:
                assert refused == (EMPTY if listing.wants_none else ALL_LOST)
            elif sent and not (known or listing.unseen or listing.returned):
                assert refused == UNSEEN
            else:
                assert refused is None
