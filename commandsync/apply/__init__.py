"""Making the listing match a plan: the run as a generator, its ledger, and what came of it."""
