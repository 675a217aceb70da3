"""Making the listing match a plan: the run as a generator, its ledger, and its result."""
