"""Planning: matching, changes, the rules and the guard, hints, and what users notice."""
